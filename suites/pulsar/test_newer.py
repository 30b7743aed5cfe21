"""What newer brokers can do. Source: the newer protocol page and message definitions."""

from strategies.pulsar import aimed, misuse
from suites.table import hunts

ROLES = ("broker",)

test_newer = hunts(
    "GetLastMessageId, ConsumerStats, Seek, acknowledgements of single messages of a batch.",
    aimed.MODERN.programs,
    aimed.MODERN.interpret,
    2,
)
test_ended = hunts(
    "Topics that take no more messages.", misuse.misuses(), misuse.interpreting("ended", "asking", "counts", "others")
)
