"""What is no message, behind a legal conversation and with witnesses.

One misuse on a connection of its own, then a call on that connection, on those that were there before, and on a new
one. Neither specification says what follows, so only the witnesses and the new connection have to be served.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.msgpack import values as v
from specs.msgpack.calls import INHERITED
from specs.msgpack.format import encoded
from specs.msgpack.frames import Frame, encode, notification, request, response
from specs.msgpack.states import Config
from specs.plan import Close, Plan
from strategies.common import Program, programs
from strategies.msgpack import values
from strategies.msgpack.older import older
from strategies.msgpack.sessions import EVERYTHING, play, small
from strategies.msgpack.writer import Line, Writer

HEAD = 6
ROW = 2
"""The head number that chooses a row."""
SLEEP_MS = 30
REST_MS = 3
Misuse = Callable[[Writer, Line, int, int], None]

_NO_ARRAYS: Sequence[Any] = (
    None, False, True, 0, 1, 2, 5, 15, -1, -32, v.double(0.0), v.single(1.0), "", "a", "hello", b"", b"abcde",
    v.Ext(1, b"a"), v.Ext(v.TIMESTAMP, b"\0\0\0\1"), v.Map(()), v.Map((("a", 1),)),
    v.Map(((0, 0), (1, 1), (2, "echo"), (3, (1,)))), v.Map((("type", 0), ("msgid", 1), ("method", "echo"))), 2**32,
)  # fmt: skip
_ARRAYS: Sequence[Any] = (
    (), (), (), (0,), (0, 1), (2,), (2, "echo"), (0, 1, "echo"), (0, 1, "echo", (1,), None), (0,) * 16, (1,), (1, 2),
    ((0, 1, "echo", (1,)),),
)  # fmt: skip
_TYPES: Sequence[Any] = (3, -1, 255, 2**32, "0", None, False, True, v.double(0.0), v.single(0.0), (), b"\0")
_IDS: Sequence[Any] = (-1, 2**32, 2**64 - 1, None, "x", v.double(1.0), (), True, -(2**31), b"1", v.Map(()))
_METHODS: Sequence[Any] = (
    None,
    5,
    b"echo",
    ("echo",),
    v.Text(b"\xff"),
    True,
    v.Map(()),
    v.double(1.0),
    ("echo", "x", 0),
)
_PARAMS: Sequence[Any] = (None, 1, "x", v.Map(()), v.Map(((0, 1),)), b"x", True, v.double(1.0), v.Ext(1, b"a"))
_GREETINGS: Sequence[bytes] = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(32)),
    b"CONNECT\naccept-version:1.2\n\n\0", b"EHLO x\r\n", b'{"jsonrpc":"2.0","method":"echo","id":1}\n', b"\0" * 64,
    b"\xff" * 64, b"\n\n\n",
)  # fmt: skip
_LIARS: Sequence[bytes] = (
    b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff",
    b"\xc9\xff\xff\xff\xff\x01", b"\xdd\x04\x00\x00\x00", b"\xdf\x04\x00\x00\x00", b"\xdb\x7f\xff\xff\xff",
    b"\xc6\x80\x00\x00\x00", b"\xdd\x7f\xff\xff\xff",
)  # fmt: skip
_DEEP = (600, 1000, 10_000, 100_000, 30_000)
_WORKED_WITH = 60_000
"""Levels of params that are not too large to be read by most, and enough for work that grows with their square."""
_OPENERS = (b"\x91", b"\x81\xa1k", b"\xdc\x00\x01", b"\x81", b"\x91\x81\xc0")


def _no_array(w: Writer, line: Line, a: int, b: int) -> None:
    w.say(line, Frame(values.pick(_NO_ARRAYS, a)), b % 2)


def _wrong_length(w: Writer, line: Line, a: int, b: int) -> None:
    w.say(line, Frame(values.pick(_ARRAYS, a)))


def _wrong_type(w: Writer, line: Line, a: int, b: int) -> None:
    which = a % (len(_TYPES) + 2)
    if which == len(_TYPES):
        body: tuple[Any, ...] = (2, 1, w.config.name("echo"), (1,))
    elif which > len(_TYPES):
        body = (0, w.config.name("echo"), (1,))
    else:
        body = (_TYPES[which], 1, w.config.name("echo"), (1,))
    w.say(line, Frame(body))


def _wrong_id(w: Writer, line: Line, a: int, b: int) -> None:
    w.say(line, request(values.pick(_IDS, a), w.config.name("echo"), 1))


def _wrong_method(w: Writer, line: Line, a: int, b: int) -> None:
    method = values.pick(_METHODS, a)
    w.say(line, notification(method, 1) if b % 3 == 2 else request(1, method, 1))


def _wrong_params(w: Writer, line: Line, a: int, b: int) -> None:
    params, name = values.pick(_PARAMS, a), w.config.name("echo")
    w.say(line, Frame((2, name, params) if b % 3 == 2 else (0, 1, name, params)))


def _response(w: Writer, line: Line, a: int, b: int) -> None:
    w.say(line, response(values.pick((0, 1, 7, 2**32 - 1), a), "no" if b % 2 else None, None if b % 2 else 1))


def _same_id(w: Writer, line: Line, a: int, b: int) -> None:
    number, name = a % 4, w.config.name("sleep") or w.config.name("echo")
    for ms in (20, 5)[: 2 + b % 2]:
        w.say(line, request(number, name, ms), when="now")


def _never_used(w: Writer, line: Line, a: int, b: int) -> None:
    good = encode(request(9, w.config.name("echo"), 1), None)
    forms = (b"\xc1", good + b"\xc1", b"\xc1" + good, good[:-1] + b"\xc1", b"\x94\x00\xc1", b"\x94\xc1", b"\xc1" * 40)
    w.blurt(line, values.pick(forms, a))


def _truncated(w: Writer, line: Line, a: int, b: int) -> None:
    value = values.legal(b, a)
    data = encode(request(9, w.config.name("echo"), value if w.config.raw else older(value)), None)
    w.blurt(line, data[: 1 + a % max(1, len(data) - 1)])
    w.wait()
    w.steps.append(Close(line.number, "reset" if b % 4 == 3 else "close"))


def _liar(w: Writer, line: Line, a: int, b: int) -> None:
    prefix = b"" if b % 2 else encode(request(9, w.config.name("echo"), 0), None)[:-1]
    w.blurt(line, prefix + values.pick(_LIARS, a))


def _deep(w: Writer, line: Line, a: int, b: int) -> None:
    depth, opener = values.pick(_DEEP, a), values.pick(_OPENERS, a // len(_DEEP))
    request_begun = encode(request(9, w.config.name("echo"), 0), None)[:-1]
    if b & 8:  # what is whole is not only read, but also worked with
        w.blurt(line, request_begun + b"\x91" * _WORKED_WITH + b"\xc0")
        return
    prefix = b"" if b % 2 else request_begun
    w.blurt(line, prefix + opener * depth + (b"\xc0" if b % 4 < 2 else b""))


def _odd_note(w: Writer, line: Line, a: int, b: int) -> None:
    w.notify(line, ("echo", "nothing")[b % 2], values.odd(a, b))


def _odd_call(w: Writer, line: Line, a: int, b: int) -> None:
    w.call(line, ("echo", "add", "nothing", "fail", "sleep")[b % 5], *(values.odd(a, b),) * (1 + (b % 5 == 1)))


def _large(w: Writer, line: Line, a: int, b: int) -> None:
    size = (100_000, 1 << 20)[a % 2]
    w.call(line, "echo" if b % 2 else "x" * size, ("x" * size, b"x" * size, (0,) * (size // 10))[b // 2 % 3])


def _flood(w: Writer, line: Line, a: int, b: int) -> None:
    name = w.config.name("echo")
    w.blurt(line, b"".join(encoded((0, n, name, (n,))) for n in range((200, 1000)[a % 2])))


def _greeting(w: Writer, line: Line, a: int, b: int) -> None:
    w.blurt(line, values.pick(_GREETINGS, a))


def _inherited(w: Writer, line: Line, a: int, b: int) -> None:
    """A method that every object has in some language."""
    name = values.pick(sorted(INHERITED), a)
    w.call(line, name, *((), (1,), ("x",), (1, 2))[b % 4])


def _half_close(w: Writer, line: Line, a: int, b: int) -> None:
    w.call(line, "sleep", 20, when="now")
    w.steps.append(Close(line.number, "close" if a % 2 else "reset"))


MISUSES: Mapping[str, Misuse] = {
    "no array": _no_array,
    "wrong length": _wrong_length,
    "wrong type": _wrong_type,
    "wrong id": _wrong_id,
    "wrong method": _wrong_method,
    "wrong params": _wrong_params,
    "response": _response,
    "same id": _same_id,
    "never used": _never_used,
    "truncated": _truncated,
    "liar": _liar,
    "deep": _deep,
    "odd notification": _odd_note,
    "odd call": _odd_call,
    "large": _large,
    "flood": _flood,
    "greeting": _greeting,
    "left": _half_close,
    "inherited": _inherited,
}


def misuses(*, most: int = 4) -> SearchStrategy[Program]:
    """A short legal conversation, and head numbers that choose a misuse."""
    return programs(EVERYTHING, head=HEAD, most=most)


def interpret(program: Program, config: Config, *, hurry: bool = False, only: Sequence[str] = ()) -> Plan:
    """The plan that a program means; `only` limits the misuses."""
    names = only or tuple(MISUSES)
    wire, ending, which, a, b, after = program.head
    writer = Writer(config, hurry=hurry)
    play(writer, Program((wire, ending), program.ops[: after % 4]))
    if after % 8 < 4:
        small(writer, 0)
    line = writer.another()
    if after % 16 < 8:
        writer.call(line, "echo", (writer.fresh(), "before"))
    misuse = MISUSES[names[which % len(names)]]
    there = 0 in writer.lines and not config.brief
    if after & 32 and there:  # a client that was there before waits meanwhile
        writer.call(writer.line(0), "sleep", SLEEP_MS)
        writer.hurry = True
    rest = writer.begin(writer.line(0), b, when="now") if after & 64 and there else b""  # or is in the middle of a call
    misuse(writer, line, a, b)
    if rest:
        writer.wait(REST_MS)
        writer.blurt(writer.line(0), rest, "now")
    writer.hurry = hurry
    if after & 16:
        writer.call(line, "echo", (writer.fresh(), "behind"), when="now")
    for slot in sorted(writer.lines):
        small(writer, slot)
    writer.wait()
    writer.call(writer.another(), "echo", (writer.fresh(), "afterwards"))
    return writer.plan()
