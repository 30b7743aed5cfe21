"""What every testee in Python does, whatever library it is around. Copy this file beside your testee.py.

Python 3.9 or newer, standard library only. The contract is docs/testees.md of Wireproof:

    serve({"connect": connect, ...})     JSON objects on stdin, one a line; each is answered on stdout
    serve_filter(again)                  lines of hex on stdin, each answered by hex or by ERR and why
    note, steps_of_record, run, ...      for user code that a library calls: bolts, spouts, record processors
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Op = Callable[[Mapping[str, Any]], Any]
Steps = list[dict[str, Any]]


class Unsupported(Exception):
    """Raise this for what the library does not offer: nothing was sent then, and nobody asks for it again."""


class Todo(Exception):
    """Stands in a template for what is still to be written."""

    def __init__(self, what: str) -> None:
        super().__init__(f"still to be written in testee.py: {what}")


# --- the loop ---------------------------------------------------------------------------------------------------------


class _Out:
    """The real stdout. Whatever else is printed goes to stderr."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._file = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self._lock = threading.Lock()

    def say(self, line: str) -> None:
        """One whole line, at once."""
        with self._lock:
            self._file.write(line.encode("utf-8", "backslashreplace") + b"\n")
            self._file.flush()


_out: _Out | None = None


def _say(value: Mapping[str, Any]) -> None:
    if _out is None:
        raise RuntimeError("serve has not begun")
    _out.say(json.dumps(value))


def event(name: str, **members: Any) -> None:
    """Tell what happened without being asked for, such as a checkpoint that a child wants. Any thread may."""
    _say({"event": name, **members})


def serve(ops: Mapping[str, Op], at_once: Iterable[str] = ()) -> None:
    """Carry out what is said on stdin until it ends, one op after the other; those in `at_once` do not wait for one
    that is still going on."""
    global _out  # noqa: PLW0603 - there is one stdout
    _out = _Out()
    quick = frozenset(at_once)
    waiting: queue.Queue[Mapping[str, Any]] = queue.Queue()
    if quick:
        threading.Thread(target=_work, args=(ops, waiting), daemon=True).start()
    for line in sys.stdin.buffer:
        said = _read(line)
        if said is None:
            print(f"no JSON object with an op: {line[:100]!r}", file=sys.stderr)
        elif quick and said["op"] not in quick:
            waiting.put(said)
        else:
            _carry_out(ops, said)
    _end()


def _read(line: bytes) -> Mapping[str, Any] | None:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) and isinstance(said.get("op"), str) else None


def _work(ops: Mapping[str, Op], waiting: queue.Queue[Mapping[str, Any]]) -> None:
    while True:
        _carry_out(ops, waiting.get())


def _carry_out(ops: Mapping[str, Op], said: Mapping[str, Any]) -> None:
    try:
        if said["op"] not in ops:
            raise Unsupported  # noqa: TRY301 - one way to say so
        answer = {"ok": ops[said["op"]](said)}
        json.dumps(answer)  # what is no JSON is an error of this op
    except Unsupported:
        answer = {"error": "unsupported"}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - libraries raise what they like
        answer = {"error": f"{type(error).__name__}: {error}"}
    _say({"id": said.get("id"), **answer})


def _end() -> None:
    sys.stderr.flush()
    os._exit(0)  # threads of the library may wait for somebody who is gone


def serve_filter(again: Callable[[bytes], bytes]) -> None:
    """Answer each line of hex by the hex of what `again` makes of its octets, or by ERR and why it failed."""
    out = _Out()
    for line in sys.stdin.buffer:
        try:
            answer = again(bytes.fromhex(line.decode("ascii"))).hex()
        except Exception as error:  # noqa: BLE001 - whatever a library raises is a refusal
            answer = f"ERR {type(error).__name__}: {error}".replace("\n", " ").replace("\r", " ")[:300]
        out.say(answer)
    _end()


