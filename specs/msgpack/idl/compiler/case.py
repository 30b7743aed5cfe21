"""What the rules look at: one line of a processor, the question that it answers, and what the document means."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from specs.lazy import lazy
from specs.msgpack.idl import canon
from specs.msgpack.idl.compiler.machine import CompilerState
from specs.msgpack.idl.semantics import Reading, Stance, read
from specs.msgpack.idl.tokens import depth_of_comments
from specs.msgpack.idl.tree import Fault
from specs.msgpack.idl.uses import Use, uses_at, uses_of
from specs.msgpack.lines import Answer, Line, answer

GREATEST_DEPTH = 40
"""Comments within comments that must be read; what lies deeper is a matter of robustness."""
COMPARED = frozenset((
    "a type is used before it is declared", "a type of itself", "an exception as a type", "a nullable type argument",
    "a key that is no integer, text or raw", "the id 0", "modifiers of arguments", "gaps between arguments",
    "a default of what is required", "an id of more than 15 bits",
    "a function that another version has changed",
    "names that differ in case alone", "no default scope", "two versions of one service as two scopes",
    "a word of the language as a name", "a base is used before it is declared", "an application before its services",
    "an exception is used before it is declared", "one name for things of different kinds",
    "a fraction below zero", "a key by an alias", "two foreign types for one target",
    "several exceptions behind throws", "an alias of a nullable type", "null as the default of a raw or a message",
    "arguments in another order than that of their ids", "an interface in two versions",
))  # fmt: skip
"""Freedoms to refuse that leave no doubt about the tree of whoever does not."""


@lru_cache(maxsize=64)
def reading_of(octets: bytes, profile: str, stance: Stance) -> Reading:
    """What a document means; the same one is often asked about more than once."""
    return read(octets.decode("utf-8", "replace"), extensions_of(profile), stance)


@lru_cache(maxsize=64)
def _uses(octets: bytes, profile: str, stance: Stance) -> frozenset[Use]:
    return uses_of(octets.decode("utf-8", "replace"), reading_of(octets, profile, stance))


def extensions_of(profile: str) -> frozenset[str]:
    """What stands behind `core` in a profile."""
    return frozenset(profile.split("+")[1:])


class Case:
    """One event of a processor. What only some rules ask for is worked out when it is asked for."""

    profile = ""
    left = ()
    about: Any = None

    def __init__(self, state: CompilerState, line: Line | None = None, what: str = "") -> None:
        self.state, self.phase = state, state.phase
        self.line, self.what = line, what
        self.during = ""
        self.said = Answer()
        if state.asked:
            self.about = self.ask = state.asked[0]
            if line is not None:
                self.said = answer(self.ask, line)
                self.during = self._kind()

    def _kind(self) -> str:
        """What sort of question it is that was answered."""
        if self.ask.op != "parse":
            return "no question"
        return "hostile document" if self.ask.want == "free" or self.reading.deep else "document"

    @property
    def shown(self) -> str:
        """The question, for people."""
        text = self.ask.octets[:120].decode("utf-8", "backslashreplace")
        return f"{self.ask.op} of {text!r}{'…' if len(self.ask.octets) > 120 else ''}"

    # -- the document --------------------------------------------------------------------------------------------------

    @lazy
    def stance(self) -> Stance:
        """What the processor declares."""
        return Stance(self.state.config.forward_refs, self.state.config.id_zero)

    @lazy
    def reading(self) -> Reading:
        """What the document means."""
        return reading_of(self.ask.octets, self.ask.type, self.stance)

    @lazy
    def uses(self) -> frozenset[Use]:
        """What the document makes use of."""
        return _uses(self.ask.octets, self.ask.type, self.stance)

    @lazy
    def suspected(self) -> frozenset[Use]:
        """What a refusal may be about: what the definitions make use of that its errors of meaning point at. Whoever
        refuses a document for its meaning has read it. All that is used where they point at nothing."""
        errors = self.said.value["errors"] if isinstance(self.said.value, dict) else ()
        if not isinstance(errors, list) or any(not isinstance(e, dict) or e.get("kind") != "semantic" for e in errors):
            return self.uses
        named = [line for each in errors if (line := canon.integer(each.get("line"))) is not None]
        return uses_at(self.ask.octets.decode("utf-8", "replace"), self.reading, named) or self.uses

    @lazy
    def fault(self) -> Fault | None:
        """The fault for which the document must be refused, or else should be: the first of them."""
        faults = self.reading.faults
        return next((fault for fault in faults if fault.level is None), faults[0] if faults else None)

    @lazy
    def must_be_taken(self) -> bool:
        """True for a document that every processor reads."""
        if self.reading.faults or self.reading.freedoms:
            return False
        return depth_of_comments(self.ask.octets.decode("utf-8", "replace")) <= GREATEST_DEPTH

    @lazy
    def lacks_a_default(self) -> bool:
        """True for a document of which nothing is open but that an application has no default scope."""
        return not self.reading.faults and set(self.reading.freedoms) == {"no default scope"}

    @property
    def declares_of_defaults(self) -> str:
        """What the processor declares to do with an application that has no default scope."""
        return self.state.config.declares("missing_default")

    # -- the answer ----------------------------------------------------------------------------------------------------

    @lazy
    def formed(self) -> bool:
        """True when the answer is a tree, or an object of errors."""
        return not self.said.bad and (not self.said.error or isinstance(self.said.value, dict))

    @property
    def refused(self) -> bool:
        """True when the document was refused."""
        return self.said.error

    @lazy
    def tree(self) -> Any:
        """The tree; None when there is none."""
        return None if self.said.error or not self.formed else self.said.value["ast"]

    @lazy
    def comparable(self) -> bool:
        """True when the document was taken, and there is one tree that it has."""
        return not self.refused and not self.reading.faults and set(self.reading.freedoms) <= COMPARED

    @lazy
    def difference(self) -> canon.Difference | None:
        """In what the tree is another; None when it is not, or cannot be compared."""
        return canon.difference(canon.to_json(self.reading), self.tree) if self.comparable else None

    @lazy
    def before(self) -> tuple[Any, ...]:
        """The tree that the same document had before, or None for a refusal; () when it is new."""
        for profile, octets, tree in self.state.answered:
            if (profile, octets) == (self.ask.type, self.ask.octets):
                return (tree,)
        return ()


def equal(one: Any, other: Any) -> bool:
    """True when two trees are the same but for the order of what has none."""
    if (one is None) != (other is None):
        return False
    return json.dumps(_settled(one), sort_keys=True) == json.dumps(_settled(other), sort_keys=True)


def _settled(tree: Any, key: str = "") -> Any:
    """A tree without what means nothing in it: the order of everything but definitions and type arguments."""
    if isinstance(tree, dict):
        return {name: _settled(part, name) for name, part in tree.items()}
    if not isinstance(tree, list):
        return tree
    parts = [_settled(part) for part in tree]
    return parts if key in ("definitions", "of") else sorted(parts, key=lambda part: json.dumps(part, sort_keys=True))
