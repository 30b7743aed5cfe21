"""Conversations with a host: the tester calls it and plays its child.

Head numbers: how the conversation ends, how the child writes, what becomes of checkpoints, and whether it asks for one
in initialize or writes lines together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.kcl.bundle import last
from specs.kcl.frames import Message, Style, Text, message
from specs.kcl.states import Config
from specs.plan import Control, Plan, Ref, Say, SendBytes, Step, Wait
from strategies.common import Aim, Op, Program, programs
from strategies.kcl import texts
from strategies.kcl.writer import CUTS, ESCAPE, ESCAPES, ORDER, PLAIN, WIDE, Ways, joined

HEAD = 4
EVEN: Mapping[str, int] = {
    "batch": 15,
    "checkpoint": 12,
    "junk": 6,
    "empty": 3,
    "request": 3,
    "slow": 3,
    "stderr": 3,
    "many": 1,
}
ROWS = (12, 18, 34)
"""How many small batches there are in a row."""
MOST = 10
SOME, MANY, THOUSANDS, BIG = 12, 40, 3000, 1 << 16
"""Records of larger batches; octets of a large record, which may be four times that."""
ANYHOW = ORDER | ESCAPE | WIDE | CUTS
ENDS = ("ZOMBIE", "TERMINATE")
LONG_MS = 600
"""How long a child works behind a checkpoint at times."""
FINAL_MS = 1500
"""How long a slow child works in the final action at times."""


class Writer:
    """One conversation with a host. With `hurry` the child does not wait between what it says inside an action; what
    does not wait is written `together` with what it follows."""

    def __init__(self, config: Config, *, hurry: bool = False) -> None:
        self.config = config
        self.hurry = hurry
        self.steps: list[Step] = []
        self.features: set[str] = set()
        self.numbers: list[str] = []
        self.scheme = 0
        self.open = ""
        self.busy = False
        self.ways = PLAIN
        self.together = False
        self._first = True
        self._error: str | None = None

    def plan(self) -> Plan:
        """What was written."""
        plan = Plan(tuple(self.steps), frozenset(self.features))
        return joined(plan) if self.together else plan

    # -- as the caller -------------------------------------------------------------------------------------------------

    def begin(self, key: Any = 0) -> None:
        """Start the host, and initialize."""
        self.steps.append(Control(0, "start", {"shardId": Ref("shard", key)}))
        self.call("initialize", shardId=Ref("shard", key))

    def call(self, op: str, **given: Any) -> None:
        """A call of the record processor's interface."""
        self.steps.append(Control(0, "call", {"op": op, **given}))
        self.open, self._first, self.busy = op, True, True

    def batch(self, sizes: Sequence[tuple[bytes, str]]) -> None:
        """processRecords with records of these octets and keys."""
        records = []
        for data, key in sizes:
            number = texts.number(len(self.numbers), self.scheme)
            self.numbers.append(number)
            records.append({"data_hex": data.hex(), "partitionKey": key, "sequenceNumber": number})
        self.call("processRecords", records=records)

    def final(self, reason: str) -> None:
        """The final call."""
        members = dict(last(self.config, reason).members)
        self.call(members.pop("action"), **members)

    def checkpointer(self, error: str | None) -> None:
        """What the next checkpoints meet; while a call is open, only where a host can be told then."""
        if error != self._error and (self.config.aside or not self.busy):
            self._error = error
            self.steps.append(Control(0, "checkpointer", {"error": error}))
            self._first = True  # the host must know it before the child says more

    # -- as the child --------------------------------------------------------------------------------------------------

    def say(self, frame: Message | Text, *, now: bool = False) -> None:
        """A line of the child."""
        when = "now" if now or (self.hurry and not self._first) else "turn"
        self._first = False
        style: Style | None = None
        cuts: tuple[int, ...] = ()
        ways = self.ways
        if ways.bits and isinstance(frame, Message):
            for bit, name in ((ORDER, "order"), (ESCAPE, "escape"), (WIDE, "wide")):
                if ways.bits & bit:
                    self.features.add(name)
            style = Style(
                order=1 + ways.how % 5 if ways.bits & ORDER else 0,
                escape=ESCAPES[ways.how % 3] if ways.bits & ESCAPE else "",
                wide=bool(ways.bits & WIDE),
            )
            cuts = (1 + ways.how % 30, -1 - ways.how % 2) if ways.bits & CUTS else ()
        self.steps.append(Say(0, frame, cuts, when, style))

    def status(self, action: str | None = None, *, now: bool = False) -> None:
        """The child is done."""
        self.say(message("status", responseFor=action or self.open), now=now)
        self.busy = False

    def checkpoint(self, number: str | None, *, sub: Any = None, now: bool = False, absent: bool = False) -> None:
        """The child asks for a checkpoint."""
        members: dict[str, Any] = {"action": "checkpoint", self.config.wire.number: number}
        if absent and number is None:
            members.pop(self.config.wire.number)
        if self.config.wire.rich and not absent:
            members["subSequenceNumber"] = sub
        self.say(Message(members), now=now)

    def junk(self, data: bytes, why: str = "no-json", *, now: bool = False) -> None:
        """A line that is no message."""
        self.say(Text(data, why), now=now)

    def blurt(self, data: bytes) -> None:
        """Octets."""
        self.steps.append(SendBytes(0, data, "turn" if self._first else "now"))
        self._first = False

    def exit(self, code: int = 0) -> None:
        """The child ends."""
        self.steps.append(Control(0, "exit", code))

    def wait(self, ms: int = 0) -> None:
        """Let time pass."""
        self.steps.append(Wait(ms))

    def do(self, name: str, value: Any) -> None:
        """Something else that a child does."""
        self.steps.append(Control(0, name, value))


