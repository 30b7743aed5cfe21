"""Servers that are wrong in how they treat messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from impls.msgpack.octets import Broken, Unpacker
from impls.msgpack.reference import Failure, Server, Session
from impls.msgpack.server import Reading
from strategies.common import Op, Program
from strategies.msgpack import misuse
from strategies.msgpack.aimed import counting
from strategies.msgpack.writer import CUTS, IDS, WIDE
from tests.mutants.msgpack_kit import call, mutant, note, plan


def boundary(number: int) -> int:
    """The identity argument that leads to an id at a boundary."""
    return 2 + 4 * IDS.index(number)


ONE = plan(call("echo", 1))
TWO = plan(call("echo", (1,), when="join"), call("echo", (2,), when="now"))
WIDEST = plan(call("echo", 1, style=1), wire=WIDE)


def abused(name: str, a: int = 0, b: int = 0, **options: Any) -> Any:
    """One misuse with its witnesses."""
    return lambda config: misuse.interpret(Program((0, 0, 0, a, b, 0), ()), config, only=(name,), **options)


# -- requests ----------------------------------------------------------------------------------------------------------


class Refusing(Reading):
    """Does not know some formats."""

    codes: frozenset[int] = frozenset()

    def _head(self, first: int) -> tuple[str, int, int]:
        if first in self.codes:
            raise Broken(f"octet {first:#x}")
        return super()._head(first)


@mutant("no-str32", "REQ-03", WIDEST)
class NoStr32(Refusing):
    """A str with a size of 32 bits is taken for garbage."""

    codes = frozenset({0xDB})


@mutant("no-array32", "REQ-03", WIDEST)
class NoArray32(Refusing):
    """An array with a size of 32 bits is taken for garbage."""

    codes = frozenset({0xDD})


@mutant(
    "no-array16",
    "REQ-03",
    plan(
        call("echo", 1, style=2),
        call("echo", 1, style=3),
        call("echo", 1, style=6),
        call("echo", 1, style=7),
        call("echo", 1, style=10),
        wire=WIDE,
    ),
    accept="01",
)
class NoArray16(Refusing):
    """An array with a size of 16 bits is taken for garbage."""

    codes = frozenset({0xDC})


@mutant("narrow-ids", "REQ-03", WIDEST)
class NarrowIds(Reading):
    """An id that is written wider than it needs to be is no id."""

    def _number(self, first: int, width: int) -> tuple[Any]:
        (value,) = super()._number(first, width)
        return ("wide",) if isinstance(value, int) and 0 <= value < 128 and len(self._open) == 1 else (value,)


@mutant("strict-type", "REQ-03", WIDEST)
class StrictType(Session):
    """The type of a message is looked up in its second octet."""

    def send(self, data: bytes) -> None:
        if len(data) > 6 and data[0] == 0xDD and data[5] not in (0, 1, 2):
            return
        super().send(data)


# -- responses ---------------------------------------------------------------------------------------------------------


@mutant("no-id-0", "RESP-01", ONE)
class NoIdZero(Session):
    """The request with id 0 is taken for one without id and never answered."""

    def answer(self, number: int, error: Any, result: Any) -> None:
        if number:
            super().answer(number, error, result)


@mutant("ids-of-31-bits", "RESP-01", plan(call("echo", 1, identity=boundary(2**31))))
class Ids31(Session):
    """The highest bit of an id is lost."""

    def response(self, number: int, error: Any, result: Any) -> list[Any]:
        return super().response(number & 0x7FFF_FFFF, error, result)


@mutant("signed-ids", "RESP-01", plan(call("echo", 1, identity=boundary(2**32 - 1))), accept="RESP-02")
class SignedIds(Session):
    """An id is kept in a signed integer."""

    def response(self, number: int, error: Any, result: Any) -> list[Any]:
        return super().response(number - (1 << 32) if number >= 1 << 31 else number, error, result)


@mutant("ids-of-16-bits", "RESP-01", plan(call("echo", 1, identity=boundary(65536))))
class Ids16(Session):
    """Ids are kept in 16 bits."""

    def response(self, number: int, error: Any, result: Any) -> list[Any]:
        return super().response(number & 0xFFFF, error, result)


@mutant("id-plus-one", "RESP-01", plan(call("echo", 1, identity=boundary(255))))
class OffByOne(Session):
    """From 255 on the next id is answered."""

    def response(self, number: int, error: Any, result: Any) -> list[Any]:
        return super().response(number + (number >= 255), error, result)


@mutant("answers-twice", "RESP-01", plan(call("fail", "no"), call("echo", 1)))
class Twice(Session):
    """A failure is answered a second time."""

    def answer(self, number: int, error: Any, result: Any) -> None:
        super().answer(number, error, result)
        if error is not None:
            self.say(self.response(number, error, result))


@mutant("swaps", "RESP-01", TWO)
class Swaps(Session):
    """Two requests that are open together get each other's results."""

    def answer(self, number: int, error: Any, result: Any) -> None:
        other = [job for job in self.server._due if job[1] is self and job[3] is None]
        if other and error is None:
            at = self.server._due.index(other[0])
            due, session, name, none, theirs = other[0]
            self.server._due[at] = (due, session, name, none, result)
            result = theirs
        super().answer(number, error, result)

    def send(self, data: bytes) -> None:
        if self.server.switches.delay_ms == 0:
            self.server.now += 0
        super().send(data)


