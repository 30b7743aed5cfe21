"""What a child may be sent and must survive: a legal beginning, one thing that no host should send, and the end.

Rows are those of the catalogue of invalid inputs, STORM-INV-CHILD-01 and following, and SPOUT-24. After what means
nothing, something legal follows: its answer, or the end of the child, shows that it is behind it, without a pause.
"""

from __future__ import annotations

from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.plan import Control, Plan, Ref, Say
from specs.storm.bundle import context
from specs.storm.frames import Message, Style, Text
from specs.storm.states import Config
from strategies.common import Program, Rows, programs
from strategies.storm import bolts, spouts
from strategies.storm.writer import PLAIN, Writer

HEAD = bolts.HEAD + 2
ROW = HEAD - 2
"""The head number that chooses a row."""
MOST = 3

ROWS = Rows("STORM-")
misuse = ROWS.row
AT_ONCE = frozenset({"INV-CHILD-01", "INV-CHILD-07", "INV-CHILD-08"})
"""Rows that begin the conversation themselves."""


def misuses() -> SearchStrategy[Program]:
    """Programs with one misuse."""
    return programs({"tuple": 2, "script": 2, "next": 2}, head=HEAD, most=MOST, least=0)


def interpret(program: Program, config: Config, *, hurry: bool = False, avoid: frozenset[str] = frozenset()) -> Plan:
    """The plan that a program means, without the rows to `avoid`."""
    name, how = ROWS.chosen(program.head[ROW], config.child, avoid), program.head[ROW + 1]
    w = Writer(config)
    if name not in AT_ONCE:
        head = (0, 0, program.head[2], 0, 0)
        kinds = ("tuple", "script") if config.child == "bolt" else ("next",)
        ops = tuple(op._replace(args=(*op.args[:4], 0)) for op in program.ops if op.kind in kinds)
        (bolts if config.child == "bolt" else spouts).write(w, Program(head, ops), 0)
        w.ways = PLAIN
        w.wait()
    ROWS[name](w, how)
    return w.plan()


def _go_on(w: Writer) -> None:
    """Something legal, and the end."""
    if w.config.child == "bolt":
        w.heartbeat()
        w.tuple(["behind"])
    else:
        w.command("next")
    w.lists()
    w.eof()


@misuse("INV-CHILD-01")
def _setup(w: Writer, how: int) -> None:
    w.steps.append(Control(0, "folder", "pids"))
    folder: Any = Ref("folder", "")
    kinds: tuple[Any, ...] = (
        Text(b"no json", "no-json"),
        Text(b'{"conf":{},', "no-json"),
        Message({"conf": {}, "context": context()}),
        Message({"conf": {}, "pidDir": Ref("folder", "/nowhere"), "context": context()}),
        Message({"conf": {}, "pidDir": None, "context": context()}),
        Message({"conf": {}, "pidDir": 7, "context": context()}),
        Text(b'["conf","pidDir","context"]', "no-json"),
        Message([{"conf": {}, "pidDir": folder, "context": context()}]),
    )
    w.say(kinds[how % len(kinds)], when="turn")
    w.wait()
    w.eof()


NO_MESSAGES = (b"no json", b"{", b'{"id":"1"', b"}", b"{'command':'next'}", b'{"command":"next"', b"nul", b'"', b"[1,")
OTHERS: tuple[Any, ...] = (None, True, 0, "x", "end", "next", 1.5)


