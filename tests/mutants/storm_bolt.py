"""Faulty bolts."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from typing import Any

from impls.storm.child import HEARTBEAT, Bolt, Callback, Running, Switches
from impls.storm.memory import Children, Session
from impls.storm.wire import BadMessage, parse
from strategies.storm.misuse import ROWS
from strategies.storm.writer import CUTS, ESCAPE, LINES, MEMBERS, ORDER, Ways, Writer
from tests.mutants.storm_kit import ACK, FAIL, RAISE, beat, both, child, emit, nothing, plain, settle, told

# -- framing ----------------------------------------------------------------------------------------------------------


@child("bolt-in-python", "FRAME-01", nothing, smoke=False)
class InPython(Bolt):
    """Messages are written as Python writes a dict."""

    def written(self, message: Any) -> bytes:
        return repr(message).encode() + b"\nend\n"


@child("bolt-no-end", "FRAME-02", nothing, smoke=False, accept="HS-10 FRAME-09")
class NoEnd(Bolt):
    """There are no closing lines."""

    def written(self, message: Any) -> bytes:
        return json.dumps(message).encode() + b"\n"


@child("bolt-quoted-end", "FRAME-03", nothing, smoke=False, accept="FRAME-02")
class QuotedEnd(Bolt):
    """The closing line is JSON too."""

    def written(self, message: Any) -> bytes:
        return json.dumps(message).encode() + b'\n"end"\n'


@child("bolt-glued-end", "FRAME-04", plain(1), accept="FRAME-02", smoke=False)
class GluedEnd(Bolt):
    """An ack is not followed by a newline before its closing line."""

    def written(self, message: Any) -> bytes:
        data = super().written(message)
        return data.replace(b"}\nend", b"}end") if message.get("command") == "ack" else data


@child("bolt-raw-newlines", "FRAME-05", told(emit("a\nend\nb"), ACK), accept="FRAME-01 FRAME-02 BOLT-27")
class RawNewlines(Bolt):
    """Newlines in texts are written as they are."""

    def written(self, message: Any) -> bytes:
        return super().written(message).replace(b"\\n", b"\n")


@child("bolt-print-through", "FRAME-08", told({"op": "print", "text": "printed"}, ACK), accept="FRAME-01")
class PrintThrough(Bolt):
    """What user code prints goes where the messages go."""

    def prints(self, text: str) -> None:
        self.out += text.encode()


@child("bolt-keeps-the-last", "FRAME-09", plain(1), accept="BOLT-09 BOLT-26 BOLT-22", smoke=False)
class KeepsTheLast(Bolt):
    """An ack stays in a buffer until something else is written."""

    kept = b""

    def say(self, message: dict[str, Any]) -> None:
        kept, self.kept = self.kept, b""
        self.out += kept
        if message.get("command") == "ack":
            self.kept = self.written(message)
        else:
            super().say(message)


def _ways(bits: int, how: int = 0, *values: Any) -> Any:
    def play(w: Writer) -> None:
        w.ways = Ways(bits, how)
        w.tuple(list(values) or ["a"])
        w.ways = Ways()

    return play


@child("bolt-one-line", "FRAME-06", _ways(LINES), accept="BOLT-26 INV-CHILD-02")
class OneLine(Bolt):
    """A tuple that is spread over several lines is not understood."""

    def lines_read(self, lines: list[bytes]) -> None:
        super().lines_read(lines[:1] if self.set_up else lines)


class _Eager(Session):
    def send(self, data: bytes) -> None:
        super().send(data if data.endswith(b"\n") else data + b"\nend\n")


class _Eagers(Children):
    def open(self) -> Session:
        self._open.append(_Eager(self._make()))
        return self._open[-1]


@child("bolt-by-piece", "FRAME-07", _ways(CUTS), sessions=_Eagers, accept="BOLT-26 END-03 HS-10")
class ByPiece(Bolt):
    """What one read gives is taken for a message."""


@child("bolt-knows-members", "FRAME-11", _ways(MEMBERS), level="SHOULD", accept="BOLT-28 BOLT-26 HS-16 HS-10 HB-03")
class KnowsMembers(Bolt):
    """A member that is not known ends the bolt."""

    def asked(self, message: dict[str, Any]) -> None:
        if set(message) - {"id", "comp", "stream", "task", "tuple"}:
            raise BadMessage("an unknown member")
        super().asked(message)


@child("bolt-in-order", "FRAME-12", _ways(ORDER), accept="BOLT-26 BOLT-06 HB-03")
class InOrder(Bolt):
    """The id is what stands first."""

    def check(self, message: Any) -> None:
        super().check(message)
        if next(iter(message)) != "id":
            raise BadMessage("no id")


@child("bolt-slashes", "FRAME-13", _ways(ESCAPE, 2, "/"), accept="BOLT-27")
class Slashes(Bolt):
    """An escaped slash stays escaped."""

    def lines_read(self, lines: list[bytes]) -> None:
        super().lines_read([line.replace(b"\\/", b"\\\\/") for line in lines] if self.set_up else lines)


@child("bolt-latin", "FRAME-10", told(emit("ä"), ACK), ext="x-utf8", accept="FRAME-01 BOLT-27")
class Latin(Bolt):
    """Messages are written in Latin 1."""

    def written(self, message: Any) -> bytes:
        return json.dumps(message, ensure_ascii=False).encode("latin-1", "replace") + b"\nend\n"


# -- handshake --------------------------------------------------------------------------------------------------------


@child("bolt-pid-text", "HS-10", nothing, smoke=False)
class PidText(Bolt):
    """The process id is a text."""

    def tell_pid(self) -> None:
        self.say({"pid": str(self.pid)})


@child("bolt-other-pid", "HS-11", nothing, smoke=False)
class OtherPid(Bolt):
    """The process id is that of somebody else."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.pid = 1


