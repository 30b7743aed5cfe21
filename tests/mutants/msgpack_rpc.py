"""Servers that read requests wrongly, or answer them wrongly."""

from __future__ import annotations

from typing import Any

from impls.references.msgpack.octets import Broken
from impls.references.msgpack.reference import Server, Session
from impls.references.msgpack.server import Reading
from strategies.msgpack.writer import WIDE
from tests.mutants.faults import has, on
from tests.mutants.msgpack_kit import ONE, TWO, WIDEST, boundary, call, mutant, plan

# -- requests ---------------------------------------------------------------------------------------------------------


class Refusing(Reading):
    """Does not know some formats."""

    codes: frozenset[int] = frozenset()

    def _head(self, first: int) -> tuple[str, int, int]:
        if first in self.codes:
            raise Broken(f"octet {first:#x}")
        return super()._head(first)


mutant("no-str32", "REQ-03", WIDEST)(
    "A str with a size of 32 bits is taken for garbage.", has(Refusing, codes=frozenset({0xDB}))
)
mutant("no-array32", "REQ-03", WIDEST)(
    "An array with a size of 32 bits is taken for garbage.", has(Refusing, codes=frozenset({0xDD}))
)
mutant(
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
)("An array with a size of 16 bits is taken for garbage.", has(Refusing, codes=frozenset({0xDC})))


@mutant("narrow-ids", "REQ-03", WIDEST)
class NarrowIds(Reading):
    """An id that is written wider than it needs to be is no id."""

    def _number(self, first: int, width: int) -> tuple[Any]:
        (value,) = super()._number(first, width)
        return ("wide",) if isinstance(value, int) and 0 <= value < 128 and len(self._open) == 1 else (value,)


mutant("strict-type", "REQ-03", WIDEST)(
    "The type of a message is looked up in its second octet.",
    on(Session, "send").skips(when=lambda data: len(data) > 6 and data[0] == 0xDD and data[5] not in (0, 1, 2)),
)


# -- responses --------------------------------------------------------------------------------------------------------


mutant("no-id-0", "RESP-01", ONE)(
    "The request with id 0 is taken for one without id and never answered.",
    on(Session, "answer").skips(when=lambda number: not number),
)
mutant("ids-of-31-bits", "RESP-01", plan(call("echo", 1, identity=boundary(2**31))))(
    "The highest bit of an id is lost.", on(Session, "response").takes(number=lambda number: number & 0x7FFF_FFFF)
)
mutant("signed-ids", "RESP-01", plan(call("echo", 1, identity=boundary(2**32 - 1))), accept="RESP-02")(
    "An id is kept in a signed integer.",
    on(Session, "response").takes(number=lambda number: number - (1 << 32) if number >= 1 << 31 else number),
)
mutant("ids-of-16-bits", "RESP-01", plan(call("echo", 1, identity=boundary(65536))))(
    "Ids are kept in 16 bits.", on(Session, "response").takes(number=lambda number: number & 0xFFFF)
)
mutant("id-plus-one", "RESP-01", plan(call("echo", 1, identity=boundary(255))))(
    "From 255 on the next id is answered.",
    on(Session, "response").takes(number=lambda number: number + (number >= 255)),
)
mutant("answers-twice", "RESP-01", plan(call("fail", "no"), call("echo", 1)))(
    "A failure is answered a second time.",
    on(Session, "answer").after(
        lambda self, number, error, result: self.say(self.response(number, error, result)),
        when=lambda error: error is not None,
    ),
)


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


