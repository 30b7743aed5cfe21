"""Framing. Source: 001_c0ea8805bb7ed422.txt."""

import pytest

from strategies.pulsar import aimed, misuse

ROLES = ("broker",)


def test_pieces(hunt):
    """Frames in pieces, and several in one piece."""
    hunt(aimed.PIECES.programs, aimed.PIECES.interpret)


@pytest.mark.weight(0.3)
def test_large(hunt):
    """Messages of nearly 5 MiB."""
    hunt(misuse.misuses(), misuse.big)
