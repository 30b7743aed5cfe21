"""The reference hosts as programs: told on stdin what to do, they run a child on pipes. Contract: docs."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from typing import IO, Any

from impls.references.storm.host import Host, drawn
from impls.references.storm.hosts import BoltHost, SpoutHost

TICK_S = 0.05


class Program:
    """One component's host and its child."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.child: subprocess.Popen[bytes] | None = None
        self._told = 0
        self._ids: dict[str, list[Any]] = {}
        self._watch = selectors.DefaultSelector()
        self._folder = tempfile.TemporaryDirectory(prefix="pids-")
        self._dead = self._full = False
        host.folder = self._folder.name

    def run(self) -> int:
        """Until stdin ends."""
        commands = bytearray()
        self._watch.register(sys.stdin.buffer, selectors.EVENT_READ, "caller")
        before = time.monotonic()
        while True:
            ready = self._watch.select(TICK_S)
            now = time.monotonic()
            self.host.advance((now - before) * 1000)
            before = now
            for key, _ in ready:
                file = key.fileobj
                assert not isinstance(file, int)
                if key.data == "in":
                    continue  # the child reads again
                data = os.read(file.fileno(), 65536)
                if key.data == "caller":
                    if not data:
                        return self.end()
                    commands += data
                    *lines, rest = commands.split(b"\n")
                    commands = bytearray(rest)
                    for line in lines:
                        if line.strip():
                            self.obey(json.loads(line))
                elif not data:
                    self._watch.unregister(file)
                    if key.data == "out":
                        self.host.left()
                elif key.data == "out":
                    self.host.receive(data)
                self.tell()
            self.tell()

    def obey(self, request: dict[str, Any]) -> None:
        """One request."""
        op = str(request.get("op"))
        known = ("tuple",) if isinstance(self.host, BoltHost) else ("next", "ack", "fail")
        self._ids.setdefault(op, []).append(request.get("id"))
        if op == "start":
            self.start(request)
            self.host.start(request)
        elif op == "task_ids":
            self.host.give(request["ids"])
        elif op in known:
            self.host.call(request)  # the id of the request is that of the tuple too, or of the emit
        else:
            self._ids[op].pop()
            self.say({"id": request.get("id"), "error": "unsupported"})

    def start(self, request: dict[str, Any]) -> None:
        """Run the child."""
        env = {**os.environ, **request.get("env", {})}
        self.child = subprocess.Popen(
            request["child"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self.child.stdout is not None
        assert self.child.stderr is not None
        assert self.child.stdin is not None
        os.set_blocking(self.child.stdin.fileno(), False)
        self._watch.register(self.child.stdout, selectors.EVENT_READ, "out")
        self._watch.register(self.child.stderr, selectors.EVENT_READ, "err")

    def tell(self) -> None:
        """Write out what has gathered, to the child and to the caller."""
        host, child = self.host, self.child
        if child is not None and child.stdin is not None and not child.stdin.closed:
            self._write(child.stdin)
            if host.closed:
                self._waits(child.stdin, full=False)
                child.stdin.close()
        if host.closed and child is not None and not self._dead:
            self._dead = True
            child.send_signal(signal.SIGCONT)
            child.kill()
            child.wait()
        for name, value in host.events[self._told :]:
            if name == "answer":
                waiting = self._ids.get(value["op"]) or [None]
                self.say({"id": waiting.pop(0), **{key: item for key, item in value.items() if key != "op"}})
            else:
                self.say({"event": name, **value})
        self._told = len(host.events)

    def _write(self, stdin: IO[bytes]) -> None:
        """As much as the child reads: nobody waits for it here, so that its silence is noticed."""
        out = self.host.out
        try:
            while out:
                del out[: os.write(stdin.fileno(), out[:65536])]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            out.clear()  # its end is heard on the other pipe
        self._waits(stdin, full=bool(out))

    def _waits(self, stdin: IO[bytes], *, full: bool) -> None:
        if full and not self._full:
            self._watch.register(stdin, selectors.EVENT_WRITE, "in")
        elif self._full and not full:
            self._watch.unregister(stdin)
        self._full = full

    def say(self, line: dict[str, Any]) -> None:
        """One line to the caller."""
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()

    def end(self) -> int:
        """The caller is gone."""
        self.host.close()
        self.tell()
        self._folder.cleanup()
        return 0


def serve(role: str, extensions: frozenset[str], seed: int | None) -> int:
    """Run until stdin ends; the exit status."""
    kind: type[Host] = BoltHost if role == "bolt-host" else SpoutHost
    return Program(kind(extensions, None if seed is None else drawn(seed))).run()
