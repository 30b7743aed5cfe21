"""Heart-beats: conversations in which time passes.

Source: STOMP 1.2, Heart-beating. Intervals are short, because over a network the time is real; the model adds the
margins that keep a busy machine from being taken for a fault.
"""

from __future__ import annotations

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan
from specs.stomp.states import Config
from strategies.common import Program, programs
from strategies.stomp.writer import PLACES, Line, Writer

HEAD = 4
_ASKED = ((0, 0), (0, 500), (500, 0), (500, 500), (0, 200), (1000, 1000))


def rhythms() -> SearchStrategy[Program]:
    """One session with heart-beats; everything is in the head."""
    return programs({"none": 1}, head=HEAD, most=1, least=0)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Head: what is asked for, how the client shows life, for how long, and the form of its beats."""
    asked, life, length, form = program.head
    cx, cy = _ASKED[asked % len(_ASKED)]
    writer = Writer(config)
    if config.version == "1.0":
        return writer.plan()
    extra = [] if asked % 12 == 0 else [("heart-beat", f"{cx},{cy}")]
    line = writer.connect(0, extra=extra)
    if cx == 0:
        writer.wait(700 if cy == 0 else 3 * cy + 200)
    else:
        _live(writer, line, life % 4, cx, 4 + length % 4, form)
    writer.send(line, PLACES[0], receipt=writer.receipt())
    return writer.plan()


def _live(writer: Writer, line: Line, kind: int, interval: int, beats: int, form: int) -> None:
    """Show life in time for `beats` intervals: by EOLs, by frames, by single octets of a frame, or fall silent."""
    eol = b"\r\n" if form & 1 and line.version == "1.2" else b"\n"
    if kind == 3:
        writer.wait(interval * 3)
        return
    if kind == 2:
        number = writer.fresh()
        writer.features.add("pieces")
        rest = b"\nk:%d\nreceipt:slow\ncontent-length:%d\n\n" % (number, beats)
        writer.blurt(line, b"SEND\ndestination:", PLACES[0], rest)
    for _ in range(beats):
        writer.wait(interval if form & 2 and kind == 0 else interval // 2)
        if kind == 0:
            writer.blurt(line, eol * (1 + form % 3), when="now")
        elif kind == 1:
            writer.send(line, PLACES[0], when="now")
        else:
            writer.blurt(line, b"x", when="now")
    if kind == 2:
        writer.blurt(line, b"\0", when="now")
