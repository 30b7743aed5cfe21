"""What was blamed, and what becomes of it: who is suspected is looked into, and reported, explained, or told as open.

With lanes that goes on beside the hunt; without, the hunt stands still for it, for a part of its time. What there was
no time for is settled when the hunt is over.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from impls.driver.drive import Recording, Setting
from impls.driver.harness import again
from impls.driver.pipes import PipeTransport
from impls.driver.vigil import Heard
from specs.events import Quiet
from specs.model import Blame
from specs.plan import Plan
from strategies.common import Program
from suites.deadline import Deadline
from suites.deaths import Deaths, said, way
from suites.lanes import Lanes
from suites.now_and_then import NowAndThen
from suites.pursuit import HEALS, NO_TIME, Fault, Investigated, Property, breach_of
from suites.vigils import silent

if TYPE_CHECKING:
    from suites.hunt import Hunter

INVESTIGATIONS = 3
"""How often one symptom is investigated: several faults may show the same one."""
FACES = 9
"""How many more times, where it was only another face of what is known."""
STRAGGLING_S = 0.3
"""How long what is done beside the hunt may take to notice that the time is up."""
SETTLING_S, BELIEVING_S = 2.0, 8.0
"""What it takes to confirm a suspicion, and one that rests on a silence, which has to be waited for once more."""
LONGEST_MS = 4_000.0
"""Up to which patience a hunt learns that an implementation is slow."""
SHORTER = 0.7
"""A silence that is shorter than this part of the hunt's patience was waited for before that was doubled."""
Key = tuple[str, str, str]
"""A requirement, the level at which it is blamed, and the sort of failure where more than one is asked for."""
Sort = tuple[str, str, str, bool]
"""The same, and whether it rests on a silence: what does not is settled while the silence is still waited for."""


class Investigate(Protocol):
    """What finds out what is behind a blame; see `suites.investigate`. `silent`: it was blamed after a final silence;
    `until`: when it has to be over."""

    def __call__(
        self, hunter: Hunter, prop: Property, program: Program, name: str, after_s: float, silent: bool, until: Deadline
    ) -> Investigated:
        """What the investigation came to."""


