"""RECEIPT. Source: 003_30478fd2f19f0da0.txt L250-263; STOMP 1.2, RECEIPT, Header receipt."""

from strategies.stomp.aimed import RECEIPTS
from suites.table import hunts

ROLES = ("server",)

test_receipts = hunts(
    "Every frame with a receipt, in texts with traps, used once and again.", RECEIPTS.programs, RECEIPTS.interpret
)
