"""Faulty children: lines."""

from __future__ import annotations

import json
import re
from typing import Any

from impls.references.kcl.child import BadLine, Child, Running, Switches
from impls.references.kcl.memory import Children, Session
from strategies.kcl.writer import ESCAPE, MEMBERS, ORDER, Ways, Writer
from tests.mutants.faults import on
from tests.mutants.kcl_kit import CHECKPOINT, batch, child, nothing, told

BARE = Switches(leading=False)


child("status-in-python", "FRAME-01", nothing, smoke=False, accept="INIT-04")(
    "Messages are written as Python writes a dict.",
    on(Child, "written").instead(lambda members: repr(members).encode()),
)
child("status-spread", "FRAME-03", nothing, smoke=False, accept="INIT-04")(
    "Messages are spread over several lines.",
    on(Child, "written").instead(lambda members: json.dumps(members, indent=1).encode()),
)
child("no-action", "FRAME-06", batch(b"x"), accept="REC-07", smoke=False)(
    "The status of a batch has no member action.",
    on(Child, "written").before(
        lambda members: members.pop("action"), when=lambda members: members.get("responseFor") == "processRecords"
    ),
)


@child("print-swallows", "FRAME-13", told({"op": "print", "text": "x"}), switches=BARE, accept="FRAME-07 REC-07")
class PrintSwallows(Child):
    """A message is written behind half a line of user output."""

    def line(self, data: bytes) -> None:
        self.out += data + b"\n"
        self.fresh = True


@child(
    "print-swallows-checkpoint", "FRAME-13", told({"op": "print", "text": "x"}, CHECKPOINT), accept="FRAME-07 REC-07"
)
class PrintSwallowsCheckpoint(Child):
    """A checkpoint request, and only that, is written behind half a line of user output."""

    def say(self, members: dict[str, Any]) -> Running:
        if members["action"] == "checkpoint":
            self.out += self.written(members) + b"\n"
            return
        yield from super().say(members)


@child("unflushed", "FRAME-11", batch(b"x"), accept="REC-07 INIT-04 STAT-01", smoke=False)
class Unflushed(Child):
    """The status of a batch stays in a buffer until STDIN ends."""

    kept = b""

    def line(self, data: bytes) -> None:
        if b"processRecords" in data:
            self.kept += data + b"\n"
        else:
            super().line(data)

    def at_end(self) -> int:
        self.out += self.kept
        return 0


class _Eager(Session):
    def send(self, data: bytes) -> None:
        super().send(data if data.endswith(b"\n") else data + b"\n")


class _Eagers(Children):
    session = _Eager


def _cut(w: Writer) -> None:
    w.batch([w.record(b"x")], Ways(16, 0))


child("reads-by-piece", "FRAME-05", _cut, sessions=_Eagers, accept="REC-07 INIT-04 REC-09 INIT-05")(
    "What one read gives is taken for a line.", Child
)
child("narrow-keys", "FRAME-12", batch(b"x", key="日本"), level="SHOULD")(
    "Characters beyond Latin 1 become question marks.",
    on(Child, "record").gives(
        lambda found: {**found, "partitionKey": found["partitionKey"].encode("latin-1", "replace").decode("latin-1")}
    ),
)


@child("wide-line-ends", "FRAME-05", batch(b"x", key="\u2028"), accept="REC-07 FRAME-10 FRAME-12")
class WideLineEnds(Child):
    """U+2028 ends a line."""

    def dispatch(self, line: bytes) -> Running:
        for part in line.decode("utf-8", "replace").split("\u2028"):
            yield from super().dispatch(part.encode())


def _members(w: Writer) -> None:
    w.batch([w.record(b"x")], Ways(MEMBERS, 0))


child("knows-its-members", "FRAME-09", _members, level="SHOULD", accept="REC-07 INIT-04 INV-CHILD-04 REC-09")(
    "A message with a member that is not known ends the child.",
    on(Child, "perform").raises(
        lambda: BadLine("unknown member"), when=lambda members: any(name.startswith("future") for name in members)
    ),
)
child("action-first", "FRAME-10", lambda w: w.batch([w.record(b"x")], Ways(ORDER, 0)), accept="REC-07 INIT-04")(
    "A message whose first member is not action is not understood.",
    on(Child, "dispatch").raises(
        lambda: BadLine("action is not first"),
        when=lambda line: line.strip() and not line.replace(b" ", b"").startswith(b'{"action"'),
    ),
)
child("no-escapes", "FRAME-10", lambda w: w.batch([w.record(b"x")], Ways(ESCAPE, 1)), accept="REC-07 INIT-04")(
    "Escaped characters in a name are not understood.",
    on(Child, "dispatch").raises(lambda: BadLine("unknown name"), when=lambda line: re.search(rb'"\\u0061', line)),
)


def _slashes(w: Writer) -> None:
    w.batch([w.record(b"\xff\xff\xff")], Ways(ESCAPE, 2))


child("no-solidus", "FRAME-10", _slashes, accept="REC-07 INIT-04 REC-11")(
    "An escaped solidus is not understood.",
    on(Child, "dispatch").raises(lambda: BadLine("unknown escape"), when=lambda line: b"\\/" in line),
)
