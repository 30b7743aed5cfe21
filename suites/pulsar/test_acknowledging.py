"""Ack and RedeliverUnacknowledgedMessages. Source: 001_c0ea8805bb7ed422.txt."""

from strategies.pulsar import aimed
from suites.table import hunts

ROLES = ("broker",)

test_acks = hunts(
    "Acknowledgements: what comes again is what was not acknowledged.", aimed.ACKS.programs, aimed.ACKS.interpret
)
test_redelivery = hunts(
    "Redelivery of everything, or of what is listed.", aimed.REDELIVERY.programs, aimed.REDELIVERY.interpret
)
