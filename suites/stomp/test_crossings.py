"""What is open side by side and must not touch each other.

Source: 003_30478fd2f19f0da0.txt L129-193; STOMP 1.2, SUBSCRIBE, UNSUBSCRIBE, ACK, BEGIN, COMMIT, ABORT, DISCONNECT.
"""

from strategies.stomp import crossings, neighbours
from suites.table import hunts

ROLES = ("server",)

test_crossings = hunts(
    "Transactions, subscriptions, deliveries and kept messages that others end beside.",
    crossings.crossings(),
    crossings.interpret,
    3,
)
test_neighbours = hunts(
    "Each pair of things that have one name, or stand side by side, and one of them ends.",
    neighbours.neighbours(),
    neighbours.interpret,
    2,
    deals=neighbours.ROW,
)
