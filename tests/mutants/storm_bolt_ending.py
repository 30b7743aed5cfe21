"""Faulty bolts: how they end, what they do when user code raises, and invalid input."""

from __future__ import annotations

import contextlib
import re
from typing import Any

from impls.references.storm.child import Bolt, Running
from impls.references.storm.freedoms import Switches
from impls.references.storm.wire import BadMessage, parse
from strategies.storm.misuse import ROWS
from strategies.storm.writer import Writer
from tests.mutants.faults import on
from tests.mutants.storm_kit import ACK, RAISE, both, child, emit, plain, settle, told

child("bolt-deaf", "END-01", plain(1), level="SHOULD", smoke=False)(
    "The end of STDIN changes nothing.", on(Bolt, "at_end").skips()
)


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


child("bolt-raise-open", "INV-CHILD-15", told(RAISE), accept="BOLT-09")(
    "When user code raises nothing happens.", on(Bolt, "raised").instead(lambda self: self.next())
)


child("bolt-raise-fails-anyway", "BOLT-08", told(ACK, RAISE), accept="INV-CHILD-15")(
    "When user code raises behind the ack of its tuple, that is failed as well.",
    on(Bolt, "raised").before(lambda self, one: self.done.discard(one.name)),
)


@child("bolt-raise-acks", "INV-CHILD-15", told(RAISE), accept="BOLT-06 BOLT-08 BOLT-20")
class RaiseAcks(Bolt):
    """When user code raises the tuple is acked."""

    def raised(self, one: Running) -> None:
        self.settle("ack", one.name)
        self.next()


@child("bolt-pid-anyway", "INV-CHILD-01", lambda w: ROWS["INV-CHILD-01"](w, 3), bare=True)
class PidAnyway(Bolt):
    """The process id is said although its file could not be made."""

    def register(self, folder: str) -> None:
        with contextlib.suppress(OSError):
            self.touch(folder, str(self.pid))


def _garbage(w: Writer) -> None:
    w.tuple([1])
    ROWS["INV-CHILD-02"](w, 0)


child("bolt-answers-garbage", "INV-CHILD-02", _garbage, switches=Switches(unknown="skip"), accept="BOLT-08 BOLT-06")(
    "What is no JSON is answered by an ack of an id that is made up.",
    on(Bolt, "skipped").instead(lambda self: self.settle("ack", "0000")),
)
child("bolt-makes-up-ids", "INV-CHILD-03", lambda w: ROWS["INV-CHILD-03"](w, 0), switches=Switches(unknown="skip"))(
    "A tuple without an id gets one.", on(Bolt, "asked").takes(message=lambda message: {"id": "None", **message})
)


@child("bolt-number-id-text", "INV-CHILD-04", lambda w: ROWS["INV-CHILD-04"](w, 3), accept="BOLT-06 BOLT-07")
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


@child("bolt-raises-behind-the-ack-of-another", "INV-CHILD-15", both(told(), told(settle("ack", 0), RAISE)),
       accept="BOLT-09")  # fmt: skip
class RaisesBehindTheAckOfAnother(Bolt):
    """A tuple is not failed whose user code has settled another one before it raised."""

    def settle(self, op: str, name: Any) -> None:
        super().settle(op, name)
        if op == "ack":
            self.done.update(one.name for one in self.running)
