"""The one model of the bundle: each role has its own, and the state says which it belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from specs.events import Event
from specs.model import Model, Outcome
from specs.msgpack.client import ClientModel
from specs.msgpack.codec import CodecModel
from specs.msgpack.idl.client.model import ClientState as MadeClientState
from specs.msgpack.idl.client.model import MadeClientModel
from specs.msgpack.idl.compiler.model import CompilerModel, CompilerState
from specs.msgpack.idl.server.model import MadeServerModel, ServerState
from specs.msgpack.server import ServerModel
from specs.msgpack.states import ClientState, CodecState, Config, State

_SERVER, _CODEC, _CLIENT, _IDL, _SERVING, _CALLING = (
    ServerModel(),
    CodecModel(),
    ClientModel(),
    CompilerModel(),
    MadeServerModel(),
    MadeClientModel(),
)
_ROLES: Mapping[str, Model] = {
    "server": _SERVER,
    "codec": _CODEC,
    "client": _CLIENT,
    "idl": _IDL,
    "idl-server": _SERVING,
    "idl-client": _CALLING,
}


class MsgpackModel:
    """Sends everything to the model of the role that is judged."""

    def initial(self, config: Config) -> Any:
        """Nothing said."""
        return _ROLES[config.role].initial(config)

    def step(self, state: Any, event: Event) -> Iterable[Outcome]:
        """As the model of the state's role."""
        return _model(state).step(state, event)

    def owed(self, state: Any, role: str) -> Iterable[str]:
        """As the model of the state's role."""
        return _model(state).owed(state, role)


def _model(state: Any) -> Model:
    if isinstance(state, CodecState):
        return _CODEC
    if isinstance(state, ClientState):
        return _CLIENT
    if isinstance(state, ServerState):
        return _SERVING
    if isinstance(state, MadeClientState):
        return _CALLING
    if isinstance(state, CompilerState):
        return _IDL
    assert isinstance(state, State)
    return _SERVER
