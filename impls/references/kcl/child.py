"""The reference child: a record-processor library with scripted user code around it.

It does no input or output. `Child.run` is a generator that yields a `Need`: it is sent the next line of STDIN (None at
its end) for READ and nothing after a sleep. What it writes is appended to `out` and `err`, and what user code observed
to `notes`. `impls.references.kcl.memory` drives it in memory, `impls.references.kcl.__main__` on real pipes. The
freedoms of the text are `Switches`.
"""

from __future__ import annotations

import json
import random
import traceback
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from impls.references.kcl.wire import PROFILES, BadLine, parse, unpack


@dataclass(frozen=True, slots=True)
class Switches:
    """Turns that the text leaves open.

    `responds_first`: responseFor before action. `spaced`, `ascii_only`: how JSON is written. `chatter`: lines beside
    messages ("", "blank", "text"). `leading`: a newline before each message even at the start of a line. `number`:
    "null" or "absent" where there is none. `sub`: whether a request carries subSequenceNumber. `unknown`: "exit" or
    "skip" for what cannot be understood. `after_raise`: "status" or "exit". `prints`: user output goes to STDOUT
    ("out") or is sent to STDERR ("err"). `empty`: user code is called for empty batches. `hears_request`: it is called
    for shutdownRequested. `retry`: a refused checkpoint is tried once more. `delay_ms`: before each message.
    `stderr`: it writes a log. `crlf`: its lines end with CR LF. `leaves`: it ends after its last status. `singly`: user
    code is called for each record.
    """

    responds_first: bool = False
    spaced: bool = False
    ascii_only: bool = False
    chatter: str = ""
    leading: bool = True
    number: str = "null"
    sub: bool = True
    unknown: str = "exit"
    after_raise: str = "status"
    prints: str = "out"
    empty: bool = True
    hears_request: bool = True
    retry: bool = False
    delay_ms: int = 0
    stderr: bool = False
    crlf: bool = False
    leaves: bool = False
    singly: bool = False


CHOICES: Mapping[str, Sequence[Any]] = {
    "chatter": ("", "blank", "text"),
    "number": ("null", "absent"),
    "unknown": ("exit", "skip"),
    "after_raise": ("status", "exit"),
    "prints": ("out", "err"),
    "delay_ms": (0, 0, 0, 1, 7),
    "leaves": (False, False, False, True),
}


def drawn(seed: int) -> Switches:
    """Switches by chance."""
    chance = random.Random(seed)
    return Switches(**{f.name: chance.choice(CHOICES.get(f.name, (False, True))) for f in fields(Switches)})


class Need(NamedTuple):
    """What a child waits for: a line, or for so many milliseconds to pass."""

    ms: int = -1


READ = Need()
Running = Generator[Need, bytes | None, Any]


class Exit(Exception):
    """The child ends with a status."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Ended(Exception):
    """STDIN ended."""


class Refused(Exception):
    """A checkpoint failed."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class UserError(Exception):
    """User code was told to raise."""


