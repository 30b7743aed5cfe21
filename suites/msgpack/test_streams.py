"""The stream of octets. Source: MessagePack-RPC specification, Protocol Design."""

from strategies.msgpack.aimed import PIECES

ROLES = ("server",)


def test_pieces(hunt):
    """Messages cut anywhere, with others between the pieces on other connections."""
    hunt(PIECES.programs, PIECES.interpret)