@misuse("INV-CHILD-02")
def _malformed(w: Writer, how: int) -> None:
    if how % 3 == 2:
        w.say(Message(OTHERS[how // 3 % len(OTHERS)]))
    else:
        w.say(Text(NO_MESSAGES[how % len(NO_MESSAGES)], "no-json"))
    _go_on(w)


@misuse("INV-CHILD-03", "bolt")
def _lacking(w: Writer, how: int) -> None:
    whole = {"id": w.next_id(), "comp": "words", "stream": "n1", "task": 1, "tuple": ["lacking"]}
    name = tuple(whole)[how % 5]
    if how // 5 % 2 or name == "tuple":
        del whole[name]
    else:
        del whole["id"]
    w.say(Message(whole))
    _go_on(w)


@misuse("INV-CHILD-04", "bolt")
def _number(w: Writer, how: int) -> None:
    name = (7, -1, 9007199254740991, -4294967297, 0)[how % 5]  # ids are texts for those who have no more digits
    w.say(Message({"id": name, "comp": "words", "stream": "n1", "task": 1, "tuple": ["number"]}))
    w.lists()
    w.wait()
    w.eof()


@misuse("INV-CHILD-05", "spout")
def _unknown(w: Writer, how: int) -> None:
    names = ("nonsense", "Next", "NEXT", "next ", "", "sync", "emit", "nextTuple", "__proto__")
    w.say(Message({"command": names[how % len(names)]}))
    w.wait()
    w.eof()


@misuse("INV-CHILD-06", "spout")
def _no_command(w: Writer, how: int) -> None:
    kinds: tuple[Any, ...] = (
        {},
        {"id": "1"},
        {"command": None},
        {"command": 7},
        {"comand": "next"},
        {"command": ["next"]},
    )
    w.say(Message(kinds[how % len(kinds)]))
    w.wait()
    w.eof()


@misuse("INV-CHILD-07")
def _unasked(w: Writer, how: int) -> None:
    step = {"op": "emit", "tuple": ["asks"]}
    w.setup({"wireproof.script": [[step]]})
    w.say(Message(([7], [], [1, 2, 3])[how % 3]))
    if w.config.child == "bolt":  # an emit behind it wants task ids of its own
        w.script([step, {"op": "ack"}])
    _go_on(w)


@misuse("INV-CHILD-08", weight=3)
def _no_numbers(w: Writer, how: int) -> None:
    step = {"op": "emit", "tuple": ["asks"]}
    w.setup({"wireproof.script": [[step]]})
    if w.config.child == "bolt":
        w.script([step, {"op": "ack"}])
    else:
        w.command("next")
    ids: tuple[list[Any], ...] = (["7"], [[7]], [None], [{"task": 7}], [True], [1.5])
    w.say(Message(ids[how % len(ids)]))
    w.wait()
    if w.config.child == "bolt":
        w.heartbeat()
        _emits_behind(w, how // len(ids))
    w.eof()


def _emits_behind(w: Writer, how: int) -> None:
    """Tuples behind an odd list, one of which emits and waits for a list of its own."""
    w.wait()
    if how % 4 == 1:
        w.tuple(["between"])
    if how % 4:
        w.script([{"op": "emit", "tuple": ["behind"]}, {"op": "ack"}])
        w.lists(how // 4)
        w.wait()
    if how % 4 == 3:
        w.tuple(["last"])
        w.wait()


@misuse("INV-CHILD-10")
def _blank(w: Writer, how: int) -> None:
    if how % 3 == 0:
        w.say(Text((b"", b" ", b"\n\n")[how // 3 % 3], "empty"))
        _go_on(w)
        return
    legal = b'{"command":"next"}'
    if w.config.child == "bolt":
        legal = b'{"id":"5","comp":"words","stream":"n1","task":1,"tuple":["behind"]}'
    if how % 3 == 1:
        w.steps.append(Say(0, Text(legal, "odd"), style=Style(eol=b"\r\n")))
    else:
        w.say(Text(b"\n\n" + legal, "odd"))
    w.lists()
    w.wait()
    w.eof()


@misuse("INV-CHILD-14")
def _no_utf8(w: Writer, how: int) -> None:
    octets = (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80")[how % 4]
    if w.config.child == "bolt":
        data = b'{"id":"5","comp":"words","stream":"n1","task":1,"tuple":["' + octets + b'"]}'
    else:
        data = b'{"command":"next","x":"' + octets + b'"}'
    w.say(Text(data, "not-utf-8"))
    w.wait()
    w.lists()
    w.wait()
    w.eof()


@misuse("SPOUT-24", "spout")
def _unknown_id(w: Writer, how: int) -> None:
    w.command(("ack", "fail")[how % 2], id=("nobody", 77, "", "1231231 ")[how // 2 % 4])
    w.lists()
    w.wait()
    w.eof()
