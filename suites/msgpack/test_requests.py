"""Requests. Source: MessagePack-RPC specification, Request Message; MessagePack specification, Formats."""

from strategies.msgpack.aimed import ENCODINGS, IDS

ROLES = ("server",)


def test_ids(hunt):
    """Ids over their whole range, used again when they are answered."""
    hunt(IDS.programs, IDS.interpret)


def test_encodings(hunt):
    """Requests in every legal encoding."""
    hunt(ENCODINGS.programs, ENCODINGS.interpret)
