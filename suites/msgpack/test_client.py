"""Clients. Source: MessagePack-RPC specification, Messages, The order of the response."""

import pytest

from strategies.msgpack import calls

ROLES = ("client",)


@pytest.mark.weight(2)
def test_conversations(hunt):
    """Calls, answered in every way, and notifications."""
    hunt(calls.conversations(), calls.interpret)


def test_requests(hunt):
    """Requests and notifications, as they are sent."""
    hunt(calls.conversations("call", "notify", "large"), calls.interpret)


def test_values(hunt):
    """Params and results of every format at its boundaries."""
    hunt(calls.conversations("values", most=4), calls.interpret)


def test_orders(hunt):
    """Calls that are open together, answered in any order."""
    hunt(calls.conversations("group", most=3), calls.interpret)


def test_ids(hunt):
    """Ids of calls that come and go while others stay open."""
    hunt(calls.conversations("rolling", "many", "group", most=3), calls.interpret)


def test_errors(hunt):
    """Errors that are easily taken for none, results that are easily taken for nothing."""
    hunt(calls.conversations("error", "call", most=4), calls.interpret)


def test_strays(hunt):
    """Responses that belong to no open call."""
    hunt(calls.conversations("stray", "twice", most=3), calls.interpret)


def test_breakdowns(hunt):
    """What comes is no message, or the connection ends."""
    hunt(calls.breakdowns(), calls.breaking)
