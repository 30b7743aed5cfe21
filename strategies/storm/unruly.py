"""What a bad child may do to a host: a legal beginning, and then one thing that no child should do.

Rows are those of the catalogue of invalid inputs, STORM-INV-HOST-01 and following, and the endings.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.plan import Control, Plan, Ref
from specs.storm.frames import Message, Text
from specs.storm.states import Config
from strategies.common import Program, Rows, programs
from strategies.storm import host_writer, hosting, texts
from strategies.storm.host_writer import Writer
from strategies.storm.writer import PLAIN

HEAD = hosting.HEAD + 2
ROW = HEAD - 2
"""The head number that chooses a row."""
ROWS = Rows("STORM-")
misuse = ROWS.row
AT_ONCE = frozenset({"INV-HOST-01", "HS-18"})
"""Rows that begin the conversation themselves."""


def misuses() -> SearchStrategy[Program]:
    """Programs with one misuse."""
    return programs({"tuple": 2, "emit": 1, "settle": 1, "next": 2}, head=HEAD, most=3, least=0)


def interpret(
    program: Program,
    config: Config,
    *,
    hurry: bool = False,
    avoid: frozenset[str] = frozenset(),
    rows: Sequence[str] = (),
) -> Plan:
    """The plan that a program means, without the rows to `avoid`; only of `rows`, if any are given."""
    name, how = ROWS.chosen(program.head[ROW], config.child, avoid, rows or None), program.head[ROW + 1]
    w = Writer(config)
    if name not in AT_ONCE:
        kinds = ("tuple", "emit", "settle") if w.bolt else ("next",)
        ops = tuple(op for op in program.ops if op.kind in kinds)
        hosting.write(w, Program((0, 0, program.head[2], 0, 0), ops), 0)
        w.ways = PLAIN
    ROWS[name](w, how)
    return w.plan()


def aimed(*rows: str) -> Any:
    """The interpretation that tries these rows only."""
    return partial(interpret, rows=rows)


def _open(w: Writer) -> int:
    """A tuple or a command is open; the tuple's number."""
    if w.bolt:
        number = w.tuple(["open"])
        w.wait()
        return number
    w.call("next")
    w.wait()
    return 0


def _regular(w: Writer, number: int) -> None:
    """What is open is finished, and shows."""
    if w.bolt:
        w.settle("ack", number)
    else:
        w.emit(["regular"])
        w.sync()
    w.close()


def _emit(w: Writer, **changed: Any) -> Message:
    members = {"command": "emit", "tuple": [w.tag(), "x"], **changed}
    return Message({name: value for name, value in members.items() if value is not LEFT_OUT})


LEFT_OUT = object()


@misuse("INV-HOST-01", weight=2)
def _pids(w: Writer, how: int) -> None:
    pid: Any = Ref("pid")
    kinds: tuple[Any, ...] = (
        Message({"pid": pid, "future": [1, {}], "command": "x"}),
        Message({}),
        Text(b"4242", "no-json"),
        Text(b"pid", "no-json"),
        Message([pid]),
        Message({"pid": "4242"}),
        Message({"pid": None}),
        Text(b'{"pid":', "no-json"),
        Message("4242"),
        Message(None),
    )
    frame = kinds[how % len(kinds)]
    w.steps.append(host_writer.started({}))
    w.say(frame)
    w.wait()
    if how % len(kinds) < 2:
        if w.config.has("x-activate"):
            w.steps.append(host_writer.lively())
        if w.bolt:
            w.tuple(["first"])
        else:
            w.call("next")
        w.wait()
        w.close()


@misuse("HS-18", weight=2)
def _no_child(w: Writer, how: int) -> None:
    w.steps.append(host_writer.started({}))
    w.wait()
    if how % 4 == 3:
        w.blurt(b'{"pid":4')
    w.do("exit", (0, 1, 137)[how % 3])


STRAY = (b"debug", b"Hello, world!", b"[INFO] started", b"{", b"WARNING: x\n", b"'")


@misuse("INV-HOST-03")
def _stray_line(w: Writer, how: int) -> None:
    _open(w)
    whole = json.dumps(_emit(w).value).encode()
    w.say(Text(STRAY[how % len(STRAY)] + (b"\n" if how % 2 else b"") + whole, "INV-HOST-03"))


@misuse("INV-HOST-04")
def _stray_message(w: Writer, how: int) -> None:
    _open(w)
    w.say(Text(STRAY[how % len(STRAY)], "INV-HOST-04"))


@misuse("INV-HOST-05")
def _two(w: Writer, how: int) -> None:
    _open(w)
    one, other = (json.dumps(_emit(w).value).encode() for _ in range(2))
    w.say(Text(one + (b"\n", b"", b" ")[how % 3] + other, "INV-HOST-05"))


