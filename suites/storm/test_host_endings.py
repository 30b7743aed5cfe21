"""The end of the child. Source: the text is silent; "Handling Heartbeats" says what it is noticed for."""

from strategies.storm import unruly

ROLES = ("bolt-host", "spout-host")
DISCIPLINES = ("lock-step",)


def test_endings(hunt):
    """The child ends before it has begun, idle, with something open, inside a message."""
    hunt(unruly.misuses(), unruly.aimed("INV-HOST-22", "HS-18", "INV-HOST-21"))
