"""Faulty spouts: what they emit and log, and what they make of ids and of lists of task ids."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from impls.references.storm.child import Callback, Running, Spout
from impls.references.storm.wire import BadMessage
from specs.plan import Ref
from tests.mutants.faults import on, without
from tests.mutants.storm_kit import ACKED, FAILED, NEXT, TWICE, child, emit, following, script
from tests.mutants.storm_plays import numbered

child("spout-text-ids", "SPOUT-12", NEXT, conf=script([emit(id=1)]))(
    "Ids are texts.",
    on(Spout, "emitted").gives(lambda found: {**found, "id": str(found["id"])} if "id" in found else found),
)


@child("spout-number-ids", "SPOUT-12", NEXT, conf=script([emit(id="1")]))
class NumberIds(Spout):
    """Ids that look like numbers are numbers."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        text = message.get("id")
        return {**message, "id": int(text)} if isinstance(text, str) and re.fullmatch(r"-?\d+", text) else message


child("spout-zero-id", "SPOUT-12", NEXT, conf=script([emit(id=0)]), accept="SPOUT-11")(
    "The id 0 is none.",
    on(Spout, "emitted").gives(lambda found: without(found, "id") if not found.get("id") else found),
)


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


child("spout-always-id", "SPOUT-11", NEXT, conf=script([emit()]))(
    "An emit without an id gets one.", on(Spout, "emitted").gives(lambda found: {"id": "none", **found})
)


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


child("spout-no-stream", "SPOUT-13", NEXT, conf=script([emit(stream="second")]))(
    "The stream is left out.", on(Spout, "emitted").gives(lambda found: without(found, "stream"))
)


@child("spout-second-stream", "SPOUT-13", TWICE, conf=script([emit(1, stream="second")], [emit(2)]))
class SecondStream(Spout):
    """The stream of one next is that of the following, too."""

    stream: Any = None

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        self.stream = message.get("stream") or self.stream
        return message if self.stream is None else {**message, "stream": self.stream}


child("spout-no-task", "SPOUT-14", NEXT, conf=script([emit(task=9)]))(
    "A direct emit is none.", on(Spout, "emitted").gives(lambda found: without(found, "task"))
)
child("spout-text-task", "SPOUT-14", NEXT, conf=script([emit(task=9)]))(
    "The task is a text.",
    on(Spout, "emitted").gives(lambda found: {**found, "task": str(found["task"])} if "task" in found else found),
)
child("spout-object-tuple", "SPOUT-10", NEXT, conf=script([emit(1)]))(
    "The tuple is an object.",
    on(Spout, "emitted").gives(lambda found: {**found, "tuple": dict(enumerate(found["tuple"]))}),
)


