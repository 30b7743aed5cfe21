"""The reference bolt and spout: a multilang library with scripted user code around it.

They do no input or output. `Child.receive` takes octets of STDIN and `Child.end` its end, `Child.advance` lets time
pass. What is written gathers in `out` and `err`, what user code saw in `notes`; `code` is the exit status once it has
ended. `impls.references.storm.memory` drives them on links in memory, `impls.references.storm.__main__` on real pipes.
The freedoms of the text are `impls.references.storm.freedoms.Switches`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping
from typing import Any

from impls.references.storm.freedoms import Switches
from impls.references.storm.wire import BadMessage, Lines, parse, text_of, whole_number, write

HEARTBEAT = "__heartbeat"


class UserError(Exception):
    """User code was told to raise."""


IDS = -1.0
"""What a callback yields that waits for task ids; any other number is milliseconds to sleep."""
Callback = Generator[float, Any, None]


class Running:
    """A callback that has begun."""

    def __init__(self, steps: Callback, name: Any) -> None:
        self.steps = steps
        self.name = name
        self.wake_ms: float | None = None


class Child:
    """What bolts and spouts have in common. Faulty children override a method."""

    def __init__(self, extensions: frozenset[str] = frozenset(), switches: Switches | None = None) -> None:
        self.extensions = extensions
        self.switches = switches or Switches()
        self.out = bytearray()
        self.err = bytearray()
        self.notes: list[dict[str, Any]] = []
        self.code: int | None = None
        self.pid = 4242
        self.touch: Callable[[str, str], None] = lambda folder, name: None
        self.now_ms = 0.0
        self.set_up = False
        self.conf: dict[str, Any] = {}
        self.running: list[Running] = []
        self.waiting: deque[Running | None] = deque()
        self.deaf = False
        self.count = 0
        self.lines = Lines(self.lines_read)
        if self.switches.stderr:
            self.err += b"component starting\n"

    # -- reading and writing -------------------------------------------------------------------------------------------

    def receive(self, data: bytes) -> None:
        """Octets of STDIN."""
        self.lines.feed(data)

    def lines_read(self, lines: list[bytes]) -> None:
        """The lines of one message."""
        if self.code is not None:
            return
        try:
            self.understood(parse(lines, "replace" if self.switches.lenient and self.set_up else "strict"))
        except BadMessage as error:
            self.complain(error)
            if self.switches.unknown == "exit" or not self.set_up:
                self.code = 1
            else:
                self.skipped()

    def understood(self, value: Any) -> None:
        """A message. Raises BadMessage."""
        if not self.set_up:
            self.shake(value)
        elif isinstance(value, list):
            self.ids(value)
        elif isinstance(value, dict):
            self.asked(value)
        else:
            raise BadMessage(f"{value!r:.60} is no message")

    def skipped(self) -> None:
        """Something was not understood, and is passed over."""

    def complain(self, error: Exception) -> None:
        """Say on STDERR what went wrong."""
        self.err += f"{type(error).__name__}: {error}\n".encode("utf-8", "backslashreplace")

    def say(self, message: dict[str, Any]) -> None:
        """Write one message."""
        self.count += 1
        if self.switches.extra:
            message = {**message, "x": [self.count]}
        if self.switches.blank:
            self.out += b"\n"
        self.out += self.written(message)

    def written(self, message: Any) -> bytes:
        """A message as octets."""
        how = self.switches
        eol = b"\r\n" if how.crlf else b"\n"
        return write(message, ascii_only=how.ascii_only, indent=how.indent, backwards=how.backwards, eol=eol)

    def note(self, observation: dict[str, Any]) -> None:
        """User code writes an observation down."""
        if self.switches.notes:
            self.notes.append(observation)

    # -- the handshake -------------------------------------------------------------------------------------------------

    def shake(self, setup: Any) -> None:
        """The first message. Raises BadMessage."""
        if not isinstance(setup, dict) or not isinstance(setup.get("conf"), dict):
            raise BadMessage("no setup")
        folder, context = text_of(setup, "pidDir"), setup.get("context")
        if not isinstance(context, dict):
            raise BadMessage("no context")
        self.conf = setup["conf"]
        self.initialize(setup["conf"], context)
        if not self.switches.late_file:
            self.register(folder)
        self.tell_pid()
        if self.switches.late_file:
            self.register(folder)
        self.set_up = True
        if self.switches.chatty:
            self.log("ready")

    def tell_pid(self) -> None:
        """Say the process id."""
        self.say({"pid": self.pid})

    def register(self, folder: str) -> None:
        """Make the file of the process id. Raises BadMessage."""
        try:
            self.touch(folder, str(self.pid))
        except OSError as error:
            self.out.clear()
            raise BadMessage(f"no file in {folder}: {error}") from None

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        """User code is told where it is."""
        self.note({"call": "initialize", "conf": conf, "context": context})

    # -- callbacks -----------------------------------------------------------------------------------------------------

    def asked(self, message: dict[str, Any]) -> None:
        """A tuple or a command. Raises BadMessage."""
        raise NotImplementedError

    def begin(self, steps: Callback, name: Any) -> None:
        """Begin a callback."""
        one = Running(steps, name)
        self.running.append(one)
        self.go(one, None)

    def go(self, one: Running, sent: Any) -> None:
        """Let a callback go on until it waits."""
        one.wake_ms = None
        try:
            need = one.steps.send(sent)
        except StopIteration:
            self.running.remove(one)
            self.finished(one)
            return
        except UserError as error:
            self.running.remove(one)
            self.complain(error)
            self.raised(one)
            return
        if need is not IDS:
            one.wake_ms = self.now_ms + need
            return
        self.waiting.append(one)
        if self.deaf:  # the task ids can never come
            self.at_end()

    def finished(self, one: Running) -> None:
        """A callback is over."""

    def raised(self, one: Running) -> None:
        """User code raised."""

    def ids(self, ids: list[Any]) -> None:
        """A list of task ids. Raises BadMessage."""
        if not self.waiting:
            raise BadMessage("task ids that nobody waits for")
        one = self.waiting.popleft()
        self.got_ids(one, ids)

    def got_ids(self, one: Running | None, ids: list[Any]) -> None:
        """Hand task ids to the emit that they are for."""
        self.note({"call": "task_ids", "ids": ids[::-1] if self.switches.turned_ids else ids})
        if one is not None:
            self.go(one, ids)

    def advance(self, ms: float) -> None:
        """Let time pass, from one who wakes up to the next."""
        end = self.now_ms + ms
        while (left := self.wakes_in()) is not None and self.now_ms + left <= end:
            self.now_ms += left
            for one in list(self.running):
                if one in self.running and one.wake_ms is not None and self.now_ms >= one.wake_ms:
                    self.go(one, None)
        self.now_ms = end

    def wakes_in(self) -> float | None:
        """Milliseconds until something wakes up."""
        times = [one.wake_ms for one in self.running if one.wake_ms is not None]
        return max(0.0, min(times) - self.now_ms) if times else None

    def end(self) -> None:
        """The end of STDIN."""
        self.deaf = True
        self.at_end()

    def at_end(self) -> None:
        """End, unless something is still being done."""
        if self.code is None and not (self.switches.drains and any(one.wake_ms is not None for one in self.running)):
            self.code = 0

    # -- user code -----------------------------------------------------------------------------------------------------

    def obey(self, steps: Any, name: Any) -> Callback:
        """What a script says."""
        for step in steps if isinstance(steps, list) else ():
            op = step.get("op")
            if op == "emit":
                yield from self.emit(step, name)
            elif op in ("ack", "fail"):
                self.settle(op, step.get("id", name))
            elif op == "log":
                self.log(str(step.get("msg")))
            elif op == "print":
                self.prints(str(step.get("text")))
            elif op == "sleep":
                yield float(step.get("ms", 0))
            elif op == "raise":
                raise UserError("told to raise")
            else:
                self.err += f"unknown step {op!r}\n".encode()

    def emit(self, step: Mapping[str, Any], name: Any) -> Callback:
        """Emit, and wait for the task ids where there are any."""
        message = self.emitted(step, name)
        self.say(message)
        if not self.wants_ids(message):
            return
        if self.switches.waits:
            yield IDS
        else:
            self.waiting.append(None)

    def emitted(self, step: Mapping[str, Any], name: Any) -> dict[str, Any]:
        """The message of an emit."""
        message: dict[str, Any] = {"command": "emit"}
        if step.get("id") is not None:
            message["id"] = step["id"]
        if step.get("anchor"):
            message["anchors"] = self.anchors(name)
        if step.get("stream") is not None or self.switches.nulls:
            message["stream"] = step.get("stream")
        if step.get("task") is not None or self.switches.nulls:
            message["task"] = step.get("task")
        if "x-need-task-ids" in self.extensions and step.get("need_task_ids") is not None:
            message["need_task_ids"] = step["need_task_ids"]
        message["tuple"] = step.get("tuple")
        return message

    def anchors(self, name: Any) -> list[Any]:
        """What an anchored emit is anchored to."""
        return [name]

    def wants_ids(self, message: Mapping[str, Any]) -> bool:
        """True when the host answers an emit."""
        return message.get("task") is None and message.get("need_task_ids") is not False

    def settle(self, op: str, name: Any) -> None:
        """ack or fail."""
        self.say({"command": op, "id": name})

    def log(self, text: str) -> None:
        """Log."""
        self.say({"command": "log", "msg": text, **({"level": 2} if self.switches.level else {})})

    def prints(self, text: str) -> None:
        """User code prints: never to where the messages go."""
        if self.switches.prints == "log":
            self.log(text)
        elif self.switches.prints == "err":
            self.err += text.encode("utf-8", "backslashreplace")


class Bolt(Child):
    """A bolt: tuples, heartbeats and lists as they come."""

    def __init__(self, extensions: frozenset[str] = frozenset(), switches: Switches | None = None) -> None:
        super().__init__(extensions, switches)
        self.queue: deque[dict[str, Any]] = deque()
        self.late: list[Any] = []
        self.done: set[Any] = set()

    def settle(self, op: str, name: Any) -> None:
        """Acks may wait."""
        self.done.add(name)
        if self.switches.late_acks and op == "ack":
            self.late.append(name)
        else:
            super().settle(op, name)

    def catch_up(self) -> None:
        """Say the acks that wait."""
        while self.late:
            super().settle("ack", self.late.pop())

    def asked(self, message: dict[str, Any]) -> None:
        if self.is_heartbeat(message) and not (self.switches.patient and self.running):
            self.heartbeat(message)
            return
        self.check(message)
        if self.switches.serial and self.running:
            self.queue.append(message)
        else:
            self.process(message)

    def check(self, message: Mapping[str, Any]) -> None:
        """Is it a tuple? Raises BadMessage."""
        if self.is_heartbeat(message) or (self.switches.lenient and "command" not in message):
            return
        text_of(message, "id")
        text_of(message, "stream")
        if "comp" not in message or not isinstance(message.get("tuple"), list) or not whole_number(message.get("task")):
            raise BadMessage("no tuple")

    def is_heartbeat(self, message: Mapping[str, Any]) -> bool:
        """True for a heartbeat."""
        return message.get("stream") == HEARTBEAT and message.get("task") == -1

    def heartbeat(self, message: Mapping[str, Any]) -> None:
        """Answer a heartbeat."""
        self.say({"command": "sync"})

    def process(self, message: dict[str, Any]) -> None:
        """Call user code for a tuple."""
        if self.is_heartbeat(message):
            self.heartbeat(message)
            self.next()
            return
        self.done.discard(message.get("id"))
        self.begin(self.callback(message), message.get("id"))

    def callback(self, message: dict[str, Any]) -> Callback:
        """What user code does with a tuple."""
        if self.switches.delay_ms:
            yield float(self.switches.delay_ms)
        self.note({"call": "process", **{key: message.get(key) for key in ("id", "comp", "stream", "task", "tuple")}})
        values, name = message.get("tuple") or [], message.get("id")
        if len(values) == 2 and values[0] == "wireproof" and isinstance(values[1], list):
            yield from self.obey(values[1], name)
        else:
            self.settle("ack", name)

    def finished(self, one: Running) -> None:
        self.catch_up()
        if self.switches.syncs:
            self.say({"command": "sync"})
        self.next()

    def raised(self, one: Running) -> None:
        self.catch_up()
        if self.switches.after_raise == "exit":
            self.code = 1
            return
        if one.name not in self.done:
            self.settle("fail", one.name)
        if "x-error" in self.extensions:
            self.say({"command": "error", "msg": "user code raised"})
        self.next()

    def next(self) -> None:
        """Take the next tuple that waits."""
        while self.queue and not (self.switches.serial and self.running):
            self.process(self.queue.popleft())
        if self.deaf:
            self.at_end()


class Spout(Child):
    """A spout: a command, its answer, a sync."""

    def __init__(self, extensions: frozenset[str] = frozenset(), switches: Switches | None = None) -> None:
        super().__init__(extensions, switches)
        self.nexts = 0

    def asked(self, message: dict[str, Any]) -> None:
        command = text_of(message, "command")
        known = {"next", "ack", "fail"} | ({"activate", "deactivate"} if "x-activate" in self.extensions else set())
        if command not in known:
            raise BadMessage(f"unknown command {command!r}")
        self.begin(self.callback(command, message), command)

    def skipped(self) -> None:
        self.sync()

    def callback(self, command: str, message: dict[str, Any]) -> Callback:
        """What user code does for a command."""
        if self.switches.delay_ms:
            yield float(self.switches.delay_ms)
        self.note({"call": command, "id": message.get("id")} if command in ("ack", "fail") else {"call": command})
        if command == "next":
            script = self.conf.get("wireproof.script") or []
            steps = script[self.nexts] if self.nexts < len(script) else []
            self.nexts += 1
        else:
            steps = self.conf.get(f"wireproof.on_{command}") or []
        yield from self.obey(steps, None)

    def finished(self, one: Running) -> None:
        self.sync()
        if self.deaf:
            self.at_end()

    def raised(self, one: Running) -> None:
        if self.switches.after_raise == "exit":
            self.code = 1
        else:
            if "x-error" in self.extensions:
                self.say({"command": "error", "msg": "user code raised"})
            self.sync()
        if self.deaf:
            self.at_end()

    def sync(self) -> None:
        """Say that a command is done."""
        self.say({"command": "sync"})

    def log(self, text: str) -> None:
        if self.running:
            super().log(text)
