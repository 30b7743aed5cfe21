"""Framing. Source: 001_c0ea8805bb7ed422.txt."""

from strategies.pulsar import aimed

ROLES = ("broker",)


def test_pieces(hunt):
    """Frames in pieces, and several in one piece."""
    hunt(aimed.PIECES.programs, aimed.PIECES.interpret)
