"""All seeded faults of Storm: importing this registers them."""

from tests.mutants import storm_bolt, storm_host, storm_spout
from tests.mutants.storm_kit import STORM_MUTANTS

__all__ = ["STORM_MUTANTS", "storm_bolt", "storm_host", "storm_spout"]