JUNK = (
    b"",
    b" ",
    b"plain text",
    b"null",
    b"true",
    b"0",
    b'"x"',
    b"[]",
    b"{}",
    b'{"responseFor":"initialize"}',
    b'{"action":7}',
    b"processRecords",
    b"[INFO] {not json}",
    b"\t",
    b"x" * 5000,
    b"{",
    b'{"action":"status","responseFor":',
    b"{'action':'status'}",
    b"y" * 70_000,
)
"""Lines that mean nothing."""


def sessions(kinds: Mapping[str, int] = EVEN, *, most: int = MOST) -> SearchStrategy[Program]:
    """Legal sessions of `kinds` of ops."""
    return programs(kinds, head=HEAD, most=most, least=0)


def interpret(program: Program, config: Config, *, hurry: bool = False, ways: int = ANYHOW, final_ms: int = 0) -> Plan:
    """The plan that a program means; total, and pure. In half of them the final action takes `final_ms`."""
    w = Writer(config, hurry=hurry)
    write(w, program, ways)
    finish(w, program.head, 0 if program.head[3] % 2 else final_ms)
    return w.plan()


def write(w: Writer, program: Program, ways: int = ANYHOW) -> None:
    """initialize, a scene and the ops: a conversation may cost the start of a program, and what is in it hardly any."""
    head = program.head
    bits = head[1] & ways if head[1] % 2 else 0
    w.ways = Ways(bits, head[2])
    w.together = bool(head[3] // 8 % 2)
    w.scheme = head[2] // 4 % (texts.WAYS_TO_COUNT - 1)  # the last is not what Kinesis gives a host
    w.begin(texts.shard(head[2]))
    if head[3] % 4 == 3:
        w.checkpoint((None, texts.number(0))[head[3] // 4 % 2])
    w.status()
    if scene := SCENES[head[2] // 8 % len(SCENES)]:
        scene(w)
    requested = False
    for serial, op in enumerate(program.ops):
        w.ways = Ways(bits, head[2] + serial)
        if op.kind == "request":
            if w.config.wire.requested and not requested:
                w.call("shutdownRequested")
                _checkpoints(w, op)
                w.status()
            requested = True
        elif op.kind == "many":
            _many(w, op)
        else:
            _batch(w, op)


def _batch(w: Writer, op: Op) -> None:
    size, data, key, how, more = op.args
    count = _count(op)
    if count == THOUSANDS:
        records = [(b"%d" % n, "key") for n in range(count)]
    else:
        records = [(texts.data(data + n * more), texts.key(key + n * how)) for n in range(count)]
    if op.kind == "batch" and 240 <= size < 248:
        records[0] = (texts.ALL_OCTETS * (BIG // 256 << size % 3), "key")
    if op.kind == "checkpoint" and not w.config.aside:
        w.wait(0)
        w.checkpointer(_error(op, 0))
    w.batch(records)
    if op.kind == "checkpoint":
        _checkpoints(w, op)
    elif op.kind == "junk":
        for n in range(1 + how % 6):
            w.junk(JUNK[(more + n) % len(JUNK)], "blank" if not JUNK[(more + n) % len(JUNK)].strip() else "no-json")
        if more % 3 == 2:
            w.say(message(("initialize", "processRecords", "shutdown", "leaseLost", "other")[more % 5]))
    elif op.kind == "slow":
        w.wait(0)
        ms = {15: 210, 7: LONG_MS}.get(how % 16, 2)
        if ms == LONG_MS or how // 16 % 4 == 3:  # it has its answer, and goes on with its work
            w.checkpoint(None)
            w.wait(0)
        w.wait(ms)
    elif op.kind == "stderr":
        w.wait(0)
        w.do("stderr", (10, 5000, 70_000)[how % 3])
    w.status()


def _count(op: Op) -> int:
    """How many records there are; checkpoints may be asked for in an empty batch as well."""
    size = op.args[0]
    if op.kind == "empty" or (op.kind == "checkpoint" and size % 8 == 7):
        return 0
    if size == 255:
        return THOUSANDS
    if size >= 248:
        return MANY
    return SOME if size % 16 == 13 else 1 + size % 5


def _many(w: Writer, op: Op) -> None:
    """Small batches in a row, for what shows only after so many; some with checkpoints."""
    size, data, key, how, more = op.args
    for n in range(ROWS[size % len(ROWS)]):
        w.batch([(texts.data(data + n), texts.key(0))])
        if how % 2 and n % 3 == 2:
            _checkpoints(w, op._replace(args=(0, data, key, how // 2 % 2, more + n)))
        w.status()


def _wide_keys(w: Writer) -> None:
    """A record with each key beyond ASCII."""
    w.batch([(b"data", key) for key in texts.WIDE_KEYS])
    w.status()


def _keys(w: Writer) -> None:
    """A record with each key of ASCII."""
    w.batch([(b"data", key) for key in texts.KEYS])
    w.status()


def _octets(w: Writer) -> None:
    """A record with each of the data that have traps, and behind each an empty one."""
    w.batch([(data, "key") for each in texts.DATA for data in (each, b"")])
    w.status()


def _refused(w: Writer) -> None:
    """A number that was refused is asked for again: while it is still refused, when it is not, and in another batch."""
    w.wait(0)
    w.checkpointer("ThrottlingException")
    w.batch([(b"one", "key"), (b"two", "key")])
    w.checkpoint(w.numbers[-2])
    w.wait(0)
    w.checkpoint(w.numbers[-2])
    w.wait(0)
    w.checkpointer(None)
    w.checkpoint(w.numbers[-2])
    w.wait(0)
    w.status()
    w.wait(0)
    w.checkpointer(None)
    w.batch([(b"three", "key")])
    w.checkpoint(w.numbers[-2])
    w.wait(0)
    w.status()


def _talks_on(w: Writer) -> None:
    """A child prints when it has its answer, and asks again."""
    w.wait(0)
    w.checkpointer(None)
    w.batch([(b"one", "key"), (b"two", "key")])
    for number in w.numbers[-2:]:
        w.checkpoint(number)
        w.wait(0)
        w.junk(b"plain text")
        w.junk(b"[]", now=True)
    w.status()


SCENES: Sequence[Callable[[Writer], None] | None] = (None, _refused, _wide_keys, _talks_on, _octets, _keys)
"""What stands at the beginning of conversations, dealt by the head."""


OFTEN = 232
"""From which number on a child asks for many checkpoints in one action."""


def _checkpoints(w: Writer, op: Op) -> None:
    size, _, _, how, more = op.args
    for n in range(1 + how % 3 if how < OFTEN else 6 + how % 12):
        w.wait(0)
        if not (w.hurry and n):
            w.checkpointer(_error(op, n))
        choice = more + n if how // 3 % 2 else more  # now and then the same number again, as after an error
        number = None if choice % 3 == 0 or not w.numbers else w.numbers[-1 - choice % len(w.numbers)]
        w.checkpoint(number, absent=bool(size % 2), sub=(None, 0)[size // 2 % 2])


def _error(op: Op, serial: int) -> str | None:
    """What the nth checkpoint of an op meets."""
    return texts.RAISED[(op.args[2] + serial) % len(texts.RAISED)] if (op.args[1] >> serial) % 2 else None


def finish(w: Writer, head: Sequence[int], final_ms: int = 0) -> None:
    """The end that the head asks for; the final action takes `final_ms`."""
    reason = ENDS[head[0] % len(ENDS)]
    w.wait(0)
    refused = reason == "ZOMBIE" and "shutdown" in w.config.wire.finals  # later hosts know for themselves
    w.checkpointer("ShutdownException" if refused else None)
    w.final(reason)
    if head[0] // 2 % 2 or reason == "TERMINATE":
        named = w.numbers and (not w.config.wire.rich or head[0] // 16 % 2)
        for _ in range(1 + head[0] // 32 % 3):
            w.checkpoint(w.numbers[-1] if named else None)
    if final_ms:
        w.wait(0)
        w.wait(final_ms)
    w.status()
    if head[0] // 4 % 4 == 3:
        w.wait(30)
    w.exit()


def _aim(kinds: Mapping[str, int], ways: int = 0, most: int = MOST) -> Aim:
    """One family: weights of ops, and the ways of writing."""
    return Aim(sessions(kinds, most=most), partial(interpret, ways=ways))


RECORDS = _aim({"batch": 24, "empty": 3, "many": 1})
CHECKPOINTS = _aim({"checkpoint": 18, "batch": 3, "empty": 3, "request": 3, "many": 1})
TALK = _aim({"junk": 5, "stderr": 2, "batch": 1})
FRAMING = _aim({"batch": 2, "checkpoint": 3}, ways=ANYHOW)
SLOW = Aim(sessions({"slow": 3, "batch": 1}, most=4), partial(interpret, ways=0, final_ms=FINAL_MS))
ENDINGS = _aim({"batch": 1, "request": 1}, most=2)
