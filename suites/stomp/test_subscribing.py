"""SUBSCRIBE and UNSUBSCRIBE. Source: 003_30478fd2f19f0da0.txt L111-140; STOMP 1.2, SUBSCRIBE, UNSUBSCRIBE."""

from strategies.stomp import misuse
from strategies.stomp.aimed import SUBSCRIBING, misusing
from suites.table import hunts

ROLES = ("server",)

test_subscriptions = hunts(
    "Subscriptions opened, closed and opened again.", SUBSCRIBING.programs, SUBSCRIBING.interpret
)
test_wrong_subscriptions = hunts(
    "SUBSCRIBE and UNSUBSCRIBE frames that cannot be processed.",
    misuse.misuses(),
    misusing("INV-04", "INV-05", "INV-06", "INV-07", "INV-08", "UNSUB-06"),
    avoids=True,
)
