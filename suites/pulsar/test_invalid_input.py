"""Invalid input towards a broker. Source: 001_c0ea8805bb7ed422.txt, and what brokers do where it is silent."""

from strategies.pulsar import misuse

ROLES = ("broker",)


def test_misuse(hunt):
    """Every misuse."""
    hunt(misuse.misuses(), misuse.play)


def test_checksums(hunt):
    """Wrong checksums."""
    hunt(misuse.misuses(), misuse.interpreting("checksum", "metadata", "simple"))


def test_octets(hunt):
    """Octets that are no frame."""
    names = ("size", "short", "garbage", "lying", "unknown", "hollow", "behind", "last-word")
    hunt(misuse.misuses(), misuse.interpreting(*names))


def test_first_words(hunt):
    """Commands before CONNECT, and CONNECT twice."""
    hunt(misuse.misuses(), misuse.interpreting("first", "first-lookup", "twice", "credentials"))


def test_names(hunt):
    """Names and ids that are taken, topics that are none."""
    names = ("same-producer", "same-consumer", "same-name", "bad-topic", "denied", "strangers", "reused-request")
    hunt(misuse.misuses(), misuse.interpreting(*names))


def test_sends(hunt):
    """SENDs without a producer, after its end, with ids that were used, with batches that lie."""
    hunt(misuse.misuses(), misuse.interpreting("no-producer", "after-close", "repeated", "batch-lies"))
