"""Notifications. Source: MessagePack-RPC specification, Notification Message."""

import pytest

from strategies.msgpack.aimed import NOTIFICATIONS, counting, counts

ROLES = ("server",)


def test_silence(hunt):
    """Notifications of every kind get no response, which the requests behind them show."""
    hunt(NOTIFICATIONS.programs, NOTIFICATIONS.interpret)


@pytest.mark.weight(0.7)
def test_counts(hunt):
    """Notifications are dispatched, as the server's own count shows."""
    hunt(counts(), counting, always_calm=True)
