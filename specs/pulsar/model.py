"""Both acceptors behind one face. See `specs.pulsar.broker` and `specs.pulsar.client`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from specs.events import Event
from specs.model import Outcome
from specs.pulsar.broker import BrokerModel
from specs.pulsar.client import ClientModel, ClientState
from specs.pulsar.states import Config, State


class PulsarModel:
    """The acceptor that the config asks for."""

    def __init__(self) -> None:
        self._broker, self._client = BrokerModel(), ClientModel()

    def _of(self, state: State | ClientState) -> Any:
        return self._client if isinstance(state, ClientState) else self._broker

    def initial(self, config: Config) -> Any:
        """Nothing said."""
        return (self._client if config.role == "client" else self._broker).initial(config)

    def owed(self, state: Any, role: str) -> Iterator[str]:
        """What is due in one of the two."""
        owed: Iterator[str] = self._of(state).owed(state, role)
        return owed

    def step(self, state: Any, event: Event) -> Iterable[Outcome]:
        """One reading always."""
        outcomes: Iterable[Outcome] = self._of(state).step(state, event)
        return outcomes
