"""Faulty bolts: what comes while they wait for task ids, and heartbeats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impls.references.storm.child import HEARTBEAT, Bolt, Running
from impls.references.storm.freedoms import Switches
from impls.references.storm.wire import BadMessage
from strategies.storm.writer import Writer
from tests.mutants.faults import on
from tests.mutants.storm_kit import ACK, beat, both, child, emit, plain, told


def _meanwhile(*more: Any, tuples: int = 1) -> Any:
    def play(w: Writer) -> None:
        w.script([emit(), ACK])
        for n in range(tuples):
            w.tuple([n])
        for one in more:
            one(w)
        w.lists()

    return play


child("bolt-drops-meanwhile", "BOLT-26", _meanwhile(), accept="BOLT-18")(
    "A tuple that comes while it waits for task ids is lost.",
    on(Bolt, "asked").skips(when=lambda self, message: self.running and not self.is_heartbeat(message)),
)


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


child("bolt-tuple-for-list", "BOLT-18", _meanwhile(), accept="BOLT-26 BOLT-09")(
    "What comes while it waits is taken for the list.",
    on(Bolt, "asked").instead(
        lambda self, message: self.got_ids(self.waiting.popleft(), [message.get("task")]),
        when=lambda self, message: self.waiting and not self.is_heartbeat(message),
    ),
)
child("bolt-no-empty-list", "BOLT-19", both(*[told(emit(n), ACK) for n in range(5)]), accept="BOLT-18 BOLT-26 BOLT-09")(
    "An empty list is none.", on(Bolt, "ids").skips(when=lambda ids: not ids)
)


@child("bolt-old-list", "BOLT-18", told(emit(1), emit(2), ACK))
class OldList(Bolt):
    """The second emit gets the list of the first."""

    kept: list[Any] | None = None

    def got_ids(self, one: Running | None, ids: list[Any]) -> None:
        self.kept = self.kept or ids
        super().got_ids(one, self.kept)


child("bolt-short-list", "BOLT-18", both(*[told(emit(n), ACK) for n in range(3)]))(
    "Of a list only the first number is read.", on(Bolt, "got_ids").takes(ids=lambda ids: ids[:1])
)
child("bolt-no-beat", "HB-03", beat, accept="HB-06")("Heartbeats are not answered.", on(Bolt, "heartbeat").skips())
child("bolt-beat-twice", "HB-04", both(beat, beat))("Heartbeats are answered twice.", on(Bolt, "heartbeat").repeats())
child("bolt-acks-beat", "HB-04", beat)(
    "Heartbeats are acked, too.", on(Bolt, "heartbeat").after(lambda self, message: self.settle("ack", message["id"]))
)
child("bolt-shows-beat", "HB-04", beat, accept="HB-03")(
    "User code sees heartbeats.",
    on(Bolt, "heartbeat").before(lambda self, message: self.note({"call": "process", **message})),
)


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


child("bolt-late-beat", "HB-07", _meanwhile(beat), level="SHOULD", switches=Switches(patient=True))(
    "Heartbeats wait with the tuples.", Bolt
)
child("bolt-beat-by-stream", "HB-05", plain(1, near=("__heartbeat", 4)), accept="BOLT-26")(
    "A heartbeat is known by its stream alone.",
    on(Bolt, "is_heartbeat").instead(lambda message: bool(message.get("stream") == HEARTBEAT)),
)
child("bolt-beat-by-prefix", "HB-05", plain(near=("__heartbeat2", 2)), accept="BOLT-26 BOLT-28")(
    "A heartbeat is known by the beginning of its stream, if it is empty.",
    on(Bolt, "is_heartbeat").instead(
        lambda message: str(message.get("stream")).startswith(HEARTBEAT) and not message.get("tuple")
    ),
)
child("bolt-beat-by-task", "EXT-10", plain(60, near=("__tick", -1)), ext="x-tick", accept="HB-05 BOLT-26")(
    "A heartbeat is known by its task alone.",
    on(Bolt, "is_heartbeat").instead(lambda message: bool(message.get("task") == -1)),
)
child("bolt-beat-by-task-alone", "HB-05", plain(60, near=("default", -1)), accept="BOLT-26")(
    "A heartbeat is known by its task alone, where the text knows no ticks.",
    on(Bolt, "is_heartbeat").instead(lambda message: bool(message.get("task") == -1)),
)


_tick = plain(60, near=("__tick", -1))


@child("bolt-beat-by-task-meanwhile", "EXT-10", _meanwhile(_tick, tuples=0), ext="x-tick", accept="HB-05 BOLT-26")
class BeatByTaskMeanwhile(Bolt):
    """While it waits for task ids a heartbeat is known by its task alone."""

    def is_heartbeat(self, message: Mapping[str, Any]) -> bool:
        return super().is_heartbeat(message) or (bool(self.waiting) and message["task"] == -1)


child("bolt-beat-comp", "HB-03", lambda w: w.heartbeat(1), accept="HB-06 HB-04 INV-CHILD-02")(
    "A heartbeat has a component.",
    on(Bolt, "is_heartbeat").gives(lambda message, found: found and message.get("comp") is not None),
)


@child("bolt-null-comp", "BOLT-28", plain(1, comp=None), accept="BOLT-26")
class NullComp(Bolt):
    """A tuple needs a component."""

    def check(self, message: Any) -> None:
        super().check(message)
        if message.get("comp") is None and not self.is_heartbeat(message):
            raise BadMessage("no comp")


def _beats(w: Writer) -> None:
    for n in range(12):
        w.heartbeat(n)
        w.wait()


child("bolt-twelfth-beat", "HB-06", _beats, accept="HB-03")(
    "Every twelfth heartbeat is not answered.", on(Bolt, "heartbeat").skips(when=lambda calls: calls % 12 == 0)
)
child("bolt-queue-of-ten", "BOLT-26", _meanwhile(tuples=12), accept="BOLT-18")(
    "While it waits for task ids ten tuples are kept, and no more.",
    on(Bolt, "asked").skips(when=lambda self, message: not (self.is_heartbeat(message) or len(self.queue) < 10)),
)


def _behind_queued(w: Writer) -> None:
    for _ in range(2):
        w.script([emit(), ACK])
    w.list_and_tuple()
    w.lists()


@child("bolt-drops-behind-queued", "BOLT-26", _behind_queued, accept="BOLT-18")
class DropsBehindQueued(Bolt):
    """A tuple is lost that comes while one waits for its task ids which had to wait for its turn itself."""

    queued = False

    def asked(self, message: dict[str, Any]) -> None:
        self.queued = self.queued and bool(self.running)
        if not self.queued or self.is_heartbeat(message):
            super().asked(message)

    def next(self) -> None:
        self.queued = bool(self.queue)
        super().next()


@child("bolt-beats-in-a-flag", "HB-06", _meanwhile(beat, beat), accept="HB-03 HB-07")
class BeatsInAFlag(Bolt):
    """Heartbeats that come while it waits for task ids are answered behind the list, all of them by one sync."""

    flag = False

    def heartbeat(self, message: Any) -> None:
        if self.waiting:
            self.flag = True
        else:
            super().heartbeat(message)

    def got_ids(self, one: Running | None, ids: list[Any]) -> None:
        flag, self.flag = self.flag, False
        if flag:
            self.say({"command": "sync"})
        super().got_ids(one, ids)
