"""Lookup and partitioned topics. Source: 001_c0ea8805bb7ed422.txt."""

from strategies.pulsar import aimed

ROLES = ("broker",)


def test_discovery(hunt):
    """Lookups and numbers of partitions."""
    hunt(aimed.DISCOVERY.programs, aimed.DISCOVERY.interpret)
