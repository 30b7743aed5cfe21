"""Servers that are wrong in how they read and write values."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

from impls.references.msgpack.octets import Ext, Odd, Packer, Pairs, Single
from impls.references.msgpack.reference import Session
from impls.references.msgpack.server import TIMESTAMP, Reading, stamp
from specs.msgpack import values as v
from specs.msgpack.frames import encode, request
from strategies.msgpack.writer import Writer
from tests.mutants.faults import has, on
from tests.mutants.msgpack_kit import call, mutant, plan


def echo(*values: Any) -> Any:
    """Values that are echoed."""
    return plan(*[call("echo", value) for value in values])


mutant("float32-misread", "01", echo(v.single(0.1)), accept="05 RESP-01 RESP-03a")(
    "A float of 32 bits is read as one of 16 bits less.",
    on(Reading, "number").instead(
        lambda value: Single(value * 2) if isinstance(value, Single) and math.isfinite(value) else value
    ),
)
mutant("array16-cut", "01", echo(tuple(range(16))))(
    "The last element of a long array is lost.",
    on(Session, "call").takes(params=lambda params: [p[:15] if type(p) is list and len(p) > 15 else p for p in params]),
)
mutant("map16-refused", "01", echo(v.Map(tuple((f"k{n}", n) for n in range(16)))), accept="RESP-01")(
    "A map with a size of 16 bits is taken for garbage.",
    on(Reading, "_head").before(lambda self: self.refuse("close", "map 16"), when=lambda first: first == 0xDE),
)
mutant("empty-map-is-nil", "01", echo(v.Map(())))(
    "A map without pairs is taken for nil.", on(Reading, "pairs").skips(when=lambda items: not items)
)
mutant("empty-text-in-map-is-nil", "01", echo(v.Map((("k", ""),))))(
    "A text without octets is nil where a map has it.",
    on(Reading, "pairs").gives(lambda found: Pairs((key, None if value == "" else value) for key, value in found)),
)
mutant("empty-array-is-map", "01", echo(()))(
    "An array without elements comes back as a map.",
    on(Session, "response").takes(result=lambda result: Pairs() if result == [] and type(result) is list else result),
)
mutant("nul-ends-text", "01", echo("a\0b"), accept="06")(
    "A text ends at the first NUL.", on(Reading, "text").takes(data=lambda data: data.split(b"\0")[0])
)
mutant("long-text-cut", "01", echo("x" * 256), accept="RESP-03a")(
    "A text is cut after 255 octets.",
    on(Reading, "text").takes(data=lambda data: data[:255] if len(data) < 1000 else data),
)
mutant("true-is-one", "01", echo(True), accept="04")(
    "true comes back as 1.", on(Reading, "simple").instead(lambda: 1, when=lambda first: first == 0xC3)
)
mutant("wide-integers", "02", echo(1), level="SHOULD")(
    "Integers are written with 64 bits.", on(Packer, "integers").gives(lambda found: found[-1:])
)
mutant("wide-texts", "02", echo("a"), level="SHOULD")(
    "Texts are written with sizes of 32 bits.", on(Packer, "strings").gives(lambda found: found[-1:])
)


class Numbers(Reading):
    """Changes integers."""

    change: Callable[[int], Any] = staticmethod(int)

    def _number(self, first: int, width: int) -> tuple[Any]:
        (value,) = super()._number(first, width)
        inner = len(self._open) > 1 and isinstance(value, int)
        return (type(self).change(value),) if inner else (value,)


mutant("signed-64", "04", echo(2**63), accept="01 RESP-03a")(
    "An unsigned integer of 64 bits is read as a signed one.",
    has(Numbers, change=staticmethod(lambda value: value - (1 << 64) if value >= 1 << 63 else value)),
)
mutant("through-double", "04", echo(2**53 + 1))(
    "Integers go through a float.",
    has(Numbers, change=staticmethod(lambda value: int(float(value)) if abs(value) < 1 << 62 else value)),
)
mutant("uint32-wraps", "04", echo(2**32 - 1))(
    "An unsigned integer of 32 bits is read as a signed one.",
    has(Numbers, change=staticmethod(lambda value: value - (1 << 32) if 1 << 31 <= value < 1 << 32 else value)),
)
mutant("least-integer", "04", echo(-(2**63)))(
    "The least integer loses its sign.",
    has(Numbers, change=staticmethod(lambda value: -value - 1 if value == -(1 << 63) else value)),
)


class Floats(Reading):
    """Changes floats."""

    change: Callable[[float], Any] = staticmethod(float)

    def number(self, value: float) -> Any:
        return type(self).change(value) if isinstance(value, float) else value


mutant("floats-cut", "05", echo(v.double(1.5)), accept="04")(
    "Floats are cut to integers.",
    has(Floats, change=staticmethod(lambda value: int(value) if math.isfinite(value) and abs(value) < 1e15 else value)),
)


@mutant("single-precision", "05", echo(v.double(0.1)))
class SinglePrecision(Floats):
    """Floats are kept with 32 bits."""

    change = staticmethod(
        lambda value: struct.unpack(">f", struct.pack(">f", value))[0] if abs(value) < 1e30 else value
    )


mutant("no-minus-zero", "05", echo(v.double(-0.0)))(
    "Minus zero loses its sign.", has(Floats, change=staticmethod(lambda value: 0.0 if value == 0 else value))
)
mutant("nan-is-nil", "05", echo(v.double(float("nan"))))(
    "NaN comes back as nil.", has(Floats, change=staticmethod(lambda value: None if math.isnan(value) else value))
)
mutant("infinity-is-large", "05", echo(v.double(float("inf"))))(
    "Infinity comes back as the largest float.",
    has(Floats, change=staticmethod(lambda value: 1.7976931348623157e308 if value == math.inf else value)),
)
mutant("zero-is-integer", "05", echo(v.double(0.0)))(
    "0.0 comes back as 0.", has(Floats, change=staticmethod(lambda value: 0 if value == 0 else value))
)
mutant("bin-is-text", "06", echo(b"a"))(
    "A bin that is ASCII comes back as a str.",
    on(Reading, "binary").instead(lambda data: data.decode() if data.isascii() else data),
)
mutant("text-is-bin", "06", echo("é"), accept="RESP-03a RESP-05a 01")(
    "A str that is not ASCII comes back as a bin.",
    on(Reading, "text").instead(lambda data: data, when=lambda data: not data.isascii()),
)
mutant("bad-text-is-nil", "07", echo(v.Text(b"\xff")), level="ASSUMED")(
    "A str that is not UTF-8 comes back as nil.",
    on(Reading, "text").gives(lambda found: None if isinstance(found, Odd) else found),
)
mutant("ext-is-nil", "08", echo(v.Ext(5, b"a")))(
    "An unknown extension comes back as nil.", on(Reading, "ext").skips(when=lambda code: code >= 0)
)
mutant("ext-unsigned", "08", echo(v.Ext(-2, b"a")))(
    "A negative extension loses its sign.",
    on(Reading, "ext").instead(lambda code, data: Ext(-code if -128 < code < TIMESTAMP else code, data)),
)
mutant("ext-is-bin", "08", echo(v.Ext(1, b"")), level="SHOULD")(
    "An extension without octets comes back as a bin.",
    on(Reading, "ext").instead(lambda data: data, when=lambda code, data: not data and code != TIMESTAMP),
)
mutant("ext-unanswered", "08", echo(v.Ext(1, b"a")), accept="RESP-01")(
    "A request with an extension is not answered.",
    on(Session, "call").skips(
        when=lambda params: any(isinstance(param, Ext) and param.code != TIMESTAMP for param in params)
    ),
)


@mutant("nanoseconds-lost", "09", echo(v.Ext(-1, struct.pack(">Q", 500_000_000 << 34))))
class NanosecondsLost(Reading):
    """A timestamp loses its nanoseconds."""

    def ext(self, code: int, data: bytes) -> Any:
        moment = stamp(data) if code == TIMESTAMP else None
        return Ext(code, struct.pack(">Iq", 0, moment[0])) if moment else super().ext(code, data)


@mutant("before-1970", "09", echo(v.Ext(-1, struct.pack(">Iq", 0, -1))))
class Before1970(Reading):
    """A timestamp before 1970 comes back as one after it."""

    def ext(self, code: int, data: bytes) -> Any:
        moment = stamp(data) if code == TIMESTAMP else None
        if moment and moment[0] < 0:
            return Ext(code, struct.pack(">Iq", moment[1], -moment[0]))
        return super().ext(code, data)


@mutant("34-bits", "09", echo(v.Ext(-1, struct.pack(">Q", (1 << 34) - 1))))
class Bits34(Reading):
    """Seconds beyond 32 bits are lost from a timestamp of 64 bits."""

    def ext(self, code: int, data: bytes) -> Any:
        if code == TIMESTAMP and len(data) == 8 and stamp(data):
            (both,) = struct.unpack(">Q", data)
            return Ext(code, struct.pack(">Iq", both >> 34, both & 0xFFFF_FFFF))
        return super().ext(code, data)


def _half(w: Writer) -> None:
    w.blurt(w.line(), encode(request(1, "echo", 5, "x"), None)[:-3])
    w.wait(5)


@mutant("answers-early", "10", plan(_half), accept="RESP-01 FRAG-01")
class AnswersEarly(Session):
    """A request is answered before its params are all there."""

    early = False

    def send(self, data: bytes) -> None:
        super().send(data)
        parts = [items for _, _, items in self._reader._open]
        if parts and len(parts[0]) == 3 and parts[0][0] == 0 and not self.early:
            self.early = True
            self.say([1, parts[0][1], None, None])