@child("bolt-no-file", "HS-08", nothing, smoke=False, accept="HS-12")
class NoFile(Bolt):
    """There is no file."""

    def register(self, folder: str) -> None:
        pass


@child("bolt-odd-file", "HS-08", nothing, smoke=False, accept="HS-12")
class OddFile(Bolt):
    """The file has more in its name."""

    def register(self, folder: str) -> None:
        self.touch(folder, f"{self.pid}.pid")


@child("bolt-full-file", "HS-09", nothing, smoke=False)
class FullFile(Bolt):
    """The process id is in the file too."""

    def register(self, folder: str) -> None:
        self.touch(folder, str(self.pid), 5)  # type: ignore[call-arg]


@child("bolt-late-file", "HS-12", nothing, smoke=False, level="SHOULD", switches=Switches(late_file=True))
class LateFile(Bolt):
    """The file comes after the message."""


@child("bolt-speaks-first", "HS-13", nothing, smoke=False)
class SpeaksFirst(Bolt):
    """It logs before its process id."""

    def tell_pid(self) -> None:
        self.log("starting")
        super().tell_pid()


@child("bolt-needs-0-10", "HS-15", nothing, later=False, accept="HS-10 HS-16")
class NeedsLater(Bolt):
    """It needs the context of 0.10."""

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        if "componentid" not in context:
            raise BadMessage("no componentid")
        super().initialize(conf, context)


@child("bolt-plain-conf", "HS-16", nothing, conf={"a": None, "b": [1]}, accept="HS-10 HS-15")
class PlainConf(Bolt):
    """It cannot bear null in conf."""

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        if None in conf.values():
            raise BadMessage("null")
        super().initialize(conf, context)


@child("bolt-loses-conf", "HS-16", nothing, conf={"topology.name": "x", "": 0})
class LosesConf(Bolt):
    """A name that is empty is lost."""

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        super().initialize({name: value for name, value in conf.items() if name}, context)


# -- ids --------------------------------------------------------------------------------------------------------------


