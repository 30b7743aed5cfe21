"""The reference hosts: a shell bolt and a shell spout.

Source: 000_a44a7e31e51ca0fa.txt, "Spouts", "Bolts", "Handling Heartbeats".
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any

from impls.references.storm.host import Failed, Host, HostSwitches


class BoltHost(Host):
    """A shell bolt."""

    def __init__(self, extensions: frozenset[str] = frozenset(), switches: HostSwitches | None = None) -> None:
        super().__init__(extensions, switches)
        self.live: dict[str, str] = {}
        self.beat_at = 0.0
        self.pending = False

    def met(self) -> None:
        self.beat_at = self.now_ms + self.switches.beat_ms

    def go_on(self) -> None:
        while self.ready and self.calls and not self.over:
            self.tuple(self.calls.popleft())

    def tuple(self, call: dict[str, Any]) -> None:
        """Send a tuple."""
        name = self.name(call)
        self.live[name] = call["id"]
        self.send({"id": name, **{key: call[key] for key in ("comp", "stream", "task", "tuple")}})
        if not self.switches.answers:
            self.answer("tuple")

    def name(self, call: dict[str, Any]) -> str:
        """The id of a tuple on the wire."""
        return str(self.chance.getrandbits(64) - (1 << 63)) if self.switches.own_ids else str(call["id"])

    def shown(self, name: str) -> str:
        """How an effect names a tuple."""
        return self.live[name] if self.switches.named else name

    def obey(self, command: str, message: dict[str, Any]) -> None:
        if command in ("ack", "fail"):
            self.settle(command, message.get("id"))
        else:
            super().obey(command, message)

    def strange(self, command: str) -> None:
        if not self.switches.lenient:
            super().strange(command)

    def settle(self, command: str, name: Any) -> None:
        """ack or fail. Raises Failed."""
        if not isinstance(name, str) or name not in self.live:
            raise Failed(f"{command} for {name!r:.60}")
        self.events.append((command, {"id": self.shown(name)}))
        del self.live[name]

    def further(self, message: dict[str, Any]) -> dict[str, Any]:
        anchors = message.get("anchors")
        if isinstance(anchors, str) and "x-anchor-string" in self.extensions:
            anchors = [anchors]
        for anchor in anchors or ():
            if not isinstance(anchor, str) or anchor not in self.live:
                raise Failed(f"anchor {anchor!r:.60}")
        return {"anchors": [self.shown(anchor) for anchor in anchors or ()]}

    def emit(self, message: dict[str, Any]) -> None:
        self.further(message)
        super().emit(message)

    def sync(self) -> None:
        self.pending = False

    def tick(self) -> None:
        super().tick()
        if self.ready and not self.over and self.now_ms >= self.beat_at:
            self.beat()

    def beat(self) -> None:
        """Send a heartbeat, unless one is unanswered."""
        self.beat_at = self.now_ms + self.switches.beat_ms
        if not self.pending:
            self.pending = True
            self.send(self.heartbeat(), 0)

    def heartbeat(self) -> dict[str, Any]:
        """A heartbeat."""
        name = str(self.chance.getrandbits(64) - (1 << 63))
        comp = None if self.switches.null_comp else "1"
        return {"id": name, "comp": comp, "stream": "__heartbeat", "task": -1, "tuple": []}


class SpoutHost(Host):
    """A shell spout."""

    def __init__(self, extensions: frozenset[str] = frozenset(), switches: HostSwitches | None = None) -> None:
        how = switches or HostSwitches()
        super().__init__(extensions, replace(how, lag_ms=0, lists_first=False))  # it writes before it reads on
        self.command = ""
        self.held: deque[list[bytes]] = deque()
        self.has_left = False

    def met(self) -> None:
        if "x-activate" in self.extensions:
            self.command = "activate"
            self.send({"command": "activate"})

    def go_on(self) -> None:
        if self.ready and self.calls and not self.command and not self.over:
            if self.has_left:
                self.fail("the child has ended")
                return
            call = self.calls[0]
            self.command = call["op"]
            self.heard_ms = self.now_ms
            self.send(self.message(call))
            while self.held and self.command and not self.over:
                self.lines_read(self.held.popleft())

    def message(self, call: dict[str, Any]) -> dict[str, Any]:
        """The message of a call."""
        message = {"command": call["op"]}
        if call["op"] in ("ack", "fail"):
            message["id"] = call["id"]
        elif self.switches.empty_id:
            message["id"] = ""
        return message

    def lines_read(self, lines: list[bytes]) -> None:
        if self.ready and not self.command:
            self.held.append(lines)
        else:
            super().lines_read(lines)

    def further(self, message: dict[str, Any]) -> dict[str, Any]:
        return {} if message.get("id") is None else {"id": message["id"]}

    def sync(self) -> None:
        done, self.command = self.command, ""
        if done not in ("activate", "deactivate"):
            self.calls.popleft()
            self.events.append(("sync", {}))
            if not self.switches.answers:
                self.answer(done)
        self.go_on()

    def gone(self) -> None:
        self.has_left = True
        if self.command or not self.ready:
            super().gone()
        else:
            self.go_on()

    def counts(self) -> bool:
        return bool(self.command) or not self.ready