@misuse("INV-HOST-06")
def _trailing(w: Writer, how: int) -> None:
    _open(w)
    whole = json.dumps(_emit(w).value).encode()
    w.say(Text(whole + (b" x", b"\ndebug", b"}", b",", b"\n0")[how % 5], "INV-HOST-06"))


@misuse("INV-HOST-07", weight=2)
def _blank(w: Writer, how: int) -> None:
    number = _open(w)
    whole = json.dumps(_emit(w).value).encode()
    w.say(Text((b"\n", b"\n\n\n", b"  \n", b"\t\n\n")[how % 4] + whole, "INV-HOST-07"))
    _regular(w, number)


@misuse("INV-HOST-08")
def _empty(w: Writer, how: int) -> None:
    _open(w)
    w.say(Text((b"", b" ", b"\n", b"\t\n")[how % 4], "INV-HOST-08"))


@misuse("INV-HOST-09")
def _no_end(w: Writer, how: int) -> None:
    _open(w)
    one, other = (json.dumps(_emit(w).value).encode() for _ in range(2))
    odd = (b"END", b'"end"', b"End", b"end.", b"ende")[how % 5]  # blanks beside it may be passed over
    w.say(Text(one + b"\n" + odd + b"\n" + other, "INV-HOST-09"))


@misuse("INV-HOST-10", weight=2)
def _crlf(w: Writer, how: int) -> None:
    number = _open(w)
    whole = json.dumps(_emit(w).value, indent=how % 2 or None).encode()
    w.crlf(Text(whole, "INV-HOST-10"))
    w.wait()
    _regular(w, number)


@misuse("INV-HOST-11")
def _no_object(w: Writer, how: int) -> None:
    _open(w)
    kinds: tuple[Any, ...] = ([], ["emit"], "sync", 7, None, True, [7])
    w.say(Message(kinds[how % len(kinds)]))


