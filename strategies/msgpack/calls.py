"""What a client is told to do, and how it is answered. Source: MessagePack-RPC specification, all of Messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.msgpack import values as v
from specs.msgpack.format import encoded
from specs.msgpack.frames import Frame, encode, response
from specs.msgpack.states import Config
from specs.plan import Control, Plan, Ref, Say, SendBytes, Step, Wait
from strategies.common import Op, Program, programs
from strategies.msgpack import values
from strategies.msgpack.older import older
from strategies.msgpack.writer import pieces, widened

EVERYTHING: Mapping[str, int] = {
    "call": 6, "group": 5, "error": 4, "notify": 4, "stray": 2, "twice": 2,
    "rolling": 2, "many": 1, "large": 1, "values": 3, "straddle": 2, "again": 2,
}  # fmt: skip
ERRORS: Sequence[Any] = (
    "no", False, 0, "", (), v.Map(()), 1, True, v.double(0.0), b"", ("code", "text"), v.Map((("message", "no"),)),
    (1, b"a"), v.Map((("data", b"\x00\xff"),)),
)  # fmt: skip
ALIKE = (1 << 8, 1 << 16, 1 << 31)
"""What is added to the id of an open call."""
RESULTS: Sequence[Any] = (None, False, 0, "", (), True, v.Map(()), b"")


_NAMES: Sequence[str] = ("", "", "é", "日本語", "x" * 30, "x" * 300, ".a:b/c d", "\U0001f600")
"""What follows the number in the name of a method."""


class Teller:
    """Collects steps. `wire`: 1 cuts responses, 2 writes them in other forms. `names` chooses among kinds of names."""

    def __init__(self, config: Config, *, hurry: bool, wire: int, names: int = 0) -> None:
        self.config, self.wire, self.names = config, wire, names
        self.when = "now" if hurry else "turn"
        self.steps: list[Step] = [Control(0, "connect", {})]
        self.features: set[str] = set()
        self._serial = 0

    def do(self, op: str, **given: Any) -> None:
        """Tell the client something."""
        self.steps.append(Control(0, op, given, self.when))

    def start(self, op: str, params: tuple[Any, ...], method: str = "") -> str:
        """A call or a notification; its name, which no other has. That is its method, if no other is given."""
        self._serial += 1
        name = f"m{self._serial}{values.pick(_NAMES, self.names)}"
        named = {"_method": name} if method else {}
        self.do(op, method=method or name, params_hex=encoded(self._within(self._written(params))).hex(), **named)
        return name

    def _written(self, value: Any) -> Any:
        """A value as the format has it that the client speaks."""
        return value if self.config.raw else older(value)

    def _within(self, value: Any) -> Any:
        """A value, or a short one in its place where the client does not take so much."""
        large = self.config.size and len(encoded(value)) > self.config.size
        return ("short",) if large else value

    def finish(self, method: str) -> None:
        """Wait for a call that was started."""
        self.do("await", handle=Ref("handle", method), _method=method)

    def answer(
        self, name: Any, error: Any, result: Any, style: int = 0, when: str = "", at: tuple[int, ...] = ()
    ) -> None:
        """A response; `name` is an id, a Ref to one, or the method of the call. `at`: it is cut there."""
        error, result = self._written(error), self._within(self._written(result))
        frame = response(Ref("id", name) if isinstance(name, str) else name, error, result)
        form, cuts = None, tuple[int, ...]()
        if self.wire & 2 and style % 4 and self.config.raw:
            form = widened(response(0, error, result), style)
            self.features.add("wide")
        if self.wire & 1 and style % 8 != 1:
            cuts = pieces(style, len(encode(response(0, error, result), form)))
            self.features.add("cuts")
        if when == "join":
            self.features.add("joined")
        if at:
            self.features.add("cuts")
        self.steps.append(Say(0, frame, at or cuts, when or self.when, form))

    def answer_late(self, method: str, result: Any, style: int, error: Any = None) -> None:
        """The response to a call that is awaited only now: a client may send when it waits, and not before."""
        self.finish(method)
        self.wait()
        self.answer(method, error, result, style)
        self.wait()

    def wait(self) -> None:
        """Wait for our turn."""
        self.steps.append(Wait(0))


_MANY = (16, 15, 17, 32)
"""How many params there are at times: about as many as the smallest form of an array holds."""


def _params(op: Op) -> tuple[Any, ...]:
    many, _, _, a, b = op.args
    if many % 8 == 7:
        return tuple(range(_MANY[many // 8 % len(_MANY)]))
    return ((), (1,), ("a", 2), (values.legal(a, b),), (values.legal(a, b), None))[a % 5]


def _call(t: Teller, op: Op) -> None:
    _, which, style, _, b = op.args
    method = t.start("call", _params(op))
    result = values.pick(RESULTS, b) if which % 3 == 0 else values.legal(which, b)
    t.answer(method, None, result, style)
    t.wait()


def _error(t: Teller, op: Op) -> None:
    _, _, style, a, _ = op.args
    method = t.start("call", ())
    beside = "data" if a // len(ERRORS) % 3 == 2 else None  # an error says that there is no result
    t.answer(method, values.pick(ERRORS, a), beside, style)
    t.wait()


def _own(method: str, form: int) -> Any:
    """A result that belongs to a call, in one of several forms."""
    return (("of", method), f"of {method}".encode(), v.Map((("of", method),)), f"of {method}")[form % 4]


def _group(t: Teller, op: Op) -> None:
    """Several calls at once, answered in another order, awaited in a third."""
    _, which, style, a, b = op.args
    count = 2 + which % 4
    methods, behind = list[str](), count - b % count if which & 32 else 0
    for n in range(count):
        methods.append(t.start("call_async", (n,)))
        if n + 1 == behind:  # what has no id goes out beside what has one, and between
            t.start("notify", (count,))
    first, *others = _shuffled(methods, style)
    t.finish(first)  # a client may send when it waits for something, and not before
    t.wait()
    for n, method in enumerate(_shuffled(methods, a)):
        fails = (b >> n) & 1 and which & 16
        when = ("join" if n < count - 1 else "now") if which & 64 else ""  # what comes together is read together
        plain = style & 32 and n == count - 1  # a call may well come to nothing
        result = values.pick(RESULTS, b) if plain else _own(method, style // 8)
        t.answer(method, values.pick(ERRORS, b) if fails else None, None if fails else result, style, when)
    for method in others:
        t.finish(method)
    t.wait()


def _straddle(t: Teller, op: Op) -> None:
    """What is read at once is a response, at times the end of one, and the first octets of the next one."""
    _, which, style, a, b = op.args
    first, second = t.start("call_async", (1,)), t.start("call_async", (2,))
    t.finish(first)
    t.finish(second)
    t.wait()
    t.answer(first, None, ("of", first), style, "join", at=(1 + b % 5,) if which % 2 else ())
    error = values.pick(ERRORS, b) if which % 4 == 3 else None
    t.answer(second, error, None if which % 4 == 3 else ("of", second), when="now", at=(1 + a % 12,))
    t.wait()


def _rolling(t: Teller, op: Op) -> None:
    """Calls of which some stay open while others come and go, now and then with an error or with notifications."""
    _, which, style, a, b = op.args
    open_: list[str] = []
    for n in range(4 + which % 12):
        open_.append(t.start("call_async", (n,)))
        if which & 32 and n % 3 == 1:
            t.start("notify", (n,))
        if len(open_) > 1 + a % 4:
            done = open_.pop((b >> n % 8) % len(open_))
            if which & 64 and style >> n % 8 & 1:
                t.answer_late(done, None, style, values.pick(ERRORS, b + n))
            else:
                t.answer_late(done, ("of", done), style)
    for method in _shuffled(open_, b):
        t.answer_late(method, ("of", method), style)
    t.wait()


def _many(t: Teller, op: Op) -> None:
    """One call after the other, beside one that is open all the time: as many as one octet has ids, and more."""
    *_, a, b = op.args
    first = t.start("call_async", (0,)) if b % 2 and not t.config.serial else ""
    for n in range((9, 20, 40, 80, 9, 20, 140, 300)[a % 8]):
        method = t.start("call", (n,))
        t.wait()
        t.answer(method, None, ("of", method))
        t.wait()
    if first:
        t.answer_late(first, ("of", first), 0)


def _large(t: Teller, op: Op) -> None:
    """Params and a result of some size, up to what every peer takes."""
    _, which, style, a, b = op.args
    size = (4096, 65_535, 65_536, 8192, 32_768)[a % 5]
    value: Any = ("x" * size, b"x" * size, (1,) * size, ("é" * (size // 2), 1))[b % 4]
    method = t.start("call", (value,) if which % 2 else ())
    t.answer(method, None, value, style)
    t.wait()


def _values(t: Teller, op: Op) -> None:
    """Calls with params and results at the boundaries of one format, one after the other."""
    _, which, style, a, b = op.args
    alphabet = (values.INTEGERS, values.FLOATS, values.TEXTS[:-2], values.BINARIES[:-2], values.INTEGERS)[which % 5]
    for n in range(1 + a % 8):
        method = t.start("call", (values.pick(alphabet, b + 3 * n),))
        t.answer(method, None, values.pick(alphabet, b + n), style)
        t.wait()


def _shuffled(items: Sequence[str], number: int) -> list[str]:
    left, found = list(items), []
    while left:
        found.append(left.pop(number % len(left)))
        number //= 2
    return found


def _notify(t: Teller, op: Op) -> None:
    t.start("notify", _params(op))
    if op.args[1] % 2:
        t.wait()


_SAME: Sequence[tuple[Any, ...]] = (
    (), (1,), (2,), ("a",), (True,), (1, 2), ((1, 2),), (v.double(1.0),), (None,), ("", ""), (b"a",), ("1",),
)  # fmt: skip
"""Params that are as many, or alike, and differ."""


def _again(t: Teller, op: Op) -> None:
    """One method, notified of and called again and again, each time with other params."""
    _, which, style, a, b = op.args
    name = method = ""
    for n in range(2 + which % 3):
        params = _SAME[(a + n * (1 + style % 5)) % len(_SAME)]
        notifies = (b >> n) & 1
        name = t.start("notify" if notifies else "call", params, method)
        method = method or name
        if not notifies:
            t.answer(name, None, _own(name, style // 8))
            t.wait()
        elif which & 32:
            t.wait()


def _stray(t: Teller, op: Op) -> None:
    """A response with an id that no call has, while one is open. Some differ from an open one in high bits alone; at
    times the right response comes together with it."""
    _, _, style, a, b = op.args
    method = t.start("call", (1,))
    t.wait()
    name = values.pick((4_000_000_000, 3_999_999_999, 777_777, 1 << 8, 1 << 16, 1 << 31), a)
    name = Ref("alike", (method, name)) if name in ALIKE else name
    together = b & 2
    t.answer(name, "no" if b % 2 else None, None if b % 2 else "stray", when="join" if together else "")
    t.answer(method, None, ("of", method), style, "now" if together else "")
    t.wait()


def _twice(t: Teller, op: Op) -> None:
    """A second response to a call that was answered, while another is open; at times the response to that one comes
    together with it."""
    _, _, style, _, b = op.args
    first, second = t.start("call_async", (1,)), t.start("call_async", (2,))
    t.finish(first)
    t.finish(second)
    t.wait()
    together = b & 2
    t.answer(first, None, ("of", first), when="join" if b & 4 else "")
    t.answer(first, "no" if b % 2 else None, None if b % 2 else ("again", first), when="join" if together else "")
    if not together:
        t.wait()
    t.answer(second, None, ("of", second), style, "now" if together else "")
    t.wait()


_OPS: Mapping[str, Callable[[Teller, Op], None]] = {
    "call": _call, "error": _error, "group": _group, "notify": _notify, "stray": _stray, "twice": _twice,
    "rolling": _rolling, "straddle": _straddle, "many": _many, "large": _large, "values": _values,
    "again": _again,
}  # fmt: skip


TOGETHER = frozenset(("group", "twice", "rolling", "straddle"))
"""What takes calls that are open together; who makes one after the other is asked for one instead."""


def _play(t: Teller, op: Op) -> None:
    _OPS["call" if t.config.serial and op.kind in TOGETHER else op.kind](t, op)


def conversations(*kinds: str, most: int = 8) -> SearchStrategy[Program]:
    """Conversations with ops of some kinds, of all when none is named."""
    return programs({kind: EVERYTHING[kind] for kind in kinds} if kinds else EVERYTHING, head=1, most=most)


def interpret(program: Program, config: Config, *, hurry: bool = False, wires: Sequence[int] = (0, 0, 1, 2, 3)) -> Plan:
    """The plan that a program means."""
    teller = Teller(config, hurry=hurry, wire=wires[program.head[0] % len(wires)], names=program.head[0] // 32)
    for op in program.ops:
        _play(teller, op)
    return ended(teller)


def ended(teller: Teller) -> Plan:
    """The plan of what was collected, with a proper end."""
    teller.wait()
    teller.do("disconnect")
    teller.wait()
    return Plan(tuple(teller.steps), frozenset(teller.features))


_WRONG: Sequence[bytes] = (
    b"\xc1", b"\xc0", b"\x93\x01\x00\xc0", b"\x94\x07\x00\xc0\xc0", b"\xa5hello", b"\x80", b"\x90", b"\xc1\xc1\xc1\xc1",
    b"\x91" * 600 + b"\xc0", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x05", b"\x95\x01\x00\xa2no\xc0\xc0",
)  # fmt: skip
"""What is no message. The last is a response with an element too many, which a reader may pass over; but its error is
none that is taken for a success (MP-23)."""
_TYPES: Sequence[Any] = (0, 2, 3, -1, 255, None, "1")
"""What stands in the place of a response's 1."""
_CUT: Sequence[bytes] = (b"", b"\xc0", b"\xa2no", b"\xc0\xa5hel", b"\xc0\x92\x01", b"\xc0\x82\x01\x02")
"""What stands behind the id of a response that is cut off by the end of the connection."""
_REST: Sequence[tuple[Any, ...]] = ((None,), ())
"""What stands behind the id of a response that ends too early."""