class Suspects:
    """Those of one hunt. What is found changes the hunter's setting and its `faults`, and `report` gets it."""

    def __init__(
        self,
        hunter: Hunter,
        investigate: Investigate,
        report: Callable[[Fault], None],
        lanes: Lanes | None,
        looking_s: float,
        counted: Callable[[Fault], None] = lambda fault: None,
    ) -> None:
        self.spent_s = 0.0
        """How long the hunt has stood still for investigations."""
        self.aside: set[str] = set()
        """Requirements of faults that are known, which writers of plans avoid."""
        self.unasked: frozenset[str] = frozenset()
        """Duties that are known never to be met, and what is known to bring the implementation down: plans do without
        what they are about."""
        self.unwritten: frozenset[str] = frozenset()
        """Requirements by which a way of writing octets must not matter, and matters each time: plans do without it."""
        self.investigate = investigate
        self._hunter, self._report = hunter, report
        self._lanes, self._looking_s = lanes, looking_s
        self._deaths = Deaths()
        self._now_and_then = NowAndThen(hunter, self._keep, counted)
        self._looked: Counter[Key] = Counter()
        self._faces: Counter[Key] = Counter()
        self._pending: dict[Sort, Fault] = {}
        self._later: list[tuple[Fault, Sort, Callable[..., Investigated]]] = []
        self._begun: set[Sort] = set()
        """Those of them for which the time that they were given was not enough."""
        self._presumed: Mapping[Sort, frozenset[str]] = {}
        self._doubtful: dict[Key, tuple[Property, Program, Fault]] = {}
        self._slow = False
        """True once the hunt has learnt that the implementation needs more patience than was measured."""
        self.started = time.monotonic()

    def take(
        self, prop: Property, program: Program, plan: Plan, recording: Recording, seen: tuple[str, str, Blame]
    ) -> None:
        """Something was blamed: look into it, unless as much is known already."""
        name, level, blame = seen
        died = name == self._hunter.setting.protocol.crash
        if died:
            self._deaths.saw(recording, self._hunter.setting)
        if died or not silent(recording, blame):
            self._now_and_then.proved(self.suspicion(prop, program, plan, recording, seen), blame, hurry=prop.hurry)
        key = self._key(name, level, blame.breach.kind, recording)
        hunter = self._hunter
        wanted = hunter.wanted(name, level, kind=key[2]) or hunter.widens(blame.breach, level)
        wanted = wanted or self._goes_down_otherwise(name, recording)
        if not wanted or self._looked[key] >= INVESTIGATIONS:
            return
        suspicion = self.suspicion(prop, program, plan, recording, seen)
        presumed = frozenset[str]().union(*self._presumed.values())
        known = {mark for each in recording.judgement.known for mark in (each.breach.fingerprint, each.breach.duty)}
        if presumed & known and not died:  # that it has ended is no matter of what was said on the wire
            self._doubtful.setdefault(key, (prop, program, suspicion))  # it may come of what is only presumed
        else:
            self.look(prop, program, suspicion)

    def _key(self, name: str, level: str, kind: str, recording: Recording) -> Key:
        """What investigations are counted by: each way to go down by itself, once one is known."""
        if self._deaths and name == self._hunter.setting.protocol.crash:
            return name, level, " ".join(way(recording, self._hunter.setting))
        return name, level, kind if self._hunter.several(name) or name in self._hunter.failing else ""

    def know(self, fault: Fault) -> None:
        """Take what the baseline knows and this run has seen again, as if it had been found and investigated here."""
        if self._hunter.wanted(fault.requirement, fault.level, fault.verdict, fault.kind):
            self._keep(fault)

    def _keep(self, fault: Fault) -> None:
        self._hunter.keep(fault)
        if not fault.unsettled:
            self.aside |= {fault.requirement, *fault.also}
            self._set_aside(fault)
        self._report(fault)

    def look(self, prop: Property, program: Program, suspicion: Fault) -> None:
        """Investigate a suspicion, and report the fault that is behind it, if there is one."""
        name, silent = suspicion.requirement, _waited(suspicion.recording)
        sort = self._key(name, suspicion.level, suspicion.kind, suspicion.recording)
        key = (*sort, silent)
        if silent:
            self._hunter.hushed.ask()
        if key in self._pending:
            self._presume(key, suspicion)
            return
        self._looked[sort] += 1
        before = time.monotonic()
        whole = self._hunter.ground.deadline

        def work(until: Deadline = whole) -> Investigated:
            with again(self._hunter.setting.transport, suspicion.recording.kept):
                return look(until)

        def look(until: Deadline) -> Investigated:
            if self._explained(suspicion) or self._was_slow(suspicion):
                return Investigated(None, explained=True)
            if self._now_and_then.is_it(suspicion, self.certain, until):
                return Investigated(None, explained=True)
            until = self._now_and_then.unless_told(suspicion, until)
            return self.investigate(self._hunter, prop, program, name, before - self.started, silent, until)

        if self._lanes is not None:
            self._pending[key] = suspicion
            # what only misses a recommendation takes no more than one of the few processes from the hunt
            few = isinstance(self._hunter.setting.transport, PipeTransport)
            if few and suspicion.level != "MUST" and self._lanes.busy:
                self._later.append((suspicion, key, work))
            else:
                self._beside_the_hunt(suspicion, key, work)
            return
        found, part = Investigated(None, NO_TIME), whole.within(max(1.0, self._looking_s / 2))
        if self._looking_s > 0:
            found = work(part)
        took = time.monotonic() - before
        self.spent_s += took
        self._looking_s -= took
        cut_short = part.over() and found.fault is not None and found.fault.verdict == "inconclusive"
        if cut_short or (found.unsettled == NO_TIME and found.fault is None):
            self._pending[key] = suspicion
            self._later.append((suspicion, key, work))
            if part.over():
                self._begun.add(key)
        else:
            self._found(suspicion, found, key)

    def _beside_the_hunt(self, suspicion: Fault, key: Sort, work: Callable[[], Investigated]) -> None:
        assert self._lanes is not None
        self._lanes.submit(work, lambda found: self._found(suspicion, found, key))

    def _explained(self, suspicion: Fault) -> bool:
        """True when what has been found since then is all that its conversation shows."""
        certain = self.certain
        if certain.set_aside == suspicion.set_aside:
            return False
        recording = self._hunter.play(suspicion.plan, certain)
        return bool(recording.judgement.known) and not self._hunter.blamed(recording)

    def _was_slow(self, suspicion: Fault) -> bool:
        """True for a silence that was shorter than what the hunt has learnt to wait for since then, where the
        conversation, given that patience, shows nothing: what gets lost now and then is seen again by the hunt."""
        if not self._hasty(suspicion):
            return False
        certain = self.certain
        recording = self._hunter.play(suspicion.plan, certain)
        return not self._hunter.blamed(recording) and not recording.refused

    def _hasty(self, suspicion: Fault) -> bool:
        """True when it was blamed after a shorter silence than the hunt has learnt to wait for."""
        waited_ms = _waited_ms(suspicion.recording)
        return self._slow and 0 < waited_ms < self._hunter.setting.patience_ms * SHORTER

    def looks_into(self, name: str) -> bool:
        """True while a requirement is suspected and that is not settled. May be asked by any thread."""
        return any(key[0] == name for key in list(self._pending))

    # -- when the hunt is over -----------------------------------------------------------------------------------------

    def settling_s(self) -> float:
        """Seconds to keep for what is suspected, where the hunt stands still for it: to confirm that is worth more than
        to hunt on. Of silences, each of which has to be waited for, there is time for one; what was begun and not ended
        is known to take long."""
        if self._lanes is not None:
            return 0.0
        grave = {key: _waited(each.recording) for key, each in self._pending.items() if each.level == "MUST"}
        at_once = [key for key, waited in grave.items() if not waited]
        begun = len(self._begun.intersection(at_once))
        return SETTLING_S * (len(at_once) - begun) + BELIEVING_S * (begun + any(grave.values()))

    def settle(self) -> None:
        """Look into those for which there was no time, the gravest and those that need not be waited for first, and of
        these in the end those that have shown to take long."""
        later, self._later = self._later, []
        deadline = self._hunter.ground.deadline
        later.sort(key=lambda each: (each[0].level != "MUST", _waited(each[0].recording), each[1] in self._begun))
        for nth, (suspicion, key, work) in enumerate(later):
            if self._lanes is not None:
                self._beside_the_hunt(suspicion, key, work)
            elif not deadline.over():
                part = deadline.within(max(BELIEVING_S, deadline.left() / (len(later) - nth)))
                self._found(suspicion, work(part), key)
            self._hunter.progress()

    def give_up(self) -> None:
        """End what goes on beside the hunt, and tell what was not settled."""
        until = time.monotonic() + STRAGGLING_S
        while self._pending and self._lanes is not None and (left := until - time.monotonic()) > 0:
            self._lanes.wait(left)
            self._lanes.collect()
        if not self._hunter.failing:  # else it may be what is known by another name
            open_ = (each for each in self._hunter.found if each.unsettled not in ("", HEALS))
            self._now_and_then.confirm([*self._pending.values(), *open_])
        for suspicion in self._pending.values():
            self._suspect(replace(self._now_and_then.at_home(suspicion), unsettled=NO_TIME))
        self._pending.clear()
        self._now_and_then.give_up(self._suspect)

    # -- what came of it -----------------------------------------------------------------------------------------------

    def _found(self, suspicion: Fault, found: Investigated, key: Sort) -> None:
        """Take what an investigation came to."""
        hunter, fault = self._hunter, found.fault
        self._pending.pop(key, None)
        suspicion = self._now_and_then.noted(suspicion, found)
        cut = found.unsettled == NO_TIME and not hunter.ground.deadline.over()
        if (found.explained or cut) and (faces := self._faces[key[:3]]) < FACES:
            self._faces[key[:3]], self._looked[key[:3]] = faces + 1, self._looked[key[:3]] - 1
        presumed = self._presumed.get(key, frozenset())
        # in this order: who looks into something else at this moment must not take for known what is not
        hunter.setting = replace(hunter.setting, set_aside=hunter.setting.set_aside - presumed)
        self._presumed = {other: names for other, names in self._presumed.items() if other != key}
        if fault is not None and (
            hunter.wanted(fault.requirement, fault.level, fault.verdict, fault.kind) or hunter.adds(fault)
        ):
            self._keep(fault)
        elif fault is not None and self._goes_down_otherwise(fault.requirement, fault.recording):
            self._another_way(fault)
        if found.unsettled:
            self._suspect(replace(suspicion, unsettled=found.unsettled))
        waited = _waited(suspicion.recording) and not self._hasty(suspicion)
        if fault is None and waited and not self._now_and_then.may_be_lost(suspicion):
            self._wait_longer()
        if presumed:
            self._go_on_behind(holds=fault is not None and not fault.unsettled)

    def _wait_longer(self) -> None:
        """It was only slow: what is taken for a fault and is none ends every conversation before it is judged."""
        if self._hunter.faults:
            return
        setting = self._hunter.setting
        patience = min(max(LONGEST_MS, setting.patience_ms), 2 * setting.patience_ms)
        self._slow = True
        self._hunter.setting = replace(setting, patience_ms=patience)

    def _suspect(self, suspicion: Fault) -> None:
        """What was blamed and could not be confirmed under its own name is no pass."""
        if suspicion.requirement not in self._hunter.faults:
            self._hunter.keep(suspicion)
            self._report(suspicion)

    def listened(
        self, prop: Property, program: Program, plan: Plan, recording: Recording, seen: tuple[str, str, Blame],
        heard: Heard,
    ) -> None:  # fmt: skip
        """A silence was listened to for longer: what was missing came late, or not at all."""
        if heard == "late":
            self._wait_longer()
        if heard == "nothing":
            suspicion = self.suspicion(prop, program, plan, recording, seen)
            self._now_and_then.lost(suspicion, seen[2], hurry=prop.hurry)

    def stood_still(self, seconds: float) -> None:
        """The hunt has waited for so long."""
        self.spent_s += seconds
        self._looking_s -= seconds

    # -- what is known, or presumed ------------------------------------------------------------------------------------

    @property
    def deadly(self) -> frozenset[str]:
        """What was said last when the implementation ended, as long as nobody knows what it ends of: a hunt that said
        it again each time would do nothing but start it again."""
        crash = self._hunter.setting.protocol.crash
        return self._deaths.seen if any(key[0] == crash for key in self._pending) else frozenset()

    @property
    def certain(self) -> Setting:
        """The setting of the hunt without what is set aside only while it is looked into."""
        presumed, setting = frozenset[str]().union(*self._presumed.values()), self._hunter.setting
        return replace(setting, set_aside=setting.set_aside - presumed)

    def _set_aside(self, fault: Fault) -> None:
        """From now on judging goes on behind this fault, and does not wait for what never comes."""
        if fault.verdict == "fail":
            breach = breach_of(fault)
            if breach is not None and not fault.features:
                self._hunter.sightings.told(breach)
            setting = self._hunter.setting
            steady = fault.reproduced == fault.tried
            octets = {each.requirement for each in setting.protocol.features if each.octets}
            if steady and fault.requirement in octets:
                self.unwritten |= {fault.requirement}
                if fault.features:
                    return  # what it was blamed on at first is another matter
            self._hunter.setting = replace(setting, set_aside=setting.set_aside | _names(fault))
            if steady:
                self.unasked |= _names(fault)
                if fault.requirement == setting.protocol.crash:
                    self._note_way(fault)

    def _goes_down_otherwise(self, name: str, recording: Recording) -> bool:
        """True when an implementation that one kind of frame always brings down went down with another one, or in
        another manner."""
        setting = self._hunter.setting
        return name == setting.protocol.crash and self._deaths.otherwise(recording, setting)

    def _another_way(self, fault: Fault) -> None:
        """Report one more way to bring the implementation down, if it does so each time and has nothing of another."""
        if self._deaths.distinct(fault, self._hunter.setting, self._hunter.survived):
            self._note_way(fault)
            self._hunter.keep(fault := replace(fault, nth=len(self._deaths)))
            self._report(fault)

    def _note_way(self, fault: Fault) -> None:
        self._deaths.note(fault, self._hunter.setting)
        self.unasked |= frozenset(said(fault.recording, self._hunter.setting)[-1:])

    def _presume(self, key: Sort, suspicion: Fault) -> None:
        """Set a silence aside while it is looked into, since it has come again: a hunt that waited for it each time
        would judge nothing else."""
        setting = self._hunter.setting
        names = _names(suspicion) - setting.set_aside
        if self._lanes is not None and key not in self._presumed and names and _waited(suspicion.recording):
            self._presumed = {**self._presumed, key: names}
            self._hunter.setting = replace(setting, set_aside=setting.set_aside | names)

    def _go_on_behind(self, *, holds: bool) -> None:
        """What was blamed behind something presumed is looked into where that holds, and forgotten where it does not:
        a conversation in which something was late shows nothing of what lies behind."""
        doubtful, self._doubtful = self._doubtful, {}
        for key, (prop, program, suspicion) in doubtful.items() if holds else ():
            if self._hunter.wanted(key[0], key[1], kind=key[2]) and self._looked[key] < INVESTIGATIONS:
                self.look(prop, program, suspicion)

    def suspicion(
        self, prop: Property, program: Program, plan: Plan, recording: Recording, seen: tuple[str, str, Blame]
    ) -> Fault:
        """What was blamed once, as a fault that is not settled."""
        name, level, blame = seen
        return Fault(
            requirement=name,
            level=level,
            also=(),
            why=blame.breach.why,
            expected=self._hunter.binding[name].statement,
            property=prop.name,
            program=program,
            plan=plan,
            recording=recording,
            deciding=blame.at,
            reproduced=1,
            tried=1,
            steady=blame.breach.steady,
            features=(),
            found_after_s=time.monotonic() - self.started,
            shrink_s=0.0,
            verdict="inconclusive",
            kind=blame.breach.kind,
            sort=blame.breach.fingerprint,
            rivals=blame.breach.rivals,
            behind=tuple(known.breach.requirement for known in recording.judgement.known),
            set_aside=self._hunter.setting.set_aside,
        )


def _names(fault: Fault) -> frozenset[str]:
    """What a fault is set aside by; nothing where judging cannot go on behind it."""
    breach = breach_of(fault)
    if breach is None or breach.behind is None:
        return frozenset()
    return frozenset({breach.fingerprint, breach.duty} - {""})


def _waited_ms(recording: Recording) -> float:
    """How long the longest silence was in which all the patience had run out, in ms; 0 where none did."""
    return max((event.ms for event in recording.events if isinstance(event, Quiet) and event.final), default=0)


def _waited(recording: Recording) -> bool:
    """True when all the patience had run out."""
    return _waited_ms(recording) > 0
