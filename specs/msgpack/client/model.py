"""Brings each event of a conversation with a client to its machine and its rulebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import Allow, Breach, Outcome
from specs.msgpack.client.book import BOOK, position
from specs.msgpack.client.case import Case, reporting
from specs.msgpack.client.effects import TESTER, told
from specs.msgpack.frames import shape
from specs.msgpack.machine import CALLER, C
from specs.msgpack.states import ClientState, Config


class ClientModel:
    """See the module."""

    def initial(self, config: Config) -> ClientState:
        """Nothing done."""
        return ClientState(config)

    def owed(self, state: ClientState, role: str) -> Iterator[str]:
        """What the client has still to send or to report."""
        return BOOK.owed(state) if role == "client" and state.phase is not C.GONE else iter(())

    def step(self, state: ClientState, event: Event) -> Iterable[Outcome]:
        """One reading always."""
        if state.phase is C.GONE and not (isinstance(event, Fact) and event.name == "exit"):
            return (Allow(state),)
        if isinstance(event, Quiet):
            return (_silence(state) if event.final else Allow(state),)
        if isinstance(event, Fact):
            return (_fact(state, event),)
        if event.by == "server":
            return (_from_tester(state, event),)
        case = _case(state, event)
        return (Allow(state) if case is None else _judged(case),)


def _judged(case: Case) -> Outcome:
    return BOOK.judge(case, case.action)


def _from_tester(state: ClientState, event: Said | Noise | Closed) -> Allow:
    if isinstance(event, Closed):
        return _told(state, "server ends", None)
    if isinstance(event, Said) and shape(event.frame.body) == "response":
        return _told(state, "response", event.frame.body) if state.phase is C.READY else Allow(state)
    return Allow(state) if state.phase is C.OVER else _told(state, "no message", None)


def _told(state: ClientState, action: str, body: Any) -> Allow:
    """What the tester does is right; only the state changes."""
    return Allow(TESTER[action](state, body)._replace(phase=CALLER.move(state.phase, action)))


def _connects_again(state: ClientState) -> Allow:
    """It begins from nothing. When it still waits for what the connection before owes it, nothing more is judged."""
    fresh = told(ClientState(state.config), ("connect", None))
    return Allow(fresh._replace(phase=CALLER.move(state.phase, "connects again", C.GONE if state.told else C.READY)))


def _case(state: ClientState, event: Said | Noise | Closed) -> Case | None:
    """What the rules look at; None for what a client may say as it likes (MP-16)."""
    if isinstance(event, Closed):
        return Case(state, "client ends")
    if state.lost:
        return None
    if isinstance(event, Noise):
        return Case(state, "nonsense", said=event.why)
    what = shape(event.frame.body)
    if what == "response":
        return None
    return Case(state, "nonsense" if what == "odd" else what, event.frame.body, event.frame.wide)


def _fact(state: ClientState, event: Fact) -> Outcome:
    if event.by == "server":
        if event.name == "octets":
            return Allow(state)
        if event.name == "connect" and state.phase is C.OVER:
            return _connects_again(state)
        return _told(state, "server ends" if event.name == "drop" else "told", (event.name, event.value))
    if event.name in ("exit", "refused"):
        breach = BOOK.ask("ends", Case(state, event.name, said=f"{event.value!s:.200}")).breach
        assert breach is not None
        return breach
    if event.name == "accepted":
        return _judged(Case(state, "opens another"))
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
