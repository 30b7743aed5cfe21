"""Whole conversations with a server. Source: MessagePack-RPC specification, Messages."""

from strategies.msgpack import sessions
from suites.table import hunts

ROLES = ("server",)

test_sessions = hunts(
    "Calls and notifications of every kind, on one to three connections.", sessions.sessions(), sessions.interpret, 3
)
