"""Dispatches the events of a client made from a document to its rulebook, and follows what its server does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import Allow, Breach, Outcome
from specs.msgpack import values
from specs.msgpack.frames import Frame, shape
from specs.msgpack.idl.client import effects, forms  # noqa: F401 - they fill the rulebook
from specs.msgpack.idl.client.book import CLIENT
from specs.msgpack.idl.client.calls import answered, told
from specs.msgpack.idl.client.case import Case
from specs.msgpack.idl.client.machine import MACHINE, At, ClientState
from specs.msgpack.idl.service import served
from specs.msgpack.states import Config


class MadeClientModel:
    """See the module."""

    def initial(self, config: Config) -> ClientState:
        """Nothing told."""
        return ClientState(config)

    def owed(self, state: ClientState, role: str) -> Iterable[str]:
        """What it was told and has not done."""
        return CLIENT.owed(state) if role == "idl-client" else ()

    def step(self, state: ClientState, event: Event) -> Iterable[Outcome]:
        """One reading always."""
        if isinstance(event, Quiet):
            return (_quiet(state) if event.final else Allow(state),)
        return (_client(state, event) if event.by == "idl-client" else Allow(_server(state, event)),)


def _quiet(state: ClientState) -> Outcome:
    missed = CLIENT.at_silence(state, Case(state))
    return missed if isinstance(missed, Breach) else Allow(state)


# -- what the client does ----------------------------------------------------------------------------------------------


def _client(state: ClientState, event: Said | Noise | Closed | Fact) -> Outcome:
    if isinstance(event, Fact) and event.name in ("exit", "refused"):
        return CLIENT.judge(Case(state), "breaks down")
    if state.phase is At.GONE:
        return Allow(state)
    if state.questions and (isinstance(event, Closed) or (isinstance(event, Fact) and event.name == "answer")):
        # It waits no longer for a version, or went on without.
        return Allow(state._replace(phase=MACHINE.move(state.phase, "gives up"), told=()))
    if isinstance(event, Fact):
        return _beside(state, event)
    if isinstance(event, Closed):
        return CLIENT.judge(Case(state), "closes")
    if state.phase is At.OVER:
        return Allow(state)  # nobody answers on a connection that is over
    if isinstance(event, Noise):
        return CLIENT.judge(Case(state, said=event.why), "nonsense")
    body, open_ = event.frame.body, state.call
    if open_ is not None and open_.function is None:
        return Allow(state)  # nobody says what becomes of it
    if shape(body) == "request":
        return CLIENT.judge(Case(state, body), "request")
    instead = shape(body) == "notification" and open_ is not None and not open_.sent and body[1] in open_.names
    if shape(body) != "odd" and not instead:
        return Allow(state)  # a peer may notify of its own accord, and answer what nobody asked (MP-16)
    return CLIENT.judge(Case(state, said=values.describe(body, 200)), "nonsense")


def _beside(state: ClientState, event: Fact) -> Outcome:
    if event.name == "accepted":
        return CLIENT.judge(Case(state), "opens another")
    if event.name != "answer" or not state.told:
        return Allow(state)
    report = event.value if isinstance(event.value, dict) else {}
    return CLIENT.judge(Case(state, report=report), "reports")


# -- what it is told and answered --------------------------------------------------------------------------------------


def _server(state: ClientState, event: Said | Noise | Closed | Fact) -> ClientState:
    if state.phase is At.GONE:
        return state
    if isinstance(event, (Closed, Noise)):
        return state._replace(phase=MACHINE.move(state.phase, "leaves"), told=())
    if isinstance(event, Fact):
        return _told(state, event.name, event.value if isinstance(event.value, dict) else {})
    return _answered(state, event.frame) if state.phase is At.CALLING else state


def _told(state: ClientState, op: str, value: Mapping[str, Any]) -> ClientState:
    if op in ("octets", "drop"):
        return state if op == "octets" else state._replace(phase=MACHINE.move(state.phase, "leaves"), told=())
    if op not in ("connect", "call", "disconnect"):
        return state._replace(told=(*state.told, (op, None)))
    if op == "connect":
        return _connects(state, value)
    phase = MACHINE.move(state.phase, op)
    if op == "call" and phase is At.CALLING and state.app is not None:
        call = told(state.config, state.app, value, state.used)
        return state._replace(phase=phase, told=(*state.told, (op, call)))
    return state._replace(phase=phase, told=(*state.told, (op, None)) if phase is not At.GONE else ())


def _connects(state: ClientState, value: Mapping[str, Any]) -> ClientState:
    if state.begun or state.phase is At.OVER:
        return state._replace(phase=MACHINE.move(state.phase, "connect", At.GONE), told=())
    config = state.config
    layout = config.layout or "array-1"
    app = served(str(value.get("idl")), str(value.get("app")), config.extensions, layout, config.raw)
    phase = MACHINE.move(state.phase, "connect", At.CALLING)
    loose = app is None or app.loose
    return state._replace(phase=phase, app=app, begun=True, loose=loose, told=(*state.told, ("connect", None)))


def _answered(state: ClientState, frame: Frame) -> ClientState:
    body, call, app = frame.body, state.call, state.app
    if shape(body) == "response" and body[1] in state.questions:
        at = state.questions.index(body[1])
        return state._replace(questions=(*state.questions[:at], *state.questions[at + 1 :]))
    if call is None or app is None or not call.sent or call.wanted or shape(body) != "response" or body[1] != call.id:
        return state
    _, _, error, result = body
    found = answered(state.config, app, call, error, result, wide=bool(frame.wide))
    return state._replace(phase=MACHINE.move(state.phase, "answer")).changed(found)


__all__ = ["ClientState", "MadeClientModel"]
