"""Faulty spouts: commands and their answers, how messages are read, endings."""

from __future__ import annotations

from typing import Any

from impls.references.storm.child import Callback, Running, Spout, UserError
from impls.references.storm.freedoms import Switches
from impls.references.storm.wire import BadMessage
from specs.plan import Ref
from strategies.storm.misuse import ROWS
from strategies.storm.writer import LINES, MEMBERS, Ways, Writer
from tests.mutants.faults import on
from tests.mutants.storm_kit import ACKED, FAILED, NEXT, RAISE, TWICE, child, emit, following, nothing, script

child("spout-no-sync", "SPOUT-03", NEXT, smoke=False)(
    "An empty next is not answered.", on(Spout, "finished").skips(when=lambda self: self.count <= 1)
)


@child("spout-syncs-first", "SPOUT-03", NEXT, conf=script([emit(1)]), accept="SPOUT-22 SPOUT-04 SPOUT-09")
class SyncsFirst(Spout):
    """The sync comes before the emits."""

    def callback(self, command: str, message: dict[str, Any]) -> Callback:
        self.sync()
        yield from super().callback(command, message)

    def finished(self, one: Running) -> None:
        pass


child("spout-two-syncs", "SPOUT-22", NEXT, smoke=False, accept="SPOUT-04")(
    "Each command has two syncs.", on(Spout, "sync").repeats()
)
child("spout-fifteenth-sync", "SPOUT-22", following(*["next"] * 16), accept="SPOUT-04")(
    "Every fifteenth command has two syncs.", on(Spout, "sync").repeats(when=lambda calls: calls % 15 == 0)
)
child("spout-log-behind", "SPOUT-04", following("next", "next", "next"), accept="SPOUT-22")(
    "After the third sync it logs.",
    on(Spout, "sync").after(
        lambda self: self.say({"command": "log", "msg": "three"}), when=lambda self: self.nexts == 3
    ),
)
child("spout-emits-later", "SPOUT-04", FAILED, conf=script([emit(id="a")]), accept="SPOUT-16 SPOUT-22 SPOUT-03")(
    "What failed is emitted again after the sync.",
    on(Spout, "finished").after(
        lambda self: self.say({"command": "emit", "tuple": ["again"]}), when=lambda one: one.name == "fail"
    ),
)
child("spout-acks-unanswered", "SPOUT-03", ACKED, conf=script([emit(id="a")]), accept="SPOUT-16 HB-08")(
    "ack is not answered.", on(Spout, "finished").skips(when=lambda one: one.name == "ack")
)
child("spout-raised-in-ack-unanswered", "INV-CHILD-15", ACKED,
      conf=script([emit(id="a")]) | {"wireproof.on_ack": [RAISE]}, accept="SPOUT-03 SPOUT-16 HB-08")(
    "An ack in which user code raises is not answered.",
    on(Spout, "raised").skips(when=lambda one: one.name == "ack"),
)  # fmt: skip
child("spout-raised-in-fail-unanswered", "INV-CHILD-15", FAILED,
      conf=script([emit(id="a")]) | {"wireproof.on_fail": [RAISE]}, accept="SPOUT-03 SPOUT-16 HB-08")(
    "A fail in which user code raises is not answered.",
    on(Spout, "raised").skips(when=lambda one: one.name == "fail"),
)  # fmt: skip


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


@child(
    "spout-print-through",
    "FRAME-08",
    NEXT,
    conf=script([{"op": "print", "text": "printed"}]),
    accept="FRAME-01",
    level="SHOULD",
)
class PrintThrough(Spout):
    """What user code prints goes where the messages go."""

    def prints(self, text: str) -> None:
        self.out += text.encode()


def _members(w: Writer) -> None:
    w.ways = Ways(MEMBERS, 0)
    w.command("next")
    w.ways = Ways()


