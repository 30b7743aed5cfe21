"""Responses. Source: MessagePack-RPC specification, Response Message, The order of the response."""

from strategies.msgpack.aimed import CONNECTIONS, FAILURES, PIPELINES

ROLES = ("server",)


def test_failures(hunt):
    """Methods that fail, that do not exist, and arguments that do not fit."""
    hunt(FAILURES.programs, FAILURES.interpret)


def test_pipelines(hunt):
    """Many requests at once, some of them slow."""
    hunt(PIPELINES.programs, PIPELINES.interpret)


def test_connections(hunt):
    """The same ids on several connections."""
    hunt(CONNECTIONS.programs, CONNECTIONS.interpret)
