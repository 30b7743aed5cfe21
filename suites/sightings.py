"""What shows now and then: each sort of failure that was seen, how often, and how often it could have been.

A failure that playing a conversation again does not show may be one that comes once in a hundred times. It is not
looked for again and again: the hunt meets it as often as it comes. What it meets is counted here. A failure that was
seen in two conversations, each of which proves it by itself, is confirmed. A conversation proves it where no timing
explains it: it was held in lock-step, and what was missing did not come within the time after which a silence is
believed, while others were answered (`impls.driver.vigil`).

Why something was missing, or came, is another question, which needs a conversation that shows it each time. What is
missing now and then is named by the duty that was not met, what comes now and then by what it is in any case
(`specs.model.Breach.otherwise`), and neither after what happened to stand beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from impls.driver.vigil import Heard
from specs.model import Breach
from suites.pursuit import Fault

ENOUGH: Final = 2
"""So many conversations that prove it confirm a failure."""
KEPT: Final = 8
"""So many of them are kept."""
NOW_AND_THEN: Final = "now and then"
"""The sort of failure that this is, whatever was missing in the conversation that is shown."""
VIGILS: Final = 4
"""So many silences of one symptom are listened to at most, and as many of all at once."""


def symptom_of(breach: Breach) -> str:
    """What is the same failure, whatever is named as its cause: the duty that was not met, what is broken in any case,
    or the sort of failure."""
    return f"{home_of(breach)} is not met" if breach.duty else breach.otherwise or breach.fingerprint


def home_of(breach: Breach) -> str:
    """The requirement that is broken in any case."""
    home = breach.duty.partition(" ")[0]
    if not home:
        return breach.otherwise.partition(" ")[0] or breach.requirement
    return home if home in (breach.requirement, *breach.also) else breach.requirement


@dataclass(slots=True)
class Symptom:
    """`shown`: how often it was seen. `proofs` are conversations that prove it by themselves, as suspicions.

    So many of its silences are being listened to (`listening`), of those that were (`begun`, and `tolerated` where the
    text allows it once in a while); `late` and `lost` are what came of them. `rare`: playing a conversation again did
    not show it each time. `told`: it is reported, or explained."""

    home: str
    shown: int = 0
    proofs: list[Fault] = field(default_factory=list)
    listening: int = 0
    begun: int = 0
    tolerated: int = 0
    late: int = 0
    lost: int = 0
    rare: bool = False
    told: bool = False
    counted: tuple[int, int] | None = None
    """Its rate when it was told, where from then on less patience is given to it."""

    @property
    def confirmed(self) -> bool:
        """True for what can be reported, and has not been."""
        return self.rare and not self.told and len(self.proofs) >= ENOUGH


class Sightings:
    """Those of one hunt. `clocked`: with a real clock, so that something may be late. `crash` is broken by who ends,
    which may happen in any conversation."""

    def __init__(self, *, clocked: bool = True, crash: str = "") -> None:
        self._clocked, self._crash = clocked, crash
        self._conversations = 0
        self._symptoms: dict[str, Symptom] = {}
        self._kept: Counter[str] = Counter()

    def note(self, covered: Mapping[str, int], breaches: Iterable[Breach]) -> None:
        """Count a conversation: what it kept, and what it broke."""
        self._kept.update(covered)
        self._conversations += 1
        for breach in breaches:
            self.of(breach).shown += 1

    def of(self, breach: Breach) -> Symptom:
        """The symptom that a breach is."""
        return self._symptoms.setdefault(symptom_of(breach), Symptom(home_of(breach)))

    def all(self) -> list[Symptom]:
        """Every symptom that was seen."""
        return list(self._symptoms.values())

    def rate(self, symptom: Symptom) -> tuple[int, int]:
        """How often it was seen, and how often it could have been."""
        if symptom.home == self._crash:
            return symptom.shown, self._conversations
        return symptom.counted or (symptom.shown, symptom.shown + self._kept[symptom.home])

    def told(self, breach: Breach) -> None:
        """It is reported. What was owed is waited for with less patience from now on: what is late then would be
        counted with what is lost."""
        symptom = self.of(breach)
        symptom.told = True
        if self._clocked and breach.duty and symptom.counted is None:
            symptom.counted = self.rate(symptom)

    # -- silences ------------------------------------------------------------------------------------------------------

    def wants_to_listen(self, breach: Breach) -> bool:
        """True when the connections of a conversation that shows this are to be kept open. May be asked by any
        thread."""
        symptom = self._symptoms.get(symptom_of(breach))
        known = symptom is not None and (
            symptom.told or (symptom.tolerated >= 1 if breach.steady else symptom.begun >= VIGILS)
        )
        return not known and sum(each.listening for each in self.all()) < VIGILS

    def begin(self, breach: Breach) -> None:
        """A silence is listened to from now on."""
        symptom = self.of(breach)
        symptom.listening += 1
        symptom.tolerated += breach.steady
        symptom.begun += not breach.steady

    def heard(self, breach: Breach, heard: Heard) -> None:
        """What came of it."""
        symptom = self.of(breach)
        symptom.listening -= 1
        symptom.late += heard == "late"
        symptom.lost += heard == "nothing"

    @property
    def listening(self) -> bool:
        """True while a silence is listened to that nothing has explained."""
        return any(each.listening and each.rare and not each.told for each in self.all())
