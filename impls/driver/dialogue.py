"""One test program that is told what to do, line by line, and whether it keeps to the contract of its lines.

`impls/driver/ndjson.py` takes what a program says as it comes, because a conversation is judged by it. Here the program
itself is looked at: every way in which a line of it is none of the contract (docs/implementations.md) is told in words,
once. Whoever goes silent, floods or ends is `Broken`.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from impls.driver import unread
from impls.driver.program import Program, wait_for, write_all
from impls.launching.printable import printable

MAX_ANSWER = 1 << 25
"""Octets that a program may say until its answer comes."""
PIECE_S, PIECES_S = 0.3, 0.02
"""How long a program may take to read a piece of a line, and how long is waited where that cannot be seen."""
LEAVE_S = 0.5
"""How long what a program had kept back may take to come once its stdin has ended."""
SHOWN = 80
NO_ANSWER = "write to stderr what is no answer"
_NOTHING = object()


class Broken(Exception):
    """The program cannot be asked anything any more: `why`, and what to `write` for that."""

    def __init__(self, why: str, write: str) -> None:
        super().__init__(why)
        self.why, self.write = why, write


@dataclass(frozen=True, slots=True)
class Reply:
    """What was answered: `ok`, any value, unless there is an `error`."""

    ok: Any = None
    error: str | None = None

    @property
    def unsupported(self) -> bool:
        """True when the program says that it does not offer this."""
        return self.error == "unsupported"


class Dialogue:
    """Tells `program` one thing after the other. `faults` are the ways in which it has broken the contract, by what
    is to be written instead; `events` are its lines without an answer."""

    def __init__(self, program: Program, left_s: Callable[[], float]) -> None:
        self.program = program
        self.faults: dict[str, str] = {}
        self.events: list[dict[str, Any]] = []
        self._left_s = left_s
        self._ids = itertools.count(1)
        self._open: dict[Any, str] = {}
        self._replies: dict[Any, Reply] = {}
        self._inbox = bytearray()
        self._said = 0
        self._plain = False
        self._lines: list[str] = []

    # -- telling -------------------------------------------------------------------------------------------------------

    def ask(self, op: str, within_s: float, *, pieces: int = 1, **given: Any) -> Reply:
        """Tell it one thing and wait for the answer. Raises Broken."""
        number = self.begin(op, pieces=pieces, **given)
        return self.answer(number, within_s)

    def ask_together(self, ops: Sequence[str], within_s: float) -> list[Reply]:
        """Tell it several things in one write, and wait for all answers. Raises Broken."""
        lines = [self._line(op, {}) for op in ops]
        self._write(b"".join(line for _, line in lines))
        return [self.answer(number, within_s) for number, _ in lines]

    def begin(self, op: str, *, pieces: int = 1, **given: Any) -> Any:
        """Tell it one thing; its id. Raises Broken."""
        number, line = self._line(op, given)
        step = -(-len(line) // pieces)
        for start in range(0, len(line), step):
            self._write(line[start : start + step])
            if start + step < len(line):
                self._until_read()
        return number

    def _line(self, op: str, given: dict[str, Any]) -> tuple[Any, bytes]:
        request = {"id": next(self._ids), "op": op, **given}
        self._open[request["id"]] = op
        return request["id"], json.dumps(request).encode() + b"\n"

    def _write(self, data: bytes) -> None:
        inbox = bytearray()
        taken = write_all(self.program, data, inbox)
        self._hear(bytes(inbox))
        if not taken:
            self._ended_or("took no more of what it was told", "read stdin until it ends")

    def _until_read(self) -> None:
        until = time.monotonic() + PIECE_S
        while (left := unread.of_pipe(self.program.stdin)) != 0 and time.monotonic() < until:
            wait_for(self.program.listening(), PIECES_S * 1000)
            if left is None:
                return

    def line(self, text: str, within_s: float, *, pieces: int = 1) -> str:
        """What a program that knows no objects answers to a line. Raises Broken."""
        self._plain, self._lines = True, []
        data = text.encode() + b"\n"
        step = -(-len(data) // pieces)
        for start in range(0, len(data), step):
            self._write(data[start : start + step])
            if start + step < len(data):
                self._until_read()
        until = time.monotonic() + min(within_s, self._left_s())
        while not self._lines:
            if (left := until - time.monotonic()) <= 0:
                self._ended_or(*self._silence(text[:20], within_s))
            self.listen(left)
        return self._lines.pop(0)

    # -- listening -----------------------------------------------------------------------------------------------------

    def answer(self, number: Any, within_s: float) -> Reply:
        """What it answers to what was told under this id. Raises Broken."""
        op = self._open.get(number, "")
        until = time.monotonic() + min(within_s, self._left_s())
        while number not in self._replies:
            if (left := until - time.monotonic()) <= 0:
                self._ended_or(*self._silence(op, within_s))
            self.listen(left)
        return self._replies.pop(number)

    def listen(self, seconds: float) -> None:
        """Take what it says, for so long at most. Raises Broken when it has ended or floods."""
        program = self.program
        wait_for(program.listening(), min(seconds, 0.05 if program.mute else seconds) * 1000)
        program.drain()
        said = program.read()
        if said:
            self._hear(said)
        elif said is None and (program.code() is not None or program.mute):
            self._ended_or("closed its stdout", "answer there until stdin ends")

    def event(self, name: str, within_s: float) -> dict[str, Any] | None:
        """The next event of that name, None when none came. Raises Broken."""
        until = time.monotonic() + min(within_s, self._left_s())
        while True:
            for place, each in enumerate(self.events):
                if each.get("event") == name:
                    return self.events.pop(place)
            if (left := until - time.monotonic()) <= 0:
                return None
            self.listen(left)

    def finish(self, within_s: float) -> int | None:
        """End its stdin; its exit status, None when it does not end. Raises Broken when it floods."""
        self.program.finish()
        until = time.monotonic() + min(within_s, self._left_s())
        while (code := self.program.code()) is None and (left := until - time.monotonic()) > 0:
            wait_for(self.program.listening(), min(left, 0.05) * 1000)
            self.program.drain()
            self._hear(self.program.read() or b"")
        return code

    def _silence(self, op: str, within_s: float) -> tuple[str, str]:
        """What to say of one that does not answer: whether it has begun to, or keeps its answer back."""
        if self._inbox and (chatter := self.faults.pop(NO_ANSWER, "")):
            return chatter, NO_ANSWER  # what it has begun to say is likely to be no answer either
        if self._inbox:
            return f"began to answer {op!r} and did not end the line", "end each answer with a line feed"
        if unread.of_pipe(self.program.stdin):
            what = f"did not read its stdin within {within_s:g} s{self._last_words()}"
            return what, "begin to read soon; where it only starts slowly: --within=60"
        self.program.finish()
        said = self._said
        until = time.monotonic() + min(LEAVE_S, self._left_s())
        while (left := until - time.monotonic()) > 0 and self.program.code() is None and self._said == said:
            wait_for(self.program.listening(), left * 1000)
            self.program.drain()
            with contextlib.suppress(Broken):
                self._hear(self.program.read() or b"")
        if self._said > said == 0:  # who has answered before flushes, and is only slow
            return (
                f"answered {op!r} only when its stdin had ended",
                "flush stdout after each line, and read line by line",
            )
        return (
            f"did not answer {op!r} within {within_s:g} s{self._last_words()}",
            "answer each line of stdin by one line on stdout, an error where the library fails",
        )

    def _ended_or(self, why: str, write: str) -> None:
        """Raise Broken: because it has ended, where it has, or else for the reason given."""
        program, until = self.program, time.monotonic() + min(LEAVE_S, self._left_s())
        while not program.deaf and program.mute and program.code() is None and time.monotonic() < until:
            wait_for([], 10)
            program.drain()
        code = None if program.deaf else program.code()
        if code is None:
            raise Broken(why, write)
        raise Broken(
            f"ended with exit status {code} while its stdin was open{self._last_words()}", "go on until stdin ends"
        )

    def _last_words(self) -> str:
        """The last line of its STDERR, if there is one."""
        words = bytes(self.program.tail).decode("utf-8", "backslashreplace")
        lines = [line.strip() for line in words.splitlines() if line.strip()]
        told = next((line for line in lines if re.match(r"(Uncaught )?[\w.]*(Error|Exception)\b", line)), "")
        return f"; its last words: {printable((told or lines[-1])[:200])}" if lines else ""

    def _hear(self, data: bytes) -> None:
        self._said += len(data)
        self._inbox += data
        if len(self._inbox) > MAX_ANSWER or self._said > 2 * MAX_ANSWER:
            self.faults.clear()
            raise Broken("floods its stdout", "write one line for each answer, and nothing else")
        *lines, rest = self._inbox.split(b"\n")
        self._inbox = bytearray(rest)
        for line in lines:
            if line.strip():
                self._heard(bytes(line))

    def _heard(self, line: bytes) -> None:
        if self._plain:
            self._lines.append(line.decode("utf-8", "backslashreplace").strip())
            return
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            shown = printable(line[:SHOWN].decode("utf-8", "backslashreplace"))
            self.fault(f"writes to stdout what is no JSON object: {shown}", NO_ANSWER)
        elif isinstance(said.get("event"), str):
            self.events.append(said)
        elif "id" not in said:
            self.fault(f"answers without an id: {_shown(said)}", 'repeat the "id" of the line that is answered')
        else:
            self._answered(said)

    def _answered(self, said: dict[str, Any]) -> None:
        number = said["id"]
        if isinstance(number, str) and number.isdecimal() and number not in self._open and int(number) in self._open:
            self.fault(f"answers {number!r} where the id was {int(number)}", "repeat the id as it came, as a number")
            number = int(number)
        op = self._open.pop(number, _NOTHING) if isinstance(number, int | str) else _NOTHING
        if op is _NOTHING:
            self.fault(f"answers an id that is not open: {_shown(said)}", "answer each line once, by its own id")
            return
        if ("ok" in said) == ("error" in said):
            self.fault(f"answers {op!r} by {_shown(said)}", 'answer by "ok" or by "error", and never by both')
        error = said.get("error")
        if "error" in said and "ok" not in said and not isinstance(error, str):
            self.fault(
                f"answers {op!r} by an error that is no text: {_shown(said)}", 'say why as a text: "error": "why"'
            )
        failed = None if "ok" in said else error if isinstance(error, str) else str(error)
        self._replies[number] = Reply(said.get("ok"), failed)

    def fault(self, what: str, write: str) -> None:
        """Note that the contract is broken; one fault of each kind is enough."""
        self.faults.setdefault(write, what)

    def told(self) -> list[tuple[str, str]]:
        """Each fault, and what to write instead."""
        return [(what, write) for write, what in self.faults.items()]


def _shown(said: Any) -> str:
    return printable(json.dumps(said)[:SHOWN])
