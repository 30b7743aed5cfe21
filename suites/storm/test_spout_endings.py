"""The end of STDIN. Source: the text is silent."""

from strategies.storm import spouts

ROLES = ("spout",)
DISCIPLINES = ("lock-step",)


def test_endings(hunt):
    """The end of STDIN in every state."""
    hunt(spouts.ENDINGS.programs, spouts.ENDINGS.interpret)
