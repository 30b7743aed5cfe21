"""Lookup and partitioned topics. Source: 001_c0ea8805bb7ed422.txt."""

from strategies.pulsar import aimed
from suites.table import hunts

ROLES = ("broker",)

test_discovery = hunts("Lookups and numbers of partitions.", aimed.DISCOVERY.programs, aimed.DISCOVERY.interpret)
