"""Hosts that bear one invalid input badly: a fault for each row that has none elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from impls.references.kcl.host import Failed, Host, Hosts, Session
from strategies.kcl import hosting, unruly
from tests.mutants.faults import on
from tests.mutants.kcl_kit import host

SEQ = "kcl1-seq"


def bad_child(row: str, how: int = 0) -> Callable[[hosting.Writer], None]:
    """What a bad child does in a row of the invalid inputs."""
    return lambda w: unruly.ROWS[row](w, how)


class _GivesUp(Host):
    """Gives up on some lines."""

    def strange(self, line: bytes) -> bool:
        """True for a line that ends it."""
        raise NotImplementedError

    def take(self, line: bytes) -> None:
        if self.strange(line):
            raise Failed("what is this?")
        super().take(line)


host("gives-up-on-null", "INV-HOST-01", bad_child("INV-HOST-01", 3), accept="FRAME-08")(
    "A line that is null ends it.", on(_GivesUp, "strange").instead(lambda line: line == b"null")
)
host("looks-for-a-brace", "INV-HOST-02", bad_child("INV-HOST-02", 3), accept="PROC-06 PROC-09 FRAME-08 INV-HOST-14")(
    "A message may stand behind other text on its line.",
    on(Host, "take").takes(line=lambda line: line[line.find(b"{") :] if b"{" in line else line),
)
host("gives-up-on-more", "INV-HOST-03", bad_child("INV-HOST-03"), accept="FRAME-08")(
    "Text behind a message ends it.",
    on(_GivesUp, "strange").instead(lambda line: line.startswith(b"{") and not line.endswith(b"}")),
)
host("gives-up-on-members", "INV-HOST-04", bad_child("INV-HOST-04", 1), accept="FRAME-08")(
    "A member that it does not know ends it.", on(_GivesUp, "strange").instead(lambda line: b'"detail"' in line)
)


@host("any-letter-case", "INV-HOST-06", bad_child("INV-HOST-06", 24), accept="STAT-05")
class AnyLetterCase(Host):
    """A status may name its action in any letter case."""

    def status(self, members: Mapping[str, Any]) -> None:
        name = str(members.get("responseFor"))
        super().status({**members, "responseFor": self.action if name.lower() == self.action.lower() else name})


host("old-status-counts", "INV-HOST-07", bad_child("INV-HOST-07"), accept="STAT-06")(
    "At the end a status that came before will do.",
    on(Host, "status").takes(
        members=lambda self, members: {**members, "responseFor": self.action} if self.final else members
    ),
)


class _Late(Host):
    """The line that follows a checkpoint request is lost."""

    skip = 0

    def checkpoint(self, members: Mapping[str, Any]) -> None:
        super().checkpoint(members)
        self.skip = 1

    def hear(self, line: bytes) -> None:
        if self.skip:
            self.skip = 0
        else:
            super().hear(line)


host("status-too-soon", "INV-HOST-08", bad_child("INV-HOST-08"), accept="PROC-04 CHECKPOINT-10")(
    "The line that follows a checkpoint request is lost.", _Late
)


class _Reversed(Session):
    def take(self) -> bytes:
        return b"".join(reversed(super().take().splitlines(keepends=True)))


class _Reversing(Hosts):
    session = _Reversed


def _at_once(w: hosting.Writer) -> None:
    w.together = True
    unruly.ROWS["INV-HOST-09"](w, 0)


host("answers-reversed", "INV-HOST-09", _at_once, sessions=_Reversing, accept="CHECKPOINT-06")(
    "Of several requests the last is answered first.", Host
)
host("granted-at-once", "INV-HOST-10", bad_child("INV-HOST-10", 1), begun=False, accept="INIT-07")(
    "A request inside initialize is carried out, and refused.",
    on(Host, "tried").before(lambda self, number: self.attempt(number), when=lambda self: self.action == "initialize"),
)
host("bad-number-granted", "INV-HOST-11", bad_child("INV-HOST-11"), accept="CHECKPOINT-07 CHECKPOINT-09 CHECKPOINT-17")(
    "A number of letters is granted without a try.",
    on(Host, "tried").skips(when=lambda number: isinstance(number, str) and number.isalpha()),
)
host("bad-number-is-none", "INV-HOST-11", bad_child("INV-HOST-11", 1), profile=SEQ)(
    "A number of another type is taken for none, so that the last one delivered is tried.",
    on(Host, "tried").takes(number=lambda number: None if isinstance(number, float) else number),
)
host("bad-sub-number", "INV-HOST-12", bad_child("INV-HOST-12"), profile=SEQ, accept="CHECKPOINT-06")(
    "A subSequenceNumber that is no number is not looked at.",
    on(Host, "tried").takes(members=lambda members: {**members, "subSequenceNumber": None}),
)
host(
    "granted-unseen",
    "CHECKPOINT-17",
    bad_child("CHECKPOINT-17"),
    accept="CHECKPOINT-07 CHECKPOINT-09 INV-HOST-11 CHECKPOINT-05",
)(
    "A number that is none is granted.",
    on(Host, "tried").gives(lambda found: None if found == "IllegalArgumentException" else found),
)
host("left-is-done", "INV-HOST-14", bad_child("INV-HOST-14", 1), accept="PROC-09")(
    "An action is done when the child has ended.",
    on(Host, "fail").instead(
        lambda self: self.answer(), when=lambda self, why: why == "the child has ended" and not self.final
    ),
)
host("half-is-enough", "INV-HOST-15", bad_child("INV-HOST-15", 33), accept="PROC-09 INV-HOST-14")(
    "A status that was cut off by the end of the child counts.",
    on(Host, "take").instead(
        lambda self: self.done(),
        when=lambda self, line: self.action and line.startswith(b'{"action":"status"') and not line.endswith(b"}"),
    ),
)


class _Hasty(Session):
    def send(self, data: bytes) -> None:
        super().send(data)
        if self._inbox.endswith(b"}"):
            self.host.hear(bytes(self._inbox))
            self._inbox.clear()


class _Hasting(Hosts):
    session = _Hasty


host("newline-not-awaited", "INV-HOST-16", bad_child("INV-HOST-16"), sessions=_Hasting, accept="PROC-06")(
    "A status counts before its newline has come.", Host
)


class _Timed(Hosts):
    """Tells its hosts that time passes."""

    def open(self) -> Session:
        self._last = super().open()
        return self._last

    def advance(self, ms: float) -> None:
        self._last.host.pass_time(ms)


class _Clocked(Host):
    silent_ms = 0.0

    def pass_time(self, ms: float) -> None:
        """So much time has passed."""
        self.silent_ms += ms

    def hear(self, line: bytes) -> None:
        self.silent_ms = 0.0
        super().hear(line)


host("half-a-second-is-enough", "INV-HOST-17", bad_child("INV-HOST-17", 2), sessions=_Timed, accept="TIME-02")(
    "A child that is silent for half a second has failed.",
    on(_Clocked, "pass_time").after(
        lambda self: self.fail("the child hangs"),
        when=lambda self: self.action and not self.closed and self.silent_ms > 500,
    ),
)
host("end-overslept", "INV-HOST-18", bad_child("INV-HOST-18"), sessions=_Timed, accept="SHUT-13 PROC-04")(
    "A child that takes 50 ms to end is not noticed to have ended.",
    on(_Clocked, "left").skips(when=lambda self: self.closed and self.silent_ms >= 50),
)
host("lines-of-a-megabyte", "INV-HOST-19", bad_child("INV-HOST-19"), accept="FRAME-08")(
    "A line of more than a mebibyte ends it.", on(_GivesUp, "strange").instead(lambda line: len(line) > 1 << 20)
)


@host("strict-octets", "INV-HOST-20", bad_child("INV-HOST-20"), accept="FRAME-08")
class StrictOctets(_GivesUp):
    """Octets that are no UTF-8 end it."""

    def strange(self, line: bytes) -> bool:
        try:
            line.decode()
        except UnicodeDecodeError:
            return True
        return False


host("gives-up-on-twins", "INV-HOST-21", bad_child("INV-HOST-21"), accept="FRAME-08 INV-HOST-03")(
    "A member that comes twice ends it.", on(_GivesUp, "strange").instead(lambda line: line.count(b'"responseFor"') > 1)
)


@host("beginning-may-be-misnamed", "STAT-05", bad_child("INV-HOST-06", 55), begun=False, accept="INV-HOST-06")
class BeginningMayBeMisnamed(Host):
    """A status for whatever action ends initialize."""

    def status(self, members: Mapping[str, Any]) -> None:
        super().status({**members, "responseFor": self.action} if self.action == "initialize" else members)


host("begun-without-a-child", "PROC-09", bad_child("INV-HOST-14", 15), begun=False, accept="INV-HOST-14")(
    "initialize is done when the child has ended.",
    on(Host, "left").before(
        lambda self: self.answer(), when=lambda self: self.action == "initialize" and not self.failure
    ),
)
