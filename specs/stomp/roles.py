"""One model for both roles: every event goes to the model of the role that is judged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from specs.events import Event
from specs.model import Model, Outcome
from specs.stomp.client import ClientModel
from specs.stomp.client.state import ClientState
from specs.stomp.model import StompModel
from specs.stomp.states import Config

_CLIENT, _SERVER = ClientModel(), StompModel()


class BothModel:
    """That of a server, unless the state is one of a conversation with a client."""

    def of(self, config: Config) -> Model:
        """See `specs.model.model_of`."""
        return _CLIENT if config.role == "client" else _SERVER

    def initial(self, config: Config) -> Any:
        """Nothing said."""
        return _CLIENT.initial(config) if config.role == "client" else _SERVER.initial(config)

    def owed(self, state: Any, role: str) -> Iterable[str]:
        """As the model of the state's role."""
        return _CLIENT.owed(state, role) if type(state) is ClientState else _SERVER.owed(state, role)

    def step(self, state: Any, event: Event) -> Iterable[Outcome]:
        """As the model of the state's role."""
        return _CLIENT.step(state, event) if type(state) is ClientState else _SERVER.step(state, event)
