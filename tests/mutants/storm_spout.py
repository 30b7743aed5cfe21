"""Faulty spouts."""

from __future__ import annotations

import re
from typing import Any

from impls.storm.child import Callback, Running, Spout, UserError
from impls.storm.freedoms import Switches
from impls.storm.wire import BadMessage
from specs.plan import Ref
from strategies.storm.misuse import ROWS
from strategies.storm.writer import LINES, MEMBERS, Ways, Writer
from tests.mutants.storm_kit import RAISE, child, emit, following, nothing


def script(*nexts: Any, **more: Any) -> dict[str, Any]:
    """conf with the steps of one next after the other."""
    return {"wireproof.script": [list(steps) for steps in nexts], **{f"wireproof.{k}": v for k, v in more.items()}}


NEXT = following("next")
TWICE = following("next", "next")
ACKED = following("next", "ack", ack=Ref("emitted", 0))
FAILED = following("next", "fail", fail=Ref("emitted", 0))


@child("spout-no-sync", "SPOUT-03", NEXT, smoke=False)
class NoSync(Spout):
    """An empty next is not answered."""

    def finished(self, one: Running) -> None:
        if self.count > 1:
            super().finished(one)


@child("spout-syncs-first", "SPOUT-03", NEXT, conf=script([emit(1)]), accept="SPOUT-22 SPOUT-04 SPOUT-09")
class SyncsFirst(Spout):
    """The sync comes before the emits."""

    def callback(self, command: str, message: dict[str, Any]) -> Callback:
        self.sync()
        yield from super().callback(command, message)

    def finished(self, one: Running) -> None:
        pass


@child("spout-two-syncs", "SPOUT-22", NEXT, smoke=False, accept="SPOUT-04")
class TwoSyncs(Spout):
    """Each command has two syncs."""

    def sync(self) -> None:
        super().sync()
        super().sync()


@child("spout-fifteenth-sync", "SPOUT-22", following(*["next"] * 16), accept="SPOUT-04")
class FifteenthSync(Spout):
    """Every fifteenth command has two syncs."""

    syncs = 0

    def sync(self) -> None:
        self.syncs += 1
        super().sync()
        if self.syncs % 15 == 0:
            super().sync()


@child("spout-log-behind", "SPOUT-04", following("next", "next", "next"), accept="SPOUT-22")
class LogBehind(Spout):
    """After the third sync it logs."""

    def sync(self) -> None:
        super().sync()
        if self.nexts == 3:
            self.say({"command": "log", "msg": "three"})


@child("spout-emits-later", "SPOUT-04", FAILED, conf=script([emit(id="a")]), accept="SPOUT-16 SPOUT-22 SPOUT-03")
class EmitsLater(Spout):
    """What failed is emitted again after the sync."""

    def finished(self, one: Running) -> None:
        super().finished(one)
        if one.name == "fail":
            self.say({"command": "emit", "tuple": ["again"]})


@child("spout-acks-unanswered", "SPOUT-03", ACKED, conf=script([emit(id="a")]), accept="SPOUT-16 HB-08")
class AcksUnanswered(Spout):
    """ack is not answered."""

    def finished(self, one: Running) -> None:
        if one.name != "ack":
            super().finished(one)


@child("spout-fail-after-ack", "SPOUT-03",
       following("next", "ack", "fail", ack=Ref("emitted", 0), fail=Ref("emitted", 1)),
       conf=script([emit(id="a"), emit(id="b")]), accept="SPOUT-16")  # fmt: skip
class FailAfterAck(Spout):
    """A fail after an ack is not answered."""

    acked = False

    def finished(self, one: Running) -> None:
        if one.name == "fail" and self.acked:
            return
        self.acked |= one.name == "ack"
        super().finished(one)


