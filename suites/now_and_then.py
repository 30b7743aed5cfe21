"""What comes and goes: it is reported when the hunt has seen it often enough, with how often that was.

Playing its conversation again does not show it each time, so no investigation has to wait for it. Two conversations,
each of which proves it by itself, confirm it; how often it was seen is counted in `suites.sightings`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from impls.driver.drive import Setting
from specs.model import Blame
from suites.deadline import Deadline, Unless
from suites.pursuit import NO_TIME, NOT_AGAIN, Fault, Investigated, breach_of
from suites.sightings import ENOUGH, KEPT, NOW_AND_THEN, Symptom, home_of, symptom_of
from suites.vigils import late

if TYPE_CHECKING:
    from suites.hunt import Hunter

ALWAYS: Final = 5
"""So many times in a row a conversation has to show what is known to come and go, to be looked into for another
reason."""
LOST: Final = "it was missing for good in one conversation, and in no repetition"


class NowAndThen:
    """That of one hunt. `keep` gets what is confirmed, `counted` how often each such fault was met in the end."""

    def __init__(self, hunter: Hunter, keep: Callable[[Fault], None], counted: Callable[[Fault], None]) -> None:
        self._hunter, self._keep, self._counted = hunter, keep, counted
        self._lost: dict[str, Fault] = {}

    def _symptom(self, suspicion: Fault) -> Symptom | None:
        breach = breach_of(suspicion)
        return self._hunter.sightings.of(breach) if breach is not None else None

    # -- before and behind an investigation ----------------------------------------------------------------------------

    def is_it(self, suspicion: Fault, certain: Setting, until: Deadline) -> bool:
        """True when it is what is known to come and go, and its conversation does not show it each time. Where that
        could not be found out, since the time is up, it is looked into, and that comes to nothing."""
        breach, sightings = breach_of(suspicion), self._hunter.sightings
        if breach is None or not sightings.of(breach).rare:
            return False
        symptom = symptom_of(breach)
        for _ in range(ALWAYS):
            recording = self._hunter.play(suspicion.plan, certain, until)
            if until.over():
                return False
            if all(symptom_of(blame.breach) != symptom for blame in recording.judgement.faults):
                return True
        return False

    def unless_told(self, suspicion: Fault, until: Deadline) -> Deadline:
        """A deadline that is over when it becomes known that what is suspected comes and goes, and has been told."""
        symptom = self._symptom(suspicion)
        if symptom is None or symptom.told:
            return until
        return Unless(until, lambda: symptom.rare and symptom.told)

    def noted(self, suspicion: Fault, found: Investigated) -> Fault:
        """Note whether what was suspected comes and goes; and the suspicion, which is then about the duty that was not
        met, and not about what stood beside it."""
        fault, symptom = found.fault, self._symptom(suspicion)
        if symptom is None or suspicion.requirement == self._hunter.setting.protocol.crash:
            return suspicion
        if fault is not None and fault.reproduced < fault.tried and not fault.features:
            symptom.rare = True
        vanished = fault is None and not found.explained and found.unsettled in ("", NOT_AGAIN)
        if vanished:
            symptom.rare = True
            self._tell_confirmed()
        return self.at_home(suspicion) if vanished or found.unsettled == NO_TIME else suspicion

    def at_home(self, suspicion: Fault) -> Fault:
        """The suspicion, about the requirement that is broken in any case where it is known to come and go."""
        symptom, binding = self._symptom(suspicion), self._hunter.binding
        if symptom is None or not symptom.rare or symptom.home not in binding:
            return suspicion
        return _at_home(suspicion, symptom.home, binding[symptom.home].level)

    def may_be_lost(self, suspicion: Fault) -> bool:
        """True when what was silent for a moment may be silent for good: that is being found out, or is known."""
        symptom = self._symptom(suspicion)
        return symptom is not None and (symptom.listening > 0 or symptom.lost > symptom.late)

    # -- conversations that show it ------------------------------------------------------------------------------------

    def proved(self, suspicion: Fault, blame: Blame, *, hurry: bool) -> None:
        """Keep a conversation that proves what it shows by itself: no timing explains it, and no other fault."""
        breach, hunter, recording = blame.breach, self._hunter, suspicion.recording
        symptom = hunter.sightings.of(breach)
        # that it has ended is seen beside the wire, whatever was said there before
        died = suspicion.requirement == hunter.setting.protocol.crash
        doubtful = not died and (hurry or bool(recording.judgement.known))
        if doubtful or late(recording, blame) or breach.steady:
            return
        if symptom.home in hunter.binding and not symptom.told and len(symptom.proofs) < KEPT:
            symptom.proofs.append(_at_home(suspicion, symptom.home, hunter.binding[symptom.home].level))
            self._tell_confirmed()

    def lost(self, suspicion: Fault, blame: Blame, *, hurry: bool) -> None:
        """A silence was listened to for longer, and what was missing did not come at all."""
        home = home_of(blame.breach)
        if home in self._hunter.binding:
            missing = _at_home(suspicion, home, self._hunter.binding[home].level)
            self._lost.setdefault(symptom_of(blame.breach), replace(missing, unsettled=LOST))
            self.proved(suspicion, blame, hurry=hurry)

    # -- telling -------------------------------------------------------------------------------------------------------

    def confirm(self, suspicions: Iterable[Fault]) -> None:
        """These could not be settled. What two conversations prove by themselves is reported all the same: of several,
        what was proved most often, since the others may come of it."""
        open_ = [symptom for each in suspicions if (symptom := self._symptom(each)) is not None]
        proved = [each for each in open_ if not (each.told or each.late) and len(each.proofs) >= ENOUGH]
        if proved:
            max(proved, key=lambda each: (len(each.proofs), each.shown)).rare = True
            self._tell_confirmed()

    def _tell_confirmed(self) -> None:
        """Report what was seen often enough, and was not there when its conversations were played again."""
        hunter = self._hunter
        for symptom in hunter.sightings.all():
            if not symptom.confirmed:
                continue
            symptom.told = True
            graver = sorted(symptom.proofs, key=lambda each: each.level != "MUST")
            level = graver[ENOUGH - 1].level  # so many prove that it is as grave as that
            shortest = min(
                (each for each in symptom.proofs if each.level in (level, "MUST")),
                key=lambda each: len(each.plan.steps),
            )
            shown, chances = hunter.sightings.rate(symptom)
            fault = replace(
                shortest, level=level, verdict="fail", reproduced=shown, tried=chances, shown=shown, chances=chances
            )
            if hunter.wanted(fault.requirement, fault.level, fault.verdict, fault.kind):
                self._keep(fault)

    def give_up(self, suspect: Callable[[Fault], None]) -> None:
        """The hunt is over: tell what was lost and not confirmed, that the implementation ends now and then where
        nothing was found that ends it, and how often the hunt has met each."""
        for suspicion in self._lost.values():
            suspect(suspicion)
        self._lost.clear()
        for symptom in self._hunter.sightings.all():
            symptom.rare |= symptom.home == self._hunter.setting.protocol.crash
        self._tell_confirmed()
        self._count()

    def _count(self) -> None:
        """Note of all that comes and goes how often the hunt has met it."""
        hunter = self._hunter
        for fault in hunter.found:
            symptom = self._symptom(fault)
            if symptom is None or fault.features:
                continue
            each_time = fault.reproduced == fault.tried and not fault.unsettled
            if symptom.rare and symptom.home == fault.requirement and not each_time:
                shown, chances = hunter.sightings.rate(symptom)
                self._counted(replace(fault, shown=shown, chances=chances))


def _at_home(suspicion: Fault, home: str, level: str) -> Fault:
    """A suspicion about the requirement that is broken in any case."""
    breach = breach_of(suspicion)
    if breach is None or not (breach.duty or breach.otherwise):
        return suspicion
    if breach.duty:
        return replace(suspicion, requirement=home, level=breach.level or level, kind=NOW_AND_THEN)
    return replace(suspicion, requirement=home, kind=breach.otherwise.partition(" ")[2] or breach.kind)
