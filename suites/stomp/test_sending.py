"""SEND and MESSAGE. Source: 003_30478fd2f19f0da0.txt L77-109, L217-248; STOMP 1.2, SEND, MESSAGE."""

from strategies.stomp import misuse
from strategies.stomp.aimed import MANY, SENDING, misusing
from suites.table import hunts

ROLES = ("server",)

test_routing = hunts(
    "Messages to queues and topics, from and to several connections.", SENDING.programs, SENDING.interpret
)
test_many_messages = hunts("More messages than any prefetch to one subscriber.", MANY.programs, MANY.interpret)
test_wrong_sends = hunts(
    "SEND frames that cannot be processed.",
    misuse.misuses(),
    misusing("INV-01", "INV-02", "INV-03", "INV-13"),
    avoids=True,
)
