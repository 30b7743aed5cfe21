"""Builds a conversation with a host step by step: the tester calls it and plays its child."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specs.plan import Control, Plan, Ref, Say, SendBytes, Step, Wait
from specs.storm.bundle import context
from specs.storm.frames import Message, Style, Text
from specs.storm.states import Config
from strategies.common import Op
from strategies.storm import texts
from strategies.storm.writer import JOIN, NAMES, PIECES, PLAIN

SYNC = {"command": "sync"}
TASK_IDS: tuple[list[int], ...] = ([4], [], [4, 5], [9], [1], [2, 4, 5], [5], list(range(1, 60)))
"""Lists that are told apart."""


def started(conf: Mapping[str, Any]) -> Control:
    """The host is told to start its child."""
    return Control(0, "start", {"conf": dict(conf), "context": context()})


def lively() -> Say:
    """The answer to activate, if that comes."""
    return Say(0, Message(SYNC, Ref("command", "activate")))


class Writer:
    """One conversation with a host. With `hurry` the child does not wait between what it says."""

    def __init__(self, config: Config, *, hurry: bool = False) -> None:
        self.config = config
        self.bolt = config.child == "bolt"
        self.hurry = hurry
        self.steps: list[Step] = []
        self.features: set[str] = set()
        self.ways = PLAIN
        self.serial = 0
        self.pieces = PIECES
        self.tuples = 0
        self.bared = False
        self.open: list[int] = []
        self.names: list[Any] = []
        self.settled: list[Any] = []  # message ids that may be emitted again
        self.made = 0
        self.first = 0  # the place of the first id among those with traps
        self._first = True

    def plan(self) -> Plan:
        """What was written."""
        return Plan(tuple(self.steps), frozenset(self.features))

    # -- as the caller -------------------------------------------------------------------------------------------------

    def begin(self, conf: Mapping[str, Any] | None = None, *, late: int = 0, pid: Any = None, early: int = 0) -> None:
        """Start the host; the child says its process id, `late` milliseconds after the setup. A bolt's host is given so
        many tuples before that (`early`)."""
        self.steps.append(started(conf or {}))
        self.steps.append(Control(0, "touch", Ref("pidDir")))
        for _ in range(early if self.bolt else 0):
            self.tuple(["early"], now=True)
        if late:
            self.wait()
            self.wait(late)
        self.say(pid if pid is not None else Message({"pid": Ref("pid")}))
        if self.config.has("x-activate"):
            self.wait(0)
            self.steps.append(lively())
        self.task_ids(0)

    def task_ids(self, which: int, *, now: bool = False) -> None:
        """What following emits get."""
        self.steps.append(Control(0, "task_ids", {"ids": TASK_IDS[which % len(TASK_IDS)]}, "now" if now else "turn"))
        self._first = self._first or not now

    def call(self, op: str, *, now: bool = False, **given: Any) -> None:
        """A tuple, or a call of the spout's interface."""
        self.steps.append(Control(0, "call", {"op": op, **given}, "now" if now else "turn"))
        if self.config.has("x-activate") and not self.bolt and not now:
            self.wait()
            self.steps.append(lively())
        self._first = True

    def tuple(self, values: list[Any], origin: int = 0, *, now: bool = False) -> int:
        """A tuple; its number."""
        number = self.tuples
        self.tuples += 1
        comp, task = texts.COMPONENTS[origin % len(texts.COMPONENTS)]
        stream = texts.STREAMS[origin % len(texts.STREAMS)] or "default"
        self._given(comp, stream, task, [self.tag(), *values], now=now)
        return number

    def bare(self, *, now: bool = False) -> None:
        """A tuple without values, of a stream that has no fields. A second one could not be told from it."""
        if self.bared:
            self.tuple([], now=now)
            return
        self.bared = True
        self.tuples += 1
        self._given("words", "n0", 1, [], now=now)

    def twins(self, values: list[Any], origin: int = 0, *, now: bool = False) -> None:
        """Two tuples that are alike in all but their ids. They stay open: nobody could say which of them is settled."""
        first = self.tuple(values, origin, now=now)
        self.serial -= 1
        for number in (first, self.tuple(values, origin, now=now)):
            self.open.remove(number)

    def _given(self, comp: str, stream: str, task: int, values: list[Any], *, now: bool) -> None:
        number = self.tuples - 1
        name = texts.tuple_id(number, self.first)
        self.call("tuple", now=now, id=name, comp=comp, stream=stream, task=task, tuple=values)
        self.open.append(number)

    def close(self, *, polite: bool = True) -> None:
        """The component is over; a polite child ends with its STDIN."""
        self.wait()
        self.steps.append(Control(0, "close"))
        if polite:
            self.steps.append(Control(0, "exit", 0))

    # -- as the child --------------------------------------------------------------------------------------------------

    def say(self, frame: Message | Text, *, now: bool = False) -> None:
        """A message of the child."""
        first, self._first = self._first, False
        when = "now" if now or (self.hurry and not first) else "turn"
        ways = self.ways
        style: Style | None = None
        cuts: tuple[int, ...] = ()
        if isinstance(frame, Message):
            for bit, name in NAMES:
                if ways.bits & bit:
                    self.features.add(name)
            if ways.bits & 8 and isinstance(frame.value, Mapping):
                name, value = texts.MEMBERS[ways.how % len(texts.MEMBERS)]
                frame = Message({**frame.value, name: value}, frame.needs)
            if ways.bits & JOIN and ways.how % 2 and not first:
                when = "join"
            style, cuts = ways.style, ways.cuts
            cuts, self.pieces = cuts[: max(3, self.pieces)], self.pieces - len(cuts)
        self.steps.append(Say(0, frame, cuts, when, style))

    def emit(self, values: list[Any], *, now: bool = False, **more: Any) -> None:
        """An emit."""
        self.say(Message({"command": "emit", **more, "tuple": [self.tag(), *values]}), now=now)

    def settle(self, op: str, number: int, *, now: bool = False) -> None:
        """ack or fail."""
        self.say(Message({"command": op, "id": Ref("tuple", number)}), now=now)

    def log(self, text: str, *, now: bool = False, **more: Any) -> None:
        """A log."""
        self.say(Message({"command": "log", "msg": text, **more}), now=now)

    def sync(self, *, now: bool = False) -> None:
        """A sync."""
        self.say(Message(SYNC), now=now)

    def beat(self) -> None:
        """An answer to the heartbeats that came."""
        if self.bolt:
            self.steps.append(Say(0, Message(SYNC, self.pending()), upto=3))

    def pending(self) -> Ref:
        """Known while a heartbeat is unanswered."""
        return Ref("heartbeat")

    def tag(self) -> str:
        """A value that no other tuple has."""
        self.serial += 1
        return f"t{self.serial}"

    def crlf(self, frame: Text) -> None:
        """A message whose lines end with CR LF."""
        self.steps.append(Say(0, frame, style=Style(eol=b"\r\n")))

    def ack_octets(self, number: int, behind: bytes) -> None:
        """An ack up to the id of a tuple, and what stands behind that."""
        parts = (b'{"command":"ack","id":"', Ref("tuple", number), behind)
        self.steps.append(SendBytes(0, parts))

    def twice(self, number: int, commands: Sequence[str]) -> None:
        """A message with two commands."""
        head = f'{{"command":"{commands[0]}","command":"{commands[1]}","id":"'.encode()
        self.steps.append(SendBytes(0, (head, Ref("tuple", number), b'"}\nend\n')))

    # -- other steps ---------------------------------------------------------------------------------------------------

    def wait(self, ms: int = 0) -> None:
        """Let time pass."""
        self.steps.append(Wait(ms))

    def do(self, name: str, value: Any = None) -> None:
        """Something else that a child does."""
        self.steps.append(Control(0, name, value))

    def stderr(self, size: int) -> None:
        """So many octets to STDERR."""
        self.features.add("stderr")
        self.wait()
        self.do("stderr", size)

    def blurt(self, data: bytes) -> None:
        """Octets."""
        self.steps.append(SendBytes(0, data, "turn" if self._first else "now"))
        self._first = False


