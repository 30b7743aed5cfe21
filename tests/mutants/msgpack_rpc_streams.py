"""Servers that lose something when messages come in pieces or together, and what they do about notifications."""

from __future__ import annotations

from typing import Any

from impls.references.msgpack.octets import Broken, Unpacker
from impls.references.msgpack.reference import Failure, Session
from impls.references.msgpack.server import Reading
from strategies.common import Op, Program
from strategies.msgpack.aimed import counting
from strategies.msgpack.sessions import interpret
from strategies.msgpack.writer import CUTS
from tests.mutants.faults import on
from tests.mutants.msgpack_kit import Shortened, call, mutant, note, plan, without_short_rest

# -- streams ----------------------------------------------------------------------------------------------------------


@mutant(
    "one-of-each-read",
    "PIPE-01",
    plan(call("echo", (1,), when="join"), call("echo", (2,), when="now")),
    accept="RESP-01 FRAG-01",
)
class OneOfEachRead(Session):
    """Of what comes in one read only the first message is seen."""

    def send(self, data: bytes) -> None:
        reader = Unpacker()
        reader.feed(data)
        try:
            next(reader.values(), None)
        except Broken:
            reader._at = len(data)
        super().send(data[: reader._at] if not reader._open and reader._at else data)


def straddling(config: Any) -> Any:
    """A request and the first two octets of the next one at once."""
    return interpret(Program((0, 0), (Op("halves", (0, 0, 0, 1, 8)),)), config)


mutant("short-rest-lost", "FRAG-01", straddling, accept="RESP-01 PIPE-01 REQ-03")(
    "Up to three octets behind a whole message in one read are thrown away.",
    on(Session, "send").takes(data=lambda self, data: data if self._reader.midway else without_short_rest(data)),
)


@mutant(
    "beginning-behind-pieces-lost",
    "FRAG-01",
    plan(call("echo", (1,), style=2, when="join"), call("echo", (2,), style=2, when="now"), wire=CUTS),
    accept="RESP-01 PIPE-01 REQ-03",
)
class BeginningBehindPiecesLost(Session):
    """When a read ends one message that came in pieces, the beginning of the next one in it is lost."""

    def send(self, data: bytes) -> None:
        super().send(self.__dict__.setdefault("shortened", Shortened())(data))


def full_buffer(config: Any) -> Any:
    """A request of one octet more than 4096, in two pieces."""
    return interpret(Program((3, 0), (Op("sized", (0, 0, 43, 5, 2)),)), config)


mutant("full-buffer-cut", "FRAG-01", full_buffer, accept="RESP-01 PIPE-01 REQ-03 01")(
    "What comes in a read of one octet more than whole buffers of 4096 lacks its last octet.",
    on(Session, "send").takes(data=lambda data: data[:-1] if len(data) > 4096 and len(data) % 4096 == 1 else data),
)


@mutant("texts-by-prefix", "01", plan(*[call("echo", "x" * 50 + end) for end in "ab"]), accept="RESP-01")
class TextsByPrefix(Session):
    """Texts of one size that begin alike are one text."""

    def request(self, number: int, method: str, params: list[Any], refused: list[str]) -> None:
        known: dict[tuple[str, int], str] = self.__dict__.setdefault("known", {})
        params = [known.setdefault((each[:40], len(each)), each) if isinstance(each, str) else each for each in params]
        super().request(number, method, params, refused)


mutant("lost-behind-slow", "PIPE-01", plan(call("sleep", 5), call("echo", (2,), when="now")), accept="RESP-01")(
    "What comes while a call is slow is dropped.",
    on(Session, "request").skips(
        when=lambda self: any(job[1] is self and job[0] > self.server.now for job in self.server._due)
    ),
)


