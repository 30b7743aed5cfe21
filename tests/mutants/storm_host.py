"""Faulty hosts of bolts and spouts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from impls.storm.host import HostSwitches
from impls.storm.hosts import BoltHost, SpoutHost
from specs.plan import Ref
from specs.storm.frames import Message
from strategies.storm import timing
from strategies.storm.hosting import Writer
from strategies.storm.unruly import ROWS
from strategies.storm.writer import CUTS, ESCAPE, LINES, MEMBERS, ORDER, Ways
from tests.mutants.storm_kit import both, host, nothing

STRICT = HostSwitches(lenient=False)
Play = Callable[[Writer], None]


def row(name: str, how: int = 0) -> Play:
    """One misuse by the child."""
    return lambda w: ROWS[name][1](w, how)


def case(kind: str) -> Play:
    """One case that only time can tell."""

    def play(w: Writer) -> None:
        w.begin(timing.conf())
        (timing._bolt if w.bolt else timing._spout)(w, kind, 0)

    return play


def give(*values: Any, origin: int = 0) -> Play:
    """A tuple."""
    return lambda w: w.open.append(w.tuple(list(values), origin))  # type: ignore[func-returns-value]


def out(*values: Any, ids: int = 0, **more: Any) -> Play:
    """An emit of a bolt."""

    def play(w: Writer) -> None:
        w.wait()
        w.task_ids(ids)
        w.emit(list(values), **more)

    return play


def done(op: str, number: int) -> Play:
    """ack or fail of a bolt."""
    return lambda w: w.settle(op, number)


def command(*emits: Mapping[str, Any], op: str = "next", **given: Any) -> Play:
    """A command of a spout and its answer."""

    def play(w: Writer) -> None:
        w.wait()
        w.call(op, **given)
        w.wait()
        for more in emits:
            w.emit([1], **more)
        w.sync()

    return play


def logged(text: str, **more: Any) -> Play:
    """A log."""
    return lambda w: w.log(text, **more)


def over(w: Writer) -> None:
    """The component is over, and its child does nothing about it."""
    w.close(polite=False)


def _wide(w: Writer, bits: int, how: int = 0) -> None:
    w.tuple(["a/b"])
    w.ways = Ways(bits, how)
    w.emit(["a/b"])
    w.settle("ack", 0)


def _valued(w: Writer, value: Any) -> None:
    w.call("next")
    w.wait()
    w.emit([value])
    w.sync()


def _logging(w: Writer) -> None:
    w.call("next")
    w.wait()
    w.log("two\nlines")
    w.sync()


# -- setup ------------------------------------------------------------------------------------------------------------


def _setup(name: str, requirement: str, change: Callable[[dict[str, Any]], Any], why: str, accept: str = "") -> None:
    class Wrong(BoltHost):
        def setup(self, conf: Any, context: Any) -> Any:
            message = json.loads(json.dumps(super().setup(conf, context)))
            return change(message) or message

    Wrong.__doc__ = why
    host(name, requirement, nothing, smoke=False, accept=accept)(Wrong)


def _drop(*path: str) -> Callable[[dict[str, Any]], None]:
    def change(message: dict[str, Any]) -> None:
        at: Any = message
        for name in path[:-1]:
            at = at[name]
        del at[path[-1]]

    return change


def _put(value: Any, *path: str) -> Callable[[dict[str, Any]], None]:
    def change(message: dict[str, Any]) -> None:
        at: Any = message
        for name in path[:-1]:
            at = at[name]
        at[path[-1]] = value

    return change


_setup("host-no-setup", "HS-01", lambda m: {"command": "next"}, "Something else comes first.")
_setup("host-no-conf", "HS-02", _drop("conf"), "There is no conf.")
_setup("host-list-conf", "HS-02", _put([], "conf"), "conf is a list.")
_setup("host-no-taskid", "HS-03", _drop("context", "taskid"), "There is no taskid.")
_setup("host-other-taskid", "HS-03", _put(77, "context", "taskid"), "taskid is a task that there is not.")
_setup("host-text-taskid", "HS-04", _put("3", "context", "taskid"), "taskid is a text.")
_setup("host-old-context", "HS-05", _drop("context", "componentid"), "There is no componentid.")
_setup("host-odd-streams", "HS-05", _put(["default"], "context", "streams"), "streams lacks some.")
_setup(
    "host-no-type",
    "HS-06",
    _put({}, "context", "source->stream->grouping", "words", "default"),
    "A grouping has no type.",
)


@host("host-no-folder", "HS-07", nothing)
class NoFolder(BoltHost):
    """pidDir is not there."""

    def setup(self, conf: Any, context: Any) -> dict[str, Any]:
        return {**super().setup(conf, context), "pidDir": "/nowhere"}


@host("host-loses-conf", "HS-02", nothing, conf={"a": None, "b": 1})
class LosesConf(BoltHost):
    """What is null in conf is left out."""

    def setup(self, conf: Any, context: Any) -> dict[str, Any]:
        return super().setup({name: value for name, value in conf.items() if value is not None}, context)


def _late(w: Writer) -> None:
    w.begin(late=5)


@host("host-hurries", "HS-14", _late, bare=True, smoke=False)
class Hurries(SpoutHost):
    """A command comes before the process id."""

    def start(self, value: Any) -> None:
        super().start(value)
        self.send({"command": "next"})


@host("host-takes-any-pid", "HS-18", row("INV-HOST-01", 2), bare=True, accept="INV-HOST-01", level="SHOULD")
class TakesAnyPid(SpoutHost):
    """Whatever comes is taken for a process id."""

    def meet(self, message: Any) -> None:
        super().meet({"pid": 1})


@host("host-sleeps-at-start", "HS-18", row("HS-18", 0), bare=True, accept="END-04")
class SleepsAtStart(BoltHost):
    """That the child ends at once is not noticed."""

    def gone(self) -> None:
        if self.ready:
            super().gone()


# -- framing ----------------------------------------------------------------------------------------------------------


@host("host-quoted-end", "FRAME-03", nothing, smoke=False, accept="FRAME-02 HS-01")
class QuotedEnd(BoltHost):
    """The closing line is in quotes."""

    def written(self, message: Any) -> bytes:
        return super().written(message).replace(b"\nend\n", b'\n"end"\n')


@host("host-one-line", "FRAME-06", lambda w: _wide(w, LINES), accept="INV-HOST-03 BOLT-05 HB-11")
class OneLine(BoltHost):
    """A message that is spread over several lines is not understood."""

    def understood(self, lines: list[bytes]) -> Any:
        return super().understood(lines[:1] if self.ready else lines)


@host("host-knows-members", "FRAME-11", lambda w: _wide(w, MEMBERS), level="SHOULD", accept="BOLT-05 HB-11")
class KnowsMembers(BoltHost):
    """A member that is not known is a failure."""

    def obey(self, command: str, message: dict[str, Any]) -> None:
        if any(name.startswith("future") for name in message):
            raise ValueError("unknown member")
        super().obey(command, message)

    def lines_read(self, lines: list[bytes]) -> None:
        try:
            super().lines_read(lines)
        except ValueError as error:
            self.fail(str(error))


@host("host-in-order", "FRAME-12", lambda w: _wide(w, ORDER, 0), accept="BOLT-05 HB-11 INV-HOST-12")
class InOrder(BoltHost):
    """The command stands first, or is none."""

    def hear(self, message: Any) -> None:
        if isinstance(message, dict) and next(iter(message), "") != "command":
            self.fail("no command")
            return
        super().hear(message)


@host("host-slashes", "FRAME-13", lambda w: _wide(w, ESCAPE, 2), accept="BOLT-27")
class Slashes(BoltHost):
    """An escaped slash stays escaped."""

    def understood(self, lines: list[bytes]) -> Any:
        return super().understood([line.replace(b"\\/", b"\\\\/") for line in lines])


@host("host-by-piece", "FRAME-07", lambda w: _wide(w, CUTS), accept="BOLT-05 HB-11 INV-HOST-21 BOLT-13")
class ByPiece(BoltHost):
    """What one read gives is taken for a message."""

    def receive(self, data: bytes) -> None:
        super().receive(data if data.endswith(b"\n") else data + b"\nend\n")


# -- tuples -----------------------------------------------------------------------------------------------------------


@host("host-number-ids", "BOLT-03", give(1), smoke=False)
class NumberIds(BoltHost):
    """Ids are numbers."""

    def name(self, call: dict[str, Any]) -> Any:
        return int(super().name(call))


@host("host-few-ids", "BOLT-04", both(*[give(n) for n in range(4)]))
class FewIds(BoltHost):
    """There are three ids."""

    def name(self, call: dict[str, Any]) -> str:
        self.given = (getattr(self, "given", -1) + 1) % 3
        return str(self.given)


@host("host-one-by-one", "BOLT-01", both(give(1), give(2)))
class OneByOne(BoltHost):
    """A tuple waits for the ack of the one before."""

    def go_on(self) -> None:
        while self.ready and self.calls and not self.over and not self.live:
            self.tuple(self.calls.popleft())

    def settle(self, command: str, name: Any) -> None:
        super().settle(command, name)
        self.go_on()


def _twenty(w: Writer) -> None:
    for n in range(20):
        w.tuple([n])


@host("host-window", "BOLT-01", _twenty)
class Window(BoltHost):
    """Sixteen tuples may be live, the next one waits for an ack."""

    def go_on(self) -> None:
        while self.ready and self.calls and not self.over and len(self.live) < 16:
            self.tuple(self.calls.popleft())

    def settle(self, command: str, name: Any) -> None:
        super().settle(command, name)
        self.go_on()


@host("host-no-comp", "BOLT-02", give(1), smoke=False)
class NoComp(BoltHost):
    """A tuple has no component."""

    def send(self, message: Any, rank: int = 2) -> None:
        if isinstance(message, dict) and "tuple" in message:
            message = {**message, "comp": None}
        super().send(message, rank)


@host("host-default-stream", "BOLT-02", give(1, origin=2))
class DefaultStream(BoltHost):
    """Every tuple is on the default stream."""

    def tuple(self, call: dict[str, Any]) -> None:
        super().tuple({**call, "stream": "default"})


@host("host-tuple-values", "BOLT-27", give(True))
class TupleValues(BoltHost):
    """true becomes a text on its way to the child."""

    def tuple(self, call: dict[str, Any]) -> None:
        super().tuple({**call, "tuple": ["true" if v is True else v for v in call["tuple"]]})


@host("host-swaps", "BOLT-20", both(give(1), done("fail", 0)))
class Swaps(BoltHost):
    """A fail is an ack."""

    def settle(self, command: str, name: Any) -> None:
        super().settle("ack", name)


@host("host-fifo-acks", "BOLT-20", both(give(1), give(2), done("ack", 1)), accept="BOLT-25")
class FifoAcks(BoltHost):
    """An ack settles the oldest tuple."""

    def settle(self, command: str, name: Any) -> None:
        super().settle(command, next(iter(self.live)) if name in self.live else name)


@host("host-ack-answered", "BOLT-16", both(give(1), done("ack", 0)), accept="BOLT-23", smoke=False)
class AckAnswered(BoltHost):
    """An ack is answered by a list."""

    def settle(self, command: str, name: Any) -> None:
        super().settle(command, name)
        self.send([])


@host("host-later-fail", "BOLT-20", both(give(1), give(2), done("ack", 0), done("fail", 1)))
class LaterFail(BoltHost):
    """A fail that follows an ack is lost."""

    acked = False

    def settle(self, command: str, name: Any) -> None:
        if command == "fail" and self.acked:
            self.live.pop(name)
            return
        self.acked |= command == "ack"
        super().settle(command, name)


# -- emits ------------------------------------------------------------------------------------------------------------


@host("host-no-list", "BOLT-15", out(1))
class NoList(BoltHost):
    """Emits are not answered."""

    def wants_ids(self, message: Any) -> bool:
        return False


@host("host-list-for-direct", "BOLT-16", out(1, task=4), accept="BOLT-15")
class ListForDirect(BoltHost):
    """A direct emit is answered."""

    def wants_ids(self, message: Any) -> bool:
        return True


@host("host-text-list", "BOLT-15", out(1))
class TextList(BoltHost):
    """Task ids are texts."""

    def send(self, message: Any, rank: int = 2) -> None:
        super().send([str(n) for n in message] if isinstance(message, list) else message, rank)


@host("host-late-list", "BOLT-17", both(out(1, ids=0), out(2, ids=3)), accept="BOLT-15")
class LateList(BoltHost):
    """The second emit gets the list of the first."""

    kept: Any = None

    def send(self, message: Any, rank: int = 2) -> None:
        if isinstance(message, list):
            self.kept = self.kept or message
            message = self.kept
        super().send(message, rank)


@host("host-no-empty-list", "BOLT-15", out(1, ids=1))
class NoEmptyList(BoltHost):
    """An empty list is not sent."""

    def send(self, message: Any, rank: int = 2) -> None:
        if message != []:
            super().send(message, rank)


@host("host-waits-with-list", "BOLT-15", out(1), accept="FRAME-09")
class WaitsWithList(BoltHost):
    """A list is sent with the next tuple."""

    kept: Any = None

    def send(self, message: Any, rank: int = 2) -> None:
        if isinstance(message, list):
            self.kept = message
            return
        super().send(message, rank)


@host("host-no-anchors", "BOLT-10", both(give(1), lambda w: w.emit([1], anchors=[Ref("tuple", 0)])), accept="BOLT-12")
class NoAnchors(BoltHost):
    """anchors are dropped."""

    def further(self, message: dict[str, Any]) -> dict[str, Any]:
        super().further(message)
        return {"anchors": []}


@host("host-one-anchor", "BOLT-10",
      both(give(1), give(2), lambda w: w.emit([1], anchors=[Ref("tuple", 0), Ref("tuple", 1)])))  # fmt: skip
class OneAnchor(BoltHost):
    """Of several anchors the first counts."""

    def further(self, message: dict[str, Any]) -> dict[str, Any]:
        return {"anchors": super().further(message)["anchors"][:1]}


@host("host-always-anchored", "BOLT-12", both(give(1), lambda w: w.emit([1])))
class AlwaysAnchored(BoltHost):
    """An emit without anchors is anchored to what is live."""

    def further(self, message: dict[str, Any]) -> dict[str, Any]:
        found = super().further(message)
        return found if found["anchors"] else {"anchors": [self.shown(name) for name in self.live]}


@host("host-no-streams", "BOLT-13", out(1, stream="second"))
class NoStreams(BoltHost):
    """Emits go to the default stream."""

    def collect(self, message: dict[str, Any], stream: Any, task: Any, values: list[Any]) -> None:
        super().collect(message, None, task, values)


@host("host-sticky-stream", "BOLT-13", both(out(1, stream="second"), out(2)))
class StickyStream(BoltHost):
    """An emit without a stream goes where the last one went."""

    last: Any = None

    def collect(self, message: dict[str, Any], stream: Any, task: Any, values: list[Any]) -> None:
        self.last = stream or self.last
        super().collect(message, self.last, task, values)


@host("host-no-direct", "BOLT-14", out(1, task=9))
class NoDirect(BoltHost):
    """A direct emit goes to all."""

    def collect(self, message: dict[str, Any], stream: Any, task: Any, values: list[Any]) -> None:
        super().collect(message, stream, None, values)


@host("host-values", "BOLT-27", out(9007199254740991))
class Values(BoltHost):
    """Numbers become doubles, and lose digits."""

    def collect(self, message: dict[str, Any], stream: Any, task: Any, values: list[Any]) -> None:
        narrow = [float(f"{v:.10g}") if type(v) is int else v for v in values]
        super().collect(message, stream, task, narrow)


@host("host-log-lost", "BOLT-21", both(give(1), logged("after")))
class LogLost(BoltHost):
    """Logs are lost while a tuple is live."""

    def log(self, message: dict[str, Any]) -> None:
        if not self.live:
            super().log(message)


@host("host-anchor-text", "EXT-08", both(give(1), lambda w: w.emit([1], anchors=Ref("tuple", 0))),
      ext="x-anchor-string", accept="BOLT-10 BOLT-05 HB-11")  # fmt: skip
class AnchorText(BoltHost):
    """Anchors that are a text are a failure."""

    def further(self, message: dict[str, Any]) -> dict[str, Any]:
        if isinstance(message.get("anchors"), str):
            self.fail("no list")
            return {}
        return super().further(message)


@host("host-needs-ids", "EXT-03", out(1, need_task_ids=False), ext="x-need-task-ids", accept="BOLT-16")
class NeedsIds(BoltHost):
    """need_task_ids means nothing to it."""

    def wants_ids(self, message: Any) -> bool:
        return not message.get("task")


@host("host-task-zero", "EXT-09", out(1, task=0), ext="x-task0", accept="BOLT-15 BOLT-14 BOLT-13")
class TaskZero(BoltHost):
    """The task 0 is a task."""

    def wants_ids(self, message: Any) -> bool:
        return message.get("task") is None


@host("host-level", "EXT-06", logged("high", level=7), ext="x-loglevel", accept="BOLT-21")
class Level(BoltHost):
    """An odd level is an error."""

    def log(self, message: dict[str, Any]) -> None:
        super().log({**message, "level": 4 if message.get("level") == 7 else message.get("level")})


@host("host-error-fatal", "EXT-05", lambda w: w.say(Message({"command": "error", "msg": "bad"})), ext="x-error",
      accept="BOLT-05 HB-11")  # fmt: skip
class ErrorFatal(BoltHost):
    """An error of the child is a failure."""

    def obey(self, command: str, message: dict[str, Any]) -> None:
        if command == "error":
            self.fail("it says error")
        else:
            super().obey(command, message)


# -- spouts -----------------------------------------------------------------------------------------------------------


def _several(w: Writer) -> None:
    w.call("next")
    w.wait()
    w.call("next", now=True)
    w.wait(5)
    w.sync()
    w.wait()
    w.sync()


@host("host-two-at-once", "SPOUT-06", _several)
class TwoAtOnce(SpoutHost):
    """A command does not wait for the sync of the one before."""

    def go_on(self) -> None:
        if self.ready and len(self.calls) > 1 and self.command:
            self.send(self.message(self.calls[1]))
            self.calls.popleft()
            return
        super().go_on()


@host("host-no-ack-id", "SPOUT-02", both(command({"id": "a"}), command(op="ack", id="a")))
class NoAckId(SpoutHost):
    """ack has no id."""

    def message(self, call: dict[str, Any]) -> dict[str, Any]:
        return {"command": call["op"]}


@host("host-text-ids", "SPOUT-12", both(command({"id": 1}), command(op="fail", id=1)))
class TextIds(SpoutHost):
    """Ids come back as texts."""

    def message(self, call: dict[str, Any]) -> dict[str, Any]:
        message = super().message(call)
        return {**message, "id": str(message["id"])} if "id" in message else message


@host("host-fail-for-ack", "SPOUT-12", both(command({"id": "a"}), command(op="fail", id="a")),
      accept="SPOUT-17 SPOUT-11")  # fmt: skip
class FailForAck(SpoutHost):
    """fail is told as ack."""

    def message(self, call: dict[str, Any]) -> dict[str, Any]:
        message = super().message(call)
        return {**message, "command": "ack"} if message["command"] == "fail" else message


@host("host-acks-unasked", "SPOUT-17", both(command({"id": "a"}), command()), accept="SPOUT-11 SPOUT-06 SPOUT-12")
class AcksUnasked(SpoutHost):
    """An emit with an id is acked by the next command."""

    owed: Any = None

    def further(self, message: dict[str, Any]) -> dict[str, Any]:
        self.owed = message.get("id")
        return super().further(message)

    def message(self, call: dict[str, Any]) -> dict[str, Any]:
        owed, self.owed = self.owed, None
        return super().message(call) if owed is None else {"command": "ack", "id": owed}


@host("host-other-commands", "SPOUT-01", command(), smoke=False)
class OtherCommands(SpoutHost):
    """next is called nextTuple."""

    def message(self, call: dict[str, Any]) -> dict[str, Any]:
        return {"command": "nextTuple" if call["op"] == "next" else call["op"]}


@host("host-list-after-sync", "SPOUT-07", command({}))
class ListAfterSync(SpoutHost):
    """The list comes after the sync."""

    kept: Any = None

    def send(self, message: Any, rank: int = 2) -> None:
        if isinstance(message, list):
            self.kept = message
        else:
            super().send(message, rank)

    def sync(self) -> None:
        if self.kept is not None:
            super().send(self.kept)
        super().sync()


@host("host-direct-list", "SPOUT-08", command({"task": 9}), accept="SPOUT-07")
class DirectList(SpoutHost):
    """A direct emit is answered."""

    def wants_ids(self, message: Any) -> bool:
        return True


@host("host-drops-id", "SPOUT-12", command({"id": 0}), accept="SPOUT-11")
class DropsId(SpoutHost):
    """The id 0 is none."""

    def further(self, message: dict[str, Any]) -> dict[str, Any]:
        return super().further(message) if message.get("id") else {}


@host("host-makes-id", "SPOUT-11", command({}))
class MakesId(SpoutHost):
    """An emit without an id gets one."""

    def further(self, message: dict[str, Any]) -> dict[str, Any]:
        return {"id": message.get("id", "made up")}


@host("host-spout-stream", "SPOUT-13", both(command({"stream": "second"}), command({})))
class SpoutStream(SpoutHost):
    """The stream of one emit is that of the next too."""

    last: Any = None

    def collect(self, message: dict[str, Any], stream: Any, task: Any, values: list[Any]) -> None:
        self.last = stream or self.last
        super().collect(message, self.last, task, values)


@host("host-spout-task", "SPOUT-14", command({"task": 9}))
class SpoutTask(SpoutHost):
    """A direct emit goes to all."""

    def collect(self, message: dict[str, Any], stream: Any, task: Any, values: list[Any]) -> None:
        super().collect(message, stream, None, values)


@host("host-spout-values", "SPOUT-21", lambda w: _valued(w, None))
class SpoutValues(SpoutHost):
    """null is left out of tuples."""

    def collect(self, message: dict[str, Any], stream: Any, task: Any, values: list[Any]) -> None:
        super().collect(message, stream, task, [v for v in values if v is not None])


@host("host-silent-ack", "SPOUT-16", both(command({"id": "a"}), command({}, op="ack", id="a")),
      accept="SPOUT-13 SPOUT-07")  # fmt: skip
class SilentAck(SpoutHost):
    """An emit in answer to an ack is lost."""

    def emit(self, message: dict[str, Any]) -> None:
        if self.command == "next":
            super().emit(message)


@host("host-spout-log", "SPOUT-15", _logging)
class SpoutLog(SpoutHost):
    """A log of two lines loses the second."""

    def log(self, message: dict[str, Any]) -> None:
        super().log({**message, "msg": str(message.get("msg")).partition("\n")[0]})


def _after(w: Writer) -> None:
    w.call("next")
    w.wait()
    w.sync()
    w.emit([1], now=True)
    w.wait(5)
    w.call("next")
    w.wait()
    w.sync()


@host("host-reads-on", "SPOUT-05", _after)
class ReadsOn(SpoutHost):
    """It reads on after a sync."""

    def lines_read(self, lines: list[bytes]) -> None:
        self.command = self.command or "read"
        super().lines_read(lines)
        self.command = "" if self.command == "read" else self.command


# -- heartbeats and ends ----------------------------------------------------------------------------------------------


@host("host-no-beats", "HB-01", case("live"), bare=True)
class NoBeats(BoltHost):
    """There are no heartbeats."""

    def beat(self) -> None:
        pass


@host("host-one-beat", "HB-01", case("live"), bare=True)
class OneBeat(BoltHost):
    """There is one heartbeat."""

    beats = 0

    def beat(self) -> None:
        self.beats += 1
        if self.beats == 1:
            super().beat()


@host("host-beat-task", "HB-02", case("live"), bare=True, accept="BOLT-27 BOLT-02")
class BeatTask(BoltHost):
    """A heartbeat has the task of the bolt."""

    def heartbeat(self) -> dict[str, Any]:
        return {**super().heartbeat(), "task": 3}


@host("host-beat-values", "HB-02", case("live"), bare=True)
class BeatValues(BoltHost):
    """A heartbeat has a value."""

    def heartbeat(self) -> dict[str, Any]:
        return {**super().heartbeat(), "tuple": ["beat"]}


@host("host-patient", "HB-10", case("hangs"), bare=True)
class Patient(BoltHost):
    """A child that hangs is waited for."""

    def counts(self) -> bool:
        return False


@host("host-patient-spout", "HB-10", case("hangs"), bare=True)
class PatientSpout(SpoutHost):
    """A spout that hangs is waited for."""

    def counts(self) -> bool:
        return False


@host("host-impatient", "HB-11", case("live"), bare=True)
class Impatient(BoltHost):
    """A child is given up after a third of the timeout."""

    def tick(self) -> None:
        if self.timeout_ms and self.now_ms - self.heard_ms > self.timeout_ms / 3.2:
            self.fail("too late")
        super().tick()


@host("host-idle-timeout", "HB-13", case("live"), bare=True, ext="x-hb-timing")
class IdleTimeout(SpoutHost):
    """A spout without a command is given up, too."""

    def counts(self) -> bool:
        return True


@host("host-unnoticed", "END-04", row("INV-HOST-22", 1), accept="INV-HOST-22")
class Unnoticed(BoltHost):
    """That the child ends is not noticed."""

    def gone(self) -> None:
        pass


@host("host-leaves-child", "END-05", over, smoke=False)
class LeavesChild(BoltHost):
    """The child is left behind."""

    def end_child(self) -> None:
        pass


# -- invalid input ----------------------------------------------------------------------------------------------------


def _lax(name: str, how: int = 0, accept: str = "", level: str = "SHOULD") -> Any:
    return host(f"host-{name.lower()}-{how}", name, row(name, how), accept=accept, level=level)


class _Skips(BoltHost):
    """What is no message is passed over."""

    def fail(self, why: str) -> None:
        if not self.ready or why == "the child has ended":
            super().fail(why)


for _name, _how in (("INV-HOST-04", 1), ("INV-HOST-08", 0), ("INV-HOST-11", 0), ("INV-HOST-13", 0)):
    _lax(_name, _how)(type("Skips", (_Skips,), {"__doc__": _Skips.__doc__}))


@_lax("INV-HOST-03", 1)
class StrayLine(_Skips):
    """A stray line is passed over, and the message too."""


@_lax("INV-HOST-05")
class FirstOnly(BoltHost):
    """Of two JSON texts the first counts."""

    def understood(self, lines: list[bytes]) -> Any:
        return json.JSONDecoder().raw_decode(b"\n".join(lines).decode())[0] if self.ready else super().understood(lines)


@_lax("INV-HOST-17", 1, level="MUST")
class AcksUnknown(BoltHost):
    """An ack for an id that is not known settles the oldest tuple."""

    def settle(self, command: str, name: Any) -> None:
        super().settle(command, name if name in self.live else next(iter(self.live)))


@_lax("INV-HOST-16", 1)
class AnchorsUnknown(BoltHost):
    """An anchor that is not known is left out."""

    def further(self, message: dict[str, Any]) -> dict[str, Any]:
        known = [anchor for anchor in message.get("anchors") or () if anchor in self.live]
        return super().further({**message, "anchors": known})


@_lax("INV-HOST-14", 1)
class RoundsTasks(BoltHost):
    """A task with a fraction is rounded."""

    def emit(self, message: dict[str, Any]) -> None:
        task = message.get("task")
        super().emit({**message, "task": int(task)} if isinstance(task, float) else message)


@_lax("INV-HOST-29", level="MUST")
class Wraps(BoltHost):
    """Numbers have 64 bits, and wrap."""

    def collect(self, message: dict[str, Any], stream: Any, task: Any, values: list[Any]) -> None:
        wrapped = [(v + (1 << 63)) % (1 << 64) - (1 << 63) if type(v) is int else v for v in values]
        super().collect(message, stream, task, wrapped)


@_lax("INV-HOST-27", 4, level="MUST")
class Strips(BoltHost):
    """What is no character is left out of an id."""

    def understood(self, lines: list[bytes]) -> Any:
        return json.loads(b"\n".join(lines).decode("utf-8", "ignore"))


@_lax("INV-HOST-21", 1, accept="END-04", level="MUST")
class HalfMessages(BoltHost):
    """What stands before the end of the child is a message."""

    def left(self) -> None:
        lines = self.lines.lines
        if lines:
            self.lines_read(lines)
        super().left()


@_lax("INV-HOST-12", 1)
class UnknownCommands(SpoutHost):
    """A spout's command that is not known is passed over."""

    def strange(self, command: str) -> None:
        pass
