"""Legal conversations with a spout: ops, and the plan that they mean.

What user code does is in conf, so the commands are known before the setup is written. Head numbers: how the
conversation ends, in which ways messages are written, how exactly, the setup, and what is done for ack and fail.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan, Ref
from specs.storm.states import Config
from strategies.common import Aim, Op, Program, programs
from strategies.storm import texts
from strategies.storm.writer import ANYHOW, JOIN, Ways, Writer

HEAD = 5
EVEN: Mapping[str, int] = {"next": 8, "ack": 3, "fail": 3, "idle": 1, "rest": 1, "turn": 1, "many": 1, "alike": 1}
MOST = 10
MANY = (20, 40, 70)
"""So many that what is counted, or held in a place of its own size, comes to its end."""
RAISES_ONE_IN = 16
RAISING_ACKS, RAISING_FAILS = 14, 15
"""The sixteenths of a head number in which user code raises for each ack, or for each fail."""
TIMEOUT = "topology.subprocess.timeout.secs"
TOLD = {TIMEOUT: 3}
"""The conf of a worker that gives a silent spout up after so many seconds: no machine is so busy. It is told where that
is waited out behind a command, since nobody could break it elsewhere."""
WAITED_OUT = 14
"""The number of an op, of 128, behind whose command the timeout is waited out."""
OFTEN, MANY_STEPS = 240, 12
"""From which number on user code does many things in one next, and how many at most."""
REPLAYED = 4_000_000
"""The id that user code emits when one fails: from the second time on it is the one that has failed."""


def sessions(kinds: Mapping[str, int] = EVEN, *, most: int = MOST) -> SearchStrategy[Program]:
    """Legal sessions of `kinds` of ops."""
    return programs(kinds, head=HEAD, most=most, least=0)


class Scripts:
    """What user code is told, and which message ids it will have emitted: `known` in their order, `free` the places of
    those that were neither acked nor failed, `settled` those that were and may be emitted again. With `replays`, user
    code emits an id whenever one fails."""

    def __init__(self, w: Writer, *, replays: bool = False) -> None:
        self.w = w
        self.replays = replays
        self.names = self.twins = 0
        self.known: list[Any] = []
        self.free: list[int] = []
        self.settled: list[Any] = []

    def settle(self, which: int, command: str) -> Ref:
        """The id emitted in that place is acked or failed."""
        self.free.remove(which)
        if self.known[which] != REPLAYED:
            self.settled.append(self.known[which])
        if self.replays and command == "fail":
            self.emitted(REPLAYED)
        return Ref("emitted", which)

    def one(self, which: int, command: str) -> int:
        """The place of an id in flight. While the one that is emitted for each fail is, no other fails."""
        replayed = [place for place in self.free if self.known[place] == REPLAYED] if command == "fail" else []
        return (replayed or self.free)[which % len(replayed or self.free)]

    def next(self, op: Op) -> list[Mapping[str, Any]]:
        """The steps of one next."""
        a, b, c, d, e = op.args
        told: list[Mapping[str, Any]] = []
        for n in range(1 + a % 4 if a < OFTEN else MANY_STEPS - a % 4):
            kind = (b >> n) % 8
            if kind < 5:
                told.append(self.emit(c + n * (d + 1), texts.nth(d, n), texts.nth(e, n)))
            elif kind == 5:
                told += texts.logged(self.w.tag(), c + n)
            elif kind == 6:
                told.append({"op": "print", "text": texts.PRINTS[(c + n) % len(texts.PRINTS)]})
            else:
                told.append({"op": "sleep", "ms": c % 3})
        if e % RAISES_ONE_IN == RAISES_ONE_IN - 1:
            return [*told, {"op": "raise"}, {"op": "log", "msg": "behind"}]
        return told

    def many(self, op: Op) -> list[list[Mapping[str, Any]]]:
        """The steps of many nexts: nothing, or one emit, which has an id if it is to be settled."""
        a, b, c, _, _ = op.args
        told: list[list[Mapping[str, Any]]] = []
        for n in range(MANY[a % len(MANY)]):
            step: dict[str, Any] = {"op": "emit", "tuple": [self.w.tag(), n]}
            if b % 3 == 2:
                step["id"] = self.emitted(2_000_000 + self.names)
                self.names += 1
            told.append([step] if (b % 3 and (c >> n % 8) % 2 == 0) or "id" in step else [])
        return told

    def emit(self, value: int, where: int, how: int) -> Mapping[str, Any]:
        """One emit."""
        w = self.w
        values = [] if how % 16 == 15 else [w.tag(), *(texts.value(value + n) for n in range(where % 3))]
        step: dict[str, Any] = {"op": "emit", "tuple": values}
        stream = texts.OWN_STREAMS[where % len(texts.OWN_STREAMS)]
        if stream is not None:
            step["stream"] = stream
        if how % 3 and self.names < len(texts.MESSAGE_IDS):
            step["id"] = self.name(how)
        if where % 4 == 3:
            step["task"] = texts.TASKS[value % len(texts.TASKS)]
        elif w.config.has("x-need-task-ids") and how % 4 > 1:
            step["need_task_ids"] = how % 4 == 2
        return step

    def name(self, how: int) -> Any:
        """A message id: one that was settled, or that was not used."""
        if how % 8 > 5 and self.settled:
            return self.emitted(self.settled.pop())
        self.names += 1
        name = texts.message_id(self.names - 1, self.w.first)
        if how % 3 == 2 and how // 32 % 2:
            name = self.twin()
        elif how % 3 == 2:
            name = f"{name}-{self.names}" if isinstance(name, str) else 1_000_000 + self.names
        return self.emitted(name)

    def twin(self) -> Any:
        """A number and the text of that number in turn, which are likely to be in flight at once."""
        self.twins += 1
        number = 3_000_000 + (self.twins + 1) // 2
        return number if self.twins % 2 else str(number)

    def emitted(self, name: Any) -> Any:
        """The id, which will be emitted."""
        self.free.append(len(self.known))
        self.known.append(name)
        return name

    def again(self, what: int, *, raises: bool, replays: bool = False) -> list[Mapping[str, Any]]:
        """What is done for each ack, or each fail."""
        told: list[Mapping[str, Any]] = []
        if replays:
            told.append({"op": "emit", "tuple": [f"replayed{what}"], "id": REPLAYED})
        if what % 4 in (1, 3):
            told.append({"op": "emit", "tuple": [f"again{what}", texts.value(what)], "stream": "second"})
        if what % 8 > 4:  # with nothing of its own
            told.append({"op": "emit", "tuple": [f"plain{what}"]})
        if what % 4 in (2, 3):
            told.append({"op": "log", "msg": f"for {what}"})
        return [*told, {"op": "raise"}] if raises else told


def interpret(program: Program, config: Config, *, hurry: bool = False, ways: int = ANYHOW) -> Plan:
    """The plan that a program means; total, and pure. `ways` are the ways of writing that may be used."""
    w = Writer(config)
    write(w, program, ways)
    finish(w, program.head)
    return w.plan()


def write(w: Writer, program: Program, ways: int = ANYHOW) -> None:
    """The setup and the ops."""
    head = program.head
    w.first = head[2] // 8
    scripts = Scripts(w, replays=head[4] % 4 == 2)
    told, commands = _commands(scripts, program.ops, w.config.has("x-activate"))
    bits = head[1] & ways if head[1] % 2 else 0
    w.ways = Ways(bits, head[2])
    conf = {**texts.CONFS[head[3] % len(texts.CONFS)], "wireproof.script": told}
    if any(name and _waits_out(op) for _, op, name, _ in commands):
        conf |= TOLD
    conf["wireproof.on_ack"] = scripts.again(head[4], raises=head[4] // 16 == RAISING_ACKS)
    fails = head[4] // 16 == RAISING_FAILS
    conf["wireproof.on_fail"] = scripts.again(head[4] // 4, raises=fails, replays=scripts.replays)
    w.setup(conf, folder=head[3] // 8, later=head[3] % 4 != 3)
    for serial, op, name, more in commands:
        w.ways = Ways(bits, head[2] + serial)
        if name:
            _command(w, op, name, **more)
        else:
            w.wait(0)
            w.wait(2)


Command = tuple[int, Op, str, dict[str, Any]]
"""The place of its op, the op, its name ("" for a rest) and what it carries."""


def _commands(scripts: Scripts, ops: Sequence[Op], lively: bool) -> tuple[list[list[Mapping[str, Any]]], list[Command]]:
    """What user code is told in each next, and the commands."""
    told: list[list[Mapping[str, Any]]] = []
    commands: list[Command] = []
    for serial, op in enumerate(ops):
        if op.kind in ("next", "idle"):
            told.append(scripts.next(op) if op.kind == "next" else [])
            commands.append((serial, op, "next", {}))
        elif op.kind == "alike":
            for steps in _alike(op):
                told.append(steps)
                commands.append((serial, op._replace(args=(op.args[0], 0, 0, 0, 0)), "next", {}))
        elif op.kind == "many":
            place = len(scripts.known)
            for n, steps in enumerate(scripts.many(op)):
                told.append(steps)
                commands.append((serial, op._replace(args=(0, 0, n, 0, 0)), "next", {}))
                if any("id" in step for step in steps):
                    if (op.args[3] >> n % 8) % 2:
                        # the places of all of them are known already: no other id is emitted between them
                        command = "ack" if scripts.replays else ("ack", "fail")[op.args[4] % 2]
                        name = scripts.settle(place, command)
                        commands.append((serial, Op("many"), command, {"id": name}))
                    place += 1
        elif op.kind in ("ack", "fail"):
            if scripts.free:
                name = scripts.settle(scripts.one(op.args[0], op.kind), op.kind)
                commands.append((serial, op, op.kind, {"id": name}))
        elif op.kind == "turn":
            if lively:
                commands += _turned(scripts, serial, op)
        else:
            commands.append((serial, op, "", {}))
    return told, commands


def _turned(scripts: Scripts, serial: int, op: Op) -> list[Command]:
    """The spout is activated, or no more; ids that are in flight are settled all the same."""
    a, b, c, _, _ = op.args
    commands: list[Command] = [(serial, op, ("activate", "deactivate")[a % 2], {})]
    for n in range(b % 3):
        command = ("ack", "fail")[(c + n) % 2]
        if scripts.free:
            name = scripts.settle(scripts.one(c, command), command)
            commands.append((serial, Op("turn", (0, 0, c, 0, 0)), command, {"id": name}))
    return commands


def _alike(op: Op) -> list[list[Mapping[str, Any]]]:
    """The steps of one next, or of several: user code emits values in a row that some languages take for one."""
    emits: list[Mapping[str, Any]] = [{"op": "emit", "tuple": values} for values in texts.lookalikes(*op.args)]
    return [emits] if op.args[4] // 4 % 2 == 0 else [[step] for step in emits]


def _waits_out(op: Op) -> bool:
    return op.args[3] % 128 == WAITED_OUT


def _command(w: Writer, op: Op, name: str, **more: Any) -> None:
    if name == "next" and op.args[4] % 4 == 3:
        more["id"] = ""  # as hosts write it
    w.command(name, **more)
    if op.args[3] % 16 == 15:
        w.wait(3)
    elif _waits_out(op):
        w.wait(1000 * TOLD[TIMEOUT] + 300)
    w.lists(op.args[2])
    w.wait()


def finish(w: Writer, head: Sequence[int]) -> None:
    """The end that the head asks for."""
    end = head[0] % 6
    w.ways = Ways()
    if end == 4:
        w.command("next")
        w.eof(at_once=True)
        return
    if end == 5:
        w.wait()
        whole = (b'{"command":"next"}\n', b'{"command":"fail","id":"1231231"}\n')[head[4] // 3 % 2]
        w.blurt(texts.torn(whole, head[4]), "turn")
        w.eof(at_once=True)
        return
    w.wait()
    w.eof()


def _aim(kinds: Mapping[str, int], ways: int = 0, most: int = MOST) -> Aim:
    """One family: weights of ops, and the ways of writing."""
    return Aim(sessions(kinds, most=most), partial(interpret, ways=ways))


EMITS = _aim({"next": 16, "alike": 2, "idle": 2, "many": 1})
SETTLING = _aim({"next": 8, "ack": 8, "fail": 8, "many": 1, "turn": 2})
COMMANDS = _aim({"next": 6, "idle": 6, "ack": 2, "fail": 2, "rest": 6, "turn": 6, "many": 1})
FRAMING = _aim({"next": 4, "ack": 2, "fail": 2}, ways=ANYHOW | JOIN)
ENDINGS = _aim({"next": 1, "ack": 1}, most=2)
