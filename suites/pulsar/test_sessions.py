"""Whole conversations with a broker. Source: 001_c0ea8805bb7ed422.txt, Interactions."""

import pytest

from strategies.pulsar import aimed

ROLES = ("broker",)


@pytest.mark.weight(3)
def test_sessions(hunt):
    """Producers and consumers of every kind, on two connections."""
    hunt(aimed.SESSIONS.programs, aimed.SESSIONS.interpret)


def test_requests(hunt):
    """Requests of every kind, on two connections."""
    hunt(aimed.REQUESTS.programs, aimed.REQUESTS.interpret)


def test_closing(hunt):
    """Producers and consumers that are closed, subscriptions that are given up, connections that are cut."""
    hunt(aimed.CLOSING.programs, aimed.CLOSING.interpret)


@pytest.mark.weight(2)
def test_lost(hunt):
    """Connections that are cut: what was on them is free, nothing else is lost."""
    hunt(aimed.LOST.programs, aimed.LOST.interpret)
