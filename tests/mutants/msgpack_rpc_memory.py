"""Servers that remember too much or too little, and servers that are wrong where values are large or stand within
others."""

from __future__ import annotations

import struct
from typing import Any

from impls.references.msgpack.octets import Ext, Packer, Pairs
from impls.references.msgpack.reference import Server, Session
from impls.references.msgpack.server import Reading, stamp
from specs.msgpack import values as v
from strategies.msgpack.writer import Writer
from tests.mutants.faults import on
from tests.mutants.msgpack_kit import call, mutant, note, plan

# -- calls and connections ---------------------------------------------------------------------------------------------


@mutant(
    "open-after-failure", "RESP-01", plan(call("fail", "no"), call("echo", 1, identity=3)), accept="RESP-03a RESP-05a"
)
class OpenAfterFailure(Session):
    """An id stays in use after a failure, so that its next request is refused."""

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        self.failed: set[int] = set()

    def call(self, number: int, method: str, params: list[Any]) -> None:
        if number in self.failed:
            self.failed.discard(number)
            self.server.later(self, number, self.error("the id is in use"), None, 0)
            return
        super().call(number, method, params)

    def answer(self, number: int, error: Any, result: Any) -> None:
        if error is not None:
            self.failed.add(number)
        super().answer(number, error, result)


@mutant("one-timer", "RESP-01", plan(call("sleep", 20, when="join"), call("sleep", 20, when="now")), accept="PIPE-01")
class OneTimer(Session):
    """Of two calls that fall due together only the later one is answered."""

    def call(self, number: int, method: str, params: list[Any]) -> None:
        if method == "sleep" and params and type(params[0]) is int:
            due = self.server.now + params[0]
            self.server._due = [job for job in self.server._due if job[1] is not self or job[0] != due]
        super().call(number, method, params)


def _left(w: Writer) -> None:
    w.call(w.line(0), "sleep", 5)
    w.call(w.line(1), "sleep", 20, when="now")
    w.hang(0)


mutant("left-with-others", "RESP-06", plan(_left), accept="RESP-01")(
    "Who leaves takes along the calls of others that have the same id.",
    on(Session, "hang_up").before(
        lambda self: setattr(self.server, "_due", [job for job in self.server._due if job[2] not in self.open])
    ),
)


def _fails(w: Writer) -> None:
    for _ in range(13):
        w.call(w.line(0), "fail", "no", when="now")


@mutant("twelve-failures", "RESP-01", plan(_fails), accept="RESP-05a RESP-05b RESP-03a PIPE-01")
class TwelveFailures(Session):
    """After twelve failures a connection hears nothing more."""

    failed = 0

    def response(self, number: int, error: Any, result: Any) -> list[Any]:
        self.failed += error is not None
        return super().response(number, error, result)

    def say(self, message: list[Any]) -> None:
        if self.failed <= 12:
            super().say(message)


@mutant(
    "unknown-notes-close",
    "RESP-01",
    plan(call("sleep", 5), *[note("nothing", when="now")] * 3),
    accept="NOTE-01",
)
class UnknownNotesClose(Session):
    """The third notification for a method that does not exist ends the connection."""

    unknown = 0

    def notification(self, method: str, params: list[Any]) -> None:
        self.unknown += method == "nothing"
        super().notification(method, params)
        if self.unknown > 2:
            self.close()


mutant(
    "full-output",
    "RESP-01",
    plan(call("echo", "x" * 20_000, when="join"), call("echo", 1, when="now")),
    accept="PIPE-01 01",
)(
    "What is said while 16,384 octets wait to be written is dropped.",
    on(Session, "say").skips(when=lambda self: len(self._out) >= 16_384),
)


# -- values ------------------------------------------------------------------------------------------------------------


