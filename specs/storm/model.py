"""The only place that says what Storm multilang allows. It does not know which role is watched.

It is an envelope: what was said is held until it is answered, whenever that is, so it is as sound with messages on
their way as it is in lock-step. Each event goes to the module of whoever did it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.storm.child import host_messages
from specs.storm.child import judging as of_children
from specs.storm.host import child_messages
from specs.storm.host import judging as of_hosts
from specs.storm.states import Config, Conv, HostConv, Owing, State


class StormModel:
    """See `specs.model.Model`."""

    def initial(self, config: Config) -> State:
        """Nothing said."""
        return State(config)

    def owed(self, state: State, role: str) -> Iterator[str]:
        """Requirements by which `role` still has something to say or do."""
        config = state.config
        if role != config.role:
            return
        for _, conv in state.convs:
            yield from of_hosts.owed(config, conv) if config.hosted else of_children.owed(config, conv)

    def step(self, state: State, event: Event) -> Iterator[Outcome]:
        """Every reading of `event`."""
        if isinstance(event, Quiet):
            yield _quiet(state, event)
            return
        conv = state.conv(event.conn)
        if not state.config.hosted:
            for outcome in _of_child(state.config, conv, event):
                yield _placed(state, event.conn, outcome)
            return
        for outcome in _of_host(state.config, conv, event):
            yield _placed(state, event.conn, outcome)


def _quiet(state: State, event: Quiet) -> Outcome:
    config = state.config
    covers: tuple[str, ...] = ()
    lapses: tuple[Breach, ...] = ()
    for number, conv in state.convs:
        found = of_hosts.quiet(config, conv, event) if config.hosted else of_children.quiet(config, conv, event)
        if isinstance(found, Breach):
            return _placed(state, number, found)
        if found is not None:
            state = state.put(number, found.state)
            covers, lapses = covers + found.covers, lapses + found.lapses
    return Allow(state, covers, lapses)


def _placed(state: State, number: int, outcome: Outcome) -> Outcome:
    """The outcome for one conversation, as one for all of them."""
    if isinstance(outcome, Allow):
        if not isinstance(outcome.state, (Conv, HostConv)):
            return outcome
        return Allow(state.put(number, outcome.state), outcome.covers, outcome.lapses, outcome.leans)
    then, behind = (_put(state, number, after) for after in (outcome.then, outcome.behind))
    return replace(outcome, then=then, behind=behind)


def _put(state: State, number: int, after: Any) -> Any:
    conv = after.conv if isinstance(after, Owing) else after
    return state.put(number, conv) if isinstance(conv, (Conv, HostConv)) else conv


def _ours(by: str, why: str, then: Any) -> Breach:
    """The tester itself breaks a rule, on purpose. Nobody is judged by that; `then`: what follows is."""
    return Breach(by, "", why, then)


def _of_child(config: Config, conv: Conv, event: Said | Noise | Closed | Fact) -> Iterator[Outcome]:
    """A child is judged."""
    if event.by == config.host:
        yield _by_host_of_child(config, conv, event)
    elif isinstance(event, Said):
        yield from of_children.readings(config, conv, event.frame)
    elif isinstance(event, Noise):
        yield of_children.endless(config, conv, event.data)
    else:
        yield Allow(conv) if isinstance(event, Closed) else of_children.fact(config, conv, event.name, event.value)


def _by_host_of_child(config: Config, conv: Conv, event: Said | Noise | Closed | Fact) -> Outcome:
    """The tester is the host."""
    if isinstance(event, Said):
        sent = host_messages.sent(config, conv, event.frame)
        return _ours(event.by, sent.wrong, sent.conv if sent.known else ANYTHING) if sent.wrong else Allow(sent.conv)
    if isinstance(event, Closed):
        return Allow(host_messages.closed(config, conv))
    if isinstance(event, Noise):
        return _ours(event.by, f"a message has no end: {event.data[:80]!r}", ANYTHING)
    return Allow(conv._replace(cut=True) if event.name == "octets" else conv)


def _of_host(config: Config, conv: HostConv, event: Said | Noise | Closed | Fact) -> Iterator[Outcome]:
    """A host is judged: the tester is its child, and whoever calls it."""
    if event.by != config.child:
        yield _by_host(config, conv, event)
    elif isinstance(event, Said):
        for heard in child_messages.heard(config, conv, event.frame):
            yield _did(event.by, heard)
    elif isinstance(event, Fact):
        yield _did(event.by, child_messages.does(config, conv, event.name, event.value))
    else:
        yield Allow(conv)


def _did(by: str, did: child_messages.Heard) -> Outcome:
    return _ours(by, did.wrong, did.conv if did.known else ANYTHING) if did.wrong else Allow(did.conv)


def _by_host(config: Config, conv: HostConv, event: Said | Noise | Closed | Fact) -> Outcome:
    if isinstance(event, Said):
        return of_hosts.said(config, conv, event.frame)
    if isinstance(event, Noise):
        return of_hosts.endless(config, conv, event.data)
    if isinstance(event, Closed):
        return of_hosts.closes(config, conv)
    return of_hosts.fact(config, conv, event.name, event.value)
