"""Writes plans in which the tester is the host: actions, records that tell user code what to do, answers."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from specs.kcl.bundle import ANSWERS, answer, initialize, last
from specs.kcl.frames import Message, Style, Text, message
from specs.kcl.states import Config
from specs.plan import Close, Plan, Say, SendBytes, Step, Wait
from strategies.kcl import texts

ORDER, ESCAPE, WIDE, MEMBERS, CUTS, CRLF = 1, 2, 4, 8, 16, 32
"""Ways of writing that must not matter, as bits."""
ESCAPES = ("ascii", "all", "slash")
Instruction = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ways:
    """How one message is written: bits of the ways, and a number that says how exactly."""

    bits: int = 0
    how: int = 0


PLAIN = Ways()


def joined(plan: Plan) -> Plan:
    """The same plan, with lines that follow at once in one write with what they follow."""
    steps: list[Step] = []
    for step, after in itertools.zip_longest(plan.steps, plan.steps[1:]):
        if isinstance(step, Say) and isinstance(after, Say) and after.when == "now":
            steps += [Wait()] if step.when == "turn" else []
            steps.append(replace(step, when="join", cuts=()))
        else:
            steps.append(step)
    return replace(plan, steps=tuple(steps))


class Writer:
    """One conversation with a child. `when` is "now" for a plan that does not wait for its turns."""

    def __init__(self, config: Config, *, hurry: bool = False, conn: int = 0) -> None:
        self.config = config
        self.when = "now" if hurry else "turn"
        self.conn = conn
        self.steps: list[Step] = []
        self.features: set[str] = {"together"} if hurry else set()
        self.numbers: list[str] = []
        self.scheme = 0

    def plan(self) -> Plan:
        """What was written."""
        return Plan(tuple(self.steps), frozenset(self.features))

    # -- messages ------------------------------------------------------------------------------------------------------

    def say(self, frame: Message | Text, ways: Ways = PLAIN, *, upto: int = 1) -> None:
        """One line."""
        style: Style | None = None
        cuts: tuple[int, ...] = ()
        if ways.bits:
            style, cuts = self._style(ways), self._cuts(ways)
            if ways.bits & MEMBERS and isinstance(frame, Message):
                frame = self._with_members(frame, ways.how)
            if style.escape in ("ascii", "all") and isinstance(frame, Message):
                frame = replace(frame, escaped=True)
        self.steps.append(Say(self.conn, frame, cuts, self.when, style, upto))

    def bare(self, frame: Text) -> None:
        """A line without its end."""
        self.steps.append(Say(self.conn, frame, (), self.when, Style(eol=b"")))

    def _style(self, ways: Ways) -> Style:
        for bit, name in ((ORDER, "order"), (ESCAPE, "escape"), (WIDE, "wide"), (CRLF, "crlf")):
            if ways.bits & bit:
                self.features.add(name)
        return Style(
            order=1 + ways.how % 7 if ways.bits & ORDER else 0,
            escape=ESCAPES[ways.how % 3] if ways.bits & ESCAPE else "",
            wide=bool(ways.bits & WIDE),
            eol=b"\r\n" if ways.bits & CRLF else b"\n",
        )

    def _cuts(self, ways: Ways) -> tuple[int, ...]:
        if not ways.bits & CUTS:
            return ()
        self.features.add("cuts")
        first = 1 + ways.how * 3 % 97
        return (first, first + 1, first + 1 + ways.how % 40, -1 - ways.how % 2)

    def _with_members(self, frame: Message, how: int) -> Message:
        self.features.add("members")
        name, value = texts.MEMBERS[how % len(texts.MEMBERS)]
        members = dict(frame.members)
        if how % 3 == 2 and members.get("records"):
            members["records"] = [{**record, name: value} for record in members["records"]]
        else:
            members[name] = value
        return Message(members)

    def initialize(self, key: Any = 0, ways: Ways = PLAIN, *, bare: bool = False) -> None:
        """initialize, and answers for a child that asks for what it must not."""
        frame = initialize(self.config, key)
        if bare and self.config.wire.rich:
            frame = Message({**frame.members, "sequenceNumber": None, "subSequenceNumber": None})
        self.say(frame, ways)

    def batch(self, records: Sequence[Mapping[str, Any]], ways: Ways = PLAIN) -> None:
        """processRecords."""
        extra: dict[str, Any] = {"millisBehindLatest": 0} if self.config.wire.rich else {}
        if any(not str(record["partitionKey"]).isascii() for record in records):
            self.features.add("unicode")
        if any(not texts.LINE_ENDS.isdisjoint(str(record["partitionKey"])) for record in records):
            self.features.add("breaks")
        self.say(message("processRecords", records=list(records), **extra), ways)

    def record(self, data: bytes, key: str = "key") -> dict[str, Any]:
        """A record with the next sequence number."""
        number = texts.number(len(self.numbers), self.scheme)
        self.numbers.append(number)
        members: dict[str, Any] = {
            "data": base64.b64encode(data).decode(),
            "partitionKey": key,
            "sequenceNumber": number,
        }
        if self.config.wire.rich:
            sub = (len(self.numbers) - 1) % 2 if self.scheme == texts.SHARED else 0
            later = {"approximateArrivalTimestamp": 1_700_000_000_000, "subSequenceNumber": sub, "action": "record"}
            members |= later
        return members

    def script(self, instructions: Sequence[Instruction], key: str = "key") -> dict[str, Any]:
        """A record that tells user code what to do."""
        return self.record(json.dumps({"wireproof": list(instructions)}).encode(), key)

    def answers(self, errors: Sequence[str | None] = (), ways: Ways = PLAIN, *, withhold_ms: int = 0) -> None:
        """Answers to the requests of the open action: these first, and successes for the rest."""
        for error in errors:
            if withhold_ms:
                self.steps.append(Wait(withhold_ms))
            self.say(self.answered(error, absent=bool(ways.how % 2)), ways)
        self.say(self.answered(None), upto=ANSWERS)

    def answered(self, error: str | None, *, absent: bool = False) -> Message:
        """One answer to the open request, whatever it asks for; a success without the member `error` when `absent`."""
        frame = answer(self.config, self.conn, error)
        if error is None and absent:
            return Message({name: value for name, value in frame.members.items() if name != "error"})
        return frame

    def requested(self, ways: Ways = PLAIN) -> None:
        """shutdownRequested, in profiles that have it."""
        if self.config.wire.requested:
            self.say(message("shutdownRequested"), ways)
            self.answers()

    def final(self, reason: str, ways: Ways = PLAIN, errors: Sequence[str | None] = ()) -> None:
        """The final action for a reason."""
        self.say(last(self.config, reason), ways)
        self.answers(errors, ways)

    # -- other steps ---------------------------------------------------------------------------------------------------

    def wait(self, ms: int = 0) -> None:
        """Let time pass."""
        self.steps.append(Wait(ms))

    def blurt(self, data: bytes) -> None:
        """Octets."""
        self.steps.append(SendBytes(self.conn, data, self.when))

    def eof(self, *, at_once: bool = False) -> None:
        """The end of STDIN."""
        self.steps.append(Close(self.conn, "eof-now" if at_once else "eof"))