class Within(Session):
    """Changes what stands within a container."""

    def within(self, value: Any) -> Any:
        """The value as it becomes."""
        return value

    def call(self, number: int, method: str, params: list[Any]) -> None:
        super().call(number, method, [self._walked(p) if isinstance(p, list) else p for p in params])

    def _walked(self, value: Any) -> Any:
        if isinstance(value, Pairs):
            return Pairs((key, self._walked(part)) for key, part in value)
        return [self._walked(part) for part in value] if isinstance(value, list) else self.within(value)


mutant("inner-ext-is-nil", "08", plan(call("echo", (v.Ext(5, b"a"),))))(
    "An extension within a container comes back as nil.",
    on(Within, "within").instead(lambda value: None if isinstance(value, Ext) and value.code != -1 else value),
)


@mutant("inner-stamp", "09", plan(call("echo", (v.Ext(-1, struct.pack(">Q", 500_000_000 << 34)),))))
class InnerStamp(Within):
    """A timestamp within a container loses its nanoseconds."""

    def within(self, value: Any) -> Any:
        moment = stamp(value.data) if isinstance(value, Ext) and value.code == -1 else None
        return Ext(-1, struct.pack(">Iq", 0, moment[0])) if moment else value


@mutant("long-array-wraps", "01", plan(call("echo", (1,) * (1 << 16))), accept="RESP-01 11")
class LongArrayWraps(Session):
    """The size of an array is kept in 16 bits."""

    def response(self, number: int, error: Any, result: Any) -> list[Any]:
        if isinstance(result, list) and not isinstance(result, Pairs):
            result = result[: len(result) & 0xFFFF] if len(result) > 0xFFFF else result
        return super().response(number, error, result)


mutant("wide-map-cut", "01", plan(call("echo", v.Map(tuple((f"k{n}", n) for n in range(256))))))(
    "Of a map of more than 255 pairs only some are left.",
    on(Reading, "pairs").gives(lambda found: Pairs(found[:255]) if len(found) > 255 else found),
)
mutant("length-is-array", "01", plan(call("echo", v.Map((("length", 1),)))))(
    "A map with a key `length` comes back as an array.",
    on(Reading, "pairs").gives(
        lambda found: [value for _, value in found] if any(key == "length" for key, _ in found) else found
    ),
)
mutant("low-word-zero", "04", plan(call("echo", -(1 << 40))))(
    "A negative integer of 64 bits whose lower half is 0 borrows from its upper half.",
    on(Reading, "number").instead(
        lambda value: value - (1 << 32),
        when=lambda value: type(value) is int and -(1 << 63) < value < -(1 << 32) and not value & 0xFFFF_FFFF,
    ),
)
mutant("six-octets", "04", plan(call("echo", 1 << 47)))(
    "Integers of six octets and more, up to 2^52, lose their highest bit.",
    on(Reading, "number").instead(
        lambda value: value ^ (1 << value.bit_length() - 1),
        when=lambda value: type(value) is int and 1 << 41 <= value <= 1 << 52,
    ),
)


@mutant("middle-sizes", "01", plan(call("echo", "x" * 1000)))
class MiddleSizes(Packer):
    """A text of 512 to 4095 octets is written without its last one."""

    def pack(self, value: Any) -> bytes:
        return super().pack([*value[:3], value[3][:-1]] if self._middle(value) else value)

    def _middle(self, value: Any) -> bool:
        return isinstance(value, list) and len(value) == 4 and isinstance(value[3], str) and 512 <= len(value[3]) < 4096


@mutant("answers-kept-by-id", "RESP-01", plan(call("echo", "one", identity=2), call("echo", "two", identity=3)))
class KeptById(Session):
    """An id that is used again once it was answered gets the answer of before."""

    def response(self, number: int, error: Any, result: Any) -> list[Any]:
        kept = self.__dict__.setdefault("kept", {})
        return super().response(number, *kept.setdefault(number, (error, result)))


mutant("marks-answers", "RESP-01", plan(call("echo", 1)))(
    "In front of each answer stands a nil.", on(Session, "response").before(lambda self: self.say(None))
)
