"""ACK, NACK and the ack modes. Source: 003_30478fd2f19f0da0.txt L142-186; STOMP 1.2, ACK, NACK."""

from strategies.stomp import misuse, settling
from strategies.stomp.aimed import ACKING, ACKING_ALONE, misusing
from suites.table import hunts

ROLES = ("server",)

test_acknowledgements = hunts(
    "Deliveries settled in every order and mode, over connections that end.", ACKING.programs, ACKING.interpret
)
test_acknowledgements_on_one_connection = hunts(
    "Several subscriptions of one connection must not settle each other's deliveries.",
    ACKING_ALONE.programs,
    ACKING_ALONE.interpret,
)
test_settlements = hunts(
    "What an acknowledgement settled does not come again, and nothing else was settled by it.",
    settling.settlements(),
    settling.interpret,
    2,
)
test_wrong_acknowledgements = hunts(
    "Ids that are unknown, foreign, settled or missing.", misuse.misuses(), misusing("INV-09"), avoids=True
)