@child("bolt-number-ids", "BOLT-07", plain(1), smoke=False, accept="BOLT-06")
class NumberIds(Bolt):
    """Ids go back as numbers."""

    def settle(self, op: str, name: Any) -> None:
        self.say({"command": op, "id": int(name)})


def _tuples(count: int) -> Any:
    def play(w: Writer) -> None:
        for n in range(count):
            w.tuple([n])

    return play


@child("bolt-float-ids", "BOLT-07", _tuples(11), accept="BOLT-06 BOLT-08 BOLT-09", smoke=False)
class FloatIds(Bolt):
    """Ids go through a double."""

    def settle(self, op: str, name: Any) -> None:
        super().settle(op, str(int(float(name))))


@child("bolt-narrow-ids", "BOLT-06", _tuples(16), accept="BOLT-07 BOLT-08 BOLT-09", smoke=False)
class NarrowIds(Bolt):
    """Ids are kept in 32 bits."""

    def settle(self, op: str, name: Any) -> None:
        super().settle(op, str((int(name) + (1 << 31)) % (1 << 32) - (1 << 31)))


@child("bolt-own-id", "BOLT-06", both(told(), told(settle("fail", 0), ACK)), accept="BOLT-08 BOLT-26 BOLT-09")
class OwnId(Bolt):
    """fail names the tuple that is being worked on, whichever is meant."""

    def obey(self, steps: Any, name: Any) -> Callback:
        changed = [{**step, "id": name} if step.get("op") == "fail" else step for step in steps]
        yield from super().obey(changed, name)


@child("bolt-acks-twice", "BOLT-08", told(emit(anchor=True), ACK), accept="BOLT-06")
class AcksTwice(Bolt):
    """A tuple with an anchored emit is acked twice."""

    def finished(self, one: Running) -> None:
        if self.anchored:
            self.anchored = False
            self.settle("ack", one.name)
        super().finished(one)

    anchored = False

    def anchors(self, name: Any) -> list[Any]:
        self.anchored = True
        return super().anchors(name)


@child("bolt-acks-for-you", "BOLT-08", told(emit()), accept="BOLT-06 BOLT-09")
class AcksForYou(Bolt):
    """A tuple that user code leaves open is acked after its emit."""

    def obey(self, steps: Any, name: Any) -> Callback:
        yield from super().obey(steps, name)
        kinds = [step.get("op") for step in steps]
        if "emit" in kinds and not {"ack", "fail"} & set(kinds):
            self.settle("ack", name)


@child("bolt-fails-after", "BOLT-06", both(told(FAIL), told(FAIL)), accept="BOLT-20")
class FailsAfter(Bolt):
    """Every second fail is an ack."""

    fails = 0

    def settle(self, op: str, name: Any) -> None:
        self.fails += op == "fail"
        super().settle("ack" if op == "fail" and self.fails % 2 == 0 else op, name)


@child("bolt-forgets-open", "BOLT-09", both(told(), plain(1), told(settle("ack", 0), ACK)), accept="BOLT-26 BOLT-06")
class ForgetsOpen(Bolt):
    """A tuple that was left open while another was acked cannot be settled any more."""

    acked = 0

    def settle(self, op: str, name: Any) -> None:
        if self.running and self.running[0].name != name and self.acked:
            return
        self.acked += 1
        super().settle(op, name)


@child("bolt-empty-unacked", "BOLT-09", plain(), accept="BOLT-28 BOLT-26")
class EmptyUnacked(Bolt):
    """A tuple without values is not acked."""

    def callback(self, message: dict[str, Any]) -> Callback:
        if message["tuple"]:
            yield from super().callback(message)
        else:
            self.note({"call": "process", **message})


# -- emits ------------------------------------------------------------------------------------------------------------