@mutant("id-once", "RESP-01", plan(call("echo", 1, identity=2), call("echo", 2, identity=3)))
class IdOnce(Session):
    """An id that was used before is taken for a repetition and not answered again."""

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        self.seen: set[int] = set()

    def request(self, number: int, method: str, params: list[Any], refused: list[str]) -> None:
        if number not in self.seen:
            super().request(number, method, params, refused)
        self.seen.add(number)


@mutant("three-elements", "RESP-01", plan(call("fail", "no")))
class ThreeElements(Session):
    """A response with an error lacks the result."""

    def response(self, number: int, error: Any, result: Any) -> list[Any]:
        return [1, number, error] if error is not None else super().response(number, error, result)


@mutant("wrong-type", "RESP-01", plan(call("fail", "no")))
class WrongType(Session):
    """A response with an error has the type of a notification."""

    def response(self, number: int, error: Any, result: Any) -> list[Any]:
        return [1 if error is None else 2, number, error, result]


@mutant("greets", "RESP-01", ONE)
class Greets(Session):
    """A response that nobody asked for opens each connection."""

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        self.say([1, 0xFFFF, None, "welcome"])


@mutant("id-as-text", "RESP-02", plan(call("echo", 1, identity=boundary(65536))), accept="RESP-01")
class IdAsText(Session):
    """An id above 16 bits comes back as text."""

    def response(self, number: int, error: Any, result: Any) -> list[Any]:
        return [1, str(number) if number > 0xFFFF else number, error, result]


@mutant("id-as-float", "RESP-02", plan(call("echo", 1, identity=boundary(2**31))), accept="RESP-01")
class IdAsFloat(Session):
    """An id above 31 bits comes back as a float."""

    def response(self, number: int, error: Any, result: Any) -> list[Any]:
        return [1, float(number) if number >= 1 << 31 else number, error, result]


@mutant("id-forgotten", "RESP-02", plan(call("fail", "no")), accept="RESP-01 NOTE-01")
class IdForgotten(Session):
    """A failure is answered with nil for the id."""

    def response(self, number: int, error: Any, result: Any) -> list[Any]:
        return [1, None if error is not None else number, error, result]


@mutant("error-false", "RESP-03a", ONE)
class ErrorFalse(Session):
    """Success is told by an error of false."""

    def response(self, number: int, error: Any, result: Any) -> list[Any]:
        return [1, number, False if error is None else error, result]


@mutant("error-empty", "RESP-03a", plan(call("sleep", 1)))
class ErrorEmpty(Session):
    """Success of a slow call is told by an empty error."""

    def response(self, number: int, error: Any, result: Any) -> list[Any]:
        return [1, number, "" if error is None and type(result) is int else error, result]


@mutant("nil-is-failure", "RESP-03a", plan(call("echo", None)), accept="01")
class NilFails(Session):
    """A result of nil is told as a failure."""

    def response(self, number: int, error: Any, result: Any) -> list[Any]:
        return [1, number, "nothing" if result is None and error is None else error, result]


@mutant("fields-swapped", "RESP-03a", ONE, accept="RESP-05a 01")
class FieldsSwapped(Session):
    """Error and result change places."""

    def response(self, number: int, error: Any, result: Any) -> list[Any]:
        return [1, number, result, error]


@mutant("error-with-result", "RESP-03b", plan(call("fail", "no")), level="SHOULD")
class ErrorWithResult(Session):
    """There is a result beside the error."""

    def response(self, number: int, error: Any, result: Any) -> list[Any]:
        return [1, number, error, "trace" if error is not None else result]


