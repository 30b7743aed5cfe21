"""What newer brokers can do. Source: the newer protocol page and message definitions."""

import pytest

from strategies.pulsar import aimed, misuse

ROLES = ("broker",)


@pytest.mark.weight(2)
def test_newer(hunt):
    """GetLastMessageId, ConsumerStats, Seek, acknowledgements of single messages of a batch."""
    hunt(aimed.MODERN.programs, aimed.MODERN.interpret)


def test_ended(hunt):
    """Topics that take no more messages."""
    hunt(misuse.misuses(), misuse.interpreting("ended", "asking", "counts", "others"))
