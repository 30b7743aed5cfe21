"""The reference client as a program: told by JSON lines on stdin, it reports on stdout and calls over TCP."""

from __future__ import annotations

import json
import os
import selectors
import socket
import sys
import time

from impls.references.stomp.client import Caller, Channel

CHUNK = 256 * 1024
CONNECT_S = 5.0
MAX_LINE = 1 << 26


class World:
    """Moves octets, lines and time between the client and the world around it."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.selector = selectors.DefaultSelector()
        self.selector.register(sys.stdin.buffer, selectors.EVENT_READ)
        self.sockets: dict[Channel, socket.socket] = {}
        self.held = b""
        self.began = time.monotonic()

    def run(self) -> None:
        """Serve until stdin ends."""
        while self.step():
            pass

    def step(self) -> bool:
        """Wait for something to happen, and do it; False at the end of stdin."""
        due = self.caller.next_due() / 1000 + self.began
        patience = None if due == float("inf") else max(0.0, due - time.monotonic() + 0.0005)
        ready = self.selector.select(patience)
        self.caller.advance((time.monotonic() - self.began) * 1000 - self.caller.now)
        for key, _ in ready:
            if key.data is None:
                if not self.read_lines():
                    return False
            elif key.data in self.sockets:
                self.read(key.data)
        self.settle()
        return True

    def read_lines(self) -> bool:
        """Take what is said on stdin; False at its end."""
        data = os.read(sys.stdin.fileno(), CHUNK)
        *lines, self.held = (self.held + data).split(b"\n")
        for line in lines:
            said = json.loads(line)
            self.tell(said)
        return bool(data) and len(self.held) <= MAX_LINE

    def tell(self, said: dict[str, object]) -> None:
        """Tell the client one thing, at the address that stands in `connect`."""
        op = str(said.get("op"))
        self.caller.told(int(str(said["id"])), op, said)
        self.settle()

    def read(self, channel: Channel) -> None:
        """Take what has arrived on a connection."""
        try:
            data = self.sockets[channel].recv(CHUNK)
        except OSError:
            data = b""
        channel.received(data)

    def settle(self) -> None:
        """Open, write and close until nothing is left to do; then report."""
        while self.caller.unopened or any(each.out or each.hung_up for each in self.sockets):
            while self.caller.unopened:
                self.connect(*self.caller.unopened.pop(0))
            for channel, sock in [*self.sockets.items()]:
                self.write(channel, sock)
        reports, self.caller.reports = self.caller.reports, []
        for number, report in reports:
            sys.stdout.write(json.dumps({"id": number, **report}) + "\n")
        sys.stdout.flush()

    def write(self, channel: Channel, sock: socket.socket) -> None:
        """Write what the client says, and close what it has ended."""
        out = bytes(channel.out)
        channel.out.clear()
        try:
            sock.sendall(out)
        except OSError:
            channel.end("the server closed the connection")
        if channel.hung_up:
            self.selector.unregister(sock)
            sock.close()
            del self.sockets[channel]

    def connect(self, channel: Channel, address: str) -> None:
        """Open the connection that the client wants."""
        host, _, port = address.rpartition(":")
        try:
            sock = socket.create_connection((host, int(port)), timeout=CONNECT_S)
        except (OSError, ValueError) as error:
            channel.out.clear()
            channel.end(f"no connection: {error}")
            return
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sockets[channel] = sock
        self.selector.register(sock, selectors.EVENT_READ, channel)


def run(caller: Caller) -> None:
    """Serve JSON lines on stdin and stdout until stdin ends."""
    World(caller).run()
