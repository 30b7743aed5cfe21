"""Whole conversations with a broker. Source: 001_c0ea8805bb7ed422.txt, Interactions."""

from strategies.pulsar import aimed
from suites.table import hunts

ROLES = ("broker",)

test_sessions = hunts(
    "Producers and consumers of every kind, on two connections.", aimed.SESSIONS.programs, aimed.SESSIONS.interpret, 3
)
test_requests = hunts("Requests of every kind, on two connections.", aimed.REQUESTS.programs, aimed.REQUESTS.interpret)
test_closing = hunts(
    "Producers and consumers that are closed, subscriptions that are given up, connections that are cut.",
    aimed.CLOSING.programs,
    aimed.CLOSING.interpret,
)
test_lost = hunts(
    "Connections that are cut: what was on them is free, nothing else is lost.",
    aimed.LOST.programs,
    aimed.LOST.interpret,
    2,
)