@child("spout-text-ids", "SPOUT-12", NEXT, conf=script([emit(id=1)]))
class TextIds(Spout):
    """Ids are texts."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        return {**message, "id": str(message["id"])} if "id" in message else message


@child("spout-number-ids", "SPOUT-12", NEXT, conf=script([emit(id="1")]))
class NumberIds(Spout):
    """Ids that look like numbers are numbers."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        text = message.get("id")
        return {**message, "id": int(text)} if isinstance(text, str) and re.fullmatch(r"-?\d+", text) else message


@child("spout-zero-id", "SPOUT-12", NEXT, conf=script([emit(id=0)]), accept="SPOUT-11")
class ZeroId(Spout):
    """The id 0 is none."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        if not message.get("id"):
            message.pop("id", None)
        return message


@child("spout-shown-ids", "SPOUT-12", ACKED, conf=script([emit(id=" 1")]))
class ShownIds(Spout):
    """User code is told ids without the blanks around them."""

    def callback(self, command: str, message: dict[str, Any]) -> Callback:
        name = message.get("id")
        yield from super().callback(command, {**message, "id": name.strip() if isinstance(name, str) else name})


@child("spout-last-id", "SPOUT-12", following("next", "ack", ack=Ref("emitted", 0)),
       conf=script([emit(1, id="a"), emit(2, id="b")]))  # fmt: skip
class LastId(Spout):
    """ack tells user code the last id that was emitted."""

    last: Any = None

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        self.last = step.get("id", self.last)
        return super().emitted(step, name)

    def callback(self, command: str, message: dict[str, Any]) -> Callback:
        yield from super().callback(command, {**message, "id": self.last} if command == "ack" else message)


@child("spout-always-id", "SPOUT-11", NEXT, conf=script([emit()]))
class AlwaysId(Spout):
    """An emit without an id gets one."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        return {"id": "none", **super().emitted(step, name)}


@child("spout-sticky-id", "SPOUT-11", NEXT, conf=script([emit(1, id="a"), emit(2)]))
class StickyId(Spout):
    """An emit without an id has that of the one before."""

    last: Any = None

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        if self.last is not None:
            message.setdefault("id", self.last)
        self.last = message.get("id")
        return message


@child("spout-no-stream", "SPOUT-13", NEXT, conf=script([emit(stream="second")]))
class NoStream(Spout):
    """The stream is left out."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        message.pop("stream", None)
        return message


@child("spout-second-stream", "SPOUT-13", TWICE, conf=script([emit(1, stream="second")], [emit(2)]))
class SecondStream(Spout):
    """The stream of one next is that of the following, too."""

    stream: Any = None

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        self.stream = message.get("stream") or self.stream
        return message if self.stream is None else {**message, "stream": self.stream}


@child("spout-no-task", "SPOUT-14", NEXT, conf=script([emit(task=9)]))
class NoTask(Spout):
    """A direct emit is none."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        message.pop("task", None)
        return message


@child("spout-text-task", "SPOUT-14", NEXT, conf=script([emit(task=9)]))
class TextTask(Spout):
    """The task is a text."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        return {**message, "task": str(message["task"])} if "task" in message else message


@child("spout-object-tuple", "SPOUT-10", NEXT, conf=script([emit(1)]))
class ObjectTuple(Spout):
    """The tuple is an object."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        return {**message, "tuple": dict(enumerate(message["tuple"]))}


@child("spout-values", "SPOUT-21", NEXT, conf=script([emit(9007199254740991)]))
class Values(Spout):
    """Numbers lose their last digits."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        values = [v // 10 * 10 if type(v) is int and abs(v) > 1 << 52 else v for v in message["tuple"]]
        return {**message, "tuple": values}


@child("spout-unescaped", "SPOUT-21", NEXT, conf=script([emit("a\nend\nb")]))
class Unescaped(Spout):
    """A newline in a text becomes a blank."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        return {**message, "tuple": [v.replace("\n", " ") if isinstance(v, str) else v for v in message["tuple"]]}


@child("spout-list-for-command", "SPOUT-09", NEXT, conf=script([emit(1), emit(2)]), accept="SPOUT-03 FRAME-01")
class ListForCommand(Spout):
    """A list of task ids is taken for a command."""

    def ids(self, ids: list[Any]) -> None:
        raise BadMessage("no command")


