"""Clients. Source: 001_c0ea8805bb7ed422.txt, Interactions."""

import pytest

from strategies.pulsar import oddities, serving

ROLES = ("client",)


@pytest.mark.weight(2)
def test_conversations(hunt):
    """Producers and consumers, in every way."""
    hunt(serving.conversations(), serving.interpret)


def test_producing(hunt):
    """Producers, sends, receipts."""
    hunt(serving.conversations("producer", "send", "async", "close", "ping"), serving.interpret)


def test_consuming(hunt):
    """Messages, batches, acknowledgements."""
    hunt(serving.conversations("consumer", "receive", "many", "ping"), serving.interpret)


def test_reconnecting(hunt):
    """Connections that are cut, producers and consumers that the broker closes."""
    hunt(
        serving.conversations("drop", "closed", "producer", "consumer", "send", "receive", most=5, evenly=True),
        serving.interpret,
    )


def test_discovery(hunt):
    """Redirects, other addresses, partitions."""
    hunt(serving.conversations("redirect", "elsewhere", "partitioned", "send", most=3, evenly=True), serving.interpret)


def test_invalid_messages(hunt):
    """Messages that cannot be read, and what must be ignored."""
    hunt(serving.conversations("spoiled", "strays", "receive", most=4, evenly=True), serving.interpret)


def test_breaks(hunt):
    """What may end the connection, and never the client."""
    hunt(serving.conversations("broken", "receive", most=2, evenly=True), serving.interpret)


def test_oddities(hunt):
    """Old versions, small limits, octets that are no frame."""
    hunt(oddities.oddities(), oddities.oddly)


def test_orders(hunt):
    """Requests that are open together."""
    hunt(oddities.oddities(), oddities.out_of_order)


def test_unanswered(hunt):
    """PRODUCER that is not answered, brokers that fall silent."""
    hunt(oddities.oddities(), oddities.swallowing)


def test_silences(hunt):
    """Brokers that do not answer PING."""
    hunt(oddities.oddities(), oddities.muted)


@pytest.mark.weight(0.3)
def test_large(hunt):
    """A message of nearly 5 MiB."""
    hunt(oddities.oddities(), oddities.large)
