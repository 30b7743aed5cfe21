"""The stream of octets. Source: MessagePack-RPC specification, Protocol Design."""

from strategies.msgpack.aimed import PIECES
from suites.table import hunts

ROLES = ("server",)

test_pieces = hunts(
    "Messages cut anywhere, with others between the pieces on other connections.", PIECES.programs, PIECES.interpret
)