@child("bolt-no-anchors", "BOLT-10", told(emit(anchor=True), ACK), accept="BOLT-12")
class NoAnchors(Bolt):
    """anchors are left out."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        message.pop("anchors", None)
        return message


@child("bolt-last-anchor", "BOLT-10", both(told(), told(emit(anchor=True), ACK)), accept="BOLT-11 BOLT-06")
class LastAnchor(Bolt):
    """An emit is anchored to the first tuple that there was."""

    first: Any = None

    def process(self, message: dict[str, Any]) -> None:
        self.first = self.first or message["id"]
        super().process(message)

    def anchors(self, name: Any) -> list[Any]:
        return [self.first]


@child("bolt-dead-anchors", "BOLT-11", both(plain(1), told(emit(anchor=True), ACK)), accept="BOLT-10")
class DeadAnchors(Bolt):
    """An emit is anchored to the tuple before as well."""

    before: Any = None

    def anchors(self, name: Any) -> list[Any]:
        return [name] if self.before is None else [name, self.before]

    def finished(self, one: Running) -> None:
        self.before = one.name
        super().finished(one)


@child("bolt-always-anchored", "BOLT-12", told(emit(), ACK))
class AlwaysAnchored(Bolt):
    """Every emit is anchored."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        return {**super().emitted(step, name), "anchors": [name]}


@child("bolt-sticky-anchor", "BOLT-12", told(emit(1, anchor=True), emit(2), ACK), accept="BOLT-10")
class StickyAnchor(Bolt):
    """After an anchored emit the next one of the same tuple is anchored too."""

    sticky: Any = None

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        if self.sticky == name:
            message.setdefault("anchors", [name])
        self.sticky = name if step.get("anchor") else None
        return message


@child("bolt-text-anchor", "BOLT-10", told(emit(anchor=True), ACK))
class TextAnchor(Bolt):
    """anchors are one text."""

    def anchors(self, name: Any) -> Any:
        return name


@child("bolt-no-stream", "BOLT-13", told(emit(stream="second"), ACK))
class NoStream(Bolt):
    """The stream is left out."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        message.pop("stream", None)
        return message


@child("bolt-sticky-stream", "BOLT-13", told(emit(1, stream="second"), emit(2), ACK))
class StickyStream(Bolt):
    """An emit without a stream goes where the last one went."""

    stream: Any = None

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        self.stream = message.get("stream") or self.stream
        if self.stream is not None:
            message["stream"] = self.stream
        return message


@child("bolt-no-task", "BOLT-14", told(emit(task=9), ACK))
class NoTask(Bolt):
    """A direct emit is none."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        message.pop("task", None)
        return message


@child("bolt-sticky-task", "BOLT-14", both(told(emit(1, task=9), ACK), told(emit(2), ACK)), accept="BOLT-26")
class StickyTask(Bolt):
    """After a direct emit the next one is direct too."""

    task: Any = None

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        if self.task is not None:
            message.setdefault("task", self.task)
        self.task = step.get("task")
        return message


@child("bolt-waits-for-direct", "BOLT-26", told(emit(task=9), ACK), accept="BOLT-14 BOLT-09 BOLT-18")
class WaitsForDirect(Bolt):
    """It waits for the task ids of a direct emit, too."""

    def wants_ids(self, message: Any) -> bool:
        return True


@child("bolt-waits-anyway", "EXT-04", told(emit(need_task_ids=False), ACK), ext="x-need-task-ids", accept="BOLT-26")
class WaitsAnyway(Bolt):
    """It waits for task ids although it said that it needs none."""

    def wants_ids(self, message: Any) -> bool:
        return message.get("task") is None


def _values(name: str, *values: Any, accept: str = "") -> Any:
    return child(name, "BOLT-27", told(emit(*values), ACK), accept=accept)


@_values("bolt-bool-numbers", True)
class BoolNumbers(Bolt):
    """true becomes 1."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        return {**message, "tuple": [int(v) if isinstance(v, bool) else v for v in message["tuple"]]}


@_values("bolt-narrow-numbers", 2147483648)
class NarrowNumbers(Bolt):
    """Numbers have 32 bits."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        values = [(v + (1 << 31)) % (1 << 32) - (1 << 31) if type(v) is int else v for v in message["tuple"]]
        return {**message, "tuple": values}


