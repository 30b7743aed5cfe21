"""Brings each event of a conversation with a client to its machine and its rulebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import Allow, Breach, Outcome
from specs.msgpack.client.book import BOOK, position
from specs.msgpack.client.case import Case, reporting
from specs.msgpack.client.effects import TESTER
from specs.msgpack.frames import shape
from specs.msgpack.machine import CALLER
from specs.msgpack.states import ClientState, Config

SPOKEN = {"request": "request", "notification": "notification", "response": "own response", "odd": "odd value"}
"""What a message of the client is, by its shape."""
TOLD = {"drop": "dropped", "disconnect": "told to leave"}


class ClientModel:
    """See the module."""

    drifts = False

    def initial(self, config: Config) -> ClientState:
        """Nothing done."""
        return ClientState(config)

    def drift(self, state: ClientState) -> Iterable[ClientState]:
        """None."""
        return ()

    def owed(self, state: ClientState, role: str) -> Iterator[str]:
        """What the client has still to send or to report."""
        return BOOK.owed(state) if role == "client" else iter(())

    def step(self, state: ClientState, event: Event) -> Iterable[Outcome]:
        """One reading always."""
        if isinstance(event, Quiet):
            return (_silence(state) if event.final else Allow(state),)
        if isinstance(event, Fact):
            return (_fact(state, event),)
        if event.by == "server":
            return (_told(state, *_action(event)),)
        return (_judged(_case(state, event)),)


def _judged(case: Case) -> Outcome:
    return BOOK.judge(case, case.action)


def _action(event: Said | Noise | Closed) -> tuple[str, Any]:
    if isinstance(event, Said):
        return ("response" if shape(event.frame.body) == "response" else "no message"), event.frame.body
    return ("server ends", None) if isinstance(event, Closed) else ("server noise", None)


def _told(state: ClientState, action: str, body: Any) -> Allow:
    """What the tester does is right; only the state changes."""
    return Allow(TESTER[action](state, body)._replace(phase=CALLER.move(state.phase, action)))


def _case(state: ClientState, event: Said | Noise | Closed) -> Case:
    if isinstance(event, Closed):
        return Case(state, "client ends")
    if isinstance(event, Noise):
        return Case(state, "noise", said=event.why)
    body = event.frame.body
    return Case(state, SPOKEN[shape(body)], body, event.frame.wide)


def _fact(state: ClientState, event: Fact) -> Outcome:
    if event.by == "server":
        if event.name == "octets":
            return Allow(state)
        return _told(state, TOLD.get(event.name, "told"), (event.name, event.value))
    if event.name == "exit":
        return _judged(Case(state, "exits", said=f"{event.value!s:.100}"))
    if event.name == "refused":
        return _judged(Case(state, "refuses", said=f"{event.value!s:.200}"))
    if event.name != "answer" or not state.told:
        return Allow(state)
    return _judged(reporting(state, event.value if isinstance(event.value, dict) else {}))


def _silence(state: ClientState) -> Outcome:
    """Nothing more will come."""
    case = Case(state, "silence")
    if state.told:
        at = position(state, state.told[0][1])
        case.call = None if at is None else state.calls[at]
    found = BOOK.at_silence(state, case)
    return found if isinstance(found, Breach) else Allow(state)
