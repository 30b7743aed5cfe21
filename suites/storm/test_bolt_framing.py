"""Lines and JSON. Source: 000_a44a7e31e51ca0fa.txt, "The Protocol"."""

from strategies.storm import bolts

ROLES = ("bolt",)


def test_ways_of_writing(hunt):
    """Members in every order, texts escaped in every way, lines and pieces of any length."""
    hunt(bolts.FRAMING.programs, bolts.FRAMING.interpret)
