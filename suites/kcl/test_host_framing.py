"""Lines, members and what a child writes beside them.

Source: 002_696459db5d1db11c.txt, "Action messages", "High Level Description"."""

from strategies.kcl import hosting

ROLES = ("host",)


def test_ways_of_writing(hunt):
    """Members in every order, texts escaped in every way, octets in any pieces."""
    hunt(hosting.FRAMING.programs, hosting.FRAMING.interpret)


def test_talk(hunt):
    """Lines that mean nothing, and STDERR."""
    hunt(hosting.TALK.programs, hosting.TALK.interpret)
