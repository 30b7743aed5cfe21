"""Partition keys, record data and numbers with traps in them. Zero is the plainest choice everywhere."""

from __future__ import annotations

from typing import Any

KEYS = (
    "key",
    "0",
    "a b",
    '"',
    "\\",
    "\\n",
    "{}",
    '","sequenceNumber":"1',
    "\t",
    "line\nfeed",
    "carriage\rreturn",
    "\r\n",
    "\u0000",
    "\u001f",
    "\b\f\v",
    "\u007f",
    "/slash",
    " blanks ",
    "null",
    "<a href='x'>&amp;</a>",
    "%s %41 ${x} \\u0041",
    "k" * 256,
    "",
)
"""Partition keys of ASCII."""
WIDE_KEYS = (
    "ä",
    "e\u0301",
    "日本語",
    "\u2028",
    "\u2029",
    "\u0085",
    "\u00a0",
    "\ufeff",
    "\ufffd",
    "\uffff",
    "😀",
    "\U0010ffff",
    "\u200d\u202e",
    "ﷺ" * 200,
    "\u0391\u03c3\u03c2",
)
"""Partition keys beyond ASCII: line ends of other worlds, code points beyond 16 bits, and what is normalised."""

LINE_ENDS = frozenset("\u0085\u2028\u2029")
"""Characters that end a line for some, and stand in JSON as they are."""
ALL_OCTETS = bytes(range(256))
DATA = (
    b"data",
    b"",
    b"\x00",
    ALL_OCTETS,
    b"\xfb\xff\xfe",  # + and / in base64
    b"\xff",
    b"ab",
    b"abc",
    b"a" * 57,
    b"a" * 58,  # more than one line of 76 characters, for who breaks lines
    b"{}",
    b'{"action":"status","responseFor":"processRecords"}',
    b'{"scripted":0}',  # a JSON object that carries no steps
    b"\n",
    b"line\r\nline",
    b"\xc3\xa4",
    b"\xc3",
    b"x" * 3000,
    bytes(range(255, -1, -1)) * 8,
)
FIRST = 49_590_338_271_490_256_608_559_692_538_361_571_095_921_575_989_136_588_898
"""The first sequence number: 56 digits, which no float and no 64 bits hold."""
SHARDS = ("", "-000000000001", "_Mixed.Case-9", "-" + "q" * 90)
"""Ends of shard ids, of the characters that a stream's shards may have."""
RAISED = (
    "ThrottlingException",
    "ShutdownException",
    "InvalidStateException",
    "KinesisClientLibDependencyException",
    "IllegalArgumentException",
)
"""What a checkpointer raises."""
ERRORS = (*RAISED, "E")
"""What a child may be told."""
PRINTS = (
    "x",
    "x\n",
    "one\ntwo",
    "{",
    '{"action"',
    "}",
    '"',
    "\n",
    "status",
    " ",
    "[]\n",
    "12",
    "\t",
    "y" * 5000,
    "é",
    "",
)
"""What user code prints: half lines that would swallow a message written behind them."""
MEMBERS: tuple[tuple[str, Any], ...] = (
    ("futureMember", 1),
    ("futureMember", None),
    ("futureMember", {"a": [1, {"b": None}]}),
    ("futureMember", "text"),
    ("futureMember", []),
    ("futureMember", True),
    ("futureMember", {"action": "shutdown", "reason": "ZOMBIE", "error": "E"}),
)
"""Members that no profile knows."""


WAYS_TO_COUNT = 5
"""Schemes of sequence numbers: see `number`."""
SHARED = 3
"""The scheme in which two records share a number."""


def number(serial: int, scheme: int = 0) -> str:
    """The sequence number of the nth record.

    Schemes: 0 long and all of one length; 1 short, and growing longer, so that they sort otherwise as texts; 2 beyond
    what 64 bits hold, a few records on; 3 two records share one, as those of one aggregated record do; 4 with zeros in
    front, which only what takes them for numbers loses.
    """
    if scheme == 1:
        return str(8 + serial)
    if scheme == 2:
        return str(2**63 - 3 + serial)
    if scheme == SHARED:
        return str(FIRST + serial // 2)
    return str(serial + 7).zfill(20) if scheme == 4 else str(FIRST + serial * 3)


def shard(choice: int) -> str:
    """The end of a shard id."""
    return f"{choice}{SHARDS[choice % len(SHARDS)]}"


def key(choice: int) -> str:
    """A partition key."""
    if choice % 4 == 3:
        return WIDE_KEYS[choice // 4 % len(WIDE_KEYS)]
    return KEYS[(choice - choice // 4) % len(KEYS)] if choice % 4 else KEYS[0]


def data(choice: int) -> bytes:
    """The octets of a record."""
    return DATA[choice % len(DATA)]
