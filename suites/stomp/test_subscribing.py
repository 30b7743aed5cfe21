"""SUBSCRIBE and UNSUBSCRIBE. Source: 003_30478fd2f19f0da0.txt L111-140; STOMP 1.2, SUBSCRIBE, UNSUBSCRIBE."""

from strategies.stomp import misuse
from strategies.stomp.aimed import SUBSCRIBING, misusing

ROLES = ("server",)


def test_subscriptions(hunt):
    """Subscriptions opened, closed and opened again."""
    hunt(SUBSCRIBING.programs, SUBSCRIBING.interpret)


def test_wrong_subscriptions(hunt):
    """SUBSCRIBE and UNSUBSCRIBE frames that cannot be processed."""
    hunt(misuse.misuses(), misusing("INV-04", "INV-05", "INV-06", "INV-07", "INV-08", "UNSUB-06"), avoids=True)
