"""Ids, values, names and members with traps in them. Zero is the plainest choice everywhere.

Values stay inside what every JSON library carries: null, booleans, texts of Unicode scalar values, whole numbers up to
2^53 - 1, doubles that survive being written, arrays and objects with texts as keys.
"""

from __future__ import annotations

from typing import Any

IDS = (
    "-6955786537413359385",
    "1",
    "-1",
    "0",
    "10",
    "11",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775806",
    "-9223372036854775807",
    "9007199254740993",
    "9007199254740992",
    "9007199254740991",
    "-9007199254740993",
    "-9007199254740992",
    "4294967296",
    "2147483648",
    "2147483647",
    "-2147483649",
    "4611686018427387905",
    "4611686018427387904",
    "1231231",
    "-234234234",
    "100",
    "1000000000000000000",
)
"""Ids of tuples: 64 bits with a sign as text, several of which are one number once they have been a double."""
MESSAGE_IDS: tuple[Any, ...] = (
    "1231231",
    1,
    "1",
    0,
    "0",
    -1,
    9007199254740991,
    -9007199254740991,
    "9007199254740993",
    "id",
    "ID",
    "a b",
    "ä",
    "日本",
    "\U0001f600",
    'quote"',
    "back\\slash",
    "line\nfeed",
    "end",
    "\u2028",
    " 1",
    "null",
    "next",
    2147483648,
    4294967296,
    "e\u0301",
    "\u00e9",
    "x" * 300,
    1.5,
)
"""Ids of a spout's emits: texts and numbers, some of which look alike."""
TEXTS = (
    "word",
    "",
    "end",
    '"end"',
    "a\nend\nb",
    "\nend\n",
    "end\n",
    "\r\nend\r\n",
    "\n",
    "\t\x00\x1f\x7f",
    "\b\f\r\v\u00a0",
    '{"command":"sync"}\nend\n',
    "[1,2]",
    "\\",
    '"',
    "\\u0041",
    "/slash/",
    "ä",
    "é\u0301",
    "日本語",
    "\u2028\u2029",
    "\u0085",
    "\ufeff",
    "\U0001f600",
    "\U0010ffff\ufffd",
    " blanks ",
    "__heartbeat",
    "x" * 3000,
    "x" + "日" * 3000,
    "y" + "日" * 24_000,
)
VALUES: tuple[Any, ...] = (
    "word",
    1,
    None,
    True,
    False,
    0,
    -1,
    9007199254740991,
    -9007199254740991,
    2147483648,
    0.5,
    -2.25,
    0.1,
    3.141592653589793,
    -123456789.125,
    1e21,
    1e-7,
    65536,
    4294967295,
    1e300,
    5e-324,
    1.7976931348623157e308,
    [],
    {},
    [[]],
    [None, [True, {"a": []}]],
    {"a": {"b": [1, 2.5, "c"]}, "of": {"0": "first", "1": "second"}},  # which some languages take for a list
    {"sum": 0.30000000000000004, "of": [0.1, {"part": 3.3000000000000003}, 1234567.8901234567]},
    {"": None, "key\n": "\U0001f600"},
    {"command": "emit", "id": 1, "task": 3},
    {"id": "1", "of": [[[[[[[[[[{"deep": "er"}]]]]]]]]]]},
    [1, "1", 1.5, None, False],
    "1",
    *TEXTS,
)
LOOKALIKES: tuple[tuple[Any, ...], ...] = (
    (1, True, "1", 1.0, [1]),
    (None, "", False, 0, [], {}),
    ("10", "1e1", "010", 10, "10.0"),
    ("word", "Word", "word ", ["word"]),
    ([1], {"0": 1}, [True], {"0": True}, ["1"]),
    ([], {}, [None], [[]]),
)
"""Values that are not the same, but are for who compares loosely."""
LOGS = (
    "hello world!",
    "",
    "two\nlines",
    "end",
    "a\nend\nb",
    "ä 日本 \U0001f600",
    '{"command":"sync"}',
    "x" * 5000,
    "a\0b\u2028",
    "100%s {}",
)
PRINTS = (
    "printed",
    "printed\n",
    "\n",
    "end\n",
    '{"command":"sync"}\nend\n',
    "\nend\n",
    "{",
    "ä",
    "x" * 9000,
    "1\n2\n3\n",
)
ALIKE = 192
STREAMS = (None, "default", "second", "third", None)
OWN_STREAMS = (None, "default", "second", "Third \u00e4", None)
"""Streams of what children emit. Hosts know those of a topology: they are given plainer ones."""
TASKS = (9, 4, 2147483647)
"""To whom a child may emit: tasks of the component that gets its streams (`specs.storm.bundle.context`)."""
COMPONENTS = (("words", 1), ("numbers", 2), ("words", 7), ("numbers", 6))
"""Where tuples come from. As many as are no divisor of the number of streams: any stream comes from any of them."""
FOLDERS = ("pids", "a b", "ä日本", 'it\'s "here"', "x" * 100, "-rf", "a;b&c$d")
"""Names of directories for process ids."""
NEAR: tuple[tuple[str, int], ...] = (
    ("__heartbeat", 4),
    ("__heartbeat2", 2),
    ("__heartbeat", 1),
    ("heartbeat", 3),
    ("__HEARTBEAT", 2),
    ("__tick", 5),
    ("default", -1),
    ("__heartbeat2", -1),
)
"""Streams and tasks that are not those of a heartbeat."""
MEMBERS: tuple[tuple[str, Any], ...] = (
    ("future", 1),
    ("futureNull", None),
    ("futureList", [1, {"command": "next"}]),
    ("futureObject", {"id": "1", "tuple": []}),
    ("futureText", "end"),
    ("future id", "\U0001f600"),
)
"""Members that nobody knows."""
CONFS: tuple[dict[str, Any], ...] = (
    {"topology.message.timeout.secs": 3},
    {},
    {"a": None, "b": [1, [2, {}]], "c": {"d": {"e": "\U0001f600\u2028"}}, "": 0},
    {"big": list(range(500)), "text": "x" + "日" * 7_000},
    {"command": "next", "pid": 1, "end": "end", "number": 1.5e300},
    {"topology.tick.tuple.freq.secs": 60, "topology.name": "ä\nend\n", "storm.zookeeper.servers": ["a", "b"]},
)


