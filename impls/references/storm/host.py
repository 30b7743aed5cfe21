"""What the reference hosts have in common: a component with a child, and a collector that says what reaches it.

Sans input and output: `Host.start` and `Host.call` are what it is asked to do, `Host.receive` takes octets of the
child, `Host.left` its end, `Host.advance` lets time pass. What it writes to the child gathers in `out`, what it says
to whoever calls it in `events`. impls/references/storm/hosts.py has the two kinds;
impls/references/storm/host_memory.py drives them in memory, impls/references/storm/hosting.py as programs. Freedoms are
`HostSwitches`.
"""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from impls.references.storm.wire import BadMessage, Lines, whole_number, write

TIMEOUT = "topology.subprocess.timeout.secs"
LEVELS = ("trace", "debug", "info", "warn", "error")


@dataclass(frozen=True, slots=True)
class HostSwitches:
    """Turns that the text leaves open.

    `ascii_only`, `indent`, `backwards`, `crlf`: how messages are written. `own_ids`: tuples have ids of the host's own
    on the wire, else those that they were given. `named`: effects name tuples as they were given, else as on the wire.
    `lag_ms`: how long before a message is written. `lists_first`: lists overtake tuples. `empty_id`: next has an empty
    id. `null_comp`: heartbeats have. `beat_ms`: from heartbeat to heartbeat, and before the first. `fails`: how
    giving up is told, "failed", "exited", "error" or "answer". `lenient`: what may be taken or refused is taken; `lax`:
    what should be refused is passed over.
    `decorated`: the log has more than what was logged. `levels`: logs have one. `alarms`: what is logged as an error is
    reported as one too. `answers`: requests are answered at once or when done. `default`: effects name the default
    stream. `turned_ids`: task ids are sent from the last to the first.
    """

    ascii_only: bool = False
    indent: int = 0
    backwards: bool = False
    crlf: bool = False
    own_ids: bool = True
    named: bool = True
    lag_ms: int = 0
    lists_first: bool = False
    empty_id: bool = False
    null_comp: bool = False
    beat_ms: int = 1000
    fails: str = "failed"
    lenient: bool = True
    lax: bool = False
    decorated: bool = False
    levels: bool = True
    alarms: bool = False
    answers: bool = True
    default: bool = True
    turned_ids: bool = False
    own_ms: int = 0


CHOICES: Mapping[str, Sequence[Any]] = {
    "indent": (0, 0, 2),
    "lag_ms": (0, 0, 0, 1, 5),
    "beat_ms": (1000, 1000, 300, 1700),
    "fails": ("failed", "exited", "error", "answer"),
    "lax": (False, False, False, True),
    "own_ms": (0, 0, 0, 0, 12_000, 30_000),
}


def drawn(seed: int) -> HostSwitches:
    """Switches by chance."""
    chance = random.Random(seed)
    return HostSwitches(**{f.name: chance.choice(CHOICES.get(f.name, (False, True))) for f in fields(HostSwitches)})


class Failed(Exception):
    """The child went wrong."""


