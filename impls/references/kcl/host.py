"""The reference host: a multi-lang processor with a checkpointer that can be told to refuse.

Sans input and output, as the child: `Host.call` begins a call and `Host.hear` takes lines of the child. What it writes
to the child is appended to `out`, what it says to whoever calls it (answers, events) to `events`. `Session` drives it
in memory, impls/references/kcl/hosting.py as a program of its own. The freedoms of the text are `HostSwitches`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from impls.references.kcl.wire import PROFILES, BadLine, pack, parse

OPS = ("initialize", "processRecords", "shutdown", "leaseLost", "shardEnded", "shutdownRequested")


@dataclass(frozen=True, slots=True)
class HostSwitches:
    """Turns that the text leaves open.

    `ascii_only`, `spaced`, `action_last`: how JSON is written. `error`: how success is written, "null" or "absent",
    as is then all that an answer does not have. `strict`: lines with unknown members are skipped, else taken.
    `trailing`: text behind a message is ignored, else the line is skipped. `fails`: how a failure is told,
    "answer", "event", "both", or "over": by an event, and then the call is over like any other. `early`: a final
    call is over before the child has ended. `at_last`: a checkpoint without a number is tried at the last number
    delivered, not at none. `sentinel`: initialize has TRIM_HORIZON, else null. `forward`: a checkpoint before the
    last one granted is refused, and one without a number where the profile has none, and one at the same is not
    tried again; `blank`: what means nothing is refused under no number. `guards`: it refuses by itself once the
    lease is lost. `windows`: a child that asks where no checkpoint is allowed is given up, else it is answered by
    an error.
    """

    ascii_only: bool = False
    spaced: bool = False
    action_last: bool = False
    error: str = "null"
    strict: bool = True
    trailing: bool = False
    fails: str = "answer"
    early: bool = False
    at_last: bool = False
    sentinel: bool = True
    forward: bool = False
    blank: bool = False
    guards: bool = False
    windows: bool = False


CLOSED = ("initialize", "leaseLost")
"""Actions in which no checkpoint is allowed."""
CHOICES: Mapping[str, Sequence[Any]] = {"error": ("null", "absent"), "fails": ("answer", "event", "both", "over")}


def drawn(seed: int) -> HostSwitches:
    """Switches by chance."""
    chance = random.Random(seed)
    return HostSwitches(**{f.name: chance.choice(CHOICES.get(f.name, (False, True))) for f in fields(HostSwitches)})


class Failed(Exception):
    """The child went wrong."""


class Host:
    """One shard. Faulty hosts override a method."""

    def __init__(self, profile: str = "kcl1-seed", switches: HostSwitches | None = None) -> None:
        self.profile = PROFILES[profile]
        self.switches = switches or HostSwitches()
        self.out = bytearray()
        self.events: list[tuple[str, Any]] = []
        self.error: str | None = None
        self.action = ""
        self.shard: str = ""
        self.last: str | None = None
        self.closed = False
        self.gone = False
        self.failure = ""
        self.final = False
        self.held: list[bytes] = []
        self.count = 0
        self.lost = False
        self.granted: int = -1

    # -- what it is asked to do ----------------------------------------------------------------------------------------

    def call(self, value: Mapping[str, Any]) -> None:
        """A call of the record processor's interface."""
        op = str(value.get("op"))
        known = ("initialize", "processRecords", *self.profile.finals)
        if op not in known and not (op == "shutdownRequested" and self.profile.requested):
            self.events.append(("answer", {"op": op, "error": "unsupported"}))
            return
        self.action = op
        if self.failure:
            self.fail(self.failure)
            return
        self.final = op in self.profile.finals
        self.lost = value.get("reason") == "ZOMBIE"
        self.send(self.message(op, value))
        self.go_on()

    def message(self, op: str, value: Mapping[str, Any]) -> dict[str, Any]:
        """The message that mirrors a call."""
        members: dict[str, Any] = {"action": op}
        if op == "initialize":
            members["shardId"] = value["shardId"]
            if self.profile.later:
                members["sequenceNumber"] = "TRIM_HORIZON" if self.switches.sentinel else None
                members["subSequenceNumber"] = 0 if self.switches.sentinel else None
        elif op == "processRecords":
            members["records"] = self.records(value["records"])
            if self.profile.later:
                members["millisBehindLatest"] = 0
        elif op == "shutdown":
            members["reason"] = value["reason"]
        return members

    def records(self, records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The records of a batch."""
        if records:
            self.last = str(records[-1]["sequenceNumber"])
        return [self.record(record) for record in records]

    def record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """One record."""
        members: dict[str, Any] = {
            "data": self.pack(bytes.fromhex(str(record["data_hex"]))),
            "partitionKey": record["partitionKey"],
            "sequenceNumber": record["sequenceNumber"],
        }
        if self.profile.later:
            members |= {"approximateArrivalTimestamp": 1_700_000_000_000, "subSequenceNumber": 0, "action": "record"}
        return members

    def pack(self, data: bytes) -> str:
        """Octets as base64."""
        return pack(data)

    def send(self, members: dict[str, Any]) -> None:
        """Write one message."""
        self.count += 1
        if not self.closed:
            self.out += self.written(members) + b"\n"

    def written(self, members: dict[str, Any]) -> bytes:
        """A message as JSON."""
        if self.switches.action_last:
            members = dict(reversed(members.items()))
        separators = (", ", ": ") if self.switches.spaced else (",", ":")
        return json.dumps(members, ensure_ascii=self.switches.ascii_only, separators=separators).encode()

    # -- what the child says -------------------------------------------------------------------------------------------

    def hear(self, line: bytes) -> None:
        """A line of the child. It waits until an action is open."""
        self.held.append(line)
        self.go_on()

    def go_on(self) -> None:
        """Take lines as long as an action is open."""
        while self.action and self.held and not self.closed:
            try:
                self.take(self.held.pop(0))
            except Failed as error:
                self.fail(str(error))
        if self.action and self.gone and not self.closed:
            self.fail("the child has ended")

    def take(self, line: bytes) -> None:
        """One line while an action is open. Raises Failed."""
        members = self.understood(line)
        if members is None:
            return
        if members["action"] == "status":
            self.status(members)
        elif members["action"] == "checkpoint":
            self.checkpoint(members)

    def understood(self, line: bytes) -> dict[str, Any] | None:
        """The message on a line; None for what is skipped."""
        if self.switches.trailing and line[:1] == b"{":
            line = line[: line.rfind(b"}") + 1]
        try:
            members = parse(line)
        except BadLine:
            return None
        known = {"status": {"action", "responseFor"}, "checkpoint": {"action", self.profile.number}}
        if self.profile.later:
            known["checkpoint"].add("subSequenceNumber")
        mine = known.get(members["action"])
        if mine is not None and not mine.issuperset(members):
            return None if self.switches.strict or members["action"] == "checkpoint" else members
        return members

    def status(self, members: Mapping[str, Any]) -> None:
        """The child says that it is done. Raises Failed."""
        if members.get("responseFor") != self.action:
            raise Failed(f"status for {members.get('responseFor')!r:.100} while {self.action} is open")
        self.done()

    def done(self) -> None:
        """The open action is over."""
        if not self.final:
            self.answer()
            return
        self.close()
        if self.switches.early or self.gone:
            self.answer()

    def answer(self) -> None:
        """Tell the caller that its call is over."""
        op, self.action = self.action, ""
        self.events.append(("answer", {"op": op, "ok": None}))

    def checkpoint(self, members: Mapping[str, Any]) -> None:
        """The child asks for a checkpoint: try it, and answer. Raises Failed."""
        if self.switches.windows and self.action in CLOSED:
            raise Failed(f"a checkpoint is asked for while {self.action} is open")
        number = members.get(self.profile.number)
        error = self.tried(number, members)
        meant = number is None or isinstance(number, str)
        answer: dict[str, Any] = {
            "action": "checkpoint",
            self.profile.number: number if meant or not self.switches.blank else None,
        }
        if self.profile.later:
            answer["subSequenceNumber"] = members.get("subSequenceNumber")
        answer["error"] = error
        if self.switches.error == "absent":
            answer = {name: value for name, value in answer.items() if value is not None}
        self.send(answer)

    def tried(self, number: Any, members: Mapping[str, Any]) -> str | None:
        """Why a checkpoint failed, None if it did not."""
        if self.action in CLOSED:
            return "InvalidStateException"
        if number is not None and (not isinstance(number, str) or not number.isdecimal()):
            return "IllegalArgumentException"
        sub = members.get("subSequenceNumber")
        if sub is not None and not isinstance(sub, int):
            return "IllegalArgumentException"
        if self.switches.guards and self.lost:
            return "ShutdownException"
        if self.switches.forward and (not self.profile.later if number is None else int(number) < self.granted):
            return "IllegalArgumentException"
        value = int(number or self.last or -1)
        if self.switches.forward and value == self.granted >= 0:
            return None
        error = self.attempt(number)
        if error is None:
            self.granted = max(self.granted, value)
        return error

    def attempt(self, number: str | None) -> str | None:
        """Hand a checkpoint to the checkpointer."""
        at = self.last if number is None and self.switches.at_last else number
        self.events.append(("checkpoint", {"at": at}))
        return self.error

    # -- ends ----------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """End the child's STDIN."""
        self.closed = True

    def left(self) -> None:
        """The child has ended, and all that it wrote was heard."""
        self.gone = True
        if self.closed and self.action and not self.failure:
            self.answer()
        else:
            self.go_on()

    def fail(self, why: str) -> None:
        """Give the child up and say so."""
        self.failure = why
        self.close()
        op, self.action = self.action, ""
        if self.switches.fails != "answer":
            self.events.append(("failed", {"why": why}))
        if self.switches.fails == "over":
            self.events.append(("answer", {"op": op, "ok": None}))
        elif self.switches.fails != "event":
            self.events.append(("answer", {"op": op, "error": why}))


class Session:
    """A host on a link in memory (see impls.driver.link.MemoryTransport): the tester is its child and its caller."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._inbox = bytearray()

    @property
    def closed(self) -> bool:
        """True once the child's STDIN has ended."""
        return self.host.closed

    def send(self, data: bytes) -> None:
        self._inbox += data
        *whole, rest = self._inbox.split(b"\n")
        self._inbox = rest
        for line in whole:
            self.host.hear(bytes(line))

    def take(self) -> bytes:
        data = bytes(self.host.out)
        self.host.out.clear()
        return data

    def facts(self) -> list[tuple[str, Any]]:
        found, self.host.events = self.host.events, []
        return found

    def do(self, name: str, value: Any) -> bool:
        host = self.host
        if name == "start":
            host.events += [("connected", None), ("answer", {"op": "start", "ok": None})]
        elif name == "call":
            host.call(value)
        elif name == "checkpointer":
            host.error = value["error"]
            host.events.append(("answer", {"op": name, "ok": None}))
        elif name in ("exit", "kill"):
            if self._inbox:  # half a line is a line for who reads lines
                host.held.append(bytes(self._inbox))
                self._inbox.clear()
            host.go_on()
            host.left()
        return True

    def finish(self) -> bool:
        return False

    def hang_up(self) -> None:
        self.host.left()


class Hosts:
    """What makes hosts in memory: one for each conversation."""

    session = Session

    def __init__(
        self, profile: str = "kcl1-seed", switches: HostSwitches | None = None, host: type[Host] = Host
    ) -> None:
        self.fresh = partial(host, profile, switches)

    def open(self) -> Session:
        """A host that was asked for nothing."""
        return self.session(self.fresh())

    def advance(self, ms: float) -> None:
        """A host waits as long as it takes."""
