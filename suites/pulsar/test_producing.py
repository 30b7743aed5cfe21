"""Producer, Send, SendReceipt, CloseProducer. Source: 001_c0ea8805bb7ed422.txt."""

from strategies.pulsar import aimed

ROLES = ("broker",)


def test_producing(hunt):
    """Producers, sends and receipts."""
    hunt(aimed.PRODUCING.programs, aimed.PRODUCING.interpret)


def test_batches(hunt):
    """Batches: one entry, many messages."""
    hunt(aimed.BATCHES.programs, aimed.BATCHES.interpret)
