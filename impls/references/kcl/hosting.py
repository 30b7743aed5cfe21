"""The reference host as a program: told on stdin what to do, it runs a child on pipes. Contract: docs."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from typing import IO, Any

from impls.references.kcl.host import OPS, Host


class Program:
    """One shard's host and its child."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.child: subprocess.Popen[bytes] | None = None
        self._ids: dict[str, Any] = {}
        self._inbox = bytearray()
        self._watch = selectors.DefaultSelector()

    def run(self) -> int:
        """Until stdin ends."""
        commands = bytearray()
        self._watch.register(sys.stdin.buffer, selectors.EVENT_READ, "caller")
        while True:
            for key, _ in self._watch.select():
                file = key.fileobj
                assert not isinstance(file, int)
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
                        self.left()
                elif key.data == "out":
                    self.hear(data)
                self.tell()

    def obey(self, request: dict[str, Any]) -> None:
        """One request."""
        op = request.get("op")
        if op == "start":
            self.start(request)
            self.say({"id": request["id"], "ok": None})
        elif op == "checkpointer":
            self.host.error = request.get("error")
            self.say({"id": request["id"], "ok": None})
        elif op in OPS:
            self._ids[op] = request["id"]
            self.host.call(request)
        else:
            self.say({"id": request.get("id"), "error": "unsupported"})

    def start(self, request: dict[str, Any]) -> None:
        """Run the child."""
        env = {**os.environ, **request.get("env", {})}
        self.child = subprocess.Popen(
            request["child"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self.child.stdout is not None
        assert self.child.stderr is not None
        self._watch.register(self.child.stdout, selectors.EVENT_READ, "out")
        self._watch.register(self.child.stderr, selectors.EVENT_READ, "err")

    def hear(self, data: bytes) -> None:
        """What the child wrote."""
        self._inbox += data
        if b"\n" not in data:
            return
        *lines, rest = self._inbox.split(b"\n")
        self._inbox = bytearray(rest)
        for line in lines:
            self.host.hear(bytes(line))

    def left(self) -> None:
        """The child's STDOUT has ended."""
        if self._inbox:
            self.host.hear(bytes(self._inbox))
        assert self.child is not None
        self.child.wait()
        self.host.left()

    def tell(self) -> None:
        """Write out what has gathered, to the child and to the caller."""
        host, child = self.host, self.child
        if child is not None and child.stdin is not None and not child.stdin.closed:
            self._write(child.stdin)
            if host.closed:
                child.stdin.close()
        for name, value in host.events:
            if name == "answer":
                answer = {key: item for key, item in value.items() if key != "op"}
                self.say({"id": self._ids.get(value["op"]), **answer})
            else:
                self.say({"event": name, **value})
        host.events.clear()

    def _write(self, stdin: IO[bytes]) -> None:
        try:
            stdin.write(self.host.out)
            stdin.flush()
        except BrokenPipeError:
            return  # its end is heard on the other pipe
        finally:
            self.host.out.clear()

    def say(self, line: dict[str, Any]) -> None:
        """One line to the caller."""
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()

    def end(self) -> int:
        """The caller is gone."""
        if self.child is not None and self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        return 0


def serve(profile: str) -> int:
    """Run until stdin ends; the exit status."""
    return Program(Host(profile)).run()
