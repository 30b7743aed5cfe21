"""Faulty children: what shows when lines come at once, or only at the second checkpoint of an action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from impls.references.kcl.child import Child, Need, Running, Switches
from impls.references.kcl.memory import Children, Session
from impls.references.kcl.wire import parse
from specs.kcl.bundle import last
from strategies.kcl.sessions import AT_WORK_MS
from strategies.kcl.writer import CUTS, Ways, Writer
from tests.mutants.kcl_kit import CHECKPOINT, child

SKIP = Switches(unknown="skip")


class _Reader(Session):
    """Reads as many octets as there are, and then looks for lines in them."""

    def send(self, data: bytes) -> None:
        *whole, self._inbox = (self._inbox + data).split(b"\n")
        lines = [bytes(line) for line in whole if line.strip()]
        self._lines += self.chosen(lines) if len(lines) > 1 else lines
        self._feed()

    def chosen(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Which lines of one read are taken, and in which order."""
        return lines[:1]


class _Readers(Children):
    session = _Reader


class _NotAtFirst(_Reader):
    def send(self, data: bytes) -> None:
        super().send(data[1:] if data[:1] == b"\n" else data)


class _NotAtFirsts(Children):
    session = _NotAtFirst


def _end_alone(w: Writer) -> None:
    w.batch([w.record(b"1")], Ways(CUTS, 2))


class _LastFirst(_Reader):
    def chosen(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        return lines[::-1]


class _LastsFirst(Children):
    session = _LastFirst


class _OnlyLast(_Reader):
    def chosen(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        return lines[-1:]


class _OnlyLasts(Children):
    session = _OnlyLast


class _LastAgain(_Reader):
    def chosen(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        return (*lines, lines[-1])


class _LastsAgain(Children):
    session = _LastAgain


def _together(w: Writer) -> None:
    w.features.add("together")
    w.batch([w.record(b"1")])
    w.when = "join"
    w.batch([w.record(b"2")])
    w.when = "now"
    w.batch([w.record(b"3")])
    w.wait()
    w.when = "turn"


def _with_the_last(w: Writer) -> None:
    w.features.add("together")
    w.when = "join"
    w.batch([w.record(b"1")])
    w.when = "now"
    w.say(last(w.config))
    w.wait()
    w.when = "turn"


child("newline-of-its-own-lost", "FRAME-05", _end_alone, sessions=_NotAtFirsts, accept="PROC-05 REC-07")(
    "A newline is not seen where it is the first octet of a read.", Child
)
child("second-line-of-a-read-lost", "INV-CHILD-08", _together, level="SHOULD", sessions=_Readers, accept="FRAME-05")(
    "Of several lines in one read only the first is taken.", Child
)
child(
    "first-line-of-a-read-lost",
    "INV-CHILD-08",
    _together,
    level="SHOULD",
    switches=SKIP,
    sessions=_OnlyLasts,
    accept="FRAME-05",
)("Of several lines in one read only the last is taken.", Child)
child("lines-of-a-read-backwards", "INV-CHILD-08", _with_the_last, level="SHOULD", switches=SKIP, sessions=_LastsFirst)(
    "Several lines in one read are taken from the last to the first.", Child
)
child("last-line-of-a-read-twice", "INV-CHILD-08", _together, level="SHOULD", sessions=_LastsAgain, accept="STAT-02")(
    "Of several lines in one read the last is taken twice.", Child
)


def _asking_again(w: Writer) -> None:
    w.batch([w.script([CHECKPOINT, CHECKPOINT])])
    w.say(w.answered(None))


@child("end-at-second-request-unseen", "CHECKPOINT-16", _asking_again, accept="PROC-08")
class EndAtSecondRequestUnseen(Child):
    """The end of STDIN instead of the answer to the second checkpoint of an action is waited out."""

    asked = 0

    def perform(self, action: str, members: dict[str, Any]) -> Running:
        self.asked = 0
        yield from super().perform(action, members)

    def checkpoint(self, number: str | None) -> Running:
        self.asked += 1
        yield from self.say(self.request(number))
        line = yield from self.next_line()
        if line is None and self.asked > 1:
            yield Need(1 << 40)
        self.result(line)


@child("initialize-answered-twice", "STAT-02", lambda w: None, accept="STAT-03", smoke=False)
class InitializeAnsweredTwice(Child):
    """initialize gets two statuses."""

    def status(self, action: str) -> Running:
        yield from super().status(action)
        if action == "initialize":
            yield from super().status(action)


def _twice(w: Writer) -> None:
    w.initialize("again")


@child("second-initialize-answered-twice", "INV-CHILD-07", _twice, level="SHOULD", accept="STAT-02 STAT-03")
class SecondInitializeAnsweredTwice(Child):
    """A second initialize gets two statuses."""

    def dispatch(self, line: bytes) -> Running:
        if self.begun and line.startswith(b"{") and parse(line)["action"] == "initialize":
            yield from self.perform("initialize", parse(line))
            yield from self.status("initialize")
        else:
            yield from super().dispatch(line)


def _slow(w: Writer) -> None:
    w.batch([w.script([{"op": "sleep", "ms": AT_WORK_MS}, CHECKPOINT])])
    w.wait(AT_WORK_MS)
    w.answers([None])


@child("impatient-status", "REC-08", _slow, accept="STAT-03 CHECKPOINT-02")
class ImpatientStatus(Child):
    """The status is said when user code has worked for 800 ms, whether it is done or not."""

    early = False

    def obey(self, step: Mapping[str, Any]) -> Running:
        if step.get("op") != "sleep" or step["ms"] < 800:
            yield from super().obey(step)
            return
        yield Need(800)
        yield from super().status("processRecords")
        self.early = True
        yield Need(step["ms"] - 800)

    def status(self, action: str) -> Running:
        early, self.early = self.early, False
        if not early:
            yield from super().status(action)
