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
from tests.mutants.msgpack_kit import call, mutant, plan


def echo(*values: Any) -> Any:
    """Values that are echoed."""
    return plan(*[call("echo", value) for value in values])


@mutant("float32-misread", "01", echo(v.single(0.1)), accept="05 RESP-01 RESP-03a")
class Float32Misread(Reading):
    """A float of 32 bits is read as one of 16 bits less."""

    def number(self, value: float) -> Any:
        return Single(value * 2) if isinstance(value, Single) and math.isfinite(value) else value


@mutant("array16-cut", "01", echo(tuple(range(16))))
class Array16Cut(Session):
    """The last element of a long array is lost."""

    def call(self, number: int, method: str, params: list[Any]) -> None:
        super().call(number, method, [p[:15] if type(p) is list and len(p) > 15 else p for p in params])


@mutant("map16-refused", "01", echo(v.Map(tuple((f"k{n}", n) for n in range(16)))), accept="RESP-01")
class Map16Refused(Reading):
    """A map with a size of 16 bits is taken for garbage."""

    def _head(self, first: int) -> tuple[str, int, int]:
        if first == 0xDE:
            self.refuse("close", "map 16")
        return super()._head(first)


@mutant("empty-map-is-nil", "01", echo(v.Map(())))
class EmptyMapIsNil(Reading):
    """A map without pairs is taken for nil."""

    def pairs(self, items: list[Any]) -> Any:
        return super().pairs(items) if items else None


@mutant("empty-array-is-map", "01", echo(()))
class EmptyArrayIsMap(Session):
    """An array without elements comes back as a map."""

    def response(self, number: int, error: Any, result: Any) -> list[Any]:
        return super().response(number, error, Pairs() if result == [] and type(result) is list else result)


@mutant("nul-ends-text", "01", echo("a\0b"), accept="06")
class NulEndsText(Reading):
    """A text ends at the first NUL."""

    def text(self, data: bytes) -> Any:
        return super().text(data.split(b"\0")[0])


@mutant("long-text-cut", "01", echo("x" * 256), accept="RESP-03a")
class LongTextCut(Reading):
    """A text is cut after 255 octets."""

    def text(self, data: bytes) -> Any:
        return super().text(data[:255] if len(data) < 1000 else data)


@mutant("true-is-one", "01", echo(True), accept="04")
class TrueIsOne(Reading):
    """true comes back as 1."""

    def simple(self, first: int) -> Any:
        return 1 if first == 0xC3 else super().simple(first)


@mutant("wide-integers", "02", echo(1), level="SHOULD")
class WideIntegers(Packer):
    """Integers are written with 64 bits."""

    def integers(self, value: int) -> list[bytes]:
        return super().integers(value)[-1:]


@mutant("wide-texts", "02", echo("a"), level="SHOULD")
class WideTexts(Packer):
    """Texts are written with sizes of 32 bits."""

    def strings(self, size: int) -> list[bytes]:
        return super().strings(size)[-1:]


class Numbers(Reading):
    """Changes integers."""

    change: Callable[[int], Any] = staticmethod(int)

    def _number(self, first: int, width: int) -> tuple[Any]:
        (value,) = super()._number(first, width)
        inner = len(self._open) > 1 and isinstance(value, int)
        return (type(self).change(value),) if inner else (value,)


@mutant("signed-64", "04", echo(2**63), accept="01 RESP-03a")
class Signed64(Numbers):
    """An unsigned integer of 64 bits is read as a signed one."""

    change = staticmethod(lambda value: value - (1 << 64) if value >= 1 << 63 else value)


@mutant("through-double", "04", echo(2**53 + 1))
class ThroughDouble(Numbers):
    """Integers go through a float."""

    change = staticmethod(lambda value: int(float(value)) if abs(value) < 1 << 62 else value)


@mutant("uint32-wraps", "04", echo(2**32 - 1))
class Uint32Wraps(Numbers):
    """An unsigned integer of 32 bits is read as a signed one."""

    change = staticmethod(lambda value: value - (1 << 32) if 1 << 31 <= value < 1 << 32 else value)


