"""Lines and JSON. Source: 000_a44a7e31e51ca0fa.txt, "The Protocol"."""

from strategies.storm import hosting

ROLES = ("bolt-host",)


def test_ways_of_writing(hunt):
    """A child that writes in every way."""
    hunt(hosting.BOLT_FRAMING.programs, hosting.BOLT_FRAMING.interpret)
