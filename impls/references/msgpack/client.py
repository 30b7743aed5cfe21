"""The reference client: told what to do, it calls, and reports what came of it.

`Caller` is the client without a network: octets and commands in, octets and reports out. `Client` is what is judged in
memory; `python -m impls.references.msgpack client` is the same behind a socket and JSON lines
(docs/implementations.md).
"""

from __future__ import annotations

import itertools
import json
import os
import random
import selectors
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from impls.references.msgpack.octets import Broken, Packer, Unpacker
from impls.references.msgpack.switches import IN_OCTETS, switch

MAX_ID = (1 << 32) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSwitches:
    """One behaviour out of all legal ones."""

    first_id: int = switch(0, 1, 127, 255, 65535, 2**31 - 1, MAX_ID - 1, MAX_ID)
    next_id: str = switch("next", "previous", "far", "lowest")
    forms: str = switch("smallest", "smallest", "any")
    old_raw: bool = switch(False, False, True)
    unknown_id: str = switch("ignore", "close")
    no_message: str = switch("close", "ignore")
    errors: str = switch("hex", "text")
    pieces: str = switch("whole", "octets")
    together: bool = switch(True, True, False)  # whether calls can be open at the same time
    sends: str = switch("at once", "when it waits")  # a library without a thread of its own may be able to no sooner


CLIENT_SWITCHES: Mapping[str, tuple[Any, ...]] = {each.name: each.metadata["values"] for each in fields(ClientSwitches)}


class Caller:
    """Commands in by `told`, reports out by `reports`; octets in by `received`, out by `out`."""

    packer_type = Packer
    unpacker_type = Unpacker

    def __init__(self, *, seed: int = 0, **switches: Any) -> None:
        self.switches = ClientSwitches(**switches)
        self.chance = random.Random(seed)
        pick = self.chance.choice if self.switches.forms == "any" else (lambda heads: heads[0])
        self.packer = self.packer_type(pick, old=self.switches.old_raw)
        self.reports: list[tuple[int, dict[str, Any]]] = []
        self.queue: list[tuple[int, str, dict[str, Any]]] = []  # commands that wait for the one that blocks
        self.blocked: tuple[int, int] | None = None  # the report and the handle that are waited for
        self.reset()

    def reset(self) -> None:
        """A new connection."""
        self.out = bytearray()
        self.kept, self.holds = bytearray(), False  # requests that leave when something is waited for
        self.reader = self.unpacker_type()
        self.open: dict[int, int] = {}  # handle by id
        self.ended: dict[int, dict[str, Any]] = {}  # outcome by handle
        self.handles = itertools.count(1)
        self.last = self.switches.first_id - 1
        self.broken = False
        self.hung_up = False

    # Commands

    def told(self, number: int, op: str, given: dict[str, Any]) -> None:
        """A command; its report has the same number."""
        self.queue.append((number, op, given))
        self.go_on()

    def go_on(self) -> None:
        """Carry out commands until one blocks."""
        while self.queue and self.blocked is None:
            number, op, given = self.queue.pop(0)
            done = self.command(number, op, given)
            if done is not None:
                self.reports.append((number, done))

    def command(self, number: int, op: str, given: dict[str, Any]) -> dict[str, Any] | None:
        """Carry out one command; None when it blocks."""
        if op == "connect":
            self.reset()
            return {"ok": True}
        if op == "call" or (op == "call_async" and self.switches.together):
            self.holds = op == "call_async" and self.switches.sends == "when it waits"
            handle = self.call(given["method"], self.params(given))
            return {"ok": handle} if op == "call_async" else self.wait(number, handle)
        if op == "await":
            return self.wait(number, given["handle"])
        if op == "notify":
            self.holds = False
            if not self.broken:
                self.write([2, given["method"], self.params(given)])
            return {"ok": True} if not self.broken else {"error": "no connection"}
        if op == "disconnect":
            self.end("disconnected")
            return {"ok": True}
        return {"error": "unsupported"}

    def params(self, given: dict[str, Any]) -> Any:
        """The params that a command brings."""
        reader = Unpacker()
        reader.feed(bytes.fromhex(given["params_hex"]))
        return next(reader.values())

    def wait(self, number: int, handle: int) -> dict[str, Any] | None:
        """The outcome of a call, or None while there is none."""
        self.leave()
        if handle in self.ended:
            return self.ended.pop(handle)
        self.blocked = (number, handle)
        return None

    # Calls

    def call(self, method: str, params: Any) -> int:
        """Send a request; its handle."""
        handle = next(self.handles)
        if self.broken:
            self.ended[handle] = {"error": "no connection"}
            return handle
        name = self.identity()
        self.open[name] = handle
        self.write([0, name, method, params])
        return handle

    def identity(self) -> int:
        """An id that no open request has."""
        how = self.switches.next_id
        step = {"next": 1, "previous": -1, "far": 0x10001, "lowest": 0}[how]
        self.last = (self.last + step) & MAX_ID if how != "lowest" else 0
        while self.last in self.open:
            self.last = (self.last + 1) & MAX_ID
        return self.last

    def write(self, message: list[Any]) -> None:
        """Send one message, behind those that are kept; or keep it."""
        self.kept += self.packer.pack(message)
        if not self.holds:
            self.leave()

    def leave(self) -> None:
        """Send what was kept."""
        self.out += self.kept
        self.kept.clear()

    # Responses

    def received(self, data: bytes) -> None:
        """Take octets of the server, b"" at the end of them."""
        if self.broken:
            return
        if not data:
            self.end("the server closed the connection")
            return
        self.reader.feed(data)
        try:
            for value in self.reader.values():
                self.message(value)
                if self.broken:
                    return
        except Broken as broken:
            self.end(str(broken))

    def message(self, value: Any) -> None:
        """One value of the server."""
        if not isinstance(value, list) or len(value) != 4 or type(value[0]) is not int or value[0] != 1:
            if self.switches.no_message == "close" or not isinstance(value, list) or value[:1] not in ([0], [2]):
                self.end("no message")
            return
        _, name, error, result = value
        if type(name) is not int or name not in self.open:
            if self.switches.unknown_id == "close":
                self.end("an unknown id")
            return
        self.settle(self.open.pop(name), self.failure(error) if error is not None else self.success(result))

    def success(self, result: Any) -> dict[str, Any]:
        """The report of a result."""
        return {"ok": {"result_hex": self.packer.pack(result).hex()}}

    def failure(self, error: Any) -> dict[str, Any]:
        """The report of an error."""
        return (
            {"ok": {"error_hex": self.packer.pack(error).hex()}}
            if self.switches.errors == "hex"
            else {"error": "it failed"}
        )

    def settle(self, handle: int, outcome: dict[str, Any]) -> None:
        """A call has ended."""
        if self.blocked is not None and self.blocked[1] == handle:
            number, self.blocked = self.blocked[0], None
            self.reports.append((number, outcome))
            self.go_on()
        else:
            self.ended[handle] = outcome

    def end(self, why: str) -> None:
        """The connection is over: whatever is open fails."""
        self.broken = self.hung_up = True
        left, self.open = self.open, {}
        for handle in left.values():
            self.settle(handle, {"error": why})


