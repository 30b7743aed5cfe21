"""What the text demands of a client. `acceptor` sends each event to the module that judges it."""

from specs.pulsar.client.acceptor import ClientModel
from specs.pulsar.client.state import ClientState

__all__ = ["ClientModel", "ClientState"]
