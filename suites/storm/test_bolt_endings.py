"""The end of STDIN. Source: the text is silent."""

from strategies.storm import bolts

ROLES = ("bolt",)
DISCIPLINES = ("lock-step",)


def test_endings(hunt):
    """The end of STDIN in every state."""
    hunt(bolts.ENDINGS.programs, bolts.ENDINGS.interpret)
