"""All seeded faults of Storm: importing this registers them."""

from tests.mutants import (
    storm_bolt_ending,
    storm_bolt_framing,
    storm_bolt_host,
    storm_bolt_meanwhile,
    storm_bolt_tuples,
    storm_bolt_values,
    storm_host_ending,
    storm_host_framing,
    storm_host_invalid,
    storm_rarer,
    storm_spout,
    storm_spout_emits,
    storm_spout_host,
)
from tests.mutants.storm_kit import STORM_MUTANTS

__all__ = [
    "STORM_MUTANTS",
    "storm_bolt_ending",
    "storm_bolt_framing",
    "storm_bolt_host",
    "storm_bolt_meanwhile",
    "storm_bolt_tuples",
    "storm_bolt_values",
    "storm_host_ending",
    "storm_host_framing",
    "storm_host_invalid",
    "storm_rarer",
    "storm_spout",
    "storm_spout_emits",
    "storm_spout_host",
]
