"""Servers that are made from a document. Source: 004_4ca5b084f7ea0751.txt, services, exceptions, extensions."""

from strategies.msgpack import serving, serving_refusals
from suites.table import hunts

ROLES = ("idl-server",)

test_calls = hunts("Calls of every kind.", serving.calls(), serving.interpret, 2)
test_versions = hunts(
    "Every function of every version in every scope, and what is nearly one.",
    serving.calls("sweep", "call", "near", "short"),
    serving.interpret,
    2,
)
test_late_binding = hunts(
    "Functions that get another implementation while the server runs.",
    serving.calls("assign", "call"),
    serving.interpret,
)
test_values = hunts(
    "Messages there and back: complete, short, long, with nil, with numbers that are too large.",
    serving.calls("echo", "bad value", "arguments"),
    serving.interpret,
    2,
)
test_defaults = hunts(
    "Messages from which more and more is left out.", serving.calls("left out", "echo"), serving.interpret
)
test_failures = hunts(
    "Exceptions, the meta service, selectors that are none, functions that take their time.",
    serving.calls("throw", "meta", "selector", "call", "note", "slow"),
    serving.interpret,
)
test_refusals = hunts(
    "What is refused, and behind it calls in which something optional is left out.",
    serving_refusals.refusals(),
    serving_refusals.interpret,
)
