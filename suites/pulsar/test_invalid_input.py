"""Invalid input towards a broker. Source: 001_c0ea8805bb7ed422.txt, and what brokers do where it is silent."""

from strategies.pulsar import misuse
from suites.table import hunts

ROLES = ("broker",)

test_misuse = hunts("Every misuse.", misuse.misuses(), misuse.play)
test_checksums = hunts("Wrong checksums.", misuse.misuses(), misuse.interpreting("checksum", "metadata", "simple"))
test_octets = hunts(
    "Octets that are no frame.",
    misuse.misuses(),
    misuse.interpreting("size", "short", "garbage", "lying", "unknown", "hollow", "behind", "last-word"),
)
test_first_words = hunts(
    "Commands before CONNECT, and CONNECT twice.",
    misuse.misuses(),
    misuse.interpreting("first", "first-lookup", "twice", "credentials"),
)
test_names = hunts(
    "Names and ids that are taken, topics that are none.",
    misuse.misuses(),
    misuse.interpreting(
        "same-producer", "same-consumer", "same-name", "bad-topic", "denied", "strangers", "reused-request"
    ),
)
test_sends = hunts(
    "SENDs without a producer, after its end, with ids that were used, with batches that lie.",
    misuse.misuses(),
    misuse.interpreting("no-producer", "after-close", "repeated", "batch-lies"),
)