@mutant("sixteen-open", "PIPE-01", plan(*[call("echo", (n,), when="join") for n in range(20)]), accept="RESP-01")
class SixteenOpen(Session):
    """More than sixteen requests in one read are not answered."""

    def send(self, data: bytes) -> None:
        self.room = 16
        super().send(data)

    def request(self, number: int, method: str, params: list[Any], refused: list[str]) -> None:
        self.room -= 1
        if self.room >= 0:
            super().request(number, method, params, refused)


@mutant(
    "last-waits", "PIPE-01", plan(call("echo", (1,), when="join"), call("echo", (2,), when="now")), accept="RESP-01"
)
class LastWaits(Session):
    """The last of several requests in one read is answered when the next one comes."""

    held: Any = None

    def send(self, data: bytes) -> None:
        self.many = 0
        super().send(data)

    def answer(self, number: int, error: Any, result: Any) -> None:
        self.many += 1
        if self.many == 2:
            self.held = (number, error, result)
            return
        if self.held is not None:
            held, self.held = self.held, None
            super().answer(*held)
        super().answer(number, error, result)

    many = 0


mutant("whole-reads", "FRAG-01", plan(call("echo", 1, style=3), wire=CUTS), accept="RESP-01")(
    "A message has to come in one read.",
    on(Session, "send").after(
        lambda self: setattr(self, "_reader", self.reading_type(self.server)), when=lambda self: self._reader.midway
    ),
)


@mutant("half-texts", "FRAG-01", plan(call("echo", "abcdef", style=3), wire=CUTS), accept="RESP-01 01 10")
class HalfTexts(Reading):
    """A text that is not there as a whole is taken for what is there of it."""

    def text(self, data: bytes) -> Any:
        return super().text(data)

    def _part(self) -> tuple[Any] | None:
        part = super()._part()
        if part is None and self._at < len(self._data) and 0xA1 <= self._data[self._at] <= 0xBF and len(self._open) > 1:
            data = bytes(self._data[self._at + 1 :])
            if data:
                self._at = len(self._data)
                return (self.text(data),)
        return part


@mutant("half-sizes", "FRAG-01", plan(call("echo", "x" * 40, style=3), wire=CUTS), accept="RESP-01")
class HalfSizes(Reading):
    """A size that is cut by the end of a read is an error."""

    def _head(self, first: int) -> tuple[str, int, int]:
        what, size, width = super()._head(first)
        if width < 0:
            raise Broken("cut")
        return what, size, width


# -- notifications ----------------------------------------------------------------------------------------------------


mutant("notes-answered", "NOTE-01", plan(note("echo", 1), call("echo", 2)), accept="RESP-01")(
    "A notification is answered, with nil for its id.",
    on(Session, "notification").after(lambda self: self.say([1, None, None, None])),
)


@mutant("notes-refused", "NOTE-01", plan(note("nothing"), call("echo", 2)), accept="RESP-01")
class NotesRefused(Session):
    """A notification for a method that does not exist is answered with an error."""

    def notification(self, method: str, params: list[Any]) -> None:
        try:
            self.server.call(method, params)
        except Failure as failure:
            if str(failure).startswith("no method"):
                self.say([1, 0, "no method", None])


@mutant("notes-fail", "NOTE-01", plan(note("fail", "no"), call("echo", 2)), accept="RESP-01")
class NotesFail(Session):
    """A notification that fails is answered with its error."""

    def notification(self, method: str, params: list[Any]) -> None:
        try:
            self.server.call(method, params)
        except Failure as failure:
            self.say([1, None, str(failure), None])


COUNTED = Op("bump", (0, 0, 0, 0, 0))


mutant("notes-dropped", "NOTE-03", lambda config: counting(Program((0,), (COUNTED,)), config), level="ASSUMED")(
    "Notifications are dropped.", on(Session, "notification").skips()
)
mutant(
    "every-other-note", "NOTE-03", lambda config: counting(Program((0,), (COUNTED, COUNTED)), config), level="ASSUMED"
)(
    "Of notifications for the same method every other is dropped.",
    on(Session, "notification").skips(when=lambda calls: calls % 2 == 0),
)
