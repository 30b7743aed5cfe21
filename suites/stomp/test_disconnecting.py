"""Ending a session. Source: 003_30478fd2f19f0da0.txt L194-212, L263; STOMP 1.2, DISCONNECT."""

from strategies.stomp import misuse
from strategies.stomp.aimed import ENDINGS, misusing

ROLES = ("server",)


def test_endings(hunt):
    """DISCONNECT, close and reset, with work under way."""
    hunt(ENDINGS.programs, ENDINGS.interpret)


def test_after_the_end(hunt):
    """Frames behind DISCONNECT."""
    hunt(misuse.misuses(), misusing("INV-38"), avoids=True)