class Client:
    """The reference client in memory. Keywords are the fields of `ClientSwitches`."""

    caller_type = Caller

    def __init__(self, *, seed: int = 0, **switches: Any) -> None:
        self._made = {"seed": seed, **switches}

    @classmethod
    def random(cls, seed: int, **fixed: Any) -> Self:
        """A client with every switch drawn by `seed`, but for those in `fixed`."""
        chance = random.Random(seed)
        drawn = {name: chance.choice(values) for name, values in CLIENT_SWITCHES.items()}
        return cls(seed=seed, **{**drawn, **fixed})

    def open(self) -> Talk:
        """One conversation."""
        return Talk(self.caller_type(**self._made))

    def advance(self, ms: float) -> None:
        """Nothing happens by itself."""


class Talk:
    """A conversation in memory."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.closed = self._renewed = False
        self._numbers = itertools.count()

    def send(self, data: bytes) -> None:
        """Octets of the server."""
        self.caller.received(data)

    def take(self) -> bytes:
        """Octets of the client."""
        size = len(self.caller.out)
        if self.caller.switches.pieces == "octets":
            size = 1 if size <= IN_OCTETS else size - IN_OCTETS
        data = bytes(self.caller.out[:size])
        del self.caller.out[:size]
        if not self.caller.out and not data and self.caller.hung_up:
            self.closed = True
        return data

    def do(self, name: str, value: Any) -> bool:
        """Tell the client something; `drop` ends the connection under it."""
        if name == "drop":
            self.caller.received(b"")
        else:
            if name == "connect" and self.caller.hung_up:
                self.closed, self._renewed = False, True
            self.caller.told(next(self._numbers), name, value or {})
        return True

    def renewed(self) -> bool:
        """True once when a connection that was ended is followed by another."""
        found, self._renewed = self._renewed, False
        return found

    def facts(self) -> Sequence[tuple[str, Any]]:
        """What the client reports."""
        found = [("answer", report) for _, report in self.caller.reports]
        self.caller.reports.clear()
        return found

    def finish(self) -> bool:
        """Nothing to end."""
        return False

    def hang_up(self) -> None:
        """The conversation is over."""
        self.closed = True


def run(caller: Caller) -> None:
    """Serve JSON lines on stdin and stdout until stdin ends."""
    selector = selectors.DefaultSelector()
    selector.register(sys.stdin.buffer, selectors.EVENT_READ)
    link: socket.socket | None = None
    held = b""
    while True:
        for key, _ in selector.select():
            if key.fileobj is link and link is not None:
                try:
                    data = link.recv(65536)
                except OSError:
                    data = b""
                caller.received(data)
            elif key.fileobj is sys.stdin.buffer:
                read = os.read(sys.stdin.fileno(), 65536)
                if not read:
                    return
                *lines, held = (held + read).split(b"\n")
                for line in lines:
                    link = obey(caller, json.loads(line), link, selector)
        if link is not None:
            if caller.out and not caller.broken:
                link.sendall(bytes(caller.out))
            caller.out.clear()
            if caller.hung_up:
                selector.unregister(link)
                link.close()
                link = None
        for number, report in caller.reports:
            sys.stdout.write(json.dumps({"id": number, **report}) + "\n")
        caller.reports.clear()
        sys.stdout.flush()


def obey(
    caller: Caller, said: dict[str, Any], link: socket.socket | None, selector: selectors.BaseSelector
) -> socket.socket | None:
    """Carry out one JSON object; the connection afterwards."""
    if said.get("op") == "connect":
        if link is not None:
            selector.unregister(link)
            link.close()
        host, _, port = said["address"].rpartition(":")
        link = socket.create_connection((host, int(port)), timeout=10)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(link, selectors.EVENT_READ)
    caller.told(said["id"], str(said.get("op")), said)
    return link