child("spout-knows-members", "FRAME-11", _members, level="SHOULD", accept="SPOUT-03 SPOUT-23")(
    "A member that is not known ends the spout.",
    on(Spout, "asked").raises(
        lambda: BadMessage("an unknown member"), when=lambda message: set(message) - {"command", "id"}
    ),
)
child("spout-empty-id", "SPOUT-23", lambda w: w.command("next", id=""), accept="SPOUT-03 FRAME-11")(
    "A next with an id ends the spout.",
    on(Spout, "asked").raises(
        lambda: BadMessage("a next with an id"),
        when=lambda message: message.get("command") == "next" and "id" in message,
    ),
)


def _lines(w: Writer) -> None:
    w.ways = Ways(LINES, 0)
    w.command("next")
    w.ways = Ways()


child("spout-one-line", "FRAME-06", _lines, accept="SPOUT-03 INV-CHILD-02")(
    "A command that is spread over several lines is not understood.",
    on(Spout, "lines_read").takes(lines=lambda self, lines: lines[:1] if self.set_up else lines),
)
child("spout-raise-hangs", "INV-CHILD-15", NEXT, conf=script([RAISE]), accept="SPOUT-03")(
    "When user code raises there is no sync.", on(Spout, "raised").skips()
)


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


child("spout-activate", "EXT-01", following("activate"), ext="x-activate", accept="SPOUT-03", smoke=False)(
    "activate is not answered.", on(Spout, "finished").skips(when=lambda one: one.name == "activate")
)
child("spout-unknown-id", "SPOUT-24", lambda w: ROWS["SPOUT-24"](w, 0), level="SHOULD", accept="SPOUT-03")(
    "An id that is not known ends the spout.",
    on(Spout, "asked").raises(lambda: BadMessage("an unknown id"), when=lambda message: message.get("id") == "nobody"),
)


def _unknown_command(w: Writer) -> None:
    ROWS["INV-CHILD-05"](w, 0)


child("spout-unknown-command", "INV-CHILD-05", _unknown_command, switches=Switches(unknown="skip"), level="SHOULD")(
    "A command that is not known is passed over in silence.", on(Spout, "skipped").skips()
)
child(
    "spout-no-command",
    "INV-CHILD-06",
    lambda w: ROWS["INV-CHILD-06"](w, 0),
    switches=Switches(unknown="skip"),
    accept="INV-CHILD-05",
    level="SHOULD",
)("An object without a command is passed over in silence.", on(Spout, "skipped").skips())
child("spout-half", "END-03", lambda w: w.blurt(b'{"command":"next"}\n', "turn"), accept="END-02 SPOUT-22")(
    "What stands before the end of STDIN is a message, too.",
    on(Spout, "end").before(lambda self: self.lines_read(self.lines.lines), when=lambda self: self.lines.lines),
)
child("spout-last-words", "END-02", nothing, level="SHOULD", smoke=False)(
    "It emits when STDIN ends.", on(Spout, "end").before(lambda self: self.say({"command": "sync"}))
)


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


@child(
    "spout-replay-is-settled", "SPOUT-03",
    following("next", "fail", "ack", fail=Ref("emitted", 0), ack=Ref("emitted", 1)),
    conf={**script([emit(1, id="a")]), "wireproof.on_fail": [emit(2, id="a")]}, accept="SPOUT-16",
)  # fmt: skip
class ReplayIsSettled(Spout):
    """An id that user code emits again when it fails is taken for settled: its next ack or fail reaches nobody."""

    failing: Any = None
    replayed: Any = None

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        if step.get("id") is not None and step["id"] == self.failing:
            self.replayed = self.failing
        return super().emitted(step, name)

    def callback(self, command: str, message: dict[str, Any]) -> Callback:
        name = message.get("id") if command in ("ack", "fail") else None
        if name is not None and name == self.replayed:
            self.replayed = None
            return
        self.failing = name if command == "fail" else None
        yield from super().callback(command, message)