@misuse("INV-HOST-12", weight=2)
def _no_command(w: Writer, how: int) -> None:
    number = _open(w)
    kinds: tuple[Any, ...] = ({}, {"command": None}, {"command": 7}, {"comand": "sync"}, {"command": ["emit"]})
    unknown = ("nonsense", "EMIT", "Sync", "emit ", "")
    if how % 2:
        w.say(Message({"command": unknown[how // 2 % len(unknown)], "tuple": ["x"], "id": "1", "msg": "x"}))
        if w.bolt:
            w.wait()
            _regular(w, number)
    else:
        w.say(Message(kinds[how // 2 % len(kinds)]))


@misuse("INV-HOST-13")
def _no_tuple(w: Writer, how: int) -> None:
    _open(w)
    w.say(_emit(w, tuple=(LEFT_OUT, "word", {"a": 1}, None, 7)[how % 5]))


@misuse("INV-HOST-14")
def _odd_task(w: Writer, how: int) -> None:
    _open(w)
    w.say(_emit(w, task=("4", 1.5, -1, 1 << 31, [4], (1 << 32) + 4, "x")[how % 7]))


@misuse("INV-HOST-15")
def _odd_stream(w: Writer, how: int) -> None:
    _open(w)
    w.say(_emit(w, stream=(1, ["second"], {"a": 1}, True)[how % 4]))


@misuse("INV-HOST-16", "bolt", weight=2)
def _odd_anchor(w: Writer, how: int) -> None:
    number = _open(w)
    if how % 4 == 0:
        w.settle("ack", number)
        w.wait()
    anchors: tuple[Any, ...] = ([Ref("tuple", number)], ["77"], [77], [Ref("tuple", number), "77"])
    w.say(_emit(w, anchors=anchors[how % 4]))


@misuse("INV-HOST-17", "bolt", weight=4)
def _odd_ack(w: Writer, how: int) -> None:
    number = _open(w)
    _open(w)
    op = ("ack", "fail")[how % 2]
    kind = how // 2 % 5
    if kind == 0:
        if how // 20 % 2:  # who has looked the tuple up for an anchor may know it still
            w.say(_emit(w, anchors=[Ref("tuple", number)]))
            w.wait()
        w.settle(("ack", "fail")[how // 10 % 2], number)
        w.wait()
        w.settle(op, number)
    else:
        names: tuple[Any, ...] = ("77", 77, None, "")
        w.say(Message({"command": op, "id": names[kind - 1]} if kind != 4 else {"command": op}))


@misuse("INV-HOST-18")
def _others(w: Writer, how: int) -> None:
    number = _open(w)
    shape = {"id": "5", "comp": "words", "stream": "default", "task": 1, "tuple": ["x"]}
    if how % 2:
        w.say(Message(shape))
    elif w.bolt:
        w.say(Message({"command": "next"}))
        w.wait()
        _regular(w, number)
    else:
        w.say(Message({"command": ("ack", "fail", "next")[how // 2 % 3], "id": "1"}))


@misuse("INV-HOST-21", weight=4)
def _cut(w: Writer, how: int) -> None:
    number = _open(w)
    whole = json.dumps(_emit(w).value).encode()
    tail = (b"\n", b"", b"\nen")[how // 4 % 3]
    w.wait()
    if w.bolt and how % 4 == 3:
        w.ack_octets(number, b'"}' + tail)
    else:
        w.blurt(whole + tail if how % 2 else whole[: 1 + how % (len(whole) - 1)])
    w.do("exit", how % 3)


@misuse("INV-HOST-22", weight=3)
def _ends(w: Writer, how: int) -> None:
    if w.bolt and how % 8 in (3, 5):
        _parts(w, how // 4)
        return
    if how % 2:
        _open(w)
        if how // 16 % 2:  # and its answer, or what comes of it, has begun
            w.say(_emit(w))
    elif how % 4:  # nothing is open
        _settled(w, how // 16)
    w.wait()
    if how // 8 % 2 and w.config.has("x-error") and (w.bolt or how % 2):
        w.say(Message({"command": "error", "msg": f"{w.tag()} the last words"}))
        w.wait()
    if how % 8 > 5:
        w.do("kill", (9, 15, 6)[how // 8 % 3])
    else:
        w.do("exit", (0, 1, 0, 137, 11)[how // 8 % 5])
    if not w.bolt and how % 2 == 0:
        w.call("next")
    w.wait()


def _settled(w: Writer, how: int) -> None:
    """Whatever was open is settled, and that was something."""
    if w.bolt and not w.open:
        w.tuple(["done"])
        w.wait()
    while w.open:
        w.settle(("ack", "fail")[how % 2], w.open.pop())


def _parts(w: Writer, how: int) -> None:
    """The child ends right behind its last words. None of them is answered: whoever answers may learn of the end by
    that."""
    numbers = [_open(w) for _ in range(1 + how % 3)]
    w.wait()
    if how // 2 % 4 == 3 and w.config.has("x-error"):
        w.say(Message({"command": "error", "msg": f"{w.tag()} nearly the end"}), now=True)
    for n, number in enumerate(numbers):
        w.settle(("ack", "fail")[(how >> n) % 2], number, now=True)
    if how // 8 % 2:
        w.log(f"{w.tag()} the last words", now=True)
    if how // 2 % 4 == 1:
        w.say(_emit(w, task=texts.TASKS[how % 2]), now=True)
    w.steps.append(Control(0, "exit", (0, 1, 137)[how % 3], "now"))
    w.wait()


@misuse("INV-HOST-26")
def _flood(w: Writer, how: int) -> None:
    number = _open(w)
    size = (16 << 20, 1 << 20)[how % 2]
    w.say(Text(json.dumps({"command": "log", "msg": "x" * size}).encode(), "INV-HOST-26"))
    w.wait()
    _regular(w, number)


@misuse("INV-HOST-27", weight=2)
def _no_utf8(w: Writer, how: int) -> None:
    number = _open(w)
    octets = (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\\ud800")[how % 4]
    if w.bolt and how % 8 > 3:
        w.ack_octets(number, octets + b'"}\nend\n')
    else:
        w.say(Text(b'{"command":"log","msg":"odd ' + octets + b'"}', "INV-HOST-27"))
    w.wait()
    _regular(w, number)


@misuse("INV-HOST-28", "bolt")
def _twice(w: Writer, how: int) -> None:
    number = _open(w)
    w.twice(number, ("ack", "fail") if how % 2 else ("fail", "ack"))
    w.wait()
    w.close()


LONG_NUMBERS = (b"12345678901234567890", b"-12345678901234567890")
NO_NUMBERS = (b"1e400", b"NaN", b"Infinity", b"-Infinity")


@misuse("INV-HOST-29", weight=2)
def _odd_numbers(w: Writer, how: int) -> None:
    """A long number first, which most hosts take, and then, or in its place, what is hardly one."""
    _open(w)
    long, odd = LONG_NUMBERS[how % 2], NO_NUMBERS[how // 2 % 4]
    for number in ((long, odd), (long,), (odd,))[how // 8 % 3]:
        w.serial += 1
        w.say(Text(b'{"command":"emit","tuple":[%d,%s]}' % (w.serial, number), "INV-HOST-29"))
        w.wait()
    w.do("exit", 0)


@misuse("END-06", weight=2)
def _stderr(w: Writer, how: int) -> None:
    number = _open(w)
    w.stderr((70_000, 200_000, 1 << 20)[how % 3])
    _regular(w, number)