@child("spout-second-list", "SPOUT-09", NEXT, conf=script([emit(1), emit(2), emit(3)]), accept="SPOUT-03")
class SecondList(Spout):
    """A second list is lost."""

    lists_seen = 0

    def ids(self, ids: list[Any]) -> None:
        self.lists_seen += 1
        if self.lists_seen != 2:
            super().ids(ids)


@child("spout-old-list", "SPOUT-09", TWICE, conf=script([emit(1)], [emit(2)]))
class OldList(Spout):
    """The emit of the second next gets the list of the first."""

    kept: Any = None

    def got_ids(self, one: Running | None, ids: list[Any]) -> None:
        self.kept = self.kept or ids
        super().got_ids(one, self.kept)


@child("spout-waits-for-direct", "SPOUT-03", NEXT, conf=script([emit(task=9)]), accept="SPOUT-14 SPOUT-09")
class WaitsForDirect(Spout):
    """It waits for the task ids of a direct emit."""

    def wants_ids(self, message: Any) -> bool:
        return True


@child("spout-waits-anyway", "EXT-04", NEXT, conf=script([emit(need_task_ids=False)]), ext="x-need-task-ids",
       accept="SPOUT-03")  # fmt: skip
class WaitsAnyway(Spout):
    """It waits for task ids although it said that it needs none."""

    def wants_ids(self, message: Any) -> bool:
        return message.get("task") is None


@child("spout-log-lost", "SPOUT-15", NEXT, conf=script([{"op": "log", "msg": "two\nlines"}]))
class LogLost(Spout):
    """A log of two lines is lost."""

    def log(self, text: str) -> None:
        if "\n" not in text:
            super().log(text)


@child("spout-silent-ack", "SPOUT-16", ACKED, conf=script([emit(id="a")], on_ack=[emit(7)]), accept="SPOUT-03")
class SilentAck(Spout):
    """Nothing is emitted for an ack."""

    def obey(self, steps: Any, name: Any) -> Callback:
        if not self.running or self.running[-1].name != "ack":
            yield from super().obey(steps, name)


@child("spout-silent-fail", "SPOUT-16", FAILED,
       conf=script([emit(id="a")], on_fail=[{"op": "log", "msg": "failed"}]), accept="SPOUT-15")  # fmt: skip
class SilentFail(Spout):
    """Nothing is logged for a fail."""

    def log(self, text: str) -> None:
        if not self.running or self.running[-1].name != "fail":
            super().log(text)


@child("spout-print-through", "FRAME-08", NEXT, conf=script([{"op": "print", "text": "printed"}]), accept="FRAME-01")
class PrintThrough(Spout):
    """What user code prints goes where the messages go."""

    def prints(self, text: str) -> None:
        self.out += text.encode()


def _members(w: Writer) -> None:
    w.ways = Ways(MEMBERS, 0)
    w.command("next")
    w.ways = Ways()


@child("spout-knows-members", "FRAME-11", _members, level="SHOULD", accept="SPOUT-03 SPOUT-23")
class KnowsMembers(Spout):
    """A member that is not known ends the spout."""

    def asked(self, message: dict[str, Any]) -> None:
        if set(message) - {"command", "id"}:
            raise BadMessage("an unknown member")
        super().asked(message)


def _empty_id(w: Writer) -> None:
    w.command("next", id="")


@child("spout-empty-id", "SPOUT-23", _empty_id, accept="SPOUT-03 FRAME-11")
class EmptyId(Spout):
    """A next with an id ends the spout."""

    def asked(self, message: dict[str, Any]) -> None:
        if message.get("command") == "next" and "id" in message:
            raise BadMessage("a next with an id")
        super().asked(message)


def _lines(w: Writer) -> None:
    w.ways = Ways(LINES, 0)
    w.command("next")
    w.ways = Ways()


