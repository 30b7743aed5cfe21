"""Heart-beats: conversations in which time passes.

Source: STOMP 1.2, Heart-beating. Over a network the time is real, so intervals are short and several connections,
each with a rhythm of its own, are watched at once; the model adds the margins that keep a busy machine from being taken
for a fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan
from specs.stomp.states import Config
from strategies.common import Op, Program, programs
from strategies.stomp.writer import PLACES, Line, Writer

HEAD = 1
_ASKED = ((0, 200), (500, 500), (500, 0), (200, 500), (0, 0), (200, 1000), (0, 500), (1000, 1000), (1500, 200), None,
          (3_600_000, 200), (60_000, 3_600_000))  # fmt: skip
"""What a client can do and wants, in milliseconds; None: it does not say. No conversation lasts an hour."""
TICK_MS, TICKS, MORE = 100, 24, 12
"""The time is cut into ticks; there are TICKS of them, and fewer than MORE more."""
EOL, FRAME, OCTETS, SILENT = range(4)
"""How a client shows life: by EOLs, by frames, by single octets of one frame, or not at all."""


def rhythms() -> SearchStrategy[Program]:
    """Sessions with heart-beats, side by side; an op is a session."""
    return programs({"session": 1}, head=HEAD, most=6, least=4)


@dataclass
class _Client:
    """One session: `every` is its interval in ms (0: none), `shown` the milliseconds since its last sign of life."""

    line: Line
    every: int
    life: int
    form: int
    shown: int = 0


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Head: for how long. Op: what is asked for, how the client shows life and in which form, what else it does, and in
    which version."""
    writer = Writer(config)
    if config.version == "1.0":
        return writer.plan()
    clients = [_client(writer, place, op) for place, op in enumerate(program.ops)]
    for _ in range(TICKS + program.head[0] % MORE):
        writer.wait(TICK_MS)
        for client in clients:
            _tick(writer, client)
    for client in clients:
        if client.life == OCTETS and client.every:
            writer.blurt(client.line, b"\n\n\0", when="now")
    for client in clients:
        if client.life != SILENT or not client.every:
            writer.send(client.line, PLACES[0], receipt=writer.receipt())
    return writer.plan()


def _client(writer: Writer, place: int, op: Op) -> _Client:
    asked, life, form, does, version = op.args
    wanted = _ASKED[(asked + place) % len(_ASKED)]
    extra = [] if wanted is None else [("heart-beat", f"{wanted[0]},{wanted[1]}")]
    claimed = writer.version
    if version % 4 == 3 and "1.1" in writer.config.supports:  # 1.2 took heart-beats from it as they are
        writer.version = min(claimed, "1.1")
    command = "STOMP" if form & 12 == 12 and writer.version == "1.2" else "CONNECT"
    line = writer.connect(place, command=command, extra=extra)
    writer.version = claimed
    client = _Client(line, wanted[0] if wanted else 0, (life + place) % 4, form)
    if (does + place) % 3 == 1:
        writer.subscribe(client.line, PLACES[1], receipt=writer.receipt())
        writer.send(client.line, PLACES[1], receipt=writer.receipt())
    elif (does + place) % 3 == 2:
        writer.send(client.line, PLACES[0])
    if client.life == OCTETS and client.every:
        writer.features.add("pieces")
        writer.blurt(client.line, b"SEND\ndestination:", PLACES[0], b"\nk:%d\nslow:" % writer.fresh())
    return client


def _tick(writer: Writer, client: _Client) -> None:
    """A tick has passed: show life when half the interval is over, or, now and then, just before all of it is."""
    client.shown += TICK_MS
    late = client.form & 2 and client.life == EOL and client.every > 2 * TICK_MS
    if not client.every or client.shown < (client.every - TICK_MS if late else client.every // 2):
        return
    client.shown = 0
    eol = b"\r\n" if client.form & 1 and client.line.version == "1.2" else b"\n"
    _shows(writer, client.line, client.life, eol * (1 + client.form % 3))


def _shows(writer: Writer, line: Line, life: int, eols: bytes = b"\n") -> None:
    """A sign of life."""
    if life == EOL:
        writer.blurt(line, eols, when="now")
    elif life == FRAME:
        writer.send(line, PLACES[0], when="now")
    elif life == OCTETS:
        writer.blurt(line, b"x", when="now")


# -- what a rule is easily taken for -----------------------------------------------------------------------------------


class Rhythm(NamedTuple):
    """A session: what it asks for, as in `_ASKED`, and how often it shows life, in ms (0: never), and how."""

    asked: tuple[int, int] | None
    every: int = 0
    life: int = EOL


POINTED: Sequence[Sequence[Rhythm]] = (
    (
        Rhythm((50, 200), 50),  # what it hears is no heart-beat of its own
        Rhythm((200, 0), 150),  # one heart-beats
        Rhythm(None),  # and the next one was not asked to
        Rhythm((500, 0), 400, FRAME),
        Rhythm((0, 300)),
        Rhythm((3_600_000, 0)),
    ),
    (
        Rhythm((0, 0)),
        Rhythm((300, 300), 200, FRAME),
        Rhythm(None),
        Rhythm((1000, 200), 800),
        Rhythm((0, 500)),
        Rhythm((100, 1000), 50),
        Rhythm((86_400_000, 0)),
    ),
    (
        Rhythm((3_600_000, 0)),  # who says something once an hour may be silent here, and is owed what it wants
        Rhythm((86_400_000, 300)),
        Rhythm((66_000, 66_000)),
        Rhythm((300, 2_000_000_000), 200),
        Rhythm((40_000, 0)),
    ),
)
"""Sessions side by side that tell a rule from what it is easily taken for."""
FINE_MS, LASTS_MS = 50, 2_000
"""How finely time is told there, and for how long they go on: twice the interval and some is enough."""
ROW = 0
"""The place of the head number that chooses among them."""


def pointed() -> SearchStrategy[Program]:
    """A program is its head."""
    return programs({"none": 1}, head=HEAD, most=0, least=0)


def keeping(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Sessions in such rhythms, one opened behind the other."""
    writer = Writer(config)
    if config.version == "1.0":
        return writer.plan()
    rhythms = POINTED[program.head[ROW] % len(POINTED)]
    lines = []
    for place, rhythm in enumerate(rhythms):
        extra = [] if rhythm.asked is None else [("heart-beat", f"{rhythm.asked[0]},{rhythm.asked[1]}")]
        lines.append(writer.connect(place, extra=extra))
    for at in range(FINE_MS, LASTS_MS + 1, FINE_MS):
        writer.wait(FINE_MS)
        for line, rhythm in zip(lines, rhythms, strict=True):
            if rhythm.every and at % rhythm.every == 0:
                _shows(writer, line, rhythm.life)
    for line in lines:
        writer.send(line, PLACES[0], receipt=writer.receipt())
    return writer.plan()
