"""The only place that says what KCL MultiLang allows. It does not know which role is watched.

Turn-based: it takes what the tester said as read, and `specs.lag.Lagged` makes it sound where that is not so. Each
event becomes an action of the machine and is judged by the rulebook of whoever did it. What the played role does wrong
on purpose is not judged: child/misuse.py and host/hearing.py say what the watched role may be in behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.kcl.child import duties as child_duties
from specs.kcl.child import effects, forms_observed, misuse
from specs.kcl.child import forms as child_forms
from specs.kcl.child.book import BOOK as CHILD
from specs.kcl.child.case import Case as ChildCase
from specs.kcl.child.case import ended
from specs.kcl.frames import Message, Text
from specs.kcl.host import duties as host_duties
from specs.kcl.host import forms as host_forms
from specs.kcl.host import forms_calls, hearing
from specs.kcl.host.book import BOOK as HOST
from specs.kcl.host.case import Case as HostCase
from specs.kcl.machine import ASKING, DEAF, ENDING, MACHINE, OVER, READY, WORKING
from specs.kcl.scripts import observed
from specs.kcl.states import ACTIONS, Config, Conv, Misuse, Oddity, Seen, State
from specs.model import ANYTHING, Allow, Breach, Outcome

DECLARED = (child_forms, forms_observed, child_duties, host_forms, forms_calls, host_duties)
"""Modules that are read for the rules that they declare."""
FORBIDDING = tuple(frozenset(phase for phase, _, _ in MACHINE.forbids(role)) for role in ("child", "host"))
"""Phases in which a judged child, or host, is forbidden something."""
PAUSE_MS = 20
"""A silence that counts as one."""


class KclModel:
    """See `specs.model.Model`."""

    def initial(self, config: Config) -> State:
        """Nothing said."""
        return State(config)

    def owed(self, state: State, role: str) -> Iterator[str]:
        """Requirements by which `role` still has something to say or do."""
        if role != _watched(state.config):
            return iter(())
        book = HOST if role == "host" else CHILD
        return (mark for _, conv in state.convs for mark in book.owed(conv))

    def step(self, state: State, event: Event) -> Sequence[Outcome]:
        """Every reading of `event`."""
        if isinstance(event, Quiet):
            return (_silent(state) if event.final else _paused(state, event.ms),)
        conv = state.conv(event.conn)
        mine = event.by == _watched(state.config)
        return [_placed(state, event.conn, conv, o, mine=mine) for o in _outcomes(state.config, conv, event)]


def _watched(config: Config) -> str:
    return "host" if config.asked else "child"


def _placed(state: State, number: int, before: Conv, outcome: Outcome, *, mine: bool) -> Outcome:
    """The outcome for one conversation as that for all; with the phases that were left since the judged role acted."""
    if isinstance(outcome, Allow):
        conv = outcome.state
        if not isinstance(conv, Conv):
            return outcome
        moved = conv.phase is not before.phase
        if mine:
            conv = conv._replace(since=()) if conv.since else conv
            if moved and before.phase in FORBIDDING[not state.config.asked]:
                conv = conv._replace(since_other=(*conv.since_other, before.phase))
        else:
            conv = conv._replace(since_other=()) if conv.since_other else conv
            if moved and before.phase in FORBIDDING[state.config.asked]:
                conv = conv._replace(since=(*conv.since, before.phase))
        return Allow(state.put(number, conv), outcome.covers, outcome.lapses, outcome.leans)
    then, behind = outcome.then, outcome.behind
    return replace(
        outcome,
        then=state.put(number, then) if isinstance(then, Conv) else then,
        behind=state.put(number, behind) if isinstance(behind, Conv) else behind,
    )


# -- silence -----------------------------------------------------------------------------------------------------------


def _paused(state: State, ms: int) -> Outcome:
    for number, conv in state.convs:
        if conv.phase in (WORKING, DEAF) and ms >= PAUSE_MS:
            state = state.put(number, conv._replace(waited_ms=conv.waited_ms + ms))
    return Allow(state)


def _silent(state: State) -> Outcome:
    """Nothing more will come."""
    for number, conv in state.convs:
        if state.config.asked:
            found = HOST.at_silence(conv, HostCase(state.config, conv, "silence", None))
        else:
            found = CHILD.at_silence(conv, ChildCase(state.config, conv, "silence", None))
        if isinstance(found, Breach):
            return _placed(state, number, conv, found, mine=True)
        if found is not None:
            state = state.put(number, conv._replace(stuck="nothing came"))
    return Allow(state)


# -- what was said and seen --------------------------------------------------------------------------------------------


def _outcomes(config: Config, conv: Conv, event: Any) -> Iterator[Outcome]:
    if conv.phase is OVER or (conv.phase is DEAF and event.by == "host" and not isinstance(event, Fact)):
        yield Allow(conv)  # there is nobody, or no way to it
    elif config.asked and isinstance(event, (Said, Fact)) and _waits(conv, event):
        yield Allow(conv._replace(unread=(*conv.unread, event)))
    elif event.by == "child":
        yield from _of_child(config, conv, event)
    elif config.asked:
        for outcome in _of_host(config, conv, event):
            yield from _read_on(config, outcome)
    else:
        yield from _of_played_host(config, conv, event)


def _waits(conv: Conv, event: Said | Fact) -> bool:
    """True for what cannot be judged before the open request is answered: what the child wrote behind it, and what the
    host says of that, since what it says beside the wire overtakes what it says there."""
    if conv.phase is not ASKING:
        return False
    if isinstance(event, Said):
        return event.by == "child"
    if event.by != "host" or not conv.unread:
        return False
    return event.name in ("failed", "exit") or (event.name == "answer" and event.value.get("op") != "checkpointer")


def _read_on(config: Config, outcome: Outcome) -> Iterator[Outcome]:
    """With an answer a host goes on to what the child wrote behind its request."""
    conv = outcome.state if isinstance(outcome, Allow) else None
    if not isinstance(conv, Conv) or not conv.unread or conv.phase is ASKING:
        yield outcome
        return
    assert isinstance(outcome, Allow)
    event, *rest = conv.unread
    conv = conv._replace(unread=tuple(rest))
    if isinstance(event, Said):
        found_all: Iterator[Outcome] = hearing.lines(config, conv, event.frame, soon=True)
    else:
        found_all = _outcomes(config, conv, event)
    for found in found_all:
        if isinstance(found, Allow):
            covers, lapses = (*outcome.covers, *found.covers), (*outcome.lapses, *found.lapses)
            yield from _read_on(config, Allow(found.state, covers, lapses, (*outcome.leans, *found.leans)))
        else:
            yield found


# -- a child -----------------------------------------------------------------------------------------------------------


def _of_child(config: Config, conv: Conv, event: Any) -> Iterator[Outcome]:
    if isinstance(event, Said):
        if config.asked:
            yield from hearing.lines(config, conv, event.frame)
        else:
            conv = conv._replace(partial=False) if conv.partial else conv
            yield from _heard(config, conv, event.frame)
    elif isinstance(event, Noise):
        yield CHILD.judge(ChildCase(config, conv, "talks", event.data), "talks")
    elif isinstance(event, Closed):
        yield Allow(conv._replace(muted=True))
    else:
        yield from _done_to_host(conv, event) if config.asked else _noticed(config, conv, event)


def _heard(config: Config, conv: Conv, frame: Message | Text) -> Iterator[Outcome]:
    """What a judged child wrote; and once more as if user code had not needed all that it asks for."""
    outcome = _line_of_child(config, conv, frame)
    yield _next_taken_up(config, outcome) if conv.later else outcome
    if isinstance(frame, Message) and frame.action in ("status", "checkpoint"):
        for other in _from_memory(config, conv, None):
            outcome = _line_of_child(config, other, frame)
            if isinstance(outcome, Allow):
                outcome = replace(outcome, leans=(*outcome.leans, "K-51"))
                yield _next_taken_up(config, outcome) if conv.later else outcome


def _line_of_child(config: Config, conv: Conv, frame: Message | Text) -> Outcome:
    """A message, or what a user may print: a host skips what is no message of a child (K-14)."""
    if isinstance(frame, Text):
        return Allow(conv if frame.why == "blank" else _talked(config, conv, frame.data))
    if frame.action in ("status", "checkpoint"):
        return CHILD.judge(ChildCase(config, conv, frame.action, frame.members), frame.action)
    return Allow(_talked(config, conv, frame.action.encode("utf-8", "replace")))


def _from_memory(config: Config, conv: Conv, told: Seen | None) -> Iterator[Conv]:
    """Where user code asks next for a number that was granted before, a library may know the answer (K-51): as if user
    code had been given it, once or more often. `told`: the observation that says so now; without one it is to come."""
    told_later = (Seen("checkpoint"),) if config.noted and told is None else ()
    while conv.phase is WORKING and not conv.loose and conv.steps and conv.made.place(conv.steps[0]) >= 0:
        conv = conv._replace(steps=conv.steps[1:], due=(*conv.due, *told_later))
        yield conv
        if told is not None:
            break


def _talked(config: Config, conv: Conv, data: bytes) -> Conv:
    found: Conv = effects.talked(ChildCase(config, conv, "talks", data))
    return found


def _noticed(config: Config, conv: Conv, event: Fact) -> Iterator[Outcome]:
    """What is seen of a judged child beside the wire; and once more where it may be what its library knew."""
    yield _seen_of_child(config, conv, event)
    value = event.value
    if event.name == "observed" and config.noted and isinstance(value, Mapping) and value.get("call") == "checkpoint":
        told = observed(value)
        for other in _from_memory(config, conv, told) if told.value is None and not conv.due else ():
            yield Allow(other, leans=("K-51",))


def _seen_of_child(config: Config, conv: Conv, event: Fact) -> Outcome:
    """What is seen of a judged child beside the wire."""
    name, value = event.name, event.value
    if name == "observed":
        if not config.noted or not isinstance(value, Mapping) or not isinstance(value.get("call"), str):
            return Allow(conv)
        return CHILD.judge(ChildCase(config, conv, "observed", observed(value)), "observed")
    if name == "exit":
        return _exits(config, conv, value)
    if name == "stderr":
        return Allow(conv._replace(words=True, unshown=False))
    return Allow(conv._replace(partial=True) if name == "octets" else conv)


def _exits(config: Config, conv: Conv, code: Any) -> Outcome:
    """The process has ended; everything that it wrote to either stream was read before."""
    case = ChildCase(config, conv, "exits", code)
    outcome = CHILD.judge(case, "exits")
    if isinstance(outcome, Breach) or outcome.state is ANYTHING:
        return outcome
    how = "" if conv.phase in (DEAF, ENDING) or conv.stuck else f"{ended(code)} instead"
    return CHILD.at_end(case, "exits", how) or outcome


def _done_to_host(conv: Conv, event: Fact) -> Iterator[Outcome]:
    """What the tester does as the child, or as the caller, of a judged host."""
    name, value = event.name, event.value
    if name in ("exit", "kill"):
        yield Allow(hearing.ends(conv))
    elif name == "call" and hearing.is_untimely(conv, value):
        yield Allow(ANYTHING)
    elif name in ("call", "start", "checkpointer"):
        yield Allow(hearing.asks(conv, name, value))
        if name == "call" and conv.stray in hearing.PASSED_OVER:
            yield Allow(hearing.asks(conv._replace(stray=None), name, value), leans=("K-49",))
    elif name == "octets":
        yield Allow(conv._replace(partial=True))
    else:
        yield Allow(hearing.odd(conv, Oddity.STDERR) if name == "stderr" else conv)


# -- a host ------------------------------------------------------------------------------------------------------------


def _action(frame: Message | Text) -> str:
    """Which action of the machine a line is."""
    if isinstance(frame, Text):
        return "text"
    if frame.action in ("initialize", "checkpoint"):
        return "answer" if frame.action == "checkpoint" else "initialize"
    return "action" if frame.action in ACTIONS else "text"


def _of_played_host(config: Config, conv: Conv, event: Any) -> Iterator[Outcome]:
    """The tester, as the host of a judged child. What it does wrong it does on purpose."""
    if isinstance(event, Closed):
        yield HOST.judge(HostCase(config, conv, "closes", None), "closes")
    elif isinstance(event, Said):
        conv = conv._replace(partial=False) if conv.partial else conv
        if conv.stuck:  # the host goes on: that settles why nothing came
            yield CHILD.missed(next(CHILD.open(conv)), ChildCase(config, conv, "silence", None))
            return
        action = _action(event.frame)
        outcome = HOST.judge(HostCase(config, conv, action, event.frame), action)
        if config.hasty and action == "action":
            yield _sent_ahead(config, conv, event.frame, outcome)
            return
        if isinstance(outcome, Breach):
            yield replace(outcome, then=misuse.behind(config, conv, event.frame))
        elif isinstance(outcome.state, Conv) and not outcome.lapses:
            yield outcome
        else:
            yield replace(outcome, state=misuse.behind(config, conv, event.frame))
    elif isinstance(event, Noise):
        yield HOST.judge(HostCase(config, conv, "endless", event.data), "endless")
    else:
        yield Allow(conv)


def _sent_ahead(config: Config, conv: Conv, frame: Any, outcome: Outcome) -> Outcome:
    """An action that was sent without waiting: a child that reads by line comes to it once the open one is done."""
    if isinstance(outcome, Breach):
        waits = conv.phase is WORKING and not conv.loose
        later = conv._replace(later=(*conv.later, frame), misuse=Misuse.TOO_SOON)
        return replace(outcome, then=later if waits else misuse.behind(config, conv, frame))
    if isinstance(outcome.state, Conv) and not outcome.lapses:
        return replace(outcome, state=outcome.state._replace(misuse=Misuse.TOO_SOON))
    return replace(outcome, state=misuse.behind(config, conv, frame))


def _next_taken_up(config: Config, outcome: Outcome) -> Outcome:
    """With a status a child goes on to what was sent ahead."""
    conv = outcome.state if isinstance(outcome, Allow) else None
    if not isinstance(conv, Conv) or conv.phase is not READY or not conv.later:
        return outcome
    frame, *rest = conv.later
    conv = conv._replace(later=())
    found = _sent_ahead(config, conv, frame, HOST.judge(HostCase(config, conv, "action", frame), "action"))
    after = found.state if isinstance(found, Allow) else found.then
    return replace(outcome, state=after._replace(later=tuple(rest)))


def _of_host(config: Config, conv: Conv, event: Any) -> Iterator[Outcome]:
    """A judged host."""
    if isinstance(event, Fact):
        yield _seen_of_host(config, conv, event)
        return
    if isinstance(event, Said):
        if conv.failed and isinstance(event.frame, Message):
            yield Allow(conv)  # it was said that the host gave up; what it wrote before may come after that
            return
        action, what = _action(event.frame), event.frame
    else:
        action, what = ("closes", None) if isinstance(event, Closed) else ("endless", event.data)
    yield HOST.judge(HostCase(config, conv, action, what), action)


def _seen_of_host(config: Config, conv: Conv, event: Fact) -> Outcome:
    """What is seen of a judged host beside the wire."""
    name, value = event.name, event.value
    if name == "octets":
        return Allow(conv._replace(unended=True))
    action = {"connected": "starts", "failed": "fails", "exit": "quits", "checkpoint": "tries"}.get(name, "")
    if name == "answer" and isinstance(value, Mapping):
        op, error = value.get("op"), value.get("error")
        if op == "checkpointer" and conv.settings:
            return Allow(conv._replace(settings=conv.settings - 1))
        if not op or (conv.failed and not (conv.failing and error is None)):
            over = isinstance(conv.call, Mapping) and conv.call.get("op") == op
            return Allow(conv._replace(call=None, sent=False) if over else conv)  # K-42: it is over, however it ended
        if error == "unsupported":
            return Allow(ANYTHING)  # what it does not claim is not judged
        action = "done" if error is None or op == "start" else "fails"
    if not action or (name == "checkpoint" and not isinstance(value, Mapping)):
        return Allow(conv)
    return HOST.judge(HostCase(config, conv, action, value), action)