@child("spout-one-line", "FRAME-06", _lines, accept="SPOUT-03 INV-CHILD-02")
class OneLine(Spout):
    """A command that is spread over several lines is not understood."""

    def lines_read(self, lines: list[bytes]) -> None:
        super().lines_read(lines[:1] if self.set_up else lines)


@child("spout-raise-hangs", "INV-CHILD-15", NEXT, conf=script([RAISE]), accept="SPOUT-03")
class RaiseHangs(Spout):
    """When user code raises there is no sync."""

    def raised(self, one: Running) -> None:
        pass


@child("spout-raise-skips", "SPOUT-03", TWICE, conf=script([RAISE], [emit(1)]), accept="SPOUT-09")
class RaiseSkips(Spout):
    """The script of the next that follows one for which user code raised is passed over."""

    def raised(self, one: Running) -> None:
        self.nexts += 1
        super().raised(one)


@child(
    "spout-raise-goes-on", "SPOUT-03", NEXT, conf=script([RAISE], [emit(1)]), accept="INV-CHILD-15 SPOUT-22 SPOUT-04"
)
class RaiseGoesOn(Spout):
    """When user code raises it is called again, and both calls are answered."""

    def callback(self, command: str, message: dict[str, Any]) -> Callback:
        try:
            yield from super().callback(command, message)
        except UserError:
            self.sync()
            yield from super().callback(command, message)


@child("spout-activate", "EXT-01", following("activate"), ext="x-activate", accept="SPOUT-03")
class Activate(Spout):
    """activate is not answered."""

    def finished(self, one: Running) -> None:
        if one.name != "activate":
            super().finished(one)


def _unknown(w: Writer) -> None:
    ROWS["SPOUT-24"][1](w, 0)


@child("spout-unknown-id", "SPOUT-24", _unknown, level="SHOULD", accept="SPOUT-03")
class UnknownId(Spout):
    """An id that is not known ends the spout."""

    def asked(self, message: dict[str, Any]) -> None:
        if message.get("id") == "nobody":
            raise BadMessage("an unknown id")
        super().asked(message)


def _unknown_command(w: Writer) -> None:
    ROWS["INV-CHILD-05"][1](w, 0)


@child("spout-unknown-command", "INV-CHILD-05", _unknown_command, switches=Switches(unknown="skip"))
class UnknownCommand(Spout):
    """A command that is not known is passed over in silence."""

    def skipped(self) -> None:
        pass


def _no_command(w: Writer) -> None:
    ROWS["INV-CHILD-06"][1](w, 0)


@child("spout-no-command", "INV-CHILD-06", _no_command, switches=Switches(unknown="skip"), accept="INV-CHILD-05")
class NoCommand(Spout):
    """An object without a command is passed over in silence."""

    def skipped(self) -> None:
        pass


def _half(w: Writer) -> None:
    w.blurt(b'{"command":"next"}\n', "turn")


@child("spout-half", "END-03", _half, accept="END-02 SPOUT-22")
class Half(Spout):
    """What stands before the end of STDIN is a message, too."""

    def end(self) -> None:
        if self.lines.lines:
            self.lines_read(self.lines.lines)
        super().end()


@child("spout-last-words", "END-02", nothing, level="SHOULD", smoke=False)
class LastWords(Spout):
    """It emits when STDIN ends."""

    def end(self) -> None:
        self.say({"command": "sync"})
        super().end()


@child(
    "spout-fails-once", "SPOUT-03", following("next", "fail", "next", "fail", fail=Ref("emitted", 0)),
    conf=script([emit(1, id="again")], [emit(2, id="again")]),
)  # fmt: skip
class FailsOnce(Spout):
    """The second fail of a message id, which was emitted again, is not answered."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.failed: list[Any] = []
        self.silent = False

    def callback(self, command: str, message: dict[str, Any]) -> Callback:
        name = message.get("id")
        self.silent = command == "fail" and name in self.failed
        self.failed += [name] if command == "fail" else []
        return super().callback(command, message)

    def sync(self) -> None:
        if not self.silent:
            super().sync()