@_values("bolt-no-nulls", None)
class NoNulls(Bolt):
    """null is left out."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        return {**message, "tuple": [v for v in message["tuple"] if v is not None]}


@_values("bolt-stripped", " blanks ")
class Stripped(Bolt):
    """Texts lose the blanks around them."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        return {**message, "tuple": [v.strip() if isinstance(v, str) else v for v in message["tuple"]]}


@_values("bolt-rounded", 0.1)
class Rounded(Bolt):
    """Numbers have single precision."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        values = [float(f"{v:.6g}") + 1e-9 if isinstance(v, float) else v for v in message["tuple"]]
        return {**message, "tuple": values}


@_values("bolt-flat", [None, [True, {"a": []}]])
class Flat(Bolt):
    """Arrays in arrays become texts."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        return {**message, "tuple": [json.dumps(v) if isinstance(v, list) and v else v for v in message["tuple"]]}


@child("bolt-reads-wrong", "BOLT-27", plain("\u2028"), accept="BOLT-26")
class ReadsWrong(Bolt):
    """U+2028 is lost where a tuple is read."""

    def process(self, message: dict[str, Any]) -> None:
        values = [v.replace("\u2028", "") if isinstance(v, str) else v for v in message["tuple"]]
        super().process({**message, "tuple": values})


@child("bolt-swapped", "BOLT-26", told(emit(1), emit(2), ACK), accept="BOLT-27", switches=Switches(waits=False))
class Swapped(Bolt):
    """The second of two emits comes first."""

    def obey(self, steps: Any, name: Any) -> Callback:
        emits = [n for n, step in enumerate(steps) if step.get("op") == "emit"]
        if len(emits) > 1:
            steps = list(steps)
            steps[emits[0]], steps[emits[1]] = steps[emits[1]], steps[emits[0]]
        yield from super().obey(steps, name)


@child("bolt-emits-again", "BOLT-26", told(emit(1), emit(2), ACK), accept="BOLT-27")
class EmitsAgain(Bolt):
    """An emit is repeated once a second list has come."""

    lists_seen = 0

    def got_ids(self, one: Running | None, ids: list[Any]) -> None:
        self.lists_seen += 1
        if self.lists_seen == 2 and one is not None:
            self.say({"command": "emit", "tuple": ["tag", 2]})
            self.waiting.append(None)
        super().got_ids(one, ids)


@child("bolt-shadow-log", "BOLT-21", told({"op": "log", "msg": "two\nlines"}, ACK))
class ShadowLog(Bolt):
    """Only the first line of a log is sent."""

    def log(self, text: str) -> None:
        super().log(text.partition("\n")[0])


@child("bolt-log-after-beat", "BOLT-21", both(beat, told({"op": "log", "msg": "hello"}, ACK)))
class LogAfterBeat(Bolt):
    """Logs are lost after a heartbeat."""

    beats = 0

    def heartbeat(self, message: Any) -> None:
        self.beats += 1
        super().heartbeat(message)

    def log(self, text: str) -> None:
        if not self.beats:
            super().log(text)


@child("bolt-log-number", "BOLT-21", told({"op": "log", "msg": "7"}, ACK))
class LogNumber(Bolt):
    """A log that looks like a number is one."""

    def say(self, message: dict[str, Any]) -> None:
        if message.get("command") == "log" and re.match(r"\w?7", message["msg"]):
            message = {**message, "msg": 7}
        super().say(message)


# -- lists and tuples meanwhile ----------------------------------------------------------------------------------------


def _meanwhile(*more: Any, tuples: int = 1) -> Any:
    def play(w: Writer) -> None:
        w.script([emit(), ACK])
        for n in range(tuples):
            w.tuple([n])
        for one in more:
            one(w)
        w.lists()

    return play


@child("bolt-drops-meanwhile", "BOLT-26", _meanwhile(), accept="BOLT-18")
class DropsMeanwhile(Bolt):
    """A tuple that comes while it waits for task ids is lost."""

    def asked(self, message: dict[str, Any]) -> None:
        if self.running and not self.is_heartbeat(message):
            return
        super().asked(message)


