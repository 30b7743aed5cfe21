"""From a failing plan to a fault that can be reported: confirm, shrink, explain, repeat.

The order matters. A silence is confirmed with long patience first, because a slow implementation is not a faulty one.
Then the program is shrunk within a budget of time and attempts. What remains in the shortest plan is needed for the
fault: a way of writing frames that must not matter, if it is still there, is what is wrong. At last the plan is
repeated and reported as k of n.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from impls.driver.drive import Setting
from impls.driver.link import MemoryTransport
from specs.plan import Plan
from strategies.common import Program, simpler
from suites.case import AGAIN, REPEATS, REPEATS_S, SEVERAL, Case, Proof, Seen, is_silent, kind_of, silences, turns
from suites.deadline import Deadline, TimeUp
from suites.hunt import Hunter, Investigated, Property
from suites.pursuit import HEALS, NO_TIME, NOT_AGAIN, Fault, breach_of
from suites.shrinking import Attempts, heard_out, plainer, rested, until_decided
from suites.sightings import home_of
from suites.vigils import BELIEVED_MS

CONFIRM_MS = BELIEVED_MS
BRISK_MS, BRISK = 5_000.0, 5.0
"""The same in a run that has no time for more, with an implementation whose patience is so many times less: that is 30
times the slowest of its answers."""
SPARE = 0.5
"""The part of what is left of a run that one silence may take, where less is enough."""
AGAIN_MS = 2_000.0
"""Silence that is enough in a repetition of what was silent for CONFIRM_MS: who is blamed wrongly
would have answered later than that each time, and never at all the first time."""
LEAST_S = 5.0
"""Seconds for looking once more for a failure that did not repeat, when the time for all investigations is used up."""
HASTE, HASTY_S = 2.5, 0.7
"""With less time than so many silences take, a silence is confirmed before it is shrunk for longer than the second."""
LEAST = 30
"""Plans that are tried for a shorter one however long they take, until a quarter of the time left is used up."""
QUICK_MS = 60.0
"""Least patience while shrinking: a wrong step is noticed when the result is confirmed."""


@dataclass
class Investigator:
    """Callable as `Hunter` wants it.

    `shrink_s` and `attempts` bound the shrinking of one fault, `total_s` that of all of them, `repeats_s` what is
    repeated for one: an implementation with many faults must not keep its maker waiting for hours.
    """

    shrink_s: float = 5.0
    attempts: int = 600
    confirm_ms: float = CONFIRM_MS
    total_s: float = 120.0
    repeats_s: float = REPEATS_S

    @staticmethod
    def of_budget(budget_s: float) -> Investigator:
        """One that takes no more for a fault than what becomes a run with this budget."""
        return Investigator(
            shrink_s=min(5.0, max(0.5, budget_s / 10)),
            confirm_ms=min(CONFIRM_MS, max(BRISK_MS, budget_s * 500)),
            total_s=max(60.0, budget_s),
            repeats_s=min(REPEATS_S, max(LEAST_S, budget_s / 4)),
        )

    def __call__(
        self, hunter: Hunter, prop: Property, program: Program, name: str, after_s: float, silent: bool = False,
        until: Deadline | None = None,
    ) -> Investigated:  # fmt: skip
        """The fault behind `name`; none when it was only slowness, or could not be confirmed (see `Investigated`).
        `silent`: it was blamed after a final silence; `until`: what is not known by then is not settled. What has been
        confirmed by then is reported as it is, however long its plan."""
        case = Case(hunter, prop, name, setting=hunter.suspects.certain, until=until or Deadline())
        try:
            came = self._looked_into(case, program, after_s, silent)
            slow = came.fault is None and not came.unsettled and not came.explained
            return (self._in_time(case, program, after_s) if slow else None) or came
        except TimeUp:
            found = case.proof.fault
            # where what is known shows in the same way, nobody knows yet that this is another fault
            known = found is not None and not hunter.sorts.isdisjoint(_rivals(found))
            return Investigated(None, NO_TIME) if found is None or known else Investigated(found)

    def _looked_into(self, case: Case, program: Program, after_s: float, silent: bool) -> Investigated:
        begun, name, hunter = time.monotonic(), case.name, case.hunter
        first = case.plan(program)
        seen = case.again(first, hears_out=not silent)
        asking = replace(case, asks=True)
        if seen is None and asking.plan(program) != first:
            case, first = asking, asking.plan(program)
            seen = case.again(first, hears_out=not silent)
        if seen is None:
            share = min(self.repeats_s, max(LEAST_S, self.total_s / 4))
            found = case.vanished(program, first, self._patient(case), after_s, begun, share)
            self.total_s -= time.monotonic() - begun
            # a silence that does not come again was slowness
            return Investigated(found, "" if found is not None or silent else NOT_AGAIN)
        if self._spoilt(case, seen):
            spoilt = case.spoilt(program, after_s, begun)
            return Investigated(spoilt, f"it may be what {spoilt.requirement} is about" if spoilt is not None else "")
        rivals = seen[2].breach.rivals
        case = case.renamed(seen)
        apart = case.apart_from_writing(first, seen)
        if apart is None:
            self.total_s -= time.monotonic() - begun
            return Investigated(None, explained=True)
        case, first, seen = apart
        # a way of writing without which it shows as well is not to blame, and one that is known explains it
        cleared = {way.requirement for way in case.bare} - {case.called}
        if case.called != name and not hunter.wanted(case.called, case.level):
            self.total_s -= time.monotonic() - begun
            return self._another_face(case, explained=case.way is not None or name in cleared)
        if not is_silent(seen):
            case.proof.fault = case.told(program, first, seen, 2, after_s, begun, tried=1 + case.proof.tried)
            first, seen = self._until_decided(case, program, first, seen)
        hasty = silent and self._hasty(case)
        spare_s = self._spare_s(case) if hasty else min(self.shrink_s, max(0.5, self.total_s / 4))
        short, shown_as = self._shortest(case, program, first, kind_of(seen[2]), spare_s) if spare_s else (first, case)
        self.total_s -= time.monotonic() - begun
        if shown_as.called != name and not hunter.wanted(shown_as.called, shown_as.level):
            return self._another_face(shown_as, explained=name in cleared or not hunter.sorts.isdisjoint(rivals))
        plans = ((short, shown_as), (first, case)) if short != first else ((first, case),)
        for plan, suspect in plans:
            # what is as it was seen a moment ago need not be seen once more before it is waited for
            shown = self._confirmed(suspect, plan, seen if len(plans) == 1 and is_silent(seen) else None, hasty=hasty)
            if shown is not None:
                plan, confirmed, had = shown  # noqa: PLW2901 - it may have been shown with rests
                suspect.proof.fault = suspect.told(
                    program, plan, confirmed, 2, after_s, begun, tried=1 + suspect.proof.tried
                )
                # what counts only if it is always so must not rest on answers that were slow
                setting = self._patient(suspect, AGAIN_MS) if confirmed[2].breach.steady else None
                if hasty and (home := self._may_be(suspect, confirmed)):
                    return Investigated(None, f"it may be {home}, which shows in the same way")
                if known := suspect.known_otherwise(program, plan, confirmed):
                    guess = bool(confirmed[2].breach.otherwise)
                    why = "" if guess else f"it may be {known}, which shows in the same way"
                    return Investigated(None, why, explained=guess)
                shows = [*had, *self._repeated(suspect, plan, setting, REPEATS - 1 if not had else 0)]
                plan, confirmed, shows = self._heard(suspect, plan, confirmed, shows)  # noqa: PLW2901 - or a moment later
                count = 1 + sum(_is_about(confirmed, each) for each in shows)
                fault = suspect.fault(program, plan, confirmed, count, after_s, begun, tried=1 + len(shows))
                fault = suspect.ends_anyway(fault, program, after_s, begun) or fault
                # of what comes and goes its name was only a guess
                guess = fault.requirement == home_of(confirmed[2].breach) or fault.fingerprint() in rivals
                same = guess or name in (fault.requirement, *fault.also) or name in cleared
                doubt = "" if same else f"it may be {fault.requirement}, which shows in the same way"
                return Investigated(fault, doubt, explained=name in cleared)
        if (found := case.proof.fault) is not None:  # it needs no waiting, and has come twice
            again = replace(found, tried=found.tried + AGAIN, shrink_s=time.monotonic() - begun)
            return Investigated(case.in_any_case(again))
        return Investigated(None, HEALS if case.healed or shown_as.healed else "")  # else it answered, given time

    def _in_time(self, case: Case, program: Program, after_s: float) -> Investigated | None:
        """What an implementation breaks that answers late, or gives up after a while: with the patience in which its
        silence was no fault, the same conversation may show another one."""
        if case.proof.in_time is None:
            return None
        plan, recording = case.proof.in_time
        hunter, begun = case.hunter, time.monotonic()
        blamed = [each for each in hunter.blamed(recording) if hunter.wanted(each[0], each[1])]
        if not blamed:
            return None
        name, level, blame = blamed[0]
        patient = self._patient(case)
        other = replace(case, name=name, level=level, way=None, proof=Proof(), setting=replace(patient, until=None))
        seen = (recording, level, blame, name)
        told = replace(other.told(program, plan, seen, 1, after_s, begun, tried=1), verdict="inconclusive")
        try:
            shown = self._confirmed(other, plan)
            if shown is None:
                return Investigated(replace(told, unsettled=NOT_AGAIN))
            plan, confirmed, had = shown
            shows = [*had, *self._repeated(other, plan, None, SEVERAL - 1 if not had else 0)]
            count = 1 + sum(_is_about(confirmed, each) for each in shows)
            return Investigated(other.fault(program, plan, confirmed, count, after_s, begun, tried=1 + len(shows)))
        except TimeUp:
            return Investigated(replace(told, unsettled=NO_TIME))

    def _another_face(self, case: Case, *, explained: bool) -> Investigated:
        """It shows what is known already. `explained`: what was blamed at first is out of the question."""
        why = "" if explained else f"it may be {case.called}, which shows in the same way"
        return Investigated(None, why, explained=explained)

    def _hasty(self, case: Case) -> bool:
        """True when waiting for one silence to be believed takes so much of the time left that shrinking must be let
        go."""
        real = not isinstance(case.setting.transport, MemoryTransport)
        return real and case.until.left() < HASTE * self._patient(case).patience_ms / 1000

    def _may_be(self, case: Case, seen: Seen) -> str:
        """The duty that is not met, where that is known, or looked into, by another conversation: a plan that was not
        shrunk to its end may have been named after what stands in it by chance."""
        home, suspects = home_of(seen[2].breach), case.hunter.suspects
        return home if home != case.called and (home in case.hunter.failing or suspects.looks_into(home)) else ""

    def _spare_s(self, case: Case) -> float:
        """Seconds of haste that can be spared for a shorter plan, of what the silence to be believed leaves."""
        return HASTY_S if case.until.left() > self._patient(case).patience_ms / 1000 + 3 * HASTY_S else 0.0

    def _repeated(self, case: Case, plan: Plan, setting: Setting | None, times: int) -> Iterator[Seen | None]:
        """What each of so many repetitions shows, as many as there is time for. None is needed: the fault is confirmed
        by now."""
        with suppress(TimeUp):
            for _ in turns(times, self.repeats_s):
                yield case.shown(plan, setting)

    def _heard(
        self, case: Case, plan: Plan, seen: Seen, shows: list[Seen | None]
    ) -> tuple[Plan, Seen, list[Seen | None]]:
        """A plan, what it shows and what its repetitions show; or the same with a moment behind its last step, where
        that shows each time what the plan alone does not: what nobody waits for may be said when a plan is over."""
        heard = heard_out(plan, int(case.setting.patience_ms))
        if None not in shows or is_silent(seen) or heard == plan:
            return plan, seen, shows
        again = [one for one in self._repeated(case, heard, None, REPEATS) if one is not None]
        return (plan, seen, shows) if len(again) < REPEATS else (heard, again[0], [*again[1:]])

    def _spoilt(self, case: Case, seen: Seen) -> bool:
        """True when even the simplest session fails in this way by now, which it did not before the hunt: then an
        earlier conversation is the cause, and nothing in this one."""
        if getattr(case.setting.transport, "own", False):
            return False  # each conversation has a program of its own
        if not case.hunter.sound or case.setting.protocol.crash not in case.hunter.binding:
            return False
        smoke, kind = case.hunter.smoke(), kind_of(seen[2])
        if smoke is None or case.shown(smoke, kind=kind) is None:
            return False
        # who is busy with an earlier conversation answers in the end
        patient = self._patient(case) if is_silent(seen) else None
        return all(case.shown(smoke, patient if turn == 0 else None, kind) is not None for turn in range(REPEATS - 1))

    def _confirmed(
        self, case: Case, plan: Plan, seen: Seen | None = None, *, hasty: bool = False
    ) -> tuple[Plan, Seen, list[Seen | None]] | None:
        """`plan` and what it shows, and what repetitions of it that went on meanwhile have shown.

        A silence counts only if it holds with long patience, and without what is left to do of connections that were
        given up, in earlier conversations or in this one: who serves one after the other is busy with those first, and
        what is left of a subscription may take a message. Where there is time for one silence only, both are tried at
        once, and the plan is the one with rests; silences that come before it are not waited for again; and what counts
        only if it is always there is repeated at the same time, not behind it.
        """
        seen = seen or case.again(plan) or case.again(plan, hears_out=True)
        if seen is None or not is_silent(seen):
            return None if seen is None else (plan, seen, [])
        patient, smoke, calm = self._patient(case), case.hunter.smoke(), rested(plan)
        if smoke is not None and not case.hunter.beside:  # who holds several at once is not busy with others
            case.play(smoke, patient)
        meanwhile = SEVERAL - 1 if hasty and case.hunter.beside and seen[2].breach.steady else 0
        again = self._patient(case, AGAIN_MS)
        if hasty:
            patient = replace(patient, passing=silences(seen) - 1, passing_ms=case.setting.patience_ms)
        if hasty and calm != plan:
            seen, had = case.shown_beside(calm, patient, again, meanwhile)
            if seen is not None:
                return calm, _waited_out(seen, patient), had
        seen, had = case.shown_beside(plan, patient, again, meanwhile)
        if seen is not None:
            _waited_out(seen, patient)
        if seen is None or calm == plan:
            return None if seen is None else (plan, seen, had)
        # turn by turn, as in `differs`: what comes and goes is not forgiven because a rest happened to stand before it
        case.healed = all(
            case.play(calm, patient).judgement.verdict == "pass" and case.shown(plan) is not None for _ in range(2)
        )
        return None if case.healed else (plan, seen, had)

    def _patient(self, case: Case, most_ms: float = CONFIRM_MS) -> Setting:
        """The setting of the run with the patience in which a silence is believed, or `most_ms` if that is less. A plan
        is over when it has shown what it is played for: each further silence would take as long."""
        setting = case.setting
        # near the end of a run what is enough in a shorter one is
        spare_ms = max(BRISK_MS, SPARE * 1000 * case.until.left())
        enough_ms = min(CONFIRM_MS, max(min(self.confirm_ms, spare_ms), BRISK * setting.patience_ms))
        patience_ms = max(min(enough_ms, most_ms), setting.patience_ms)
        return replace(setting, patience_ms=patience_ms, until=case.blames)

    def _shortest(self, case: Case, program: Program, plan: Plan, kind: str, spare_s: float) -> tuple[Plan, Case]:
        """A plan (and what it is a case of) that still fails and cannot be made simpler, or the budget's best.

        Programs are made simpler first: the same requirement must be blamed, then the same kind of failure is enough,
        because what a plan is blamed for may be no more than something that happened to stand beside the cause. Then
        the plan itself: no program may say it without what is left out. Once it shows without a known fault before it,
        only such plans will do: they prove that it has nothing to do with that one.
        """
        until, setting = time.monotonic() + spare_s, case.setting
        # as in `_patient`, a plan is over when it has shown what it is played for
        quick = replace(setting, patience_ms=max(QUICK_MS, setting.patience_ms / 4), until=case.blames)
        if case.prop.hurry:
            calm = replace(case, prop=case.prop.unhurried())
            if calm.failing(program, quick) is not None:
                case, plan = calm, calm.plan(program)
        least = 0 if spare_s == HASTY_S else LEAST
        left = Attempts(self.attempts, until, least, time.monotonic() + case.until.left() / 4)
        program, plan = self._beginning(case, program, plan, quick, left)
        for any_name in (False, True):
            while True:
                likeness = kind if any_name else ""
                candidates = left.of(simpler(program))
                found = case.simplest(((each, case.plan(each)) for each in candidates), quick, likeness)
                if found is None:
                    break
                (program, plan), seen = found
                case, kind = case.renamed(seen), kind_of(seen[2])
                case.shorter(program, plan, seen)
        until = max(until, time.monotonic() + spare_s / 2)
        return self._plainest(case, program, plan, kind, quick, replace(left, left=self.attempts // 2, until=until))

    def _until_decided(self, case: Case, program: Program, plan: Plan, seen: Seen) -> tuple[Plan, Seen]:
        """The plan without what comes behind the event that decided, and what it shows, if it shows it."""
        cut = until_decided(plan, seen[0], seen[2].at, case.setting.role)
        if cut == plan or (again := case.shown(cut)) is None:
            return plan, seen
        case.shorter(program, cut, again)
        return cut, again

    def _beginning(
        self, case: Case, program: Program, plan: Plan, quick: Setting, left: Attempts
    ) -> tuple[Program, Plan]:
        """The program, and its plan, without the ops behind those that show the fault. Where a plan was cut behind what
        decided, they are the ops that say so much; of a silence nobody knows, and halving finds them in a few attempts,
        since what is missing stays missing."""
        least, shows = 0, len(program.ops)
        decided = len(plan.steps) if case.proof.fault is not None else 0
        while least + 1 < shows:
            middle = (least + shows) // 2
            shorter = Program(program.head, program.ops[:middle])
            said = case.plan(shorter)
            if len(said.steps) < decided:
                least = middle
                continue
            if decided and middle - least > 1:  # which ops say so much is known without playing them
                shows = middle
                continue
            found = case.simplest(left.of([(shorter, said)]), quick, "")
            if found is None:
                least = middle
                continue
            (program, plan), seen = found
            shows = middle
            case.shorter(program, plan, seen)
        return program, plan

    def _plainest(
        self, case: Case, program: Program, plan: Plan, kind: str, quick: Setting, left: Attempts
    ) -> tuple[Plan, Case]:
        """`plan` without the features, connections and steps that the fault does not need."""
        while True:
            candidates = left.of(plainer(plan, case.setting.protocol.features))
            found = case.simplest(((None, candidate) for candidate in candidates), quick, kind)
            if found is None:
                return plan, case
            (_, plan), seen = found
            case, kind = case.renamed(seen), kind_of(seen[2])
            case.shorter(program, plan, seen)


def _waited_out(seen: Seen, setting: Setting) -> Seen:
    """What a plan shows, where that rests on a silence that all the patience was given to, or on none that was cut
    short. Raises TimeUp."""
    if setting.passing and silences(seen) <= setting.passing:
        raise TimeUp
    return seen


def _is_about(seen: Seen, other: Seen | None) -> bool:
    """True when a repetition shows it of the same thing."""
    return other is not None and other[2].breach.about == seen[2].breach.about


def _rivals(fault: Fault) -> tuple[str, ...]:
    """The fingerprints of what else can be the reason for what a fault was found by."""
    breach = breach_of(fault)
    return breach.rivals if breach is not None else ()
