"""Whole conversations with a server. Source: MessagePack-RPC specification, Messages."""

import pytest

from strategies.msgpack import sessions

ROLES = ("server",)


@pytest.mark.weight(3)
def test_sessions(hunt):
    """Calls and notifications of every kind, on one to three connections."""
    hunt(sessions.sessions(), sessions.interpret)