@child("bolt-drops-second", "BOLT-26", _meanwhile(tuples=2), accept="BOLT-18")
class DropsSecond(Bolt):
    """Only one tuple is kept while it waits."""

    def asked(self, message: dict[str, Any]) -> None:
        if not self.is_heartbeat(message) and self.queue:
            self.queue[0] = message
            return
        super().asked(message)


@child("bolt-turns-round", "BOLT-26", _meanwhile(tuples=2), accept="BOLT-18")
class TurnsRound(Bolt):
    """Tuples that came while it waited are worked on from the last to the first."""

    def next(self) -> None:
        while self.queue and not self.running:
            self.process(self.queue.pop())


@child("bolt-tuple-for-list", "BOLT-18", _meanwhile(), accept="BOLT-26 BOLT-09")
class TupleForList(Bolt):
    """What comes while it waits is taken for the list."""

    def asked(self, message: dict[str, Any]) -> None:
        if self.waiting and not self.is_heartbeat(message):
            self.got_ids(self.waiting.popleft(), [message.get("task")])
            return
        super().asked(message)


@child("bolt-no-empty-list", "BOLT-19", both(*[told(emit(n), ACK) for n in range(5)]), accept="BOLT-18 BOLT-26 BOLT-09")
class NoEmptyList(Bolt):
    """An empty list is none."""

    def ids(self, ids: list[Any]) -> None:
        if ids:
            super().ids(ids)


@child("bolt-old-list", "BOLT-18", told(emit(1), emit(2), ACK))
class OldList(Bolt):
    """The second emit gets the list of the first."""

    kept: list[Any] | None = None

    def got_ids(self, one: Running | None, ids: list[Any]) -> None:
        self.kept = self.kept or ids
        super().got_ids(one, self.kept)


@child("bolt-short-list", "BOLT-18", both(*[told(emit(n), ACK) for n in range(3)]))
class ShortList(Bolt):
    """Of a list only the first number is read."""

    def got_ids(self, one: Running | None, ids: list[Any]) -> None:
        super().got_ids(one, ids[:1])


# -- heartbeats -------------------------------------------------------------------------------------------------------


@child("bolt-no-beat", "HB-03", beat, accept="HB-06")
class NoBeat(Bolt):
    """Heartbeats are not answered."""

    def heartbeat(self, message: Any) -> None:
        pass


@child("bolt-beat-twice", "HB-04", both(beat, beat))
class BeatTwice(Bolt):
    """Heartbeats are answered twice."""

    def heartbeat(self, message: Any) -> None:
        super().heartbeat(message)
        super().heartbeat(message)


@child("bolt-acks-beat", "HB-04", beat)
class AcksBeat(Bolt):
    """Heartbeats are acked, too."""

    def heartbeat(self, message: Any) -> None:
        super().heartbeat(message)
        self.settle("ack", message["id"])


@child("bolt-shows-beat", "HB-04", beat, accept="HB-03")
class ShowsBeat(Bolt):
    """User code sees heartbeats."""

    def heartbeat(self, message: Any) -> None:
        self.note({"call": "process", **message})
        super().heartbeat(message)


@child("bolt-one-beat", "HB-06", both(_meanwhile(beat, beat)), accept="HB-03 HB-04 HB-07")
class OneBeat(Bolt):
    """Of two heartbeats while it waits one is answered."""

    missed = False

    def heartbeat(self, message: Any) -> None:
        if self.waiting:
            self.missed = not self.missed
            if not self.missed:
                return
        super().heartbeat(message)


@child("bolt-late-beat", "HB-07", _meanwhile(beat), level="SHOULD", switches=Switches(patient=True))
class LateBeat(Bolt):
    """Heartbeats wait with the tuples."""


@child("bolt-beat-by-stream", "HB-05", plain(1, near=("__heartbeat", 4)), accept="BOLT-26")
class BeatByStream(Bolt):
    """A heartbeat is known by its stream alone."""

    def is_heartbeat(self, message: Any) -> bool:
        return bool(message.get("stream") == HEARTBEAT)


