"""Faulty bolts: the ids of their tuples, and where their emits go."""

from __future__ import annotations

from typing import Any

from impls.references.storm.child import Bolt, Callback, Running
from strategies.storm.writer import Writer
from tests.mutants.faults import on, without
from tests.mutants.storm_kit import ACK, FAIL, both, child, emit, plain, settle, told

child("bolt-number-ids", "BOLT-07", plain(1), smoke=False, accept="BOLT-06")(
    "Ids go back as numbers.",
    on(Bolt, "settle").instead(lambda self, op, name: self.say({"command": op, "id": int(name)})),
)


def _tuples(count: int) -> Any:
    def play(w: Writer) -> None:
        for n in range(count):
            w.tuple([n])

    return play


child("bolt-float-ids", "BOLT-07", _tuples(11), accept="BOLT-06 BOLT-08 BOLT-09", smoke=False)(
    "Ids go through a double.", on(Bolt, "settle").takes(name=lambda name: str(int(float(name))))
)
child("bolt-narrow-ids", "BOLT-06", _tuples(16), accept="BOLT-07 BOLT-08 BOLT-09", smoke=False)(
    "Ids are kept in 32 bits.",
    on(Bolt, "settle").takes(name=lambda name: str((int(name) + (1 << 31)) % (1 << 32) - (1 << 31))),
)
child("bolt-own-id", "BOLT-06", both(told(), told(settle("fail", 0), ACK)), accept="BOLT-08 BOLT-26 BOLT-09")(
    "fail names the tuple that is being worked on, whichever is meant.",
    on(Bolt, "obey").takes(
        steps=lambda steps, name: [{**step, "id": name} if step.get("op") == "fail" else step for step in steps]
    ),
)


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


child("bolt-no-anchors", "BOLT-10", told(emit(anchor=True), ACK), accept="BOLT-12")(
    "anchors are left out.", on(Bolt, "emitted").gives(lambda found: without(found, "anchors"))
)


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


child("bolt-always-anchored", "BOLT-12", told(emit(), ACK))(
    "Every emit is anchored.", on(Bolt, "emitted").gives(lambda name, found: {**found, "anchors": [name]})
)


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


child("bolt-text-anchor", "BOLT-10", told(emit(anchor=True), ACK))(
    "anchors are one text.", on(Bolt, "anchors").instead(lambda name: name)
)
child("bolt-no-stream", "BOLT-13", told(emit(stream="second"), ACK))(
    "The stream is left out.", on(Bolt, "emitted").gives(lambda found: without(found, "stream"))
)


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


child("bolt-no-task", "BOLT-14", told(emit(task=9), ACK))(
    "A direct emit is none.", on(Bolt, "emitted").gives(lambda found: without(found, "task"))
)


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


child("bolt-waits-for-direct", "BOLT-26", told(emit(task=9), ACK), accept="BOLT-14 BOLT-09 BOLT-18")(
    "It waits for the task ids of a direct emit, too.", on(Bolt, "wants_ids").instead(lambda: True)
)
child("bolt-waits-anyway", "EXT-04", told(emit(need_task_ids=False), ACK), ext="x-need-task-ids", accept="BOLT-26")(
    "It waits for task ids although it said that it needs none.",
    on(Bolt, "wants_ids").instead(lambda message: message.get("task") is None),
)
