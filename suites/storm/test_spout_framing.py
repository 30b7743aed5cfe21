"""Lines and JSON. Source: 000_a44a7e31e51ca0fa.txt, "The Protocol"."""

from strategies.storm import spouts

ROLES = ("spout",)
DISCIPLINES = ("lock-step",)


def test_ways_of_writing(hunt):
    """Members in every order, texts escaped in every way, lines and pieces of any length."""
    hunt(spouts.FRAMING.programs, spouts.FRAMING.interpret)
