"""Bodies, content-length, content-type. Source: STOMP 1.2, Body, Header content-length, content-type."""

from strategies.stomp import misuse
from strategies.stomp.aimed import LAWS, misusing

ROLES = ("server",)


def test_bodies(hunt):
    """Octets of every value, with and without content-length."""
    aim = LAWS["M-9 content-length"]
    hunt(aim.programs, aim.interpret)


def test_wrong_lengths(hunt):
    """content-length that does not fit, is no number, or comes before the octets it counts."""
    hunt(misuse.misuses(), misusing("INV-16", "INV-17", "INV-18", "INV-19", "INV-20", "CLEN-08"), avoids=True)