@child("bolt-beat-by-prefix", "HB-05", plain(near=("__heartbeat2", 2)), accept="BOLT-26 BOLT-28")
class BeatByPrefix(Bolt):
    """A heartbeat is known by the beginning of its stream, if it is empty."""

    def is_heartbeat(self, message: Any) -> bool:
        return str(message.get("stream")).startswith(HEARTBEAT) and not message.get("tuple")


@child("bolt-beat-by-task", "EXT-10", plain(60, near=("__tick", -1)), ext="x-tick", accept="HB-05 BOLT-26")
class BeatByTask(Bolt):
    """A heartbeat is known by its task alone."""

    def is_heartbeat(self, message: Any) -> bool:
        return bool(message.get("task") == -1)


def _bare_beat(w: Writer) -> None:
    w.heartbeat(1)


@child("bolt-beat-comp", "HB-03", _bare_beat, accept="HB-06 HB-04 INV-CHILD-02")
class BeatComp(Bolt):
    """A heartbeat has a component."""

    def is_heartbeat(self, message: Any) -> bool:
        return super().is_heartbeat(message) and message.get("comp") is not None


@child("bolt-null-comp", "BOLT-28", plain(1, comp=None), accept="BOLT-26")
class NullComp(Bolt):
    """A tuple needs a component."""

    def check(self, message: Any) -> None:
        super().check(message)
        if message.get("comp") is None and not self.is_heartbeat(message):
            raise BadMessage("no comp")


# -- ends and invalid input -------------------------------------------------------------------------------------------


@child("bolt-deaf", "END-01", plain(1), level="SHOULD", smoke=False)
class Deaf(Bolt):
    """The end of STDIN changes nothing."""

    def at_end(self) -> None:
        pass


def _half(w: Writer) -> None:
    w.blurt(b'{"id":"77","comp":"words","stream":"default","task":1,"tuple":["half"]}\n', "turn")


@child("bolt-half", "END-03", _half)
class Half(Bolt):
    """What stands before the end of STDIN is a message, too."""

    def end(self) -> None:
        text = b"\n".join(self.lines.lines) or self.lines._rest
        found = re.search(rb'"id":"(-?\d+)"', text)
        if found:
            self.settle("ack", found[1].decode())
        super().end()


@child("bolt-raise-open", "INV-CHILD-15", told(RAISE), accept="BOLT-09")
class RaiseOpen(Bolt):
    """When user code raises nothing happens."""

    def raised(self, one: Running) -> None:
        self.next()


@child("bolt-raise-acks", "INV-CHILD-15", told(RAISE), accept="BOLT-06 BOLT-08 BOLT-20")
class RaiseAcks(Bolt):
    """When user code raises the tuple is acked."""

    def raised(self, one: Running) -> None:
        self.settle("ack", one.name)
        self.next()


def _setup_without_folder(w: Writer) -> None:
    ROWS["INV-CHILD-01"][1](w, 3)


@child("bolt-pid-anyway", "INV-CHILD-01", _setup_without_folder, bare=True)
class PidAnyway(Bolt):
    """The process id is said although its file could not be made."""

    def register(self, folder: str) -> None:
        with contextlib.suppress(OSError):
            self.touch(folder, str(self.pid))


def _garbage(w: Writer) -> None:
    w.tuple([1])
    ROWS["INV-CHILD-02"][1](w, 0)


@child("bolt-answers-garbage", "INV-CHILD-02", _garbage, switches=Switches(unknown="skip"), accept="BOLT-08 BOLT-06")
class AnswersGarbage(Bolt):
    """What is no JSON is answered by an ack of an id that is made up."""

    def skipped(self) -> None:
        self.settle("ack", "0000")


def _lacking(w: Writer) -> None:
    ROWS["INV-CHILD-03"][1](w, 0)