def emitting(w: Writer, op: Op, n: int = 0) -> None:
    """One emit of a bolt or a spout, of whatever kind."""
    _, b, c, d, e = op.args
    where, how = texts.nth(d, n), texts.nth(e, n)
    more: dict[str, Any] = {}
    if w.bolt:
        if (b + n) % 3 and w.open:
            chosen = {w.open[(c + k) % len(w.open)] for k in range(1 + d % 3)}
            more["anchors"] = [Ref("tuple", number) for number in sorted(chosen)]
            if len(chosen) == 1 and w.config.has("x-anchor-string") and c % 2:
                more["anchors"] = more["anchors"][0]
        elif (b + n) % 2:
            more["anchors"] = ([], None)[c % 2]
    elif (b + n) % 3 and how % 4 == 3 and w.settled:
        more["id"] = w.settled.pop(0)
        w.names.append(more["id"])
    elif (b + n) % 3 and w.made < len(texts.MESSAGE_IDS):
        more["id"] = texts.message_id(w.made, w.first)
        w.made += 1
        w.names.append(more["id"])
    stream = texts.STREAMS[where % len(texts.STREAMS)]
    if stream is not None or e % 3 == 1:
        more["stream"] = stream
    if how % 5 == 4 and stream != "third":  # which nobody gets
        more["task"] = texts.TASKS[c % len(texts.TASKS)]
        if w.config.has("x-need-task-ids") and how // 5 % 3 == 2:  # it says nothing that is not so anyway
            more["need_task_ids"] = False
    elif w.config.has("x-need-task-ids") and how % 4 > 1:
        more["need_task_ids"] = how % 4 == 2
    elif w.config.has("x-task0") and how % 7 == 1:
        more["task"] = (0, None)[c % 2]
    w.emit([texts.value(c + n)], **more)


def contrasting(w: Writer, n: int) -> None:
    """An emit that says whatever one may say, and right behind it one that says nothing: none of it is said of that."""
    more: dict[str, Any] = {"stream": texts.STREAMS[1 + n % 2]}
    if n // 2 % 3 == 0 or not w.config.has("x-need-task-ids"):
        more["task"] = texts.TASKS[n % len(texts.TASKS)]
    else:
        more["need_task_ids"] = False
    if w.bolt and w.open:
        more["anchors"] = [Ref("tuple", w.open[n % len(w.open)])]
    elif not w.bolt and w.made < len(texts.MESSAGE_IDS):
        more["id"] = texts.message_id(w.made, w.first)
        w.made += 1
        w.names.append(more["id"])
    w.emit([texts.value(n)], **more)
    w.emit([texts.value(n + 1)])


def logging(w: Writer, n: int) -> None:
    """One log."""
    more: dict[str, Any] = {"level": (0, 1, 2, 3, 4, 7, -1)[n % 7]} if w.config.has("x-loglevel") and n % 3 else {}
    w.log(f"{w.tag()} {texts.LOGS[n % len(texts.LOGS)]}", **more)
