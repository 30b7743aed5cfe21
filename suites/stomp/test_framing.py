"""Frames and encoding. Source: 003_30478fd2f19f0da0.txt L30-42; STOMP 1.2, STOMP Frames, Value Encoding."""

from strategies.stomp import misuse
from strategies.stomp.aimed import FRAMING, TEXTS, misusing

ROLES = ("server",)


def test_frames(hunt):
    """Frames in every way of writing them."""
    hunt(FRAMING.programs, FRAMING.interpret)


def test_encoding(hunt):
    """Names and values with every trap of escaping, trimming and UTF-8."""
    hunt(TEXTS.programs, TEXTS.interpret)


def test_broken_encoding(hunt):
    """Undefined escapes and header lines that the grammar does not know."""
    names = ("INV-14", "INV-15", "INV-21", "INV-22", "INV-23", "INV-24", "INV-26", "INV-43")
    hunt(misuse.misuses(), misusing(*names), avoids=True)
