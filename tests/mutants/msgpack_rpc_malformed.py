"""Servers that do not outlive what is no message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from impls.references.msgpack.reference import Server, Session
from tests.mutants.faults import on
from tests.mutants.msgpack_kit import abused, mutant

MEANWHILE = 32
"""Another client waits for its answer while this one is wrong."""


class Crash(Exception):
    """What a faulty server raises."""


mutant("dies-of-scalars", "BAD-01", abused("no array"))(
    "A value that is no array ends the server.",
    on(Session, "malformed").raises(lambda: Crash("not a list"), when=lambda value: not isinstance(value, list)),
)
mutant("dies-of-short-arrays", "BAD-01", abused("wrong length"))(
    "An array without elements ends the server.",
    on(Session, "malformed").raises(lambda: IndexError("list index out of range"), when=lambda value: value == []),
)
mutant("dies-of-responses", "BAD-01", abused("response"))(
    "A response that it did not ask for ends the server.",
    on(Session, "malformed").raises(
        lambda value: KeyError(value[1]),
        when=lambda value: isinstance(value, list) and len(value) == 4 and value[0] == 1,
    ),
)
mutant("dies-of-params", "BAD-01", abused("wrong params"))(
    "Params of nil end the server.",
    on(Session, "malformed").raises(
        lambda: TypeError("NoneType"),
        when=lambda value: isinstance(value, list) and len(value) == 4 and value[3] is None,
    ),
)
mutant("dies-of-c1", "BAD-01", abused("never used"))(
    "The octet that is never used ends the server.",
    on(Session, "undecodable").raises(lambda why: Crash(str(why)), when=lambda why: "0xc1" in why),
)
mutant("dies-of-depth", "BAD-01", abused("deep", 1))(
    "Great depth exhausts the stack.",
    on(Session, "undecodable").raises(
        lambda: RecursionError("maximum recursion depth exceeded"), when=lambda why: "deep" in why
    ),
)
mutant("dies-of-sizes", "BAD-01", abused("liar", 2))(
    "A size that is announced is allocated at once.",
    on(Session, "undecodable").raises(lambda: MemoryError, when=lambda why: "long" in why),
)


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


@mutant("hangs-of-depth", "BAD-01", abused("deep", 0, 8))
class HangsOfDepth(Server):
    """Params of great depth that are not too large to be read are worked with for ever."""

    hangs = False

    def settle(self) -> None:
        if not self.hangs:
            super().settle()

    def advance(self, ms: float) -> None:
        if self.hangs:
            self.now += ms
        else:
            super().advance(ms)

    def open(self) -> Session:
        session, server = super().open(), self
        read = session.send

        def send(data: bytes) -> None:
            server.hangs |= len(data) < 1 << 16 and data.count(b"\x91") > 50_000 and data[-1:] == b"\xc0"
            read(data)

        session.send = send  # type: ignore[method-assign]
        return session


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


@mutant("forgets-others", "RESP-01", abused("no array", around=MEANWHILE), accept="BAD-01")
class ForgetsOthers(Session):
    """What is no message on one connection drops the calls that are open on all others."""

    def malformed(self, value: Any) -> None:
        self.server._due.clear()
        super().malformed(value)


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


mutant("stays-open", "BAD-02", abused("no array"), level="ASSUMED")(
    "It is declared that the connection is closed, and it is not.", on(Session, "malformed").skips()
)
