"""Faulty bolts: what they read and write, and how they begin."""

from __future__ import annotations

import json
import re
from typing import Any

from impls.references.storm.child import Bolt
from impls.references.storm.freedoms import Switches
from impls.references.storm.memory import Children, Session
from impls.references.storm.wire import BadMessage
from strategies.storm.writer import CUTS, ESCAPE, LINES, MEMBERS, ORDER, Ways, Writer
from tests.mutants.faults import on
from tests.mutants.storm_kit import ACK, child, emit, nothing, plain, told

PAGE = 1 << 16

child("bolt-in-python", "FRAME-01", nothing, smoke=False)(
    "Messages are written as Python writes a dict.",
    on(Bolt, "written").instead(lambda message: repr(message).encode() + b"\nend\n"),
)
child("bolt-no-end", "FRAME-02", nothing, smoke=False, accept="HS-10")(
    "There are no closing lines.", on(Bolt, "written").instead(lambda message: json.dumps(message).encode() + b"\n")
)
child("bolt-quoted-end", "FRAME-03", nothing, smoke=False, accept="FRAME-02")(
    "The closing line is JSON too.",
    on(Bolt, "written").instead(lambda message: json.dumps(message).encode() + b'\n"end"\n'),
)
child("bolt-glued-end", "FRAME-04", plain(1), accept="FRAME-02", smoke=False)(
    "An ack is not followed by a newline before its closing line.",
    on(Bolt, "written").gives(
        lambda message, found: found.replace(b"}\nend", b"}end") if message.get("command") == "ack" else found
    ),
)
child("bolt-raw-newlines", "FRAME-05", told(emit("a\nend\nb"), ACK), accept="FRAME-01 FRAME-02 BOLT-27")(
    "Newlines in texts are written as they are.", on(Bolt, "written").gives(lambda found: found.replace(b"\\n", b"\n"))
)


@child(
    "bolt-print-through", "FRAME-08", told({"op": "print", "text": "printed"}, ACK), accept="FRAME-01", level="SHOULD"
)
class PrintThrough(Bolt):
    """What user code prints goes where the messages go."""

    def prints(self, text: str) -> None:
        self.out += text.encode()


@child("bolt-keeps-the-last", "BOLT-09", plain(1), accept="BOLT-26 BOLT-22", smoke=False)
class KeepsTheLast(Bolt):
    """An ack stays in a buffer until something else is written."""

    kept = b""

    def say(self, message: dict[str, Any]) -> None:
        kept, self.kept = self.kept, b""
        self.out += kept
        if message.get("command") == "ack":
            self.kept = self.written(message)
        else:
            super().say(message)


def _ways(bits: int, how: int = 0, *values: Any) -> Any:
    def play(w: Writer) -> None:
        w.ways = Ways(bits, how)
        w.tuple(list(values) or ["a"])
        w.ways = Ways()

    return play


child("bolt-one-line", "FRAME-06", _ways(LINES), accept="BOLT-26 INV-CHILD-02")(
    "A tuple that is spread over several lines is not understood.",
    on(Bolt, "lines_read").takes(lines=lambda self, lines: lines[:1] if self.set_up else lines),
)


class _Eager(Session):
    def send(self, data: bytes) -> None:
        super().send(data if data.endswith(b"\n") else data + b"\nend\n")


class _Eagers(Children):
    def open(self) -> Session:
        self._open.append(_Eager(self.fresh()))
        return self._open[-1]


child("bolt-by-piece", "FRAME-07", _ways(CUTS), sessions=_Eagers, accept="BOLT-26 END-03 HS-10")(
    "What one read gives is taken for a message.", Bolt
)
child("bolt-knows-members", "FRAME-11", _ways(MEMBERS), level="SHOULD", accept="BOLT-28 BOLT-26 HS-16 HS-10 HB-03")(
    "A member that is not known ends the bolt.",
    on(Bolt, "asked").raises(
        lambda: BadMessage("an unknown member"),
        when=lambda message: set(message) - {"id", "comp", "stream", "task", "tuple"},
    ),
)


@child("bolt-in-order", "FRAME-12", _ways(ORDER), accept="BOLT-26 BOLT-06 HB-03")
class InOrder(Bolt):
    """The id is what stands first."""

    def check(self, message: Any) -> None:
        super().check(message)
        if next(iter(message)) != "id":
            raise BadMessage("no id")


child("bolt-slashes", "FRAME-13", _ways(ESCAPE, 2, "/"), accept="BOLT-27")(
    "An escaped slash stays escaped.",
    on(Bolt, "lines_read").takes(
        lines=lambda self, lines: [line.replace(b"\\/", b"\\\\/") for line in lines] if self.set_up else lines
    ),
)
child("bolt-latin", "FRAME-10", told(emit("ä"), ACK), ext="x-utf8", accept="FRAME-01 BOLT-27")(
    "Messages are written in Latin 1.",
    on(Bolt, "written").instead(
        lambda message: json.dumps(message, ensure_ascii=False).encode("latin-1", "replace") + b"\nend\n"
    ),
)
child("bolt-pid-text", "HS-10", nothing, smoke=False)(
    "The process id is a text.", on(Bolt, "tell_pid").instead(lambda self: self.say({"pid": str(self.pid)}))
)


