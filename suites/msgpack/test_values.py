"""Values as they come back. Source: MessagePack specification, Type system, Formats."""

from strategies.msgpack.aimed import ODD_VALUES, VALUES

ROLES = ("server",)


def test_values(hunt):
    """Values of every format at its boundaries."""
    hunt(VALUES.programs, VALUES.interpret)


def test_odd_values(hunt):
    """Extensions, timestamps, and what a server may refuse."""
    hunt(ODD_VALUES.programs, ODD_VALUES.interpret)
