"""RECEIPT. Source: 003_30478fd2f19f0da0.txt L250-263; STOMP 1.2, RECEIPT, Header receipt."""

from strategies.stomp.aimed import RECEIPTS

ROLES = ("server",)


def test_receipts(hunt):
    """Every frame with a receipt, in texts with traps, used once and again."""
    hunt(RECEIPTS.programs, RECEIPTS.interpret)
