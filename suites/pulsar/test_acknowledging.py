"""Ack and RedeliverUnacknowledgedMessages. Source: 001_c0ea8805bb7ed422.txt."""

from strategies.pulsar import aimed

ROLES = ("broker",)


def test_acks(hunt):
    """Acknowledgements: what comes again is what was not acknowledged."""
    hunt(aimed.ACKS.programs, aimed.ACKS.interpret)


def test_redelivery(hunt):
    """Redelivery of everything, or of what is listed."""
    hunt(aimed.REDELIVERY.programs, aimed.REDELIVERY.interpret)
