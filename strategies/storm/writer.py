"""Writes plans in which the tester is the host of a child: setup, tuples or commands, lists, heartbeats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from specs.plan import Close, Control, Plan, Ref, Say, SendBytes, Step, Wait
from specs.storm.bundle import ANSWERS, context
from specs.storm.frames import Message, Style, Text
from specs.storm.states import Config
from strategies.storm import texts

ORDER, ESCAPE, LINES, MEMBERS, CUTS, JOIN = 1, 2, 4, 8, 16, 32
"""Ways of writing that must not matter, as bits."""
CUT_UP = 400
"""Octets of a message that may be sent in tiny pieces."""
END_CUTS = (-1, -4, -5)
"""Places in the closing line, from its end."""
PIECES = 600
"""Tiny pieces in one plan: each costs as much as a message."""
ANYHOW = ORDER | ESCAPE | LINES | MEMBERS | CUTS
NAMES = (
    (ORDER, "order"),
    (ESCAPE, "escape"),
    (LINES, "lines"),
    (MEMBERS, "members"),
    (CUTS, "cuts"),
    (JOIN, "together"),
)


@dataclass(frozen=True, slots=True)
class Ways:
    """How one message is written: bits of the ways, and a number that says how exactly."""

    bits: int = 0
    how: int = 0

    @property
    def style(self) -> Style | None:
        """How the frame is encoded."""
        if not self.bits & (ORDER | ESCAPE | LINES):
            return None
        return Style(
            order=1 + self.how % 7 if self.bits & ORDER else 0,
            escape=("ascii", "all", "slash")[self.how % 3] if self.bits & ESCAPE else "",
            lines=1 + self.how % 4 if self.bits & LINES else 0,
        )

    @property
    def cuts(self) -> tuple[int, ...]:
        """Where the octets are cut."""
        if not self.bits & CUTS:
            return ()
        first = 1 + self.how * 3 % 97
        if self.how % 4 == 3:  # all over the message: no character of several octets escapes it
            return tuple(range(first, first + CUT_UP, 1 + self.how % 5))
        return (first, first + 1, first + 1 + self.how % 40, END_CUTS[self.how // 4 % len(END_CUTS)])


PLAIN = Ways()


OTHER = "1"
"""A process that is alive and is not the child."""


class Writer:
    """One conversation with a child. With `hurry` it does not wait for its turns."""

    def __init__(self, config: Config, *, hurry: bool = False) -> None:
        self.config = config
        self.when = "now" if hurry else "turn"
        self.steps: list[Step] = []
        self.features: set[str] = set()
        self.ways = PLAIN
        self.serial = 0
        self.ids = 0
        self.first = 0  # the place of the first id among those with traps
        self.pieces = PIECES
        self.open: list[str] = []
        self.active = False  # what a spout was told last

    def plan(self) -> Plan:
        """What was written."""
        return Plan(tuple(self.steps), frozenset(self.features))

    def say(self, frame: Message | Text, *, upto: int = 1, when: str = "") -> None:
        """One message."""
        ways = self.ways
        for bit, name in NAMES:
            if ways.bits & bit and not (bit == JOIN and upto > 1):
                self.features.add(name)
        if ways.bits & MEMBERS and isinstance(frame, Message) and isinstance(frame.value, Mapping):
            name, value = texts.MEMBERS[ways.how % len(texts.MEMBERS)]
            frame = Message({**frame.value, name: value}, frame.needs)
        if ways.bits & JOIN and ways.how % 2 and upto == 1 and not when:
            when = "join"
        style, cuts = (ways.style, ways.cuts) if isinstance(frame, Message) else (None, ())
        cuts, self.pieces = cuts[: max(3, self.pieces)], self.pieces - len(cuts)
        self.steps.append(Say(0, frame, cuts, when or self.when, style, upto))

    def setup(self, conf: Mapping[str, Any] | None = None, *, folder: int = 0, later: bool = True) -> None:
        """The directory for process ids, where another component of the worker may have its file; and the setup."""
        name = texts.FOLDERS[folder % len(texts.FOLDERS)]
        self.steps.append(Control(0, "folder", [name, OTHER] if folder % 2 else name))
        told = {"conf": dict(conf or {}), "pidDir": Ref("folder", ""), "context": context(later)}
        self.say(Message(told), when="turn")
        self.steps.append(Wait(0))  # in a hurry too: nothing may be said before the process id has come

    # -- to bolts ------------------------------------------------------------------------------------------------------

    def next_id(self) -> str:
        """An id that was not used."""
        self.ids += 1
        return texts.tuple_id(self.ids - 1, self.first)

    def tuple(
        self,
        values: list[Any],
        *,
        origin: int = 0,
        near: tuple[str, int] | None = None,
        comp: Any = 0,
        again: str | None = None,
    ) -> str:
        """A tuple; its id, which may be that of a tuple that is settled, used `again`."""
        name = again or self.next_id()
        component, task = texts.COMPONENTS[origin % len(texts.COMPONENTS)]
        stream = texts.STREAMS[origin % len(texts.STREAMS)] or "default"
        if len(values) != 2:
            stream = f"n{len(values)}"
        if near is not None:
            stream, task = near
        comp = component if comp == 0 else comp
        self.say(Message({"id": name, "comp": comp, "stream": stream, "task": task, "tuple": values}))
        return name

    def script(self, steps: list[Mapping[str, Any]], *, origin: int = 0) -> str:
        """A tuple that tells user code what to do; its id."""
        return self.tuple(["wireproof", list(steps)], origin=origin)

    def heartbeat(self, how: int = 0) -> None:
        """A heartbeat."""
        comp = ("1", None, "__system")[how % 3]
        self.say(Message({"id": self.next_id(), "comp": comp, "stream": "__heartbeat", "task": -1, "tuple": []}))

    def lists(self, how: int = 0, *, upto: int = ANSWERS) -> None:
        """Task ids for every emit that waits for them, as they come."""
        self.say(Message(Ref("ids", how % 8)), upto=upto)

    def list_and_tuple(self, how: int = 0) -> None:
        """The task ids that are waited for and a tuple in one write."""
        self.features.add("together")
        self.say(Message(Ref("ids", how % 8)), when="join")
        when, self.when = self.when, "now"
        self.tuple([self.tag()], origin=how)
        self.when = when

    def tag(self) -> str:
        """A value that no other tuple has."""
        self.serial += 1
        return f"t{self.serial}"

    # -- to spouts -----------------------------------------------------------------------------------------------------

    def command(self, name: str, **more: Any) -> None:
        """A command. A spout that knows `activate` is told that before its first next, and again behind `deactivate`,
        as STORM-EXT-02 asks of hosts."""
        if name == "next" and self.config.has("x-activate") and not self.active:
            self.say(Message({"command": "activate"}), when="turn")
            self.wait()
            self.active = True
        elif name in ("activate", "deactivate"):
            self.active = name == "activate"
        self.say(Message({"command": name, **more}))

    # -- other steps ---------------------------------------------------------------------------------------------------

    def wait(self, ms: int = 0) -> None:
        """Let time pass; nothing but the turn when it is 0."""
        if ms or self.when == "turn":
            self.steps.append(Wait(ms))

    def blurt(self, data: bytes, when: str = "") -> None:
        """Octets."""
        self.steps.append(SendBytes(0, data, when or self.when))

    def eof(self, *, at_once: bool = False) -> None:
        """The end of STDIN."""
        self.steps.append(Close(0, "eof-now" if at_once else "eof"))
