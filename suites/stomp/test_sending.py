"""SEND and MESSAGE. Source: 003_30478fd2f19f0da0.txt L77-109, L217-248; STOMP 1.2, SEND, MESSAGE."""

from strategies.stomp import misuse
from strategies.stomp.aimed import MANY, SENDING, misusing

ROLES = ("server",)


def test_routing(hunt):
    """Messages to queues and topics, from and to several connections."""
    hunt(SENDING.programs, SENDING.interpret)


def test_many_messages(hunt):
    """More messages than any prefetch to one subscriber."""
    hunt(MANY.programs, MANY.interpret)


def test_wrong_sends(hunt):
    """SEND frames that cannot be processed."""
    hunt(misuse.misuses(), misusing("INV-01", "INV-02", "INV-03", "INV-13"), avoids=True)