@mutant("least-integer", "04", echo(-(2**63)))
class LeastInteger(Numbers):
    """The least integer loses its sign."""

    change = staticmethod(lambda value: -value - 1 if value == -(1 << 63) else value)


class Floats(Reading):
    """Changes floats."""

    change: Callable[[float], Any] = staticmethod(float)

    def number(self, value: float) -> Any:
        return type(self).change(value) if isinstance(value, float) else value


@mutant("floats-cut", "05", echo(v.double(1.5)), accept="04")
class FloatsCut(Floats):
    """Floats are cut to integers."""

    change = staticmethod(lambda value: int(value) if math.isfinite(value) and abs(value) < 1e15 else value)


@mutant("single-precision", "05", echo(v.double(0.1)))
class SinglePrecision(Floats):
    """Floats are kept with 32 bits."""

    change = staticmethod(
        lambda value: struct.unpack(">f", struct.pack(">f", value))[0] if abs(value) < 1e30 else value
    )


@mutant("no-minus-zero", "05", echo(v.double(-0.0)))
class NoMinusZero(Floats):
    """Minus zero loses its sign."""

    change = staticmethod(lambda value: 0.0 if value == 0 else value)


@mutant("nan-is-nil", "05", echo(v.double(float("nan"))))
class NanIsNil(Floats):
    """NaN comes back as nil."""

    change = staticmethod(lambda value: None if math.isnan(value) else value)


@mutant("infinity-is-large", "05", echo(v.double(float("inf"))))
class InfinityIsLarge(Floats):
    """Infinity comes back as the largest float."""

    change = staticmethod(lambda value: 1.7976931348623157e308 if value == math.inf else value)


@mutant("zero-is-integer", "05", echo(v.double(0.0)))
class ZeroIsInteger(Floats):
    """0.0 comes back as 0."""

    change = staticmethod(lambda value: 0 if value == 0 else value)


@mutant("bin-is-text", "06", echo(b"a"))
class BinIsText(Reading):
    """A bin that is ASCII comes back as a str."""

    def binary(self, data: bytes) -> Any:
        return data.decode() if data.isascii() else data


@mutant("text-is-bin", "06", echo("é"), accept="RESP-03a RESP-05a 01")
class TextIsBin(Reading):
    """A str that is not ASCII comes back as a bin."""

    def text(self, data: bytes) -> Any:
        return super().text(data) if data.isascii() else data


@mutant("bad-text-is-nil", "07", echo(v.Text(b"\xff")), level="ASSUMED")
class BadTextIsNil(Reading):
    """A str that is not UTF-8 comes back as nil."""

    def text(self, data: bytes) -> Any:
        found = super().text(data)
        return None if isinstance(found, Odd) else found


@mutant("ext-is-nil", "08", echo(v.Ext(5, b"a")))
class ExtIsNil(Reading):
    """An unknown extension comes back as nil."""

    def ext(self, code: int, data: bytes) -> Any:
        return None if code >= 0 else super().ext(code, data)


@mutant("ext-unsigned", "08", echo(v.Ext(-2, b"a")))
class ExtUnsigned(Reading):
    """A negative extension loses its sign."""

    def ext(self, code: int, data: bytes) -> Any:
        return Ext(-code if -128 < code < TIMESTAMP else code, data)


@mutant("ext-is-bin", "08", echo(v.Ext(1, b"")), level="SHOULD")
class ExtIsBin(Reading):
    """An extension without octets comes back as a bin."""

    def ext(self, code: int, data: bytes) -> Any:
        return data if not data and code != TIMESTAMP else super().ext(code, data)


@mutant("ext-unanswered", "08", echo(v.Ext(1, b"a")), accept="RESP-01")
class ExtUnanswered(Session):
    """A request with an extension is not answered."""

    def call(self, number: int, method: str, params: list[Any]) -> None:
        if not any(isinstance(param, Ext) and param.code != TIMESTAMP for param in params):
            super().call(number, method, params)


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
