"""Conversations with a host: the tester calls it and plays its child.

Head numbers: how the conversation ends, how the child writes, how exactly, the setup, and a spare one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.plan import Control, Plan, Ref, Say, SendBytes, Step, Wait
from specs.storm.bundle import context
from specs.storm.frames import Message, Style, Text
from specs.storm.states import Config
from strategies.common import Aim, Op, Program, programs
from strategies.storm import texts
from strategies.storm.writer import ANYHOW, JOIN, NAMES, PIECES, PLAIN, Ways

HEAD = 5
BOLT: Mapping[str, int] = {
    "tuple": 5,
    "emit": 6,
    "settle": 5,
    "log": 1,
    "sync": 1,
    "burst": 2,
    "rest": 1,
    "stderr": 1,
    "many": 1,
    "deaf": 1,
}
SPOUT: Mapping[str, int] = {
    "next": 8, "ack": 3, "fail": 3, "several": 2, "rest": 1, "stderr": 1, "after": 1, "many": 1, "deaf": 1,
}  # fmt: skip
MOST = 32
"""Starting a host and its child takes longer than many ops."""
MANY = (20, 40, 70)
"""So many that what is counted, or held in a place of its own size, comes to its end."""
FULL = 400_000
"""More characters than a pipe and who reads it hold."""
SETTLED_MS = 5
"""After this long most hosts have done what they were told."""
SYNC = {"command": "sync"}
CONTRASTS = 8
"""Of so many emits, or answers, one ends in two emits that have nothing in common."""
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


def sessions(kinds: Mapping[str, int], *, most: int = MOST) -> SearchStrategy[Program]:
    """Legal sessions of `kinds` of ops."""
    return programs(kinds, head=HEAD, most=most, least=0)


def interpret(program: Program, config: Config, *, hurry: bool = False, ways: int = ANYHOW) -> Plan:
    """The plan that a program means; total, and pure."""
    w = Writer(config, hurry=hurry)
    write(w, program, ways)
    w.ways = PLAIN
    w.close(polite=program.head[0] % 4 != 3)
    return w.plan()


def write(w: Writer, program: Program, ways: int = ANYHOW) -> None:
    """The start and the ops."""
    head = program.head
    bits = head[1] & ways if head[1] % 2 else 0
    w.ways = Ways(bits, head[2])
    w.first = head[2] // 8
    early = 2 + head[3] // 16 % 3 if head[3] % 8 == 5 else 0
    w.begin(texts.CONFS[head[3] % len(texts.CONFS)], late=5 if head[3] % 16 == 15 else 0, early=early)
    for serial, op in enumerate(program.ops):
        w.ways = Ways(bits, head[2] + serial)
        (_bolt if w.bolt else _spout)(w, op)


def _common(w: Writer, op: Op) -> None:
    a, b = op.args[:2]
    if op.kind == "rest":
        w.wait(0)
        w.wait((2, 2, 2, 20)[a % 4])
    elif op.kind == "stderr":
        w.stderr((10, 5000, 200_000)[a % 3])
    elif w.config.has("x-error") and b % 2:
        w.say(Message({"command": "error", "msg": f"{w.tag()} {texts.LOGS[a % len(texts.LOGS)]}"}))
    else:
        logging(w, a)


def _bolt(w: Writer, op: Op) -> None:
    a, b, c, _, e = op.args
    if op.kind == "tuple":
        _tuples(w, op)
    elif op.kind == "emit":
        if a % 3 == 0:
            w.wait(0)
            w.task_ids(a // 3, now=w.hurry)
        for n in range(1 + a % 3):
            emitting(w, op, n)
        if b % CONTRASTS == CONTRASTS - 1:
            contrasting(w, c)
    elif op.kind == "settle":
        for n in range(1 + a % 3):
            if w.open:
                w.settle("fail" if (b >> n) % 2 else "ack", w.open.pop((c + n) % len(w.open)))
    elif op.kind == "sync":
        w.sync()
    elif op.kind == "burst":
        _burst(w, op)
    elif op.kind == "many":
        _many(w, op)
    elif op.kind == "deaf":
        _deaf(w, op)
    else:
        _common(w, op)
    if not w.hurry and e % 8 == 7:
        w.beat()


def _tuples(w: Writer, op: Op) -> None:
    """Some tuples, perhaps one without values, or two that are alike."""
    a, b, c, d, e = op.args
    if e % 16 == 15:
        w.bare()
    elif e % 16 == 14:
        w.twins([texts.value(b)], d, now=w.hurry)
    for n in range(1 + a % 3):
        w.tuple([texts.value(b + n * c)], d + n, now=w.hurry and n > 0)


def _burst(w: Writer, op: Op) -> None:
    """Everything at once, tuples while the child talks."""
    a, b, c, d, e = op.args
    w.wait(0)
    for n in range(2 + a % 5):
        kind = (b >> n) % 4
        if kind == 0:
            w.tuple([texts.value(c + n)], d + n, now=True)
        elif kind == 1 and w.open:
            w.settle("fail" if e % 2 else "ack", w.open.pop((c + n) % len(w.open)), now=True)
        elif kind == 2:
            w.task_ids(c + n, now=True)
        elif w.bolt and n:
            w.sync(now=True)
        w._first = False
        emitting(w, Op("emit", (a, b + n, c + n, texts.nth(d, n), texts.nth(e, n))), n)


def _many(w: Writer, op: Op) -> None:
    """Many tuples that stay open, some all at once, many emits, and then they are settled."""
    a, b, c, d, _ = op.args
    for n in range(MANY[a % len(MANY)]):
        if b % 3 != 2:
            w.tuple([n], n, now=n > 0 and b % 6 == 1)
        if b % 3 != 1:
            emitting(w, Op("emit", (a, b + n, n, c, 0)), n)
    while w.open:
        w.settle("fail" if (d >> len(w.open) % 8) % 2 else "ack", w.open.pop(c % len(w.open)))


def _deaf(w: Writer, op: Op) -> None:
    """Emits, each with task ids of its own, while the child does not read: what the host writes has to wait, and its
    lists keep their order. Whether it reads on meanwhile is its own affair, so nothing is waited for but time."""
    a, b, c, d, _ = op.args
    w.wait(0)
    w.do("deaf")
    w.tuple(["x" * FULL], d, now=True)
    for n in range(2 + a % 3):
        w.task_ids(c + n, now=True)
        w.wait(SETTLED_MS)
        w.emit([texts.value(b + n)], now=True)
        w.wait(SETTLED_MS)
    w.do("hear")
    w.wait(0)


def _spout(w: Writer, op: Op) -> None:
    a, b, c, d, e = op.args
    if op.kind in ("ack", "fail") and not w.names:
        op = Op("next", op.args)
    if op.kind in ("next", "ack", "fail", "several", "after"):
        if a % 3 == 0:
            w.wait(0)
            w.task_ids(a // 3)
        names = [w.names.pop(b % len(w.names))] if op.kind in ("ack", "fail") else []
        w.settled += names
        kind = op.kind if names else "next"
        w.call(kind, **({"id": names[0]} if names else {}))
        more: list[tuple[str, dict[str, Any]]] = [("next", {})] * (1 + d % 3) if op.kind == "several" else []
        if more and w.names:
            more[0] = (("ack", "fail")[e % 2], {"id": w.names.pop(c % len(w.names))})
        w.wait(0)
        for other, given in more:
            w.call(other, now=True, **given)
        w._first = True
        for n in range(1 + len(more)):
            _answer(w, op, others=n < len(more))
        if op.kind == "after":
            w.wait(0)
            w.emit([texts.value(c)], now=True)
            w.wait(5)
            w.call("next")
            w.wait(0)
            w.sync()
    elif op.kind == "deaf":
        _deaf_spout(w, a, b)
    elif op.kind == "many":
        for n in range(MANY[a % len(MANY)]):
            w.call("next")
            w.wait(0)
            if (b >> n % 8) % 2:
                emitting(w, Op("emit", (a, b + n, n, c, 0)), n)
            w.sync()
    elif op.kind in ("rest", "stderr"):
        _common(w, op)


def _deaf_spout(w: Writer, a: int, b: int) -> None:
    """An ack or a fail that is longer than a pipe, while the child does not read."""
    name = f"{w.tag()} {'i' * FULL}"
    w.call("next")
    w.wait(0)
    w.emit([texts.value(b)], id=name)
    w.sync()
    w.wait(0)
    w.do("deaf")
    w.call(("ack", "fail")[a % 2], now=True, id=name)
    w.wait(SETTLED_MS)
    w.do("hear")
    w.wait(0)
    w.sync()


FULL_ANSWER = 9
"""Emits and logs in an answer that has many of them."""


def _answer(w: Writer, op: Op, *, others: bool = False) -> None:
    """What the child says in one command. Where `others` wait for its sync, nothing else ends it."""
    a, b, c, d, e = op.args
    w._first = True
    for n in range(FULL_ANSWER if a % 16 == 15 else a % 4):
        if n and c % 3 == 2:  # each emit has a list of its own
            w.wait(0)
            w.task_ids(c + n, now=True)
        if (b >> n) % 4 == 3:
            _common(w, Op("log", (c + n, d + n)))
        else:
            emitting(w, Op("emit", (a, b + n, c + n, texts.nth(d, n), texts.nth(e, n))), n)
    if e % CONTRASTS == CONTRASTS - 1:
        contrasting(w, c)
    if others and c // 3 % 2:
        _common(w, Op("log", (c, d)))
        w.wait(SETTLED_MS)
    w.sync()


def _aim(kinds: Mapping[str, int], ways: int = 0, most: int = MOST) -> Aim:
    """One family: weights of ops, and the ways of writing."""
    return Aim(sessions(kinds, most=most), partial(interpret, ways=ways))


TUPLES = _aim({"tuple": 10, "settle": 8, "many": 1})
EMITS = _aim({"emit": 16, "tuple": 4, "burst": 4, "many": 1, "deaf": 3})
MIXED = _aim({"burst": 5, "settle": 2, "tuple": 2, "log": 2, "stderr": 1})
BOLT_FRAMING = _aim({"tuple": 2, "emit": 3, "settle": 2, "log": 2}, ways=ANYHOW | JOIN)
COMMANDS = _aim({"next": 8, "several": 6, "after": 2, "rest": 2, "many": 1})
SETTLING = _aim({"next": 4, "ack": 4, "fail": 4})
SPOUT_EMITS = _aim({"next": 8, "ack": 1})
SPOUT_FRAMING = _aim({"next": 4, "ack": 2, "fail": 2}, ways=ANYHOW)
