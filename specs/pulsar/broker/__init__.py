"""What the text allows a broker. `acceptor` asks the rulebook what each event means."""

from specs.pulsar.broker.acceptor import BrokerModel
from specs.pulsar.broker.book import BOOK

__all__ = ["BOOK", "BrokerModel"]
