"""What the text allows a broker. `acceptor` sends each event to the module that judges it."""

from specs.pulsar.broker.acceptor import BrokerModel

__all__ = ["BrokerModel"]
