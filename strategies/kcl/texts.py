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
    "\u007f",
    "/slash",
    " blanks ",
    "null",
    "k" * 256,
    "",
)
"""Partition keys of ASCII."""
WIDE_KEYS = (
    "ä",
    "é\u0301",
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

DATA = (
    b"data",
    b"",
    b"\x00",
    bytes(range(256)),
    b"\xfb\xff\xfe",  # + and / in base64
    b"\xff",
    b"ab",
    b"abc",
    b"a" * 57,
    b"a" * 58,  # more than one line of 76 characters, for who breaks lines
    b"{}",
    b'{"action":"status","responseFor":"processRecords"}',
    b'{"wireproof":0}',
    b"\n",
    b"line\r\nline",
    b"\xc3\xa4",
    b"\xc3",
    b"x" * 3000,
    bytes(range(255, -1, -1)) * 8,
)
FIRST = 49_590_338_271_490_256_608_559_692_538_361_571_095_921_575_989_136_588_898
"""The first sequence number: 56 digits, which no float and no 64 bits hold."""
SHARDS = ("shardId-000000000001", "s", "shardId ä", "0")
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
)
"""What user code prints: half lines that would swallow a message written behind them."""
MEMBERS: tuple[tuple[str, Any], ...] = (
    ("futureMember", 1),
    ("futureMember", None),
    ("futureMember", {"a": [1, {"b": None}]}),
    ("futureMember", "text"),
    ("futureMember", []),
    ("futureMember", True),
)
"""Members that no profile knows."""


def number(serial: int) -> str:
    """The sequence number of the nth record."""
    return str(FIRST + serial * 3)


def key(choice: int) -> str:
    """A partition key."""
    if choice % 4 == 3:
        return WIDE_KEYS[choice // 4 % len(WIDE_KEYS)]
    return KEYS[(choice - choice // 4) % len(KEYS)] if choice % 4 else KEYS[0]


def data(choice: int) -> bytes:
    """The octets of a record."""
    return DATA[choice % len(DATA)]
