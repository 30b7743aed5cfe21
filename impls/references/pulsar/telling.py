"""The reference client as a program: told by JSON lines on stdin, it reports on stdout and calls over TCP."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import sys
import time

from impls.references.pulsar.channel import Channel
from impls.references.pulsar.client import Caller

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
        self.seen = 0  # channels that were opened, or could not be
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
            else:
                self.read(key.data)
        self.settle()
        return True

    def read_lines(self) -> bool:
        """Take what is said on stdin."""
        data = os.read(sys.stdin.fileno(), CHUNK)
        *lines, self.held = (self.held + data).split(b"\n")
        for line in lines:
            said = json.loads(line)
            self.caller.told(said["id"], str(said.get("op")), said)
        return bool(data) and len(self.held) <= MAX_LINE

    def read(self, channel: Channel) -> None:
        """Take what has arrived on a connection."""
        try:
            data = self.sockets[channel].recv(CHUNK)
        except OSError:
            data = b""
        channel.received(data)

    def settle(self) -> None:
        """Open, write and close until nothing is left to do; then report."""
        while self.seen < len(self.caller.channels) or any(each.out or each.hung_up for each in self.sockets):
            for channel in self.caller.channels[self.seen :]:
                self.seen += 1
                self.connect(channel)
            for channel, sock in [*self.sockets.items()]:
                out = bytes(channel.out)
                channel.out.clear()
                try:
                    sock.sendall(out)
                except OSError:
                    channel.end("the broker closed the connection")
                if channel.hung_up:
                    self.selector.unregister(sock)
                    sock.close()
                    del self.sockets[channel]
        reports, self.caller.reports = self.caller.reports, []
        for number, report in reports:
            sys.stdout.write(json.dumps({"id": number, **report}) + "\n")
        sys.stdout.flush()

    def connect(self, channel: Channel) -> None:
        """Open the connection that the client wants."""
        host, _, port = channel.url.partition("://")[2].rstrip("/").rpartition(":")
        with contextlib.suppress(OSError, ValueError):
            sock = socket.create_connection((host, int(port)), timeout=CONNECT_S)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sockets[channel] = sock
            self.selector.register(sock, selectors.EVENT_READ, channel)
            return
        channel.end("no connection")


def run(caller: Caller) -> None:
    """Serve JSON lines on stdin and stdout until stdin ends."""
    World(caller).run()