def tuple_id(n: int, first: int = 0) -> str:
    """The nth id: those with traps from the `first` on and round, then others."""
    return IDS[(first + n) % len(IDS)] if n < len(IDS) else str(7_000_000_000_000_000_000 - n)


def message_id(n: int, first: int = 0) -> Any:
    """The nth id of an emit, from the `first` on and round."""
    return MESSAGE_IDS[(first + n) % len(MESSAGE_IDS)]


def nth(number: int, n: int) -> int:
    """The number of the nth of several things. They differ, but for one number in four: then all are alike, so that a
    second of the same kind comes."""
    return number if number >= ALIKE else number + n


def value(n: int) -> Any:
    """One value."""
    return VALUES[n % len(VALUES)]


def lookalikes(which: int, first: int, step: int, more: int, how: int) -> list[list[Any]]:
    """The values of some tuples in a row: all of them are alike, and hardly any two the same."""
    family = LOOKALIKES[which % len(LOOKALIKES)]
    step = 1 + step % (len(family) - 1)
    found = [family[(first + n * step) % len(family)] for n in range(2 + more % 3)]
    return [([one], [[one]], [{"of": one}], ["alike", one])[how % 4] for one in found]


def logged(tag: str, n: int) -> list[dict[str, str]]:
    """The step of user code that logs; at times there are two of them which are alike."""
    step = {"op": "log", "msg": f"{tag} {LOGS[n % len(LOGS)]}"}
    return [step] * (2 if n // len(LOGS) % 4 == 3 else 1)


def torn(message: bytes, how: int) -> bytes:
    """The beginning of a message that ends with its newline: all of it but for its closing line, with the newline or
    without, or less."""
    return (message, message[:-1], message[: 1 + how % (len(message) - 3)])[how % 3]
