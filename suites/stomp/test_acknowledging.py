"""ACK, NACK and the ack modes. Source: 003_30478fd2f19f0da0.txt L142-186; STOMP 1.2, ACK, NACK."""

import pytest

from strategies.stomp import misuse, settling
from strategies.stomp.aimed import ACKING, ACKING_ALONE, misusing

ROLES = ("server",)


def test_acknowledgements(hunt):
    """Deliveries settled in every order and mode, over connections that end."""
    hunt(ACKING.programs, ACKING.interpret)


def test_acknowledgements_on_one_connection(hunt):
    """Several subscriptions of one connection must not settle each other's deliveries."""
    hunt(ACKING_ALONE.programs, ACKING_ALONE.interpret)


@pytest.mark.weight(2)
def test_settlements(hunt):
    """What an acknowledgement settled does not come again, and nothing else was settled by it."""
    hunt(settling.settlements(), settling.interpret)


def test_wrong_acknowledgements(hunt):
    """Ids that are unknown, foreign, settled or missing."""
    hunt(misuse.misuses(), misusing("INV-09"), avoids=True)
