"""Clients. Source: MessagePack-RPC specification, Messages, The order of the response."""

from strategies.msgpack import calls
from suites.table import hunts

ROLES = ("client",)

test_conversations = hunts(
    "Calls, answered in every way, and notifications.", calls.conversations(), calls.interpret, 2
)
test_requests = hunts(
    "Requests and notifications, as they are sent.",
    calls.conversations("call", "notify", "large", "again"),
    calls.interpret,
)
test_values = hunts(
    "Params and results of every format at its boundaries.", calls.conversations("values", most=4), calls.interpret
)
test_orders = hunts(
    "Calls that are open together, answered in any order.",
    calls.conversations("group", "straddle", most=3),
    calls.interpret,
)
test_ids = hunts(
    "Ids of calls that come and go while others stay open.",
    calls.conversations("rolling", "many", "group", most=3),
    calls.interpret,
)
test_errors = hunts(
    "Errors that are easily taken for none, results that are easily taken for nothing.",
    calls.conversations("error", "call", most=4),
    calls.interpret,
)
test_strays = hunts(
    "Responses that belong to no open call.", calls.conversations("stray", "twice", most=3), calls.interpret
)
test_breakdowns = hunts("What comes is no message, or the connection ends.", calls.breakdowns(), calls.breaking)
