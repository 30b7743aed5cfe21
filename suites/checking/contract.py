"""The contract of programs that are told what to do: one JSON object a line, in and out (docs/implementations.md).

What is asked here is no op of any protocol, so that nothing of the library is touched: whether the loop is right.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from impls.driver.dialogue import Broken, Dialogue, Reply
from suites.checking.look import CannotCheck, Look

FIRST_S, ANSWER_S, LEAVE_S = 5.0, 3.0, 2.0
"""How long a program may take to answer for the first time, later, and to end with its stdin."""
LARGE = 1 << 20
"""Octets of a line that must be read whole."""


@dataclass
class Testee:
    """A program that is told what to do, and what it does not offer."""

    look: Look
    dialogue: Dialogue
    missing: list[str]

    def ask(self, op: str, **given: Any) -> Reply:
        """Tell it one thing. Raises Broken."""
        reply = self.dialogue.ask(op, ANSWER_S * self.look.patience, **given)
        if reply.unsupported and op not in self.missing:
            self.missing.append(op)
        return reply

    def try_out(self, op: str, **given: Any) -> Reply:
        """Tell it one thing that it need not offer in this form. Raises Broken."""
        return self.dialogue.ask(op, ANSWER_S * self.look.patience, **given)

    def must(self, op: str, why: str, **given: Any) -> Any:
        """Tell it one thing that has to work, and answer its value. Raises CannotCheck."""
        reply = self.ask(op, **given)
        if reply.error is not None:
            raise CannotCheck(f"{op} is answered by the error {reply.error!r}: {why}", f"what carries out {op!r}")
        return reply.ok

    def over(self, op: str, **given: Any) -> None:
        """Tell it something when the connection has ended. A library may find out about that later."""
        reply = self.ask(op, **given)
        if reply.error is None:
            self.look.report.note(
                f"{op} is answered by ok when the connection has ended", f"answer {op} by an error where it is known"
            )

    def refused(self, op: str, what: str, **given: Any) -> None:
        """Tell it one thing that cannot work: that is an error, not the end of the program, and no `ok`."""
        reply = self.ask(op, **given)
        if reply.error is None:
            self.look.report.wrong(f"{what} is answered by ok", f"raise, or answer an error, when {what} is asked for")


def lines(look: Look) -> Testee:
    """A program whose loop is right, as far as it is seen. Raises CannotCheck, and Broken."""
    dialogue, answer_s = look.dialogue(), ANSWER_S * look.patience
    name = f"no-such-op-{secrets.token_hex(3)}"
    found = dialogue.ask(name, FIRST_S * look.patience)
    _must_refuse(found, name)
    look.report.good("answers line by line, and refuses what is no op")
    _same(dialogue.ask(f"{name}-cut", answer_s, pieces=3), "a line that comes in pieces", "read until the line feed")
    _same(
        dialogue.ask(f"{name}-large", answer_s, padding="x" * LARGE),
        "a line of 1 MiB",
        "read lines of any length (Go: bufio.Reader, not Scanner; Node: join what comes)",
    )
    for reply in dialogue.ask_together([f"{name}-{n}" for n in range(3)], answer_s):
        _same(reply, "one of three lines that come at once", "answer each line, in its order")
    look.report.good("reads lines in pieces, several at once, and one of 1 MiB")
    return Testee(look, dialogue, [])


def _must_refuse(found: Reply, name: str) -> None:
    if found.error is None:
        raise CannotCheck(
            f"an op that does not exist ({name}) is answered by ok", '{"error": "unsupported"} for every op it lacks'
        )
    if not found.unsupported:
        raise CannotCheck(
            f"an op that does not exist is answered by the error {found.error!r}",
            '{"error": "unsupported"}, in these words: other texts mean that the library has failed',
        )


def _same(found: Reply, what: str, write: str) -> None:
    if not found.unsupported:
        shown = "ok" if found.error is None else f"the error {found.error!r}"
        raise CannotCheck(f"{what} is answered by {shown}", write)


def offered(testee: Testee, ops: Sequence[str]) -> None:
    """Tell which of `ops` the program does not offer."""
    lacking = [op for op in ops if op in testee.missing]
    if lacking:
        testee.look.report.note(f"does not offer {', '.join(lacking)}: what needs that is not judged")
    else:
        testee.look.report.good(f"carries out every op: {', '.join(ops)}")


def ends(testee: Testee, *, status: bool = True) -> None:
    """The end of stdin ends the program, and its lines were all of the contract."""
    report, dialogue, leave_s = testee.look.report, testee.dialogue, LEAVE_S * testee.look.patience
    try:
        code = dialogue.finish(leave_s)
    except Broken as error:
        report.wrong(f"it {error.why} at the end of stdin", "end the program when stdin ends")
        return
    if code is None:
        report.wrong(f"goes on {leave_s:g} s after its stdin has ended", "end the program when stdin ends")
    elif code and status:
        report.note(f"ends with its stdin, with exit status {code}", "exit with 0 when stdin ends")
    else:
        report.good("ends with its stdin")


def wrong_value(testee: Testee, op: str, found: Any, why: str, shape: str) -> None:
    """Tell that an op was answered by what it may not be answered by."""
    testee.look.report.wrong(f"{op} is answered by {_short(found)}: {why}", f"{op} has to be answered by {shape}")


def has(found: Any, members: Mapping[str, type | tuple[type, ...]]) -> str:
    """What is wrong with an object that is answered, or ""."""
    if not isinstance(found, dict):
        return "it is no object"
    for name, kind in members.items():
        if name not in found:
            return f"it has no {name!r}"
        if not isinstance(found[name], kind):
            return f"{name!r} is {_short(found[name])}"
    return ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 100 else text[:100] + "…"
