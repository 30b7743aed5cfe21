"""What a bad child may do to a host: a legal beginning, one thing that no child should do, and what follows.

Rows are those of the catalogue of invalid inputs, KCL-INV-HOST-01 and following.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.kcl.frames import Message, message
from specs.kcl.states import Config
from specs.plan import Plan
from strategies.common import Program, Rows, programs
from strategies.kcl import hosting, texts
from strategies.kcl.hosting import JUNK, Writer

HEAD = hosting.HEAD + 2
ROW = hosting.HEAD
"""The head number that chooses a row."""
ROWS = Rows("KCL-")
misuse = ROWS.row


def misuses() -> SearchStrategy[Program]:
    """Programs with one misuse."""
    return programs({"batch": 2, "checkpoint": 1}, head=HEAD, most=3, least=0)


def interpret(program: Program, config: Config, *, hurry: bool = False, avoid: frozenset[str] = frozenset()) -> Plan:
    """The plan that a program means, without the rows to `avoid`."""
    name, how = ROWS.chosen(program.head[ROW], avoid=avoid), program.head[ROW + 1]
    w = Writer(config)
    head = program.head
    if name not in AT_ONCE and not (name in AT_TIMES and how % 4 == 3):
        hosting.write(w, program._replace(head=(head[0], 0, head[2], head[3] & ~3)), 0)
    ROWS[name](w, how)
    return w.plan()


AT_ONCE = frozenset({"INV-HOST-10"})
"""Rows that begin the conversation themselves."""
AT_TIMES = frozenset({"INV-HOST-06", "INV-HOST-14"})
"""Rows that do so now and then, to go wrong in initialize already."""
NAMES = ("initialize", "processRecords", "shutdown", "leaseLost", "checkpoint")
"""What a status may be for, if it is not for the action that is open."""


def _open(w: Writer, how: int) -> None:
    """An action is open: mostly a batch."""
    if not w.open:
        w.begin()
    elif how % 4 == 2:
        w.final("ZOMBIE")
    elif how % 8 == 5 and w.config.wire.requested:
        w.call("shutdownRequested")
    else:
        _batch(w)


def _batch(w: Writer) -> None:
    w.batch([(b"data", "key")])


def _regular(w: Writer, *, now: bool = False) -> None:
    """The open action is done, and the conversation ends."""
    w.status(now=now)
    w.final("ZOMBIE")
    w.status()
    w.exit()


@misuse("INV-HOST-01")
def _junk(w: Writer, how: int) -> None:
    _batch(w)
    data = JUNK[how % len(JUNK)]
    w.junk(data, "blank" if not data.strip() else "no-json")
    _regular(w, now=True)


@misuse("INV-HOST-02", weight=3)
def _halves(w: Writer, how: int) -> None:
    _batch(w)
    whole = b'{"action":"status","responseFor":"processRecords"}'
    if how % 4 == 0:
        w.junk(whole[: 1 + how // 4 % (len(whole) - 1)])
    elif how % 4 == 1:
        w.junk(whole[:20])
        w.junk(whole[20:], now=True)
    else:
        w.junk((b"\xef\xbb\xbf", b"text ")[how % 2] + whole)
    w.do("exit", 1)


@misuse("INV-HOST-03")
def _trailing(w: Writer, how: int) -> None:
    _batch(w)
    whole = b'{"action":"status","responseFor":"processRecords"}'
    w.junk(whole + (b" x", b" true", b" null", b" 0")[how % 4], "odd")
    w.do("exit", 0)


@misuse("INV-HOST-04")
def _members(w: Writer, how: int) -> None:
    _batch(w)
    if how % 2:
        w.say(message("status", responseFor="processRecords", detail="x"))
    else:
        w.say(Message({"action": "checkpoint", w.config.wire.number: w.numbers[-1], "detail": [1]}))
        w.wait(0)
    w.do("exit", 0)


@misuse("INV-HOST-05")
def _other_member(w: Writer, how: int) -> None:
    _batch(w)
    other = "sequenceNumber" if w.config.wire.number == "checkpoint" else "checkpoint"
    w.say(Message({"action": "checkpoint", other: w.numbers[-1]}))
    _regular(w, now=True)


@misuse("INV-HOST-06", weight=8)
def _wrong_status(w: Writer, how: int) -> None:
    _open(w, how)
    name = w.open
    wrong: list[dict[str, Any]] = [
        {"responseFor": None},
        {},
        {"responseFor": 7},
        {"responseFor": name.lower() if name.lower() != name else name.upper()},
        {"responseFor": name + " "},
        {"responseFor": ""},
    ]
    wrong += [{"responseFor": other} for other in NAMES if other != name]
    # other letter case is the likeliest to be taken, by who compares without it
    wrong += [{"responseFor": name[:1].upper() + name[1:]}, {"responseFor": name.upper()}]
    # and what begins with it by who does not look at all of it; one of these names is that of another action
    wrong += [{"responseFor": name + more} for more in ("Requested", "s")]
    wrong += [{"responseFor": "shutdownRequested"}] * (4 if name == "shutdown" else 0)
    w.say(Message({"action": "status", **wrong[how // 8 % len(wrong)]}))


@misuse("INV-HOST-07", weight=2)
def _twice(w: Writer, how: int) -> None:
    _batch(w)
    w.status()
    w.status(now=True)
    w.wait(0)
    w.final("ZOMBIE")
    w.wait(0)
    if how % 4 == 3:  # whoever passed the second one over waits for this one
        w.status()
    w.exit()


@misuse("INV-HOST-08")
def _unread(w: Writer, how: int) -> None:
    _batch(w)
    w.checkpoint(w.numbers[-1])
    _regular(w, now=True)


@misuse("INV-HOST-09", weight=2)
def _several(w: Writer, how: int) -> None:
    count = 2 + how % 3
    w.batch([(b"data", "key")] * count)  # one number for each: else the order of the answers could not be seen
    for n, number in enumerate(w.numbers[-count:]):
        w.checkpoint(number, now=n > 0)
    _regular(w, now=how % 2 == 0)


@misuse("INV-HOST-10", weight=3)
def _out_of_time(w: Writer, how: int) -> None:
    w.begin()
    if how % 2:
        w.checkpoint(texts.number(0))
        w.wait(0)
        _regular(w)
        return
    w.status()
    _batch(w)
    w.status()
    if how // 4 % 2:
        w.final("TERMINATE")
        w.checkpoint(None)
    else:
        w.final("ZOMBIE")
    w.status()
    w.together = bool(how // 2 % 2)  # both are read at once
    w.checkpoint(texts.number(0), now=True)
    w.wait(0)
    w.exit()


@misuse("INV-HOST-11", weight=4)
def _no_number(w: Writer, how: int) -> None:
    w.wait(0)
    w.checkpointer("IllegalArgumentException")
    _batch(w)
    bad: tuple[Any, ...] = ("abc", 1.5, "", [], "12x", True)
    w.say(Message({"action": "checkpoint", w.config.wire.number: bad[how % len(bad)]}))
    if how // len(bad) % 2:
        _regular(w, now=True)
    else:  # only where the host is seen to have read the request it is known what a try is for
        w.wait(0)
        w.wait(2)
        _regular(w)


@misuse("CHECKPOINT-17")
def _out_of_range(w: Writer, how: int) -> None:
    w.wait(0)
    w.checkpointer("IllegalArgumentException")
    _batch(w)
    w.checkpoint(("abc", texts.number(5000), "12x")[how % 3])
    w.wait(0)
    _regular(w)


@misuse("INV-HOST-12")
def _no_sub_number(w: Writer, how: int) -> None:
    _batch(w)
    if w.config.wire.rich:
        w.checkpoint(w.numbers[-1], sub=("x", {}, [], "1.5")[how % 4])
    else:
        w.say(Message({"action": "checkpoint", "checkpoint": [w.numbers[-1]]}))
    _regular(w, now=True)


@misuse("INV-HOST-13", weight=2)
def _host_messages(w: Writer, how: int) -> None:
    _batch(w)
    others = (
        message("initialize", shardId="x"),
        message("processRecords", records=[]),
        message("shutdown", reason="ZOMBIE"),
        message("leaseLost"),
    )
    w.say(others[how % len(others)])
    _regular(w, now=True)


@misuse("INV-HOST-14", weight=9)
def _ends(w: Writer, how: int) -> None:
    if w.open and how % 4 == 1:  # between two calls
        if how // 4 % 2 and w.config.wire.requested:
            w.call("shutdownRequested")
            w.status()
        w.wait(0)
        w.exit(how // 8 % 2)
        w.wait(0)
        if how // 16 % 2:
            w.final(("ZOMBIE", "TERMINATE")[how // 32 % 2])
        else:
            _batch(w)
        return
    _open(w, how)
    if w.open == "processRecords" and how % 3 == 2:
        w.checkpoint(w.numbers[-1])
    w.wait(0)
    how //= 8
    if how % 4 == 3:
        w.do("kill", (9, 15, 6)[how // 4 % 3])
    else:
        w.do("exit", (0, 1, 137)[how % 4 % 3])


@misuse("INV-HOST-15", weight=2)
def _half_and_end(w: Writer, how: int) -> None:
    _batch(w)
    w.blurt(b'{"action":"status","responseFor":"proc'[: 3 + how % 34])
    w.do("exit", how % 2)


@misuse("INV-HOST-16", weight=3)
def _no_newline(w: Writer, how: int) -> None:
    _batch(w)
    w.blurt(json.dumps({"action": "status", "responseFor": "processRecords"}).encode())
    w.wait(25)
    w.blurt(b"\n")
    w.final("ZOMBIE")
    w.status()
    w.exit()


@misuse("INV-HOST-17", weight=3)
def _hangs(w: Writer, how: int) -> None:
    _batch(w)
    w.wait(0)
    w.wait((250, 250, 600)[how % 3])
    _regular(w)


@misuse("INV-HOST-18")
def _ignores_the_end(w: Writer, how: int) -> None:
    w.final("ZOMBIE")
    w.status()
    w.wait(0)
    w.wait((60, 300)[how % 8 == 7])
    w.exit(how % 2)


@misuse("INV-HOST-19", weight=2)
def _flood(w: Writer, how: int) -> None:
    _batch(w)
    w.wait(0)
    if how % 4 == 0:
        w.junk(b"x" * (5 << 20))
    elif how % 4 == 1:
        w.do("stderr", 3 << 20)
    w.status(now=True)
    w.final("ZOMBIE")
    if how % 4 == 3:
        w.wait(0)
        w.do("stderr", 3 << 20)
    w.status()
    if how % 4 == 2:
        for _ in range(20):
            w.junk(b"y" * 20_000, now=True)
    w.exit()


@misuse("INV-HOST-20")
def _no_utf8(w: Writer, how: int) -> None:
    _batch(w)
    w.junk((b"\xff\xfe", b"\xc3", b'{"action":"\xff"}', b"\x80abc")[how % 4], "not-utf-8")
    _regular(w, now=True)


@misuse("INV-HOST-21")
def _duplicates(w: Writer, how: int) -> None:
    _batch(w)
    w.junk(b'{"action":"status","responseFor":"processRecords","responseFor":"processRecords"}', "odd")
    w.do("exit", 0)
