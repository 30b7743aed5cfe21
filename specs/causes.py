"""Ranked causes: asked only after a breach, to name the requirement that is the likeliest behind it.

Detection says that something is wrong in any case: an answer is missing, or nobody asked for what came. Several
requirements may explain that. A cause has a circumstance (`could`) without which it cannot be the reason, and a body
that looks for evidence. Because the circumstance is known without the symptom, the same declaration says what is
credited when all went well: what could have been blamed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple


class Named(NamedTuple):
    """What a diagnosis says: the requirement to blame, why, and which cause said so (for `Breach.kind`). `also`,
    `level`, `steady` and `otherwise` become those of the breach. `same_as`: fingerprints by which the same failure is
    told where it shows in another way, or of what may be the reason as well; they become rivals of the breach."""

    requirement: str
    why: str
    kind: str = ""
    also: tuple[str, ...] = ()
    level: str | None = None
    steady: bool = False
    otherwise: str = ""
    same_as: tuple[str, ...] = ()


class Cause(NamedTuple):
    """One possible reason. `requirements` are those that it may name, of which `which(case)` picks one when there are
    several, and `also` those that are broken beside it. `where(case)` and `could(case)` say whether it can be the
    reason at all, and `evidence(case)` answers why, a `Named`, or "" when nothing speaks for it. `options` are further
    fields of `Named`.
    """

    requirements: tuple[str, ...]
    could: Callable[[Any], bool] | None
    evidence: Callable[[Any], str | Named]
    which: Callable[[Any], str] | None
    also: tuple[str, ...]
    options: dict[str, Any]
    where: Callable[[Any], bool] | None = None


Evidence = Callable[[Any], Any]


class Causes:
    """Causes in the order in which they are asked: the first that is given and has evidence is blamed.

    `vague`: the evidence tells causes apart by what was asked alone, so that any that has some may be the reason. What
    is blamed on one is then explained by a known fault of another (`specs.model.Breach.rivals`). `turns_on(case)`: the
    one value, of a small set, by which all circumstances are decided; what it credits is then found once.
    """

    def __init__(self, name: str, *, vague: bool = False, turns_on: Callable[[Any], Hashable] | None = None) -> None:
        self.name, self._vague, self._turns_on = name, vague, turns_on
        self.ranked: list[Cause] = []
        self._asked: list[tuple[Callable[[Any], bool] | None, list[tuple[int, Callable[[Any], bool] | None, Cause]]]]
        self._asked = []
        """What has to be asked, by what several in a row have in common: where that does not hold, none of them is."""
        self._always = 0
        self._sums: dict[int, tuple[str, ...]] = {}
        self._found: dict[Hashable, tuple[str, ...]] = {}

    def cause(
        self,
        requirements: str,
        *,
        where: Callable[[Any], bool] | None = None,
        could: Callable[[Any], bool] | None = None,
        which: Callable[[Any], str] | None = None,
        also: str = "",
        level: str | None = None,
        steady: bool = False,
        otherwise: str = "",
    ) -> Callable[[Evidence], Evidence]:
        """Register the decorated search for evidence, behind those that are there.

        `requirements` is one full id, or the closed set of ids (separated by blanks) from which `which` picks one for a
        case, "" meaning none. `where` is a circumstance that it has in common with the causes next to it, and is asked
        once for all of them. The other arguments become fields of the breach.
        """

        def registered(evidence: Evidence) -> Evidence:
            options = {"level": level, "steady": steady, "otherwise": otherwise}
            ids = tuple(requirements.split())
            if len(ids) > 1 and which is None:
                raise ValueError(f"{evidence.__name__}: which of {requirements}?")
            cause = Cause(ids, could, evidence, which, tuple(also.split()), options, where)
            bit = 1 << len(self.ranked) if which is None else 0
            self.ranked.append(cause)
            if bit and could is None and where is None:
                self._always |= bit
            elif self._asked and self._asked[-1][0] is where:
                self._asked[-1][1].append((bit, could, cause))
            else:
                self._asked.append((where, [(bit, could, cause)]))
            return evidence

        return registered

    def circumstance(self, requirements: str, *, says: str = "", **more: Any) -> Callable[[Evidence], Evidence]:
        """Register the decorated circumstance as a cause that needs no other evidence. It is blamed in the words of the
        case (`case.text`) and in what `says` adds to them; `more` as in `cause`."""

        def registered(could: Evidence) -> Evidence:
            def evidence(case: Any) -> str:
                return ": ".join(filter(None, (case.text, says)))

            evidence.__name__ = could.__name__
            self.cause(requirements, could=could, **more)(evidence)
            return could

        return registered

    def likeliest(self, case: Any) -> Named | None:
        """The first cause with evidence, or None when nothing explains the symptom."""
        return next(self._named(case), None)

    def rivals(self, case: Any) -> tuple[str, ...]:
        """Fingerprints (`specs.model.Breach`) of the other causes with evidence, where the evidence is vague."""
        return tuple(f"{n.requirement} {n.kind}" for n in self._named(case))[1:] if self._vague else ()

    def _named(self, case: Any) -> Iterator[Named]:
        for cause in self.ranked:
            if (cause.where is not None and not cause.where(case)) or (
                cause.could is not None and not cause.could(case)
            ):
                continue
            found = cause.evidence(case)
            if not found:
                continue
            if isinstance(found, Named):
                yield found if found.kind else found._replace(kind=cause.evidence.__name__)
            elif name := picked(cause.requirements, cause.which, case):
                yield Named(name, found, cause.evidence.__name__, cause.also, **cause.options)

    def credits(self, case: Any) -> tuple[str, ...]:
        """Requirements that could have been blamed for the symptom, had it shown."""
        if self._turns_on is None:
            return self._given(case)
        value = self._turns_on(case)
        found = self._found.get(value)
        if found is None:
            found = self._found[value] = self._given(case)
        return found

    def _given(self, case: Any) -> tuple[str, ...]:
        held = self._always
        more: tuple[str, ...] = ()
        for where, asked in self._asked:
            if where is not None and not where(case):
                continue
            for bit, could, cause in asked:
                if could is not None and not could(case):
                    continue
                if bit:
                    held |= bit
                else:
                    name = picked(cause.requirements, cause.which, case)
                    more += (name, *cause.also) if name else ()
        known = self._sums.get(held)
        return (self._sum(held) if known is None else known) + more

    def _sum(self, held: int) -> tuple[str, ...]:
        causes = [cause for nth, cause in enumerate(self.ranked) if held >> nth & 1]
        found = self._sums[held] = tuple(name for cause in causes for name in (cause.requirements[0], *cause.also))
        return found

    def blamable(self) -> Iterator[str]:
        """Every requirement that some cause may name."""
        for cause in self.ranked:
            yield from cause.requirements
            yield from cause.also
            if cause.options["otherwise"]:
                yield cause.options["otherwise"].partition(" ")[0]


def picked(requirements: Sequence[str], which: Callable[[Any], str] | None, case: Any) -> str:
    """The requirement that a declaration is about in this case, or "". Raises ValueError for one that it did not
    declare: an error of the model."""
    if which is None:
        return requirements[0]
    name = which(case)
    if name and name not in requirements:
        raise ValueError(f"{name} is not among {', '.join(requirements)}")
    return name
