"""Codecs: octets to values and back. Source: MessagePack specification, Type system, Formats, Timestamp."""

import pytest

from strategies.msgpack import typed, vectors

ROLES = ("codec",)


@pytest.mark.weight(2)
def test_vectors(hunt):
    """Vectors of every kind."""
    hunt(vectors.vectors(), vectors.interpret)


def test_formats(hunt):
    """Values of every format, in every legal encoding."""
    hunt(vectors.vectors("value", "wide", "sizes", "nested"), vectors.interpret)


def test_numbers(hunt):
    """Integers around every power of two."""
    hunt(vectors.vectors("number"), vectors.interpret)


def test_extensions(hunt):
    """Extensions of every type and size, timestamps in their three forms and malformed."""
    hunt(vectors.vectors("ext", "stamp"), vectors.interpret)


def test_no_values(hunt):
    """What is cut off, what is never used, sizes that lie; and values behind it."""
    hunt(vectors.vectors("never", "cut", "liar", "again"), vectors.interpret)


def test_odd_values(hunt):
    """Text that is none, keys of every kind, great depth."""
    hunt(vectors.vectors("text", "keys", "deep"), vectors.interpret)


@pytest.mark.weight(1.5)
def test_messages(hunt):
    """Messages that a document declares, where the codec knows documents."""
    hunt(typed.messages(), typed.interpret)
