"""What a child may be sent and must survive: a legal beginning, one thing that no host should send, and the end.

Rows are those of the catalogue of invalid inputs, KCL-INV-CHILD-01 and following. After a line that asks for nothing, a
legal action follows: its status, or the end of the child, shows that the line is behind it, without a pause.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.kcl.frames import Message, Text, message
from specs.kcl.states import Config
from specs.plan import Plan
from strategies.common import Program, Rows, programs
from strategies.kcl import sessions, texts
from strategies.kcl.writer import CRLF, Ways, Writer

HEAD = sessions.HEAD + 2
ROW = sessions.HEAD
"""The head number that chooses a row."""
MOST = 4

ROWS = Rows("KCL-")
misuse = ROWS.row


def misuses() -> SearchStrategy[Program]:
    """Programs with one misuse."""
    return programs({"batch": 3, "checkpoint": 2}, head=HEAD, most=MOST, least=0)


def interpret(program: Program, config: Config, *, hurry: bool = False, avoid: frozenset[str] = frozenset()) -> Plan:
    """The plan that a program means, without the rows to `avoid`."""
    name, how = ROWS.chosen(program.head[ROW], avoid=avoid), program.head[ROW + 1]
    w = Writer(config)
    if name == "INV-CHILD-07" and how % 3 == 0:
        ROWS[name](w, how)
        return w.plan()
    begun = program._replace(head=(program.head[0], 0, program.head[2], program.head[3]))
    if name == "INV-CHILD-05":
        sessions.write(w, begun._replace(head=(0, CRLF | 1, how, 0)), CRLF)
    else:
        sessions.write(w, begun, 0)
    ROWS[name](w, how)
    return w.plan()


def _go_on(w: Writer) -> None:
    """A legal action, and a regular end."""
    w.batch([w.record(b"behind")])
    w.answers()
    w.final("ZOMBIE")
    w.eof()


NO_MESSAGES = (
    b"no json",
    b"{",
    b'{"action":"initialize"',
    b"null",
    b"true",
    b"0",
    b'"x"',
    b"[]",
    b'["action"]',
    b"{}",
    b'{"shardId":"s"}',
    b'{"action":null}',
    b'{"action":7}',
    b"{'action':'shutdown'}",
    b"\xff\xfe",
    b'\xef\xbb\xbf{"action":',
)


@misuse("INV-CHILD-01")
def _malformed(w: Writer, how: int) -> None:
    if how % 4 == 3:
        w.say(message(("nonsense", "Initialize", "record", "status")[how // 4 % 4]))
    else:
        data = NO_MESSAGES[how % len(NO_MESSAGES)]
        w.say(Text(data, "not-utf-8" if data.startswith(b"\xff") else "no-json"))
    _go_on(w)


@misuse("INV-CHILD-02")
def _blank(w: Writer, how: int) -> None:
    for _ in range(1 + how % 3):
        w.say(Text((b"", b" ", b"\t")[how // 3 % 3], "blank"))
    _go_on(w)


@misuse("INV-CHILD-03")
def _lacking(w: Writer, how: int) -> None:
    record = w.record(b"x")
    broken: tuple[Mapping[str, Any], ...] = (
        {"action": "processRecords"},
        {"action": "processRecords", "records": None},
        {"action": "processRecords", "records": "x"},
        {"action": "processRecords", "records": [1]},
        {"action": "processRecords", "records": [{k: v for k, v in record.items() if k != "data"}]},
        {"action": "processRecords", "records": [{**record, "data": 7}]},
        {"action": "processRecords", "records": {"data": "eA=="}},
    )
    w.say(Message(broken[how % len(broken)]))
    w.eof()


@misuse("INV-CHILD-04")
def _members(w: Writer, how: int) -> None:
    name, value = texts.MEMBERS[how % len(texts.MEMBERS)]
    w.features.add("members")
    record = {**w.record(b"data"), name: value}
    extra: dict[str, Any] = {"millisBehindLatest": 0} if w.config.wire.rich else {}
    w.say(message("processRecords", records=[record], **extra, **{name: value}))
    w.answers()
    _go_on(w)


@misuse("INV-CHILD-05")
def _line_ends(w: Writer, how: int) -> None:
    w.batch([w.record(b"data")], Ways(CRLF, how))
    w.answers()
    w.final("ZOMBIE", Ways(CRLF, how))
    w.eof()


@misuse("INV-CHILD-06")
def _no_base64(w: Writer, how: int) -> None:
    broken = ("####", "a", "YWJj*", "\u00e4", "(YWJj)")
    record = {**w.record(b"x"), "data": broken[how % len(broken)]}
    extra: dict[str, Any] = {"millisBehindLatest": 0} if w.config.wire.rich else {}
    w.say(message("processRecords", records=[record], **extra))
    w.eof()


@misuse("INV-CHILD-07")
def _out_of_order(w: Writer, how: int) -> None:
    if how % 3 == 0:
        w.batch([w.record(b"early")])
    elif how % 3 == 1:
        w.initialize("again")
    else:
        w.final("ZOMBIE")
        w.batch([w.record(b"late")])
    w.eof()


@misuse("INV-CHILD-09")
def _unasked_answer(w: Writer, how: int) -> None:
    number = w.numbers[-1] if w.numbers else texts.number(0)
    error = (None, "ThrottlingException")[how % 2]
    w.say(message("checkpoint", **{w.config.wire.number: number}, error=error))
    if how // 2 % 2:
        w.batch([w.script([{"op": "checkpoint", "at": None}])])
        w.answers()
    _go_on(w)


@misuse("INV-CHILD-10")
def _other_number(w: Writer, how: int) -> None:
    w.batch([w.script([{"op": "checkpoint", "at": None}])])
    w.say(message("checkpoint", **{w.config.wire.number: texts.number(900)}, error=None), upto=1)
    w.eof()


@misuse("CHECKPOINT-15", weight=2)
def _no_answer(w: Writer, how: int) -> None:
    w.batch([w.script([{"op": "checkpoint", "at": None}])])
    if how % 4 == 3:
        data = NO_MESSAGES[how // 4 % len(NO_MESSAGES)]
        w.say(Text(data, "not-utf-8" if data.startswith(b"\xff") else "no-json"))
    elif how % 2:
        w.batch([w.record(b"instead")])
    elif how % 8 == 4:
        w.final(("ZOMBIE", "TERMINATE")[how // 8 % 2])
    else:
        w.requested() if w.config.wire.requested else w.batch([])
    w.eof()


@misuse("INV-CHILD-12")
def _no_newline(w: Writer, how: int) -> None:
    w.bare(Text(json.dumps({"action": "processRecords", "records": []}).encode(), "bare"))
    w.eof()


@misuse("INV-CHILD-13")
def _half_a_line(w: Writer, how: int) -> None:
    data = (b'{"action":"proc', b"{", b'{"action":"processRecords","records":[', b'{"action":"shutdown"')[how % 4]
    w.bare(Text(data, "cut"))
    w.eof()


@misuse("INV-CHILD-14")
def _end(w: Writer, how: int) -> None:
    if how % 3 == 0:
        w.eof()
    elif how % 3 == 1:
        w.batch([w.record(b"data")])
        w.eof(at_once=True)
    else:
        w.batch([w.script([{"op": "checkpoint", "at": None}])])
        w.eof()


@misuse("INV-CHILD-16")
def _other_profile(w: Writer, how: int) -> None:
    if "shutdown" in w.config.wire.finals:
        w.say(message(("leaseLost", "shardEnded")[how % 2]))
    else:
        w.say(message("shutdown", reason=("TERMINATE", "ZOMBIE")[how % 2]))
    w.eof()