def breakdowns() -> SearchStrategy[Program]:
    """A conversation that breaks down with calls open."""
    return programs({"call": 3, "group": 1, "notify": 1}, head=4, most=2)


def breaking(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Calls are open when what comes is no message, or the connection ends; they have to fail. Now and then the client
    connects again behind that, and calls."""
    _, how, which, count = program.head
    teller = Teller(config, hurry=hurry, wire=0)
    for op in program.ops[: which % 3]:
        _play(teller, op)
    if config.serial:
        methods = [teller.start("call", (0,))]
    else:
        methods = [teller.start("call_async", (n,)) for n in range(1 + count % 3)]
        teller.finish(methods[0])
    teller.wait()
    if how % 3 and count % 8 in (4, 6):
        parts = (b"\x94\x01", Ref("id", methods[0]), values.pick(_CUT, which))
        teller.steps.append(SendBytes(0, parts, teller.when))
    elif how % 3 and count % 2:
        call = Ref("id", methods[0])
        short = (1, call, *values.pick(_REST, which))
        body = short if count % 4 == 3 else (values.pick(_TYPES, which), call, None, "odd")
        teller.steps.append(Say(0, Frame(body), (), teller.when))
    elif how % 3:
        teller.steps += [SendBytes(0, values.pick(_WRONG, which + n), teller.when) for n in range(1 + (which % 4 == 3))]
    if how % 3 != 2:
        teller.steps.append(Wait(5))
    teller.steps.append(Control(0, "drop", {}, teller.when))
    for method in methods[1:]:
        teller.finish(method)
    if count & 64:
        _again_from_nothing(teller, program.ops[which % 3 :], count)
    return ended(teller)


def _again_from_nothing(t: Teller, ops: Sequence[Op], number: int) -> None:
    """Another connection, when everything has failed that was open on the one before, and calls on it."""
    t.wait()
    if number & 32:
        t.do("disconnect")
        t.wait()
    t.do("connect")
    for n in range(1 + number // 8 % 4):
        method = t.start("call", (n,))
        t.wait()
        t.answer(method, None, ("of", method), number + n)
        t.wait()
    for op in ops:
        _play(t, op)
