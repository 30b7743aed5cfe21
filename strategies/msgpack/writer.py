"""Builds a plan of requests step by step, remembering which ids are open, so that it stays legal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from specs.msgpack.format import WIDEST
from specs.msgpack.frames import Frame, encode, notification, request
from specs.msgpack.states import Config
from specs.plan import Close, Plan, Say, SendBytes, Step, Wait
from strategies.msgpack.older import older

IDS: Sequence[int] = (
    0, 1, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32 - 2, 2, 2**16 + 1, 32, 2**24,
)  # fmt: skip
BUFFERS = (256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
"""Octets that are likely to be read at once."""
CUTS, WIDE, JOIN = 1, 2, 4
"""Ways of writing a message that must not matter; a plan's head says which it uses."""


@dataclass(slots=True)
class Line:
    """One connection of the plan: ids that were used on it, and those that may be open."""

    number: int
    used: set[int] = field(default_factory=set)
    open: set[int] = field(default_factory=set)
    last: int = -1


class Writer:
    """Collects steps. `hurry`: say everything without waiting for turns. `wire`: the ways of writing that are used."""

    def __init__(self, config: Config, *, hurry: bool = False, wire: int = 0, slots: int = 3) -> None:
        self.config, self.wire, self.slots = config, wire, slots
        self.hurry = hurry
        self.steps: list[Step] = []
        self.features: set[str] = set()
        self.lines: dict[int, Line] = {}
        self._serial = 0
        self._next = 0

    def plan(self) -> Plan:
        """What was collected."""
        return Plan(tuple(self.steps), frozenset(self.features))

    def fresh(self) -> int:
        """A number that this plan has not used."""
        self._serial += 1
        return self._serial

    def line(self, slot: int = 0) -> Line:
        """The connection in a slot, a new one if there is none, or if the server will have ended the one there was."""
        slot %= self.slots
        if slot not in self.lines or self.config.brief:
            self.lines[slot] = Line(self._next)
            self._next += 1
        return self.lines[slot]

    def another(self) -> Line:
        """A connection of its own."""
        line = Line(self._next)
        self._next += 1
        return line

    def identity(self, line: Line, number: int) -> int:
        """An id that is not open on the connection: the next one, one at a boundary, or one used before."""
        which, where = number % 4, number // 4
        if which == 3 and line.used and not self.hurry:
            found = sorted(line.used)[where % len(line.used)]
        elif which == 2:
            found = IDS[where % len(IDS)]
        else:
            found = line.last + 1
        taken = line.used if self.hurry else line.open
        while found in taken or found > IDS[10]:
            found = (found + 1) % (IDS[10] + 1)
        line.used.add(found)
        line.open.add(found)
        line.last = found
        return found

    # -- steps ------------------------------------------------------------------------------------------------------

    def call(
        self, line: Line, method: str, *params: Any, identity: int = 0, style: int = 0, when: str = "",
        cuts: Sequence[int] = (),
    ) -> int:  # fmt: skip
        """A request for a method as this suite calls it, or of any other name; its id."""
        waits = (when or self._when()) == "turn"
        if waits:
            self.turn()
        number = self.identity(line, identity)
        name = self.config.name(method) or method
        self.say(line, request(number, name, *params), style, when, cuts)
        return number

    def notify(self, line: Line, method: str, *params: Any, style: int = 0, when: str = "") -> None:
        """A notification."""
        self.say(line, notification(self.config.name(method) or method, *params), style, when)

    def say(self, line: Line, frame: Frame, style: int = 0, when: str = "", at: Sequence[int] = ()) -> None:
        """A message; `style` is a number that leads to a way of writing it, among those that the plan uses. `at`: it is
        cut there, and written plainly."""
        form, cuts = None, tuple(at)
        if not self.config.raw:
            frame = replace(frame, body=older(frame.body))
        if at:
            self.features.add("cuts")
            self.steps.append(Say(line.number, frame, cuts, when or self._when()))
            return
        if self.wire & WIDE and style % 4 and self.config.raw:
            form = widened(frame, style)
            self.features.add("wide")
        if self.wire & CUTS and style % 8 != 1:
            cuts = pieces(style, len(encode(frame, form)))
            self.features.add("cuts")
        if not when:
            when = "join" if self.wire & JOIN and style % 2 else self._when()
        self.steps.append(Say(line.number, frame, cuts, when, form))

    def blurt(self, line: Line, data: bytes, when: str = "") -> None:
        """Octets as they are."""
        self.steps.append(SendBytes(line.number, data, when or self._when()))

    def begin(self, line: Line, cut: int, identity: int = 0, when: str = "") -> bytes:
        """The first octets of a call, of which `cut` chooses how many; what is left of it."""
        number = self.identity(line, identity)
        data = encode(request(number, self.config.name("echo"), (self.fresh(), "half")), None)
        cut = 1 + cut % (len(data) - 1)
        self.blurt(line, data[:cut], when)
        return data[cut:]

    def turn(self) -> None:
        """From here on everything that was asked before is answered."""
        for line in self.lines.values():
            line.open.clear()

    def wait(self, ms: int = 0) -> None:
        """Wait for our turn, or for so long."""
        self.steps.append(Wait(ms))
        if not ms and not self.hurry:
            self.turn()

    def hang(self, slot: int, how: str = "close") -> None:
        """Close the connection in a slot."""
        line = self.lines.pop(slot % self.slots, None)
        if line is not None:
            self.steps.append(Close(line.number, how))

    def _when(self) -> str:
        return "now" if self.hurry else "turn"


MOST_WIDE = 1 << 17
"""Octets of a message beyond which it is not written in wider forms: what grows by that is no longer what every peer
takes (MP-17)."""


def widened(frame: Frame, style: int) -> int | None:
    """A style in which a message is written in wider forms than are needed; None where it is too large for that."""
    form = WIDEST if style % 4 == 1 else 2 + style
    return form if len(encode(frame, form)) <= MOST_WIDE else None


OCTETS = 300
"""A message of up to so many octets may be cut into each of them: its lengths then come apart from what they are of."""


def pieces(style: int, size: int) -> tuple[int, ...]:
    """Where a message of `size` octets is cut: into octets when it is short, at the end of what may be a buffer when it
    is long, or into two or three pieces."""
    if style % 3 == 0 and size <= (OCTETS if style % 2 else 64):
        return tuple(range(1, size))
    ends = [end + style // 3 % 3 - 1 for end in BUFFERS if end + 1 < size]
    if style % 3 == 1 and ends:
        return (ends[style // 9 % len(ends)],)
    first = 1 + style % max(1, size - 1)
    return tuple(sorted({first, min(size - 1, first + 1 + style % 5), max(1, size - 1 - style % 3)}))
