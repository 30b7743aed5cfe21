"""Clients that are made from a document. Source: 004_4ca5b084f7ea0751.txt, client side, exceptions, extensions."""

from strategies.msgpack import calling
from suites.table import hunts

ROLES = ("idl-client",)
DISCIPLINES = ("lock-step",)

test_calls = hunts("Calls of every kind, answered in every way.", calling.calls(), calling.interpret, 2)
test_names = hunts(
    "Functions of every version in every scope, by turns.",
    calling.calls("versions", "call", "meta", "nothing"),
    calling.interpret,
    2,
)
test_arguments = hunts(
    "Arguments and messages as they are sent.", calling.calls("arguments", "echo", "call", "same"), calling.interpret
)
test_results = hunts(
    "Results as they are reported: complete, short, long, with nil, with numbers that are too large.",
    calling.calls("result", "bad result", "nothing", "same"),
    calling.interpret,
    2,
)
test_defaults = hunts("Results from which more and more is left out.", calling.calls("left out"), calling.interpret)
test_failures = hunts(
    "Errors that are easily taken for none, and exceptions that the document has or has not.",
    calling.calls("error", "throw", "call"),
    calling.interpret,
    2,
)
test_many_calls = hunts(
    "So many calls that ids need two octets.", calling.calls("many", most=1), calling.interpret, 0.5
)
test_widths = hunts(
    "The ends of every type of integers, and the numbers behind them.",
    calling.calls("widths", most=1),
    calling.interpret,
)
test_missing = hunts(
    "Messages with a field of each type, and without it.",
    calling.calls("missing", most=1),
    calling.interpret,
)
