"""What the text demands of a client. `model` sends each event to the rules and effects that know of it."""

from specs.pulsar.client.book import BOOK, SURVIVAL
from specs.pulsar.client.machine import CLIENT, CONNECTION, ENDPOINT
from specs.pulsar.client.model import ClientModel
from specs.pulsar.client.state import ClientState

__all__ = ["BOOK", "CLIENT", "CONNECTION", "ENDPOINT", "SURVIVAL", "ClientModel", "ClientState"]