def place(address: str) -> tuple[str, int]:
    """Host and port of HOST:PORT."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


# --- what a testee has to remember ------------------------------------------------------------------------------------


class Handles:
    """Things by the texts that the suite calls them by."""

    def __init__(self) -> None:
        self._things: dict[str, Any] = {}
        self._numbers = itertools.count(1)

    def keep(self, thing: Any, kind: str = "") -> str:
        """A new handle."""
        handle = f"{kind}{next(self._numbers)}"
        self._things[handle] = thing
        return handle

    def __getitem__(self, handle: Any) -> Any:
        if handle not in self._things:
            raise LookupError(f"there is no {handle!r}")
        return self._things[handle]

    def drop(self, handle: Any) -> Any:
        """What it stood for; it is no handle any more."""
        found = self[handle]
        del self._things[handle]
        return found


class Inbox:
    """What a library's thread has heard on one connection, for the thread that carries out ops: messages that wait for
    `receive`, marks such as receipts, and why the connection is over."""

    def __init__(self) -> None:
        self._messages: list[Any] = []
        self._marks: set[Any] = set()
        self._changed = threading.Condition()
        self.why = ""

    def put(self, message: Any) -> None:
        """A message has come."""
        self._tell(lambda: self._messages.append(message))

    def mark(self, name: Any) -> None:
        """Something that is waited for has come, such as a receipt."""
        self._tell(lambda: self._marks.add(name))

    def over(self, why: str) -> None:
        """The connection is of no more use. The first reason counts."""
        self._tell(lambda: setattr(self, "why", self.why or why))

    def _tell(self, change: Callable[[], Any]) -> None:
        with self._changed:
            change()
            self._changed.notify_all()

    def live(self) -> None:
        """Raise ConnectionError when the connection is over."""
        if self.why:
            raise ConnectionError(self.why)

    def take(self, seconds: float) -> Any:
        """The next message, None when there is none in time. Raises ConnectionError when there will be none."""
        with self._changed:
            self._changed.wait_for(lambda: self._messages or self.why, seconds)
            if self._messages:
                return self._messages.pop(0)
        self.live()
        return None

    def wait_for(self, name: Any, seconds: float) -> None:
        """Wait for a mark. Raises ConnectionError when it does not come."""
        with self._changed:
            self._changed.wait_for(lambda: name in self._marks or self.why, seconds)
            if name not in self._marks:
                raise ConnectionError(self.why or f"{name} did not come")


# --- user code that a library calls -----------------------------------------------------------------------------------


def note(call: str, **seen: Any) -> None:
    """Note down what user code saw, when a callback begins: before its first step, and before any answer."""
    name = os.environ.get("WIREPROOF_OBSERVATIONS")
    if name:
        with open(name, "a", encoding="utf-8") as file:  # noqa: PTH123 - the name is the caller's
            file.write(json.dumps({"call": call, **seen}) + "\n")


def decoded(data: str | None) -> bytes:
    """The octets of a record, for libraries that leave its base64 to user code."""
    return base64.b64decode(data or "")


def steps_of_record(data: bytes) -> Steps:
    """The steps that a record of KCL carries; nothing for an ordinary one."""
    try:
        value = json.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, ValueError):
        return []
    steps = value.get("wireproof") if isinstance(value, dict) else None
    return [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []


def steps_of_tuple(values: Iterable[Any]) -> Steps | None:
    """The steps that a tuple of Storm carries; None for an ordinary one, which is to be acked."""
    values = list(values)
    if len(values) == 2 and values[0] == "wireproof" and isinstance(values[1], list):
        return [step for step in values[1] if isinstance(step, dict)]
    return None


def steps_of_command(conf: Mapping[str, Any], command: str, nexts: int = 0) -> Steps:
    """The steps that conf has for a spout's next, ack or fail; `nexts` were next before it."""
    if command == "next":
        script = conf.get("wireproof.script") or []
        return list(script[nexts]) if nexts < len(script) else []
    return list(conf.get(f"wireproof.on_{command}") or [])


def run(steps: Iterable[Mapping[str, Any]], ops: Mapping[str, Callable[[Mapping[str, Any]], Any]]) -> None:
    """Do them, in order. `ops` are those that the library does: checkpoint, emit, ack, fail, log. Raises what they
    raise, and what the step `raise` asks for: the later steps are dropped then."""
    for step in steps:
        op = str(step.get("op"))
        if op in ops:
            ops[op](step)
        elif op == "print":
            print(step.get("text"), end="", flush=True)
        elif op == "stderr":
            print(step.get("text"), end="", file=sys.stderr, flush=True)
        elif op == "sleep":
            time.sleep(float(step.get("ms", 0)) / 1000)
        elif op == "raise":
            raise RuntimeError("told to raise")
        else:
            print(f"unknown step {op!r}", file=sys.stderr, flush=True)
