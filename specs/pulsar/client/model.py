"""The model of a client: each event goes to the rules or effects that know of it.

What the tester tells the client stands in the trace as a Fact of the broker. A client does one thing after the other;
while it waits for the broker nothing is owed. Its connections are numbered in the order in which it opens them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.pulsar.client import case as cases
from specs.pulsar.client import (
    case_reports,
    duties,
    effects,
    forms_again,
    forms_commands,
    forms_frames,
    forms_making,
    forms_reports,
    forms_sends,
)
from specs.pulsar.client.book import BOOK, SURVIVAL
from specs.pulsar.client.effects_said import no_frame, over, said
from specs.pulsar.client.effects_told import noted, told
from specs.pulsar.client.machine import COMMANDS
from specs.pulsar.client.state import ClientState
from specs.rules import Finding

RULES = (forms_frames, forms_commands, forms_making, forms_again, forms_sends, forms_reports, duties, effects)
"""Modules whose declarations fill the rulebooks."""
_KNOWN = frozenset(("CONNECT", *COMMANDS))


class ClientModel:
    """See the module."""

    def initial(self, config: Any) -> ClientState:
        """Nothing done."""
        return ClientState(config)

    def owed(self, state: ClientState, role: str) -> Iterator[str]:
        """What the client has still to say or do."""
        return BOOK.owed(state) if role == "client" else iter(())

    def step(self, state: ClientState, event: Event) -> Iterable[Outcome]:
        """One reading always."""
        if isinstance(event, Said):
            if event.by == "client":
                return (_heard(cases.Said(state, event.conn, event.frame)),)
            return (Allow(said(state, event.conn, event.frame)),)
        if isinstance(event, Quiet):
            return (_quiet(effects.silent(state, event), final=event.final),)
        if isinstance(event, Closed):
            return (_closed(state, event),)
        if isinstance(event, Noise):
            if event.by == "client":
                garbled = cases.Garbled(state, event)
                return (_settled(BOOK.judge(garbled, garbled.action)),)
            return (Allow(no_frame(state, event)),)
        return (_fact(state, event),)


def _heard(case: cases.Said) -> Outcome:
    """A frame: what it must be whatever it says, then what it says."""
    found = BOOK.ask("payload frame" if case.kind == "SEND" else "simple frame", case)
    if found.breach is not None:
        return found.breach
    return _settled(BOOK.judge(case, case.kind if case.kind in _KNOWN else "foreign"), found)


def _settled(outcome: Outcome, before: Finding | None = None) -> Outcome:
    """The outcome of an action on a connection, with the phase in its place, and what was found before it."""
    if isinstance(outcome, Breach):
        return BOOK.broken(outcome, _state(outcome.then), _state(outcome.behind))
    covers, lapses = (before.covers, before.lapses) if before is not None else ((), ())
    return Allow(_state(outcome.state), covers + outcome.covers, lapses + outcome.lapses, outcome.leans)


def _state(turn: Any) -> Any:
    return turn.settled() if isinstance(turn, cases.Turn) else turn


def _after(found: Finding, state: Any, covers: tuple[str, ...] = (), lapses: tuple[Breach, ...] = ()) -> Outcome:
    """The outcome of forms that were asked apart from the machine."""
    if found.breach is not None:
        behind = None if state is ANYTHING else state
        return BOOK.broken(found.breach, state if found.goes_on else ANYTHING, behind)
    return Allow(ANYTHING if found.unjudged else state, covers + found.covers, lapses + found.lapses, found.leans)


def _closed(state: ClientState, event: Closed) -> Outcome:
    if event.by != "client":
        return Allow(over(state, event.conn, "hangs up"))
    return _settled(BOOK.judge(cases.Ended(state, event.conn), "hangs up"))


def _quiet(state: ClientState, *, final: bool) -> Outcome:
    state = duties.held_back(state) if final else state
    case = cases.Case(state)
    found = BOOK.ask("waits", case) if state.config.keepalive_ms else Finding(None)
    if not final or found.unjudged:
        return _after(found, state)
    lapses: list[Breach] = []
    for duty in BOOK.open(state):
        breach = BOOK.missed(duty, case)
        if BOOK.level(breach) == "MUST":
            return breach
        lapses.append(breach)
    state = duties.believed(state)
    rests = SURVIVAL.judge(cases.Living(state), "rests") if state.tried else Allow(state)
    assert isinstance(rests, Allow)
    return _after(BOOK.ask("rests", case), state, rests.covers, tuple(lapses[:1]))


def _fact(state: ClientState, event: Fact) -> Outcome:
    """The client was told something, or reports of it."""
    if event.by == "broker":
        return Allow(told(state, event.conn, event.name, event.value))
    if event.name == "answer":
        return _reported(state, event.value)
    if event.name == "exit":
        last = state.tried[-1:]
        return SURVIVAL.judge(cases.Living(state), last[0].death if last else "ends")
    return Allow(noted(state, event))


def _reported(state: ClientState, value: Any) -> Outcome:
    if not state.told:
        return Allow(state)
    case = case_reports.Reported(state, value)
    found = BOOK.ask("reports", case)
    after = effects.reported(case)
    return _after(found, after, BOOK.met(case, "reports") if found.breach is None else ())