mutant("three-elements", "RESP-01", plan(call("fail", "no")))(
    "A response with an error lacks the result.",
    on(Session, "response").instead(lambda number, error: [1, number, error], when=lambda error: error is not None),
)
mutant("wrong-type", "RESP-01", plan(call("fail", "no")))(
    "A response with an error has the type of a notification.",
    on(Session, "response").instead(lambda number, error, result: [1 if error is None else 2, number, error, result]),
)
mutant("greets", "RESP-01", ONE)(
    "A response that nobody asked for opens each connection.",
    on(Session, "__init__").after(lambda self: self.say([1, 0xFFFF, None, "welcome"])),
)
mutant("id-as-text", "RESP-02", plan(call("echo", 1, identity=boundary(65536))), accept="RESP-01")(
    "An id above 16 bits comes back as text.",
    on(Session, "response").instead(
        lambda number, error, result: [1, str(number) if number > 0xFFFF else number, error, result]
    ),
)
mutant("id-as-float", "RESP-02", plan(call("echo", 1, identity=boundary(2**31))), accept="RESP-01")(
    "An id above 31 bits comes back as a float.",
    on(Session, "response").instead(
        lambda number, error, result: [1, float(number) if number >= 1 << 31 else number, error, result]
    ),
)
mutant("id-forgotten", "RESP-02", plan(call("fail", "no")), accept="RESP-01 NOTE-01")(
    "A failure is answered with nil for the id.",
    on(Session, "response").instead(
        lambda number, error, result: [1, None if error is not None else number, error, result]
    ),
)
mutant("error-false", "RESP-03a", ONE)(
    "Success is told by an error of false.",
    on(Session, "response").instead(
        lambda number, error, result: [1, number, False if error is None else error, result]
    ),
)
mutant("error-empty", "RESP-03a", plan(call("sleep", 1)))(
    "Success of a slow call is told by an empty error.",
    on(Session, "response").instead(
        lambda number, error, result: [1, number, "" if error is None and type(result) is int else error, result]
    ),
)
mutant("empty-error-is-nil", "RESP-03a", plan(call("fail", "")), accept="RESP-05a")(
    "An error without a text is told by nil.",
    on(Session, "error").gives(lambda why, found: found if why else None),
)
mutant("nil-is-failure", "RESP-03a", plan(call("echo", None)), accept="01")(
    "A result of nil is told as a failure.",
    on(Session, "response").instead(
        lambda number, error, result: [1, number, "nothing" if result is None and error is None else error, result]
    ),
)
mutant("fields-swapped", "RESP-03a", ONE, accept="RESP-05a 01")(
    "Error and result change places.",
    on(Session, "response").instead(lambda number, error, result: [1, number, result, error]),
)
mutant("error-with-result", "RESP-03b", plan(call("fail", "no")), level="SHOULD")(
    "There is a result beside the error.",
    on(Session, "response").instead(
        lambda number, error, result: [1, number, error, "trace" if error is not None else result]
    ),
)
mutant("unknown-succeeds", "RESP-05a", plan(call("nothing")))(
    "A method that does not exist gives nil.",
    on(Server, "call").instead(
        lambda: (None, 0), when=lambda method: method not in ("echo", "add", "fail", "sleep", "count", "bump")
    ),
)
mutant("failure-as-result", "RESP-05a", plan(call("fail", "no")))(
    "A method that fails gives the text of its failure as a result.",
    on(Server, "fail").instead(lambda text: (str(text), 0)),
)
mutant("unknown-ignored", "RESP-05a", plan(call("nothing")), accept="RESP-01")(
    "A request for a method that does not exist is not answered.",
    on(Session, "call").skips(when=lambda method: method not in ("echo", "add", "fail", "sleep", "count", "bump")),
)
mutant("any-case", "RESP-05a", plan(call("Echo", 1)), level="SHOULD")(
    "Methods are found in any letter case.", on(Server, "call").takes(method=lambda method: method.lower())
)
mutant("trimmed-names", "RESP-05a", plan(call("echo ", 1)))(
    "Blanks around the name of a method are dropped.", on(Server, "call").takes(method=lambda method: method.strip())
)
mutant("arity-ignored", "RESP-05b", plan(call("add", 1, 2, 3)), accept="RESP-01")(
    "A request with the wrong number of arguments is not answered.",
    on(Session, "call").skips(when=lambda method, params: method == "add" and len(params) != 2),
)


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


mutant("sixteen-params-unheard", "RESP-05b", plan(call("add", *range(16))), accept="RESP-01")(
    "A request with sixteen params or more is not answered.",
    on(Session, "request").skips(when=lambda params: len(params) > 15),
)
