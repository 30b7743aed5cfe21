"""Dispatches the events of a server made from a document to its rulebook, and follows what its client does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import Allow, Breach, Outcome
from specs.msgpack.frames import Frame
from specs.msgpack.idl.server import duties, effects, forms  # noqa: F401 - they fill the rulebook
from specs.msgpack.idl.server.book import SERVER
from specs.msgpack.idl.server.calls import ANY, Call, called
from specs.msgpack.idl.server.case import Case
from specs.msgpack.idl.server.machine import MACHINE, At, ServerState
from specs.msgpack.idl.service import served
from specs.msgpack.states import Config


class MadeServerModel:
    """See the module."""

    def initial(self, config: Config) -> ServerState:
        """Nothing served."""
        return ServerState(config)

    def owed(self, state: ServerState, role: str) -> Iterable[str]:
        """What it was told and asked, and has not answered."""
        return SERVER.owed(state) if role == "idl-server" else ()

    def step(self, state: ServerState, event: Event) -> Iterable[Outcome]:
        """One reading always."""
        if isinstance(event, Quiet):
            return (_quiet(state) if event.final else Allow(state),)
        return (_server(state, event) if event.by == "idl-server" else Allow(_client(state, event)),)


def _quiet(state: ServerState) -> Outcome:
    missed = SERVER.at_silence(state, Case(state))
    return missed if isinstance(missed, Breach) else Allow(state)


# -- what the server does ----------------------------------------------------------------------------------------------


def _server(state: ServerState, event: Said | Noise | Closed | Fact) -> Outcome:
    if isinstance(event, Fact) and event.name == "exit":
        return SERVER.judge(Case(state), "breaks down")
    if state.phase is At.GONE:
        return Allow(state)
    if isinstance(event, Said):
        body = event.frame.body
        response = isinstance(body, tuple) and len(body) == 4 and body[0] == 1 and not isinstance(body[0], bool)
        return SERVER.judge(Case(state, body), "answer") if response else Allow(state)  # a peer may call its client
    if isinstance(event, Closed):
        return SERVER.judge(Case(state), "closes")
    if isinstance(event, Noise):
        return SERVER.judge(Case(state), "breaks down")
    if event.name != "answer" or not state.told:
        return Allow(state)
    return SERVER.judge(Case(state, report=event.value), "reports")


# -- what it is told and asked -----------------------------------------------------------------------------------------


def _client(state: ServerState, event: Said | Noise | Closed | Fact) -> ServerState:
    if state.phase is At.GONE:
        return state
    if isinstance(event, (Closed, Noise)):
        return state._replace(phase=MACHINE.move(state.phase, "leaves"), calls=(), told=())
    if state.phase is At.OVER:
        return state
    return _asked(state, event.frame) if isinstance(event, Said) else _told(state, event.name, event.value or {})


def _told(state: ServerState, op: str, value: Mapping[str, Any]) -> ServerState:
    if op not in ("serve", "assign", "stop"):
        return state._replace(told=(*state.told, (op, state.behaviours)))
    second = op == "serve" and state.app is not None
    phase = MACHINE.move(state.phase, op, (At.OVER if second else At.SERVING) if op == "serve" else None)
    state = state._replace(told=(*state.told, (op, state.behaviours)), phase=phase)
    if op == "serve":
        config = state.config
        app = served(value["idl"], value["application"], config.extensions, config.layout or "array-1", config.raw)
        behaviours = tuple(value["behaviour"].items())
        return state._replace(app=app, behaviours=behaviours, former=(), loose=app is None or app.loose)
    if op == "assign":
        behaviours = tuple((dict(state.behaviours) | {value["slot"]: value["behaviour"]}).items())
        return state._replace(behaviours=behaviours, former=(*state.former, state.behaviours))
    return state


def _asked(state: ServerState, frame: Frame) -> ServerState:
    body = frame.body
    if not isinstance(body, tuple) or len(body) != 4 or body[0] != 0:
        return state
    call = Call(body[1], body[2], (ANY,))
    if state.app is not None and isinstance(body[2], str):
        call = called(state.config, state.app, dict(state.behaviours), state.former, body, wide=bool(frame.wide))
    return state._replace(phase=MACHINE.move(state.phase, "call"), calls=(*state.calls, call))


__all__ = ["MadeServerModel", "ServerState"]