@child("bolt-other-pid", "HS-11", nothing, smoke=False)
class OtherPid(Bolt):
    """The process id is that of somebody else."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.pid = 1


child("bolt-no-file", "HS-08", nothing, smoke=False, accept="HS-12")("There is no file.", on(Bolt, "register").skips())
child("bolt-odd-file", "HS-08", nothing, smoke=False, accept="HS-12")(
    "The file has more in its name.",
    on(Bolt, "register").instead(lambda self, folder: self.touch(folder, f"{self.pid}.pid")),
)
child("bolt-full-file", "HS-09", nothing, smoke=False)(
    "The process id is in the file too.",
    on(Bolt, "register").instead(lambda self, folder: self.touch(folder, str(self.pid), 5)),
)  # type: ignore[call-arg]
child("bolt-late-file", "HS-12", nothing, smoke=False, level="SHOULD", switches=Switches(late_file=True))(
    "The file comes after the message.", Bolt
)
child("bolt-speaks-first", "HS-13", nothing, smoke=False)(
    "It logs before its process id.", on(Bolt, "tell_pid").before(lambda self: self.log("starting"))
)
child("bolt-needs-0-10", "HS-15", nothing, later=False, accept="HS-10 HS-16")(
    "It needs the context of 0.10.",
    on(Bolt, "initialize").raises(
        lambda: BadMessage("no componentid"), when=lambda context: "componentid" not in context
    ),
)
child("bolt-plain-conf", "HS-16", nothing, conf={"a": None, "b": [1]}, accept="HS-10 HS-15")(
    "It cannot bear null in conf.",
    on(Bolt, "initialize").raises(lambda: BadMessage("null"), when=lambda conf: None in conf.values()),
)
child("bolt-loses-conf", "HS-16", nothing, conf={"topology.name": "x", "": 0})(
    "A name that is empty is lost.",
    on(Bolt, "initialize").takes(conf=lambda conf: {name: value for name, value in conf.items() if name}),
)


def _wide_cut(w: Writer) -> None:
    w.features.add("cuts")
    w.ways = Ways(CUTS, 3)
    w.tuple(["\u65e5" * 60])
    w.ways = Ways()
    w.lists()


class _Decoding(Session):
    def send(self, data: bytes) -> None:
        super().send(data.decode("utf-8", "replace").encode())


class _Decoders(Children):
    def open(self) -> Session:
        self._open.append(_Decoding(self.fresh()))
        return self._open[-1]


child("bolt-decodes-pieces", "FRAME-07", _wide_cut, sessions=_Decoders, accept="BOLT-27 HS-15 HS-16")(
    "Each piece that is read is decoded by itself, so that a character may be torn.", Bolt
)


child("bolt-emits-in-pages", "FRAME-05", told(emit("x" * 70_000), ACK), accept="FRAME-01 FRAME-02 BOLT-27")(
    "A line end is written where a message has filled its buffer of 64 KiB.",
    on(Bolt, "written").gives(lambda found: found[:PAGE] + b"\nend\n" + found[PAGE:] if len(found) > PAGE else found),
)


def _big(w: Writer) -> None:
    w.tuple(["x" * (4 << 20)])
    w.lists()


child("bolt-small", "INV-CHILD-13", _big, accept="BOLT-26 FRAME-07")(
    "A line has a mebibyte at most.", on(Bolt, "lines_read").skips(when=lambda lines: sum(map(len, lines)) >= 1 << 20)
)
child("bolt-lower-case-digits", "FRAME-13", _ways(ESCAPE, 1, "\u00e9"), accept="BOLT-26 BOLT-27 HS-10 HS-16")(
    "Hexadecimal digits of escapes are in lower case, or there is no escape.",
    on(Bolt, "lines_read").takes(
        lines=lambda lines: [re.sub(rb"(\\u[0-9a-f]*[A-F])", rb"\\\1", line) for line in lines]
    ),
)
child("bolt-form-feed", "BOLT-27", plain("\b\f"))(
    "The short escape of a form feed is that of a letter.",
    on(Bolt, "lines_read").takes(lines=lambda lines: [line.replace(b"\\f", b"f") for line in lines]),
)


def _list_and_tuple(w: Writer) -> None:
    w.script([emit(1), ACK])
    w.list_and_tuple()


class _Forgetful(Session):
    def send(self, data: bytes) -> None:
        super().send(data.partition(b"\nend\n")[0] + b"\nend\n" if data.startswith(b"[") else data)


class _Forgetfuls(Children):
    def open(self) -> Session:
        self._open.append(_Forgetful(self.fresh()))
        return self._open[-1]


child("bolt-list-alone", "FRAME-07", _list_and_tuple, sessions=_Forgetfuls, accept="BOLT-26 BOLT-18")(
    "What is read together with a list of task ids is lost.", Bolt
)
