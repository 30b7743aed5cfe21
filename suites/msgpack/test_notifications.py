"""Notifications. Source: MessagePack-RPC specification, Notification Message."""

from strategies.msgpack.aimed import NOTIFICATIONS, counting, counts
from suites.table import hunts

ROLES = ("server",)

test_silence = hunts(
    "Notifications of every kind get no response, which the requests behind them show.",
    NOTIFICATIONS.programs,
    NOTIFICATIONS.interpret,
)
test_counts = hunts(
    "Notifications are dispatched, as the server's own count shows.", counts(), counting, 0.7, always_calm=True
)