@child("spout-values", "SPOUT-21", NEXT, conf=script([emit(9007199254740991)]))
class Values(Spout):
    """Numbers lose their last digits."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        values = [v // 10 * 10 if type(v) is int and abs(v) > 1 << 52 else v for v in message["tuple"]]
        return {**message, "tuple": values}


child("spout-numbered-members", "SPOUT-21", NEXT, conf=script([emit({"0": "first"})]))(
    "An object whose members are numbered becomes an array.",
    on(Spout, "emitted").gives(lambda found: {**found, "tuple": numbered(found["tuple"])}),
)
child("spout-unescaped", "SPOUT-21", NEXT, conf=script([emit("a\nend\nb")]))(
    "A newline in a text becomes a blank.",
    on(Spout, "emitted").gives(
        lambda found: {**found, "tuple": [v.replace("\n", " ") if isinstance(v, str) else v for v in found["tuple"]]}
    ),
)
child("spout-list-for-command", "SPOUT-09", NEXT, conf=script([emit(1), emit(2)]), accept="SPOUT-03 FRAME-01")(
    "A list of task ids is taken for a command.", on(Spout, "ids").raises(lambda: BadMessage("no command"))
)
child("spout-second-list", "SPOUT-09", NEXT, conf=script([emit(1), emit(2), emit(3)]), accept="SPOUT-03")(
    "A second list is lost.", on(Spout, "ids").skips(when=lambda calls: calls == 2)
)


@child("spout-old-list", "SPOUT-09", TWICE, conf=script([emit(1)], [emit(2)]))
class OldList(Spout):
    """The emit of the second next gets the list of the first."""

    kept: Any = None

    def got_ids(self, one: Running | None, ids: list[Any]) -> None:
        self.kept = self.kept or ids
        super().got_ids(one, self.kept)


child("spout-waits-for-direct", "SPOUT-03", NEXT, conf=script([emit(task=9)]), accept="SPOUT-14 SPOUT-09")(
    "It waits for the task ids of a direct emit.", on(Spout, "wants_ids").instead(lambda: True)
)


@child("spout-waits-anyway", "EXT-04", NEXT, conf=script([emit(need_task_ids=False)]), ext="x-need-task-ids",
       accept="SPOUT-03")  # fmt: skip
class WaitsAnyway(Spout):
    """It waits for task ids although it said that it needs none."""

    def wants_ids(self, message: Any) -> bool:
        return message.get("task") is None


child("spout-log-lost", "SPOUT-15", NEXT, conf=script([{"op": "log", "msg": "two\nlines"}]))(
    "A log of two lines is lost.", on(Spout, "log").skips(when=lambda text: "\n" in text)
)
child("spout-silent-ack", "SPOUT-16", ACKED, conf=script([emit(id="a")], on_ack=[emit(7)]), accept="SPOUT-03")(
    "Nothing is emitted for an ack.",
    on(Spout, "obey").skips(when=lambda self: self.running and self.running[-1].name == "ack"),
)


@child("spout-silent-fail", "SPOUT-16", FAILED,
       conf=script([emit(id="a")], on_fail=[{"op": "log", "msg": "failed"}]), accept="SPOUT-15")  # fmt: skip
class SilentFail(Spout):
    """Nothing is logged for a fail."""

    def log(self, text: str) -> None:
        if not self.running or self.running[-1].name != "fail":
            super().log(text)


child("spout-composed-ids", "SPOUT-12", NEXT, conf=script([emit(id="e\u0301")]))(
    "Ids are composed as Unicode has it, so that letter and accent become one.",
    on(Spout, "emitted").gives(
        lambda found: (
            {**found, "id": unicodedata.normalize("NFC", found["id"])} if isinstance(found.get("id"), str) else found
        )
    ),
)
child("spout-nothing-is-not-emitted", "SPOUT-03", NEXT, conf=script([{"op": "emit", "tuple": []}]))(
    "A tuple without values is not emitted.", on(Spout, "emit").skips(when=lambda step: not step["tuple"])
)
child("spout-log-ends-at-nul", "SPOUT-15", NEXT, conf=script([{"op": "log", "msg": "a\0b"}]))(
    "A log ends where a NUL stands in it.", on(Spout, "log").takes(text=lambda text: text.partition("\0")[0])
)


@child("spout-ids-by-text", "SPOUT-12", ACKED, conf=script([emit(1, id=7), emit(2, id="7")]))
class IdsByText(Spout):
    """Ids in flight are kept by their text: of the number 7 and the text "7" user code is told the later one."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.flying: dict[str, Any] = {}

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        if "id" in message:
            self.flying[str(message["id"])] = message["id"]
        return message

    def callback(self, command: str, message: dict[str, Any]) -> Callback:
        if command in ("ack", "fail"):
            name = message.get("id")
            message = {**message, "id": self.flying.pop(str(name), name)}
        yield from super().callback(command, message)


child("spout-looks-for-next", "SPOUT-03", ACKED, conf=script([emit(1, id="next")]), accept="SPOUT-12 SPOUT-16")(
    'A message in which "next" stands somewhere is a next, also an ack of that id.',
    on(Spout, "asked").takes(message=lambda message: {"command": "next"} if message.get("id") == "next" else message),
)
