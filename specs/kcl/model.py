"""The only place that says what KCL MultiLang allows. It does not know which role is watched.

Turn-based: it takes what the tester said as read, and `specs.lag.Lagged` makes it sound where that is not so. Each
event goes to the module of whoever did it: child.py, host.py, and asked.py for what is seen of a judged host beside the
wire.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.kcl import asked, child, host
from specs.kcl.child import breach
from specs.kcl.frames import Message
from specs.kcl.states import Config, Conv, Phase, State
from specs.model import ANYTHING, Allow, Breach, Outcome


class KclModel:
    """See `specs.model.Model`."""

    drifts = False

    def initial(self, config: Config) -> State:
        """Nothing said."""
        return State(config)

    def drift(self, state: State) -> Iterator[State]:
        """None: neither side does anything in silence that the other could see."""
        return iter(())

    def owed(self, state: State, role: str) -> Iterator[str]:
        """Requirements by which `role` still has something to say or do."""
        if role == "child":
            return iter([name for _, conv in state.convs for name in child.owed(conv)])
        if state.config.asked:
            return iter([name for _, conv in state.convs for name in asked.owed(conv)])
        return iter(())

    def step(self, state: State, event: Event) -> Sequence[Outcome]:
        """Every reading of `event`."""
        if isinstance(event, Quiet):
            return (self._quiet(state, event),)
        conv = state.conv(event.conn)
        outcomes = _outcomes(state.config, conv, event)
        if state.config.asked:  # what follows a breach is said for children: a judged host is not judged beyond it
            outcomes = [replace(o, then=ANYTHING) if isinstance(o, Breach) and o.by == "host" else o for o in outcomes]
        return [_placed(state, event.conn, outcome) for outcome in outcomes]

    def _quiet(self, state: State, event: Quiet) -> Outcome:
        if not event.final:
            for number, conv in state.convs:
                if state.config.asked and conv.phase in (Phase.WORKING, Phase.DEAF) and event.ms >= 20:
                    state = state.put(number, conv._replace(waited_ms=conv.waited_ms + event.ms))
            return Allow(state)
        covers: tuple[str, ...] = ()
        for number, conv in state.convs:
            found = asked.silence(conv) if state.config.asked else child.silence(conv)
            if isinstance(found, Breach):
                return found
            if found is not None:
                state = state.put(number, found.state)
        return Allow(state, covers)


def _placed(state: State, number: int, outcome: Outcome) -> Outcome:
    if isinstance(outcome, Allow):
        if not isinstance(outcome.state, Conv):
            return outcome
        return Allow(state.put(number, outcome.state), outcome.covers, outcome.lapses)
    return replace(outcome, then=state.put(number, outcome.then)) if isinstance(outcome.then, Conv) else outcome


def _outcomes(config: Config, conv: Conv, event: Said | Noise | Closed | Fact) -> Iterable[Outcome]:
    if isinstance(event, (Said, Fact)) and config.asked and asked.waits(conv, event):
        return (Allow(conv._replace(unread=(*conv.unread, event))),)
    if isinstance(event, Said):
        if config.asked and event.by == "child":
            return asked.line(config, conv, event.frame)
        return _read_on(config, _said(config, conv, event))
    if isinstance(event, Noise):
        why = f"a line has no end: {event.data[:80]!r}"
        return (breach("FRAME-03" if event.by == "child" else "FRAME-04", why, by=event.by),)
    if isinstance(event, Closed):
        return (host.closes(config, conv) if event.by == "host" else _muted(conv),)
    return (_fact_of_child(config, conv, event) if event.by == "child" else _fact_of_host(config, conv, event),)


def _read_on(config: Config, outcome: Outcome) -> Iterator[Outcome]:
    """With an answer a host goes on to what the child wrote behind its request."""
    conv = outcome.state if isinstance(outcome, Allow) else None
    if not isinstance(conv, Conv) or not conv.unread or conv.phase is Phase.ASKING:
        yield outcome
        return
    assert isinstance(outcome, Allow)
    event, *rest = conv.unread
    for found in _outcomes(config, conv._replace(unread=tuple(rest)), event):
        if isinstance(found, Allow):
            yield from _read_on(
                config, Allow(found.state, (*outcome.covers, *found.covers), (*outcome.lapses, *found.lapses))
            )
        elif found.by == "child" and isinstance(found.then, Conv):
            yield from _read_on(config, Allow(found.then, outcome.covers, outcome.lapses))
        else:
            yield found


def _said(config: Config, conv: Conv, event: Said) -> Outcome:
    frame = event.frame
    whole = conv._replace(partial=False) if conv.partial and not config.asked else conv
    if event.by == "host":
        return host.said(config, whole, frame) if isinstance(frame, Message) else host.text(config, whole, frame)
    if not isinstance(frame, Message):
        return child.text(whole, frame)
    if frame.action == "status":
        return child.status(config, whole, frame)
    if frame.action == "checkpoint":
        return child.checkpoint(config, whole, frame)
    return child.other(whole, frame)


def _muted(conv: Conv) -> Outcome:
    return Allow(conv._replace(muted=True))


def _fact_of_child(config: Config, conv: Conv, event: Fact) -> Outcome:
    """The process of a judged child, or what the tester does as one."""
    name, value = event.name, event.value
    if config.asked:
        if name in ("exit", "kill"):
            return asked.ends(conv)
        if name in ("call", "start", "checkpointer"):
            return asked.asks(conv, name, value)
        if name == "octets":
            return Allow(conv._replace(partial=True))
        return Allow(conv._replace(junk=(*conv.junk, "PROC-10")) if name == "stderr" else conv)
    if name == "observed":
        return child.observation(conv, value) if config.noted else Allow(conv)
    if name == "exit":
        return child.exits(conv, value)
    if name == "stderr":
        return Allow(conv._replace(words=True))
    if name == "octets":
        return Allow(conv._replace(partial=True))
    return Allow(conv)


def _fact_of_host(config: Config, conv: Conv, event: Fact) -> Outcome:
    name, value = event.name, event.value
    if not config.asked:
        return Allow(conv)
    if name == "answer" and isinstance(value, Mapping):
        return asked.answers(conv, value)
    if name == "checkpoint" and isinstance(value, Mapping):
        return asked.tries(config, conv, value)
    if name == "failed":
        return asked.fails(conv, value)
    if name == "exit":
        return asked.gone(conv, value)
    if name == "connected":
        return asked.connects(conv)
    if name == "octets":
        return Allow(conv._replace(partial=True))
    return Allow(conv)