@child("bolt-makes-up-ids", "INV-CHILD-03", _lacking, switches=Switches(unknown="skip"))
class MakesUpIds(Bolt):
    """A tuple without an id gets one."""

    def asked(self, message: dict[str, Any]) -> None:
        super().asked({"id": "None", **message})


def _beats(w: Writer) -> None:
    for n in range(12):
        w.heartbeat(n)
        w.wait()


@child("bolt-twelfth-beat", "HB-06", _beats, accept="HB-03")
class TwelfthBeat(Bolt):
    """Every twelfth heartbeat is not answered."""

    beats = 0

    def heartbeat(self, message: Mapping[str, Any]) -> None:
        self.beats += 1
        if self.beats % 12:
            super().heartbeat(message)


@child("bolt-queue-of-ten", "BOLT-26", _meanwhile(tuples=12), accept="BOLT-18")
class QueueOfTen(Bolt):
    """While it waits for task ids ten tuples are kept, and no more."""

    def asked(self, message: dict[str, Any]) -> None:
        if self.is_heartbeat(message) or len(self.queue) < 10:
            super().asked(message)


def _wide_cut(w: Writer) -> None:
    w.features.add("cuts")
    w.ways = Ways(CUTS, 3)
    w.tuple(["\u65e5" * 60])
    w.ways = Ways()
    w.lists()


class _Decoding(Session):
    def send(self, data: bytes) -> None:
        super().send(data.decode("utf-8", "replace").encode())


class _Decoders(Children):
    def open(self) -> Session:
        self._open.append(_Decoding(self._make()))
        return self._open[-1]


@child("bolt-decodes-pieces", "FRAME-07", _wide_cut, sessions=_Decoders, accept="BOLT-27 HS-15 HS-16")
class DecodesPieces(Bolt):
    """Each piece that is read is decoded by itself, so that a character may be torn."""


def _number_id(w: Writer) -> None:
    ROWS["INV-CHILD-04"][1](w, 3)


@child("bolt-number-id-text", "INV-CHILD-04", _number_id, accept="BOLT-06 BOLT-07")
class NumberIdText(Bolt):
    """Of an id that is a number 32 bits are kept."""

    def lines_read(self, lines: list[bytes]) -> None:
        try:
            value = parse(lines)
        except BadMessage:
            value = None
        if self.set_up and isinstance(value, dict) and isinstance(value.get("id"), int):
            self.asked({**value, "id": str((value["id"] + (1 << 31)) % (1 << 32) - (1 << 31))})
        else:
            super().lines_read(lines)


def _big(w: Writer) -> None:
    w.tuple(["x" * (4 << 20)])
    w.lists()


@child("bolt-small", "INV-CHILD-13", _big, accept="BOLT-26 FRAME-07")
class Small(Bolt):
    """A line has a mebibyte at most."""

    def lines_read(self, lines: list[bytes]) -> None:
        if sum(map(len, lines)) < 1 << 20:
            super().lines_read(lines)


def _after_raise(*more: dict[str, Any]) -> Any:
    def play(w: Writer) -> None:
        told(RAISE)(w)
        told(*more)(w)

    return play


@child("bolt-raise-leaks", "BOLT-10", _after_raise(emit(anchor=True), ACK), accept="BOLT-11")
class RaiseLeaks(Bolt):
    """The first anchor behind a tuple for which user code raised is that tuple's."""

    raised_for: Any = None

    def raised(self, one: Running) -> None:
        self.raised_for = one.name
        super().raised(one)

    def anchors(self, name: Any) -> list[Any]:
        found, self.raised_for = self.raised_for, None
        return [name if found is None else found]


@child("bolt-raise-forgets", "BOLT-26", both(told(RAISE), plain(1), plain(2)), accept="BOLT-09")
class RaiseForgets(Bolt):
    """The tuple behind one for which user code raised is passed over."""

    skip = False

    def raised(self, one: Running) -> None:
        self.skip = True
        super().raised(one)

    def process(self, message: dict[str, Any]) -> None:
        if self.skip and not self.is_heartbeat(message):
            self.skip = False
            return
        super().process(message)