class Child:
    """One conversation. Faulty children override a method."""

    def __init__(self, profile: str = "kcl1-seed", switches: Switches | None = None) -> None:
        self.profile = PROFILES[profile]
        self.switches = switches or Switches()
        self.out = bytearray()
        self.err = bytearray()
        self.notes: list[dict[str, Any]] = []
        self.last: str | None = None
        self.begun = False
        self.over = False
        self.fresh = True
        self.count = 0

    # -- the library ---------------------------------------------------------------------------------------------------

    def run(self) -> Running:
        """The whole conversation; the return value is the exit status."""
        try:
            if self.switches.stderr:
                self.err += b"record processor starting\n"
            while True:
                line = yield from self.next_line()
                if line is None:
                    return self.at_end()
                try:
                    yield from self.dispatch(line)
                except BadLine as error:
                    self.complain(error)
                    if self.switches.unknown == "exit":
                        return 1
        except Ended:
            return self.at_end()
        except Exit as end:
            return end.code

    def next_line(self) -> Running:
        """The next line without its end, None at the end of STDIN."""
        return (yield READ)

    def at_end(self) -> int:
        """The exit status at the end of STDIN."""
        return 0

    def complain(self, error: Exception) -> None:
        """Say on STDERR what went wrong."""
        self.err += "".join(traceback.format_exception_only(error)).encode("utf-8", "backslashreplace")

    def dispatch(self, line: bytes) -> Running:
        """Do what one line asks for."""
        if not line.strip():
            return
        members = parse(line)
        action = members["action"]
        known = {"initialize", "processRecords", *self.profile.finals}
        known |= {"shutdownRequested"} if self.profile.requested else set()
        if action not in known:
            raise BadLine(f"unknown action {action!r}")
        if self.begun == (action == "initialize") or self.over:
            raise BadLine(f"{action} out of order")
        yield from self.perform(action, members)

    def perform(self, action: str, members: dict[str, Any]) -> Running:
        """Call user code for an action and answer by its status."""
        self.begun = True
        self.over = action in self.profile.finals
        try:
            yield from self.call(action, members)
        except UserError as error:
            self.complain(error)
            if self.switches.after_raise == "exit":
                raise Exit(1) from None
        yield from self.status(action)
        if self.over and self.switches.leaves:
            raise Exit(0)

    def call(self, action: str, members: dict[str, Any]) -> Running:
        """Hand an action to user code."""
        if action == "initialize":
            self.initialize(_text(members, "shardId"))
        elif action == "processRecords":
            records = self.decoded(members)
            self.last = records[-1]["sequenceNumber"] if records else self.last
            if records or self.switches.empty:
                yield from self.process_records(records)
        elif action == "shutdown":
            yield from self.shutdown(_text(members, "reason"))
        elif action == "leaseLost":
            self.note({"call": "leaseLost"})
        elif action == "shardEnded":
            yield from self.shard_ended()
        elif self.switches.hears_request:
            self.note({"call": "shutdownRequested"})

    def decoded(self, members: dict[str, Any]) -> list[dict[str, Any]]:
        """The records of a batch with their octets."""
        records = members.get("records")
        if not isinstance(records, list):
            raise BadLine("processRecords without records")
        return [self.record(record) for record in records]

    def record(self, record: Any) -> dict[str, Any]:
        """One record."""
        if not isinstance(record, dict) or "data" not in record:
            raise BadLine("a record without data")
        return {
            "data": unpack(record["data"]),
            "partitionKey": record.get("partitionKey"),
            "sequenceNumber": _text(record, "sequenceNumber"),
        }

    def status(self, action: str) -> Running:
        """Say that an action is done."""
        yield from self.say({"action": "status", "responseFor": action})

    def say(self, members: dict[str, Any]) -> Running:
        """Write one message."""
        if self.switches.delay_ms:
            yield Need(self.switches.delay_ms)
        self.count += 1
        if self.switches.chatter == "text":
            self.line(f"[child] message {self.count}".encode())
        elif self.switches.chatter == "blank":
            self.line(b"")
        self.line(self.written(members))

    def line(self, data: bytes) -> None:
        """Write a line of its own."""
        if self.switches.leading or not self.fresh:
            self.out += b"\n"
        self.out += data + (b"\r\n" if self.switches.crlf else b"\n")
        self.fresh = True

    def written(self, members: dict[str, Any]) -> bytes:
        """A message as JSON."""
        if self.switches.responds_first:
            members = dict(reversed(members.items()))
        separators = (", ", ": ") if self.switches.spaced else (",", ":")
        return json.dumps(members, ensure_ascii=self.switches.ascii_only, separators=separators).encode()

    def checkpoint(self, number: str | None) -> Running:
        """Ask for a checkpoint and wait for its result. Raises Refused, Ended."""
        yield from self.say(self.request(number))
        line = yield from self.next_line()
        while line is not None and not line.strip():  # a blank line is nothing here either
            line = yield from self.next_line()
        self.result(line)

    def result(self, line: bytes | None) -> None:
        """What came for a checkpoint. Raises Refused, Ended."""
        if line is None:
            raise Ended
        answer = parse(line)
        if answer["action"] != "checkpoint":
            self.complain(BadLine(f"{answer['action']} came instead of the answer to a checkpoint"))
            raise Refused("InvalidStateException")
        error = answer.get("error")
        if error is not None:
            raise Refused(str(error))

    def request(self, number: str | None) -> dict[str, Any]:
        """A checkpoint request."""
        members: dict[str, Any] = {"action": "checkpoint"}
        if number is not None or self.switches.number == "null":
            members[self.profile.number] = number
        if self.profile.later and self.switches.sub:
            members["subSequenceNumber"] = None
        return members

    # -- user code, scripted -------------------------------------------------------------------------------------------

    def note(self, observation: dict[str, Any]) -> None:
        """Write an observation down."""
        self.notes.append(observation)

    def initialize(self, shard: str) -> None:
        """User code is told its shard."""
        self.note({"call": "initialize", "shardId": shard})

    def process_records(self, records: list[dict[str, Any]]) -> Running:
        """User code gets a batch, and does what its records tell it."""
        for part in ([record] for record in records) if self.switches.singly and records else (records,):
            yield from self.called_with(part)

    def called_with(self, records: Sequence[Mapping[str, Any]]) -> Running:
        """One callback."""
        seen = [
            {"data_hex": r["data"].hex(), "partitionKey": r["partitionKey"], "sequenceNumber": r["sequenceNumber"]}
            for r in records
        ]
        self.note({"call": "processRecords", "records": seen})
        for record in records:
            for step in _script(record["data"]):
                yield from self.obey(step)

    def obey(self, step: Mapping[str, Any]) -> Running:
        """One step of a script."""
        op = step.get("op")
        if op == "checkpoint":
            yield from self.try_checkpoint(step.get("at"))
        elif op == "print":
            self.user_prints(str(step.get("text")))
        elif op == "stderr":
            self.err += str(step.get("text")).encode("utf-8", "backslashreplace")
        elif op == "sleep":
            yield Need(int(step.get("ms", 0)))
        elif op == "raise":
            raise UserError("told to raise")
        else:
            self.err += f"unknown step {op!r}\n".encode()

    def user_prints(self, text: str) -> None:
        """User code prints, without a newline of its own."""
        if self.switches.prints == "err":
            self.err += text.encode("utf-8", "backslashreplace")
        elif text:
            self.out += text.encode("utf-8", "backslashreplace")
            self.fresh = text.endswith("\n")

    def try_checkpoint(self, at: str | None) -> Running:
        """User code asks for a checkpoint and notes down what became of it."""
        number = at if at is not None or self.profile.later else self.last
        error = yield from self.outcome(number)
        if error is not None and self.switches.retry:
            error = yield from self.outcome(number)
        self.note({"call": "checkpoint", "at": at, "error": error})

    def outcome(self, number: str | None) -> Running:
        """What became of a checkpoint: the name of an error or None."""
        try:
            yield from self.checkpoint(number)
        except Refused as refused:
            return refused.name
        except Ended:
            self.note({"call": "checkpoint", "at": number, "error": "the end of STDIN"})
            raise
        return None

    def shutdown(self, reason: str) -> Running:
        """User code is told to end; at the end of a shard it makes a checkpoint."""
        self.note({"call": "shutdown", "reason": reason})
        if reason == "TERMINATE" and (self.last is not None):
            yield from self.try_checkpoint(None)

    def shard_ended(self) -> Running:
        """The shard is at its end: a last checkpoint, without a number."""
        self.note({"call": "shardEnded"})
        yield from self.try_checkpoint(None)


def _text(members: Mapping[str, Any], name: str) -> str:
    value = members.get(name)
    if not isinstance(value, str):
        raise BadLine(f"{name} is {value!r:.60}")
    return value


def _script(data: bytes) -> list[Mapping[str, Any]]:
    if not data.startswith(b"{"):
        return []
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        return []
    steps = told.get("wireproof") if isinstance(told, dict) else None
    return [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