@mutant("unknown-succeeds", "RESP-05a", plan(call("nothing")))
class UnknownSucceeds(Server):
    """A method that does not exist gives nil."""

    def call(self, method: str, params: list[Any]) -> tuple[Any, float]:
        if method not in ("echo", "add", "fail", "sleep", "count", "bump"):
            return None, 0
        return super().call(method, params)


@mutant("failure-as-result", "RESP-05a", plan(call("fail", "no")))
class FailureAsResult(Server):
    """A method that fails gives the text of its failure as a result."""

    def fail(self, text: Any) -> tuple[Any, float]:
        return str(text), 0


@mutant("unknown-ignored", "RESP-05a", plan(call("nothing")), accept="RESP-01")
class UnknownIgnored(Session):
    """A request for a method that does not exist is not answered."""

    def call(self, number: int, method: str, params: list[Any]) -> None:
        if method in ("echo", "add", "fail", "sleep", "count", "bump"):
            super().call(number, method, params)


@mutant("any-case", "RESP-05a", plan(call("Echo", 1)), level="SHOULD")
class AnyCase(Server):
    """Methods are found in any letter case."""

    def call(self, method: str, params: list[Any]) -> tuple[Any, float]:
        return super().call(method.lower(), params)


@mutant("trimmed-names", "RESP-05a", plan(call("echo ", 1)))
class Trimmed(Server):
    """Blanks around the name of a method are dropped."""

    def call(self, method: str, params: list[Any]) -> tuple[Any, float]:
        return super().call(method.strip(), params)


@mutant("arity-ignored", "RESP-05b", plan(call("add", 1, 2, 3)), accept="RESP-01")
class ArityIgnored(Session):
    """A request with the wrong number of arguments is not answered."""

    def call(self, number: int, method: str, params: list[Any]) -> None:
        if method != "add" or len(params) == 2:
            super().call(number, method, params)


@mutant(
    "last-connection",
    "RESP-06",
    plan(call("sleep", 5, slot=0), call("echo", (2,), slot=1, when="now")),
    accept="RESP-01",
)
class LastConnection(Server):
    """Answers go to the connection that was heard last."""

    last: Session | None = None

    def settle(self) -> None:
        for at, (due, session, *rest) in enumerate(self._due):
            self._due[at] = (due, self.last or session, *rest)  # type: ignore[assignment]
        super().settle()

    def later(self, session: Session, number: int, error: Any, result: Any, ms: float) -> None:
        self.last = session
        super().later(session, number, error, result, ms)


@mutant(
    "ids-of-all", "RESP-06", plan(call("sleep", 5, slot=0), call("echo", (2,), slot=1, when="now")), accept="RESP-01"
)
class IdsOfAll(Server):
    """Open requests of all connections are in one table by id."""

    def later(self, session: Session, number: int, error: Any, result: Any, ms: float) -> None:
        for at, (due, other, name, *_) in enumerate(self._due):
            if name == number and other is not session:
                self._due[at] = (due, other, name, error, result)
        super().later(session, number, error, result, ms)


# -- streams -----------------------------------------------------------------------------------------------------------


