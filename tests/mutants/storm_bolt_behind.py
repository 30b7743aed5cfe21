"""Faulty bolts and spouts: what comes behind a message that could not be taken, or with an id that was used before."""

from __future__ import annotations

from typing import Any

from impls.references.storm.child import Bolt, Child, Spout
from impls.references.storm.freedoms import Switches
from impls.references.storm.wire import BadMessage, Lines, parse
from specs.storm.frames import Text
from strategies.storm.writer import Writer
from tests.mutants.storm_kit import child

SKIP = Switches(unknown="skip")


def _again(w: Writer) -> None:
    name = w.tuple(["first"])
    w.wait()
    w.tuple(["second"], again=name)


@child("id-used-again-is-a-repeat", "BOLT-26", _again, level="SHOULD")
class IdUsedAgainIsARepeat(Bolt):
    """A tuple whose id was seen before is taken for a repeat, and dropped."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.known: set[Any] = set()

    def process(self, message: dict[str, Any]) -> None:
        if not self.is_heartbeat(message):
            if message["id"] in self.known:
                return
            self.known.add(message["id"])
        super().process(message)


class _Keeping(Lines):
    """Lines that are no message stay in front of the next message."""

    def __init__(self, child: Child) -> None:
        super().__init__(self.taken)
        self.child, self.kept = child, list[bytes]()

    def taken(self, lines: list[bytes]) -> None:
        """The lines of one message."""
        kept, self.kept = self.kept, []
        try:
            parse(lines)
        except BadMessage:
            self.kept = lines
        self.child.lines_read(kept + lines)


def _behind(w: Writer) -> None:
    w.say(Text(b"no json", "no-json"))
    w.heartbeat()
    w.tuple(["behind"])


@child("junk-stays-in-front", "INV-CHILD-02", _behind, switches=SKIP, level="SHOULD", accept="HB-03")
class JunkStaysInFront(Bolt):
    """What is no JSON stays in front of the next message."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.lines = _Keeping(self)


def _next_behind(w: Writer) -> None:
    w.say(Text(b"no json", "no-json"))
    w.command("next")
    w.wait()


@child("junk-stays-in-front-of-next", "INV-CHILD-02", _next_behind, switches=SKIP, level="SHOULD")
class JunkStaysInFrontOfNext(Spout):
    """What is no JSON stays in front of the next command."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.lines = _Keeping(self)


class _Careless(Bolt):
    """Notes down that something was skipped."""

    bad = False

    def skipped(self) -> None:
        self.bad = True


@child("tuple-behind-junk-lost", "INV-CHILD-02", _behind, switches=SKIP, level="SHOULD", accept="INV-CHILD-03")
class TupleBehindJunkLost(_Careless):
    """The tuple behind what is no JSON is skipped with it."""

    def process(self, message: dict[str, Any]) -> None:
        if self.bad and not self.is_heartbeat(message):
            self.bad = False
        else:
            super().process(message)


@child("tuples-behind-junk-lost", "INV-CHILD-02", _behind, switches=SKIP, level="SHOULD", accept="INV-CHILD-03")
class TuplesBehindJunkLost(_Careless):
    """Behind what is no JSON heartbeats are answered, and no tuple is worked on."""

    def process(self, message: dict[str, Any]) -> None:
        if not self.bad or self.is_heartbeat(message):
            super().process(message)
