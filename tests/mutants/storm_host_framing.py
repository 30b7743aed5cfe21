"""Faulty hosts: the setup that they write, and how they read and write."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from impls.references.storm.hosts import BoltHost, SpoutHost
from strategies.storm.host_writer import Writer
from strategies.storm.writer import CUTS, ESCAPE, LINES, MEMBERS, ORDER, Ways
from tests.mutants.faults import on
from tests.mutants.storm_kit import host, nothing
from tests.mutants.storm_plays import row


def _wide(w: Writer, bits: int, how: int = 0) -> None:
    w.tuple(["a/b"])
    w.ways = Ways(bits, how)
    w.emit(["a/b"])
    w.settle("ack", 0)


def _setup(name: str, requirement: str, change: Callable[[dict[str, Any]], Any], why: str, accept: str = "") -> None:
    class Wrong(BoltHost):
        def setup(self, conf: Any, context: Any) -> Any:
            message = json.loads(json.dumps(super().setup(conf, context)))
            return change(message) or message

    Wrong.__doc__ = why
    host(name, requirement, nothing, smoke=False, accept=accept)(Wrong)


def _drop(*path: str) -> Callable[[dict[str, Any]], None]:
    def change(message: dict[str, Any]) -> None:
        at: Any = message
        for name in path[:-1]:
            at = at[name]
        del at[path[-1]]

    return change


def _put(value: Any, *path: str) -> Callable[[dict[str, Any]], None]:
    def change(message: dict[str, Any]) -> None:
        at: Any = message
        for name in path[:-1]:
            at = at[name]
        at[path[-1]] = value

    return change


_setup("host-no-setup", "HS-01", lambda m: {"command": "next"}, "Something else comes first.")


_setup("host-no-conf", "HS-02", _drop("conf"), "There is no conf.")


_setup("host-list-conf", "HS-02", _put([], "conf"), "conf is a list.")


_setup("host-no-taskid", "HS-03", _drop("context", "taskid"), "There is no taskid.")


_setup("host-other-taskid", "HS-03", _put(77, "context", "taskid"), "taskid is a task that there is not.")


_setup("host-text-taskid", "HS-04", _put("3", "context", "taskid"), "taskid is a text.")


_setup("host-old-context", "HS-05", _drop("context", "componentid"), "There is no componentid.")


_setup("host-odd-streams", "HS-05", _put(["default"], "context", "streams"), "streams lacks some.")


_setup(
    "host-no-type",
    "HS-06",
    _put({}, "context", "source->stream->grouping", "words", "default"),
    "A grouping has no type.",
)


_setup(
    "host-forgets-groupings",
    "HS-06",
    _put({"type": "SHUFFLE"}, "context", "stream->target->grouping", "second", "counter"),
    "Every grouping is a shuffle.",
)


_setup("host-forgets-fields", "HS-05", _drop("context", "source->stream->fields", "words"), "A source has no fields.")


host("host-no-folder", "HS-07", nothing)(
    "pidDir is not there.", on(BoltHost, "setup").gives(lambda found: {**found, "pidDir": "/nowhere"})
)
host("host-loses-conf", "HS-02", nothing, conf={"a": 0, "b": 1})(
    "What is 0 in conf is left out.",
    on(BoltHost, "setup").takes(conf=lambda conf: {name: value for name, value in conf.items() if value != 0}),
)
host("host-hurries", "HS-14", lambda w: w.begin(late=5), bare=True, smoke=False)(
    "A command comes before the process id.", on(SpoutHost, "start").after(lambda self: self.send({"command": "next"}))
)
host("host-takes-any-pid", "HS-18", row("INV-HOST-01", 2), bare=True, accept="INV-HOST-01", level="SHOULD")(
    "Whatever comes is taken for a process id.", on(SpoutHost, "meet").takes(message=lambda: {"pid": 1})
)
host("host-sleeps-at-start", "HS-18", row("HS-18", 0), bare=True, accept="END-04")(
    "That the child ends at once is not noticed.", on(BoltHost, "gone").skips(when=lambda self: not self.ready)
)
host("host-quoted-end", "FRAME-03", nothing, smoke=False, accept="FRAME-02 HS-01")(
    "The closing line is in quotes.",
    on(BoltHost, "written").gives(lambda found: found.replace(b"\nend\n", b'\n"end"\n')),
)
host("host-one-line", "FRAME-06", lambda w: _wide(w, LINES), accept="INV-HOST-03 BOLT-05 HB-11")(
    "A message that is spread over several lines is not understood.",
    on(BoltHost, "understood").takes(lines=lambda self, lines: lines[:1] if self.ready else lines),
)


@host("host-knows-members", "FRAME-11", lambda w: _wide(w, MEMBERS), level="SHOULD", accept="BOLT-05 HB-11")
class KnowsMembers(BoltHost):
    """A member that is not known is a failure."""

    def obey(self, command: str, message: dict[str, Any]) -> None:
        if any(name.startswith("future") for name in message):
            raise ValueError("unknown member")
        super().obey(command, message)

    def lines_read(self, lines: list[bytes]) -> None:
        try:
            super().lines_read(lines)
        except ValueError as error:
            self.fail(str(error))


host("host-in-order", "FRAME-12", lambda w: _wide(w, ORDER, 0), accept="BOLT-05 HB-11 INV-HOST-12")(
    "The command stands first, or is none.",
    on(BoltHost, "hear").instead(
        lambda self: self.fail("no command"),
        when=lambda message: isinstance(message, dict) and next(iter(message), "") != "command",
    ),
)
host("host-slashes", "FRAME-13", lambda w: _wide(w, ESCAPE, 2), accept="BOLT-27")(
    "An escaped slash stays escaped.",
    on(BoltHost, "understood").takes(lines=lambda lines: [line.replace(b"\\/", b"\\\\/") for line in lines]),
)
host("host-by-piece", "FRAME-07", lambda w: _wide(w, CUTS), accept="BOLT-05 HB-11 INV-HOST-21 BOLT-13")(
    "What one read gives is taken for a message.",
    on(BoltHost, "receive").takes(data=lambda data: data if data.endswith(b"\n") else data + b"\nend\n"),
)
