"""Requests. Source: MessagePack-RPC specification, Request Message; MessagePack specification, Formats."""

from strategies.msgpack.aimed import ENCODINGS, IDS
from suites.table import hunts

ROLES = ("server",)

test_ids = hunts("Ids over their whole range, used again when they are answered.", IDS.programs, IDS.interpret)
test_encodings = hunts("Requests in every legal encoding.", ENCODINGS.programs, ENCODINGS.interpret)