@mutant(
    "one-of-each-read",
    "PIPE-01",
    plan(call("echo", (1,), when="join"), call("echo", (2,), when="now")),
    accept="RESP-01",
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


@mutant("lost-behind-slow", "PIPE-01", plan(call("sleep", 5), call("echo", (2,), when="now")), accept="RESP-01")
class LostBehindSlow(Session):
    """What comes while a call is slow is dropped."""

    def request(self, number: int, method: str, params: list[Any], refused: list[str]) -> None:
        if not any(job[1] is self and job[0] > self.server.now for job in self.server._due):
            super().request(number, method, params, refused)


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


@mutant("whole-reads", "FRAG-01", plan(call("echo", 1, style=3), wire=CUTS), accept="RESP-01")
class WholeReads(Session):
    """A message has to come in one read."""

    def send(self, data: bytes) -> None:
        super().send(data)
        if self._reader.midway:
            self._reader = self.reading_type(self.server)


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


# -- notifications -----------------------------------------------------------------------------------------------------


@mutant("notes-answered", "NOTE-01", plan(note("echo", 1), call("echo", 2)), accept="RESP-01")
class NotesAnswered(Session):
    """A notification is answered, with nil for its id."""

    def notification(self, method: str, params: list[Any]) -> None:
        super().notification(method, params)
        self.say([1, None, None, None])


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


@mutant("notes-dropped", "NOTE-03", lambda config: counting(Program((0,), (COUNTED,)), config), level="ASSUMED")
class NotesDropped(Session):
    """Notifications are dropped."""

    def notification(self, method: str, params: list[Any]) -> None:
        """Nothing."""


@mutant(
    "every-other-note", "NOTE-03", lambda config: counting(Program((0,), (COUNTED, COUNTED)), config), level="ASSUMED"
)
class EveryOtherNote(Session):
    """Of notifications for the same method every other is dropped."""

    seen = 0

    def notification(self, method: str, params: list[Any]) -> None:
        self.seen += 1
        if self.seen % 2:
            super().notification(method, params)


# -- malformed input ---------------------------------------------------------------------------------------------------


class Crash(Exception):
    """What a faulty server raises."""


@mutant("dies-of-scalars", "BAD-01", abused("no array"))
class DiesOfScalars(Session):
    """A value that is no array ends the server."""

    def malformed(self, value: Any) -> None:
        if not isinstance(value, list):
            raise Crash("not a list")
        super().malformed(value)


@mutant("dies-of-short-arrays", "BAD-01", abused("wrong length"))
class DiesOfShort(Session):
    """An array without elements ends the server."""

    def malformed(self, value: Any) -> None:
        if value == []:
            raise IndexError("list index out of range")
        super().malformed(value)


@mutant("dies-of-responses", "BAD-01", abused("response"))
class DiesOfResponses(Session):
    """A response that it did not ask for ends the server."""

    def malformed(self, value: Any) -> None:
        if isinstance(value, list) and len(value) == 4 and value[0] == 1:
            raise KeyError(value[1])
        super().malformed(value)


@mutant("dies-of-params", "BAD-01", abused("wrong params"))
class DiesOfParams(Session):
    """Params of nil end the server."""

    def malformed(self, value: Any) -> None:
        if isinstance(value, list) and len(value) == 4 and value[3] is None:
            raise TypeError("NoneType")
        super().malformed(value)


@mutant("dies-of-c1", "BAD-01", abused("never used"))
class DiesOfNeverUsed(Session):
    """The octet that is never used ends the server."""

    def undecodable(self, why: str) -> None:
        if "0xc1" in why:
            raise Crash(why)
        super().undecodable(why)


@mutant("dies-of-depth", "BAD-01", abused("deep", 1))
class DiesOfDepth(Session):
    """Great depth exhausts the stack."""

    def undecodable(self, why: str) -> None:
        if "deep" in why:
            raise RecursionError("maximum recursion depth exceeded")
        super().undecodable(why)


@mutant("dies-of-sizes", "BAD-01", abused("liar", 2))
class DiesOfSizes(Session):
    """A size that is announced is allocated at once."""

    def undecodable(self, why: str) -> None:
        if "long" in why:
            raise MemoryError
        super().undecodable(why)


@mutant("hangs-of-sizes", "BAD-01", abused("liar", 0))
class HangsOfSizes(Server):
    """While one client has announced a large array nobody is served."""

    def settle(self) -> None:
        if not self.stuck:
            super().settle()

    def advance(self, ms: float) -> None:
        if self.stuck:
            self.now += ms
        else:
            super().advance(ms)

    @property
    def stuck(self) -> bool:
        return any(s._reader._open and s._reader._open[-1][1] > 1 << 20 for s in self.sessions)

    def open(self) -> Session:
        self.sessions = [*getattr(self, "sessions", ()), super().open()]
        return self.sessions[-1]

    sessions: Sequence[Session] = ()


@mutant("closes-all", "BAD-01", abused("no array", 20))
class ClosesAll(Server):
    """What one client says wrong ends the connections of all."""

    def open(self) -> Session:
        session = super().open()
        self.sessions = [*getattr(self, "sessions", ()), session]
        undecided = session.close

        def close() -> None:
            undecided()
            for other in self.sessions:
                other.closed = True

        session.close = close  # type: ignore[method-assign]
        return session


@mutant("full-after-errors", "BAD-01", abused("never used"))
class FullAfterErrors(Server):
    """A client whose octets were no value counts as connected for ever, and there is room for three."""

    spoilt = 0

    def open(self) -> Session:
        if any(session.deaf for session in self.all):
            raise Crash("too many clients")
        self.all.append(super().open())
        return self.all[-1]

    def __init__(self, **switches: Any) -> None:
        super().__init__(**switches)
        self.all: list[Session] = []


@mutant("stays-open", "BAD-02", abused("no array"), level="ASSUMED")
class StaysOpen(Session):
    """It is declared that the connection is closed, and it is not."""

    def malformed(self, value: Any) -> None:
        """Nothing."""
