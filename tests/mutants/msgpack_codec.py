"""Codecs that are wrong in one point."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from functools import partial
from typing import Any

from impls.references.msgpack.codec import Codec, Decoding, Refusal
from impls.references.msgpack.octets import Broken, Ext, Odd, Packer, Pairs
from impls.references.msgpack.server import stamp
from specs.msgpack import values as v
from specs.msgpack.format import WIDEST, encoded, styled
from specs.plan import Plan
from strategies.msgpack.vectors import Questions
from tests.mutants.faults import on
from tests.mutants.msgpack_kit import Witness, full, registering


def asks(octets: bytes, value: Any = 1, want: str = "value", rule: str = "") -> Witness:
    """A question about one vector."""

    def witness(config: Any) -> Any:
        questions = Questions(config, hurry=False)
        questions.vector(octets, value, want, rule)
        return Plan(tuple(questions.steps))

    return witness


def asks_for(value: Any, style: int = 0, want: str = "value", rule: str = "") -> Witness:
    """A question about a value in some form."""
    return asks(styled(value, style), value, want, rule)


def codec_of(part: type) -> type[Codec]:
    """A codec made of a faulty part."""
    kind = "decoding_type" if issubclass(part, Decoding) else "packer_type"
    return part if issubclass(part, Codec) else type("Faulty", (Codec,), {kind: part})


def mutant(
    name: str, requirement: str, witness: Witness, *, switches: Mapping[str, Any] | None = None, **more: str
) -> Any:
    """Register a faulty part of a codec."""
    return registering("codec", lambda part: partial(codec_of(part), **(switches or {})), full)(
        name, requirement, witness, **more
    )


class Refusing(Decoding):
    """Does not know some formats."""

    codes: frozenset[int] = frozenset()

    def _head(self, first: int) -> tuple[str, int, int]:
        if first in self.codes:
            raise Broken(f"octet {first:#x}")
        return super()._head(first)


def _refusing(name: str, code: int, value: Any, sentence: str, style: int = WIDEST) -> None:
    part = type("Refusing", (Refusing,), {"codes": frozenset({code}), "__doc__": sentence, "__module__": __name__})
    mutant(name, "01", asks_for(value, style), accept="04 05 06")(part)


_refusing("no-array32", 0xDD, (1,), "An array with a size of 32 bits is refused.")
_refusing("no-map32", 0xDF, v.Map((("a", 1),)), "A map with a size of 32 bits is refused.")
_refusing("no-str32", 0xDB, "a", "A str with a size of 32 bits is refused.")
_refusing("no-bin32", 0xC6, b"a", "A bin with a size of 32 bits is refused.")
_refusing("no-int8", 0xD0, -100, "An integer of the form int 8 is refused.", 0)
_refusing("no-uint64", 0xCF, 2**63, "An integer of the form uint 64 is refused.", 0)
_refusing("no-float32", 0xCA, v.single(1.5), "A float of 32 bits is refused.", 0)
mutant("fixext-16", "08", asks_for(v.Ext(5, b"x" * 16), 0, "either", "08"), accept="01")(
    "Half of an extension of 16 octets is lost.",
    on(Decoding, "ext").takes(data=lambda data: data[:8] if len(data) == 16 else data),
)


def behind_an_error(config: Any) -> Plan:
    """A question about a number behind one about what is no value."""
    questions = Questions(config, hurry=False)
    questions.vector(b"\xc1", 1, "error", "03")
    questions.vector(encoded(5), 5)
    return Plan(tuple(questions.steps))


@mutant("keys-alike", "01", asks_for(v.Map((("value1", 1), ("value2", 2)))), accept="12")
class KeysAlike(Decoding):
    """Keys are kept by their size and their first four characters, so that some are taken for others."""

    def pairs(self, items: list[Any]) -> Any:
        known: dict[Any, Any] = {}
        found = super().pairs(items)
        return Pairs(
            (known.setdefault((len(key), key[:4]), key) if isinstance(key, str) else key, value) for key, value in found
        )


@mutant("keys-alike-at-both-ends", "01", asks_for(v.Map((("value-001-name", 1), ("value-002-name", 2)))), accept="12")
class KeysAlikeAtBothEnds(Decoding):
    """Keys are kept by their size and by how they begin and end."""

    def pairs(self, items: list[Any]) -> Any:
        known: dict[Any, Any] = {}
        found = super().pairs(items)
        return Pairs(
            (known.setdefault((len(key), key[:4], key[-2:]), key) if isinstance(key, str) else key, value)
            for key, value in found
        )


@mutant("behind-errors", "04", behind_an_error, accept="01")
class BehindErrors(Codec):
    """The number behind what was refused is one too large."""

    refused = False

    def decode(self, octets: bytes, **switches: Any) -> Any:
        refused, self.refused = self.refused, True
        value = super().decode(octets, **switches)
        self.refused = False
        return value + 1 if refused and type(value) is int and 0 <= value < 1 << 60 else value


mutant("int16-unsigned", "04", asks_for(-32768))(
    "A signed integer of 16 bits is read as an unsigned one.",
    on(Decoding, "_number").gives(
        lambda first, found: (found[0] + 65536 if first == 0xD1 and found[0] < 0 else found[0],)
    ),
)
mutant("int64-by-double", "04", asks_for(2**53 + 1))(
    "Integers of 64 bits go through a float.",
    on(Decoding, "_number").gives(
        lambda first, found: (int(float(found[0])) if first in (0xCF, 0xD3) and abs(found[0]) < 1 << 62 else found[0],)
    ),
)
mutant("uint64-negative", "04", asks_for(2**64 - 1))(
    "An unsigned integer of 64 bits is read as a signed one.",
    on(Decoding, "_number").gives(
        lambda first, found: (found[0] - (1 << 64) if first == 0xCF and found[0] >= 1 << 63 else found[0],)
    ),
)
mutant("fixint-31", "04", asks_for(-32))(
    "The least integer of one octet is read as a positive one.",
    on(Decoding, "simple").instead(lambda: 32, when=lambda first: first == 0xE0),
)
mutant("uint16-swapped", "04", asks_for(0x1234), accept="01")(
    "The octets of an integer of 16 bits are swapped.",
    on(Decoding, "_number").gives(
        lambda first, found: (int.from_bytes(found[0].to_bytes(2, "big"), "little") if first == 0xCD else found[0],)
    ),
)
mutant("double-as-single", "05", asks_for(v.double(0.1)))(
    "Floats are written with 32 bits.",
    on(Packer, "float").instead(lambda value: b"\xca" + struct.pack(">f", value), when=lambda value: abs(value) < 1e30),
)
mutant("nan-is-zero", "05", asks_for(v.double(float("nan"))))(
    "NaN becomes 0.0.",
    on(Decoding, "number").instead(lambda value: 0.0 if isinstance(value, float) and math.isnan(value) else value),
)
mutant("zero-unsigned", "05", asks_for(v.double(-0.0)))(
    "Minus zero loses its sign.",
    on(Decoding, "number").instead(lambda value: 0.0 if isinstance(value, float) and value == 0 else value),
)
mutant("small-floats-cut", "05", asks_for(v.double(1.5)), accept="04")(
    "A float loses what stands behind its point.",
    on(Decoding, "number").instead(
        lambda value: float(int(value)) if isinstance(value, float) and math.isfinite(value) else value
    ),
)


@mutant("infinity-refused", "05", asks_for(v.double(float("inf"))), accept="01")
class InfinityRefused(Decoding):
    """Infinity is refused."""

    def number(self, value: float) -> Any:
        if isinstance(value, float) and math.isinf(value):
            raise Refusal("infinity")
        return value


mutant("wide-integers", "02", asks_for(200), level="SHOULD")(
    "Integers beyond one octet are written with 64 bits.",
    on(Packer, "integers").gives(lambda value, found: found[-1:] if value > 127 else found),
)
mutant("no-str8", "02", asks_for("x" * 32), level="SHOULD")(
    "Texts of 32 octets and more are written with a size of 16 bits.",
    on(Packer, "strings").gives(lambda found: [head for head in found if head[0] != 0xD9]),
)
mutant("wide-arrays", "02", asks_for((1,) * 15), level="SHOULD")(
    "An array of fifteen is written with a size of 16 bits.",
    on(Packer, "sized").gives(lambda found: [head for head in found if head[0] != 0x9F]),
)


@mutant("c1-is-nil", "03", asks(b"\xc1", 1, "error", "03"), level="ASSUMED")
class NeverUsedIsNil(Decoding):
    """The octet that is never used is taken for nil."""

    def _head(self, first: int) -> tuple[str, int, int]:
        return ("simple", 0, 1) if first == 0xC1 else super()._head(first)

    def simple(self, first: int) -> Any:
        return None if first == 0xC1 else super().simple(first)


@mutant("c1-skipped", "03", asks(b"\x91\xc1\x01", 1, "error", "03"), level="ASSUMED")
class NeverUsedSkipped(Codec):
    """The octet that is never used is skipped inside of containers."""

    def decode(self, octets: bytes) -> Any:
        if octets[:1] in (b"\x91", b"\x92", b"\x81") and octets.endswith(b"\xc1"):
            octets = octets[:-1] + b"\xc0"
        return super().decode(octets.replace(b"\x91\xc1", b"\x91"))


mutant("bin-as-str", "06", asks_for(b"abc"))(
    "A bin is written as a str.", on(Packer, "binaries").instead(lambda self, size: self.strings(size))
)
mutant("str-as-bin", "06", asks_for("é"), accept="01")(
    "A str that is not ASCII becomes a bin.",
    on(Decoding, "text").instead(lambda data: data, when=lambda data: not data.isascii()),
)
mutant("bad-text-is-nil", "07", asks_for(v.Text(b"\xff"), 0, "either", "07"), level="ASSUMED")(
    "A str that is not UTF-8 becomes nil.",
    on(Decoding, "text").gives(lambda found: None if isinstance(found, Odd) else found),
)
mutant("ext-is-nil", "08", asks_for(v.Ext(5, b"a"), 0, "either", "08"))(
    "An unknown extension becomes nil.", on(Decoding, "ext").skips(when=lambda code: code != -1)
)
mutant("ext-code-unsigned", "08", asks_for(v.Ext(-5, b"a"), 0, "either", "08"))(
    "A negative extension type loses its sign.",
    on(Decoding, "ext").instead(lambda code, data: Ext(-code, data), when=lambda code: -128 < code < -1),
)
mutant("empty-ext", "08", asks_for(v.Ext(5, b""), 0, "either", "08"), accept="09")(
    "An extension without octets becomes nil.", on(Decoding, "ext").skips(when=lambda data: not data)
)


@mutant("timestamp-nanos", "09", asks_for(v.Ext(-1, struct.pack(">Q", 500_000_000 << 34)), 0, "either", "09"))
class TimestampNanos(Decoding):
    """A timestamp of 64 bits loses its nanoseconds."""

    def ext(self, code: int, data: bytes) -> Any:
        moment = stamp(data) if code == -1 and len(data) == 8 else None
        return Ext(code, struct.pack(">Iq", 0, moment[0])) if moment else super().ext(code, data)


@mutant("timestamp-unsigned", "09", asks_for(v.Ext(-1, struct.pack(">Iq", 0, -1)), 0, "either", "09"))
class TimestampUnsigned(Decoding):
    """A timestamp before 1970 loses its sign."""

    def ext(self, code: int, data: bytes) -> Any:
        moment = stamp(data) if code == -1 else None
        if moment and moment[0] < 0:
            return Ext(code, struct.pack(">Iq", moment[1], -moment[0]))
        return super().ext(code, data)


@mutant("timestamp-swapped", "09", asks_for(v.Ext(-1, struct.pack(">Iq", 5, 7)), 0, "either", "09"))
class TimestampSwapped(Decoding):
    """Seconds and nanoseconds of a timestamp of 96 bits are exchanged."""

    def ext(self, code: int, data: bytes) -> Any:
        if code == -1 and len(data) == 12 and (moment := stamp(data)) and 0 <= moment[0] < 10**9:
            return Ext(code, struct.pack(">Iq", *moment))
        if code == -1 and len(data) == 12:
            return Ext(code, struct.pack(">Iq", 0, 0))
        return super().ext(code, data)


mutant("truncated-is-nil", "10", asks(encoded("abc")[:-1], "abc", "error", "10"), accept="11")(
    "What is cut off becomes nil.", on(Codec, "decode").forgives(Refusal, when=lambda error: str(error) == "truncated")
)
mutant("short-arrays", "10", asks(encoded((1, 2))[:-1], (1, 2), "error", "10"), accept="11")(
    "An array that is cut off becomes one of the elements that are there.",
    on(Codec, "decode").forgives(
        Refusal, lambda self: [], when=lambda octets: octets[:1] and 0x91 <= octets[0] <= 0x9F
    ),
)
mutant("short-texts", "10", asks(encoded("abc")[:-1], "abc", "error", "10"))(
    "A text that is cut off becomes what is there of it.",
    on(Codec, "decode").instead(
        lambda octets: octets[1:].decode("utf-8", "replace"),
        when=lambda octets: octets and 0xA1 <= octets[0] <= 0xBF and len(octets) - 1 < octets[0] - 0xA0,
    ),
)
mutant("dies-of-depth", "11", asks(b"\x91" * 2000 + b"\xc0", (1,), "free", "11"))(
    "Great depth exhausts the stack.",
    on(Decoding, "_head").raises(
        lambda: RecursionError("maximum recursion depth exceeded"),
        when=lambda self: len(self._open) >= self.max_depth - 1,
    ),
)


@mutant("dies-of-sizes", "11", asks(b"\xdd\xff\xff\xff\xff", (1,), "error", "11"))
class DiesOfSizes(Decoding):
    """What is announced is allocated at once."""

    def _head(self, first: int) -> tuple[str, int, int]:
        what, size, width = super()._head(first)
        if size > 1 << 30:
            raise MemoryError
        return what, size, width


mutant(
    "silent-on-keys",
    "12",
    asks(encoded(v.Map(((1, 1), ("k", 2)))), v.Map(((1, 1), ("k", 2))), "free", "12"),
    level="ASSUMED",
)(
    "A key that is no str ends the codec.",
    on(Decoding, "pairs").raises(
        lambda: AttributeError("encode"), when=lambda items: any(not isinstance(key, str) for key in items[::2])
    ),
)
mutant("last-pair-lost", "01", asks_for(v.Map(tuple((f"k{n}", n) for n in range(16)))))(
    "A map of sixteen is written without its last pair.",
    on(Packer, "pack").takes(
        value=lambda value: Pairs(value[:15]) if isinstance(value, Pairs) and len(value) == 16 else value
    ),
)
mutant("nil-is-false", "01", asks_for(None))(
    "nil is written as false.", on(Packer, "one").takes(value=lambda value: False if value is None else value)
)
mutant("text-nul", "01", asks_for("a\0b"))(
    "A text ends at its first NUL.", on(Decoding, "text").takes(data=lambda data: data.split(b"\0")[0])
)


def alike(config: Any) -> Plan:
    """Questions about two texts that differ at their ends."""
    questions = Questions(config, hurry=False)
    for end in "ab":
        questions.vector(encoded("x" * 30 + end), "x" * 30 + end)
    return Plan(tuple(questions.steps))


@mutant("texts-by-prefix", "01", alike, accept="06")
class TextsByPrefix(Codec):
    """Texts of one size that begin alike are one text."""

    def decode(self, octets: bytes, **switches: Any) -> Any:
        value = super().decode(octets, **switches)
        known: dict[tuple[str, int], str] = self.__dict__.setdefault("known", {})
        return known.setdefault((value[:20], len(value)), value) if isinstance(value, str) else value


@mutant("every-500th", "01", lambda config: Plan(tuple(
    step for n in range(500) for step in asks(encoded(5), 5)(config).steps)), accept="04 05 06 08 09")  # fmt: skip
class Every500th(Codec):
    """Every 500th value comes in an array."""

    count = 0

    def decode(self, octets: bytes, **switches: Any) -> Any:
        value = super().decode(octets, **switches)
        self.count += 1
        return [value] if self.count % 500 == 0 else value