class Host:
    """One component and its child. Faulty hosts override a method."""

    def __init__(self, extensions: frozenset[str] = frozenset(), switches: HostSwitches | None = None) -> None:
        self.extensions = extensions
        self.switches = switches or HostSwitches()
        self.out = bytearray()
        self.events: list[tuple[str, Any]] = []
        self.now_ms = 0.0
        self.started = self.ready = self.over = self.closed = False
        self.blocked = False  # the child does not read, and the pipe is full
        self.folder = "/pids"
        self.task_ids: list[Any] = [7]
        self.timeout_ms = 0.0
        self.heard_ms = 0.0
        self.queue: list[tuple[float, int, Any]] = []
        self.count = 0
        self.calls: deque[dict[str, Any]] = deque()
        self.lines = Lines(self.lines_read)
        self.chance = random.Random(7)

    # -- what it is asked to do ----------------------------------------------------------------------------------------

    def start(self, value: Mapping[str, Any]) -> None:
        """Run the child and send it the setup."""
        self.started = True
        conf, context = value.get("conf") or {}, value.get("context") or {}
        own_ms = 0 if "x-hb-timing" in self.extensions else self.switches.own_ms
        self.timeout_ms = own_ms or float(conf.get(TIMEOUT, 0)) * 1000
        self.heard_ms = self.now_ms
        self.send(self.setup(conf, context))
        self.answer("start")

    def setup(self, conf: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
        """The first message."""
        return {"conf": dict(conf), "pidDir": self.folder, "context": dict(context)}

    def call(self, value: Mapping[str, Any]) -> None:
        """A tuple, or a call of the spout's interface."""
        self.calls.append(dict(value))
        if self.switches.answers:
            self.answer(str(value["op"]))
        self.go_on()

    def give(self, ids: list[Any]) -> None:
        """What following emits get."""
        self.task_ids = ids
        self.answer("task_ids")

    def answer(self, op: str, error: str | None = None) -> None:
        """Answer a request."""
        self.events.append(("answer", {"op": op, "ok": None} if error is None else {"op": op, "error": error}))

    def go_on(self) -> None:
        """Do what can be done of what was asked."""
        raise NotImplementedError

    def close(self) -> None:
        """The component is over."""
        self.over = True
        self.end_child()

    def end_child(self) -> None:
        """End the child."""
        self.closed = True

    # -- to the child --------------------------------------------------------------------------------------------------

    def send(self, message: Any, rank: int = 2) -> None:
        """Write a message, later if it lags. Lower ranks overtake."""
        self.count += 1
        rank = rank if self.switches.lists_first else 2
        self.queue.append((self.now_ms + self.switches.lag_ms, rank, message))
        self.flush()

    def flush(self) -> None:
        """Write what is due."""
        if self.blocked:
            return
        due = [item for item in self.queue if item[0] <= self.now_ms]
        self.queue = [item for item in self.queue if item[0] > self.now_ms]
        for _, _, message in sorted(due, key=lambda item: item[1]):
            if not self.closed:
                self.out += self.written(message)

    def written(self, message: Any) -> bytes:
        """A message as octets."""
        how = self.switches
        eol = b"\r\n" if how.crlf else b"\n"
        return write(message, ascii_only=how.ascii_only, indent=how.indent, backwards=how.backwards, eol=eol)

    # -- from the child ------------------------------------------------------------------------------------------------

    def receive(self, data: bytes) -> None:
        """Octets of the child."""
        self.lines.feed(data)

    def lines_read(self, lines: list[bytes]) -> None:
        """The lines of a message."""
        if self.over:
            return
        try:
            message = self.understood(lines)
            if not self.ready:
                self.meet(message)
            else:
                self.heard_ms = self.now_ms
                self.hear(message)
        except (BadMessage, Failed) as error:
            if not self.switches.lax:
                self.fail(str(error))

    def understood(self, lines: list[bytes]) -> Any:
        """The JSON value of a message. Raises BadMessage."""
        data = b"\n".join(lines)
        errors = "replace" if self.switches.lenient else "strict"
        try:
            text = data.decode("utf-8", errors)
            if self.switches.lenient:
                return json.loads(text)
            return json.loads(text, parse_constant=_refuse, parse_int=_narrow, object_pairs_hook=_single)
        except (ValueError, RecursionError) as error:
            raise BadMessage(f"no JSON: {error}") from None

    def meet(self, message: Any) -> None:
        """The process id. Raises Failed."""
        if not isinstance(message, dict):
            raise Failed(f"{message!r:.60} in place of the process id")
        if not whole_number(message.get("pid")) and not (message == {} and self.switches.lenient):
            raise Failed(f"the process id is {message!r:.60}")
        self.ready = True
        self.heard_ms = self.now_ms
        self.met()
        self.go_on()

    def met(self) -> None:
        """The child is there."""

    def hear(self, message: Any) -> None:
        """A message of the child. Raises Failed."""
        if not isinstance(message, dict) or not isinstance(message.get("command"), str):
            raise Failed(f"{message!r:.60} has no command")
        self.obey(message["command"], message)

    def obey(self, command: str, message: dict[str, Any]) -> None:
        """A command of the child. Raises Failed."""
        if command == "emit":
            self.emit(message)
        elif command == "log":
            self.log(message)
        elif command == "sync":
            self.sync()
        elif command == "error" and "x-error" in self.extensions:
            self.events.append(("error", {"msg": message.get("msg")}))
        else:
            self.strange(command)

    def strange(self, command: str) -> None:
        """A command that is not known. Raises Failed."""
        raise Failed(f"unknown command {command!r:.60}")

    def emit(self, message: dict[str, Any]) -> None:
        """The child emits. Raises Failed."""
        values, task, stream = message.get("tuple"), message.get("task"), message.get("stream")
        if not isinstance(values, list):
            raise Failed("an emit without a tuple")
        if task is not None and not (whole_number(task) and 0 <= task < 1 << 31):
            raise Failed(f"task {task!r:.60}")
        if stream is not None and not isinstance(stream, str):
            raise Failed(f"stream {stream!r:.60}")
        self.collect(message, stream, task or None, values)
        if self.wants_ids(message):
            self.send(self.task_ids[::-1] if self.switches.turned_ids else list(self.task_ids), 1)

    def wants_ids(self, message: Mapping[str, Any]) -> bool:
        """True when an emit is answered."""
        if message.get("task"):
            return False
        return not ("x-need-task-ids" in self.extensions and message.get("need_task_ids") is False)

    def collect(self, message: dict[str, Any], stream: Any, task: Any, values: list[Any]) -> None:
        """Hand an emit to the collector. Raises Failed."""
        effect: dict[str, Any] = {"tuple": values}
        if stream is not None or self.switches.default:
            effect["stream"] = "default" if stream is None else stream
        if task is not None:
            effect["task"] = task
        self.events.append(("emit", {**effect, **self.further(message)}))

    def further(self, message: dict[str, Any]) -> dict[str, Any]:
        """What an emit has besides. Raises Failed."""
        return {}

    def log(self, message: dict[str, Any]) -> None:
        """The child logs."""
        text, level = str(message.get("msg")), message.get("level")
        event: dict[str, Any] = {"msg": f"[child] {text}" if self.switches.decorated else text}
        if "x-loglevel" in self.extensions and self.switches.levels:
            known = whole_number(level) and 0 <= int(str(level)) < len(LEVELS)
            event["level"] = LEVELS[int(str(level))] if known else "info"
        self.events.append(("log", event))
        if self.switches.alarms and event.get("level") == "error":
            self.events.append(("error", {"msg": event["msg"]}))

    def sync(self) -> None:
        """The child says sync. Raises Failed."""

    # -- ends and time -------------------------------------------------------------------------------------------------

    def noise(self, octets: int) -> None:
        """The child has written so much to its STDERR."""

    def left(self) -> None:
        """The child has ended, and all that it wrote was read."""
        if not self.over and self.started:
            self.gone()

    def gone(self) -> None:
        """Notice that the child has ended."""
        self.fail("the child has ended")

    def fail(self, why: str) -> None:
        """Give the child up and say so."""
        self.over = True
        self.end_child()
        how = self.switches.fails
        if how == "answer":
            self.answer(str(self.calls[-1]["op"]) if self.calls else "start", why)
        else:
            self.events.append((how, {"msg" if how == "error" else "why": why}))

    def advance(self, ms: float) -> None:
        """Let time pass."""
        self.now_ms += ms
        self.flush()
        if self.started and not self.over:
            self.tick()

    def tick(self) -> None:
        """Look at the clock."""
        if self.timeout_ms and self.counts() and self.now_ms - self.heard_ms > self.timeout_ms:
            self.fail("the child is silent for too long")

    def counts(self) -> bool:
        """True while the child has to give signs of life."""
        return True


def _refuse(word: str) -> Any:
    raise BadMessage(f"{word} is no JSON number")


def _narrow(text: str) -> int:
    if abs(int(text)) >= 1 << 63:
        raise BadMessage("a number beyond 64 bits")
    return int(text)


def _single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise BadMessage("a member stands twice")
    return dict(pairs)
