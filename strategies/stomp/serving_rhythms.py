"""Sessions in which time passes: heart-beats that are agreed on, kept, and met by other signs of life.

Source: STOMP 1.2, Heart-beating; 003_30478fd2f19f0da0.txt L214-232.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan, SendBytes, Wait
from specs.stomp.states import Config
from strategies.common import Program, programs
from strategies.stomp.desk import HEAD, Ear, Serving
from strategies.stomp.serving import play

BEATS = ((0, 0), (200, 0), (0, 200), (300, 300), (200, 500), (500, 200), (1000, 0))
"""What the client can do and wants, in milliseconds."""
OURS: Sequence[tuple[int, int] | None] = (
    None,
    (0, 0),
    (0, 200),
    (400, 300),
    (0, 400),
    (400, 0),
    (600, 100),
    (500, 500),
    (200, 500),
)
"""What the tester can do and wants; None: it does not say."""
TICK_MS, TICKS, MORE = 100, 16, 12


def rhythms() -> SearchStrategy[Program]:
    """Sessions in which time passes."""
    return programs({"send": 1, "message": 1}, head=HEAD, most=2, least=1)


def beating(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The tester keeps its own heart-beats, by half of the interval, or by all of it, or says a line end every tick,
    whatever was agreed: what comes says nothing of what the client owes. Or it shows life by the octets of a message
    that takes its time."""
    which, ours, how, ticks = program.head
    s = Serving(config, (0, 0, 0, 0))
    asked, mine = BEATS[which % len(BEATS)], OURS[ours % len(OURS)]
    s.connect(more=b"" if mine is None else b"heart-beat:%d,%d\n" % mine, beats=asked)
    s.serve()
    play(s, program.ops[:1])
    s.steps.append(Wait(0))
    every = 0 if mine is None else mine[0]
    exact = how & 1 and every >= asked[1]
    ear = s.subscribe(0, "auto") if how & 8 and every and asked[1] else None
    life = b"x" if ear is not None else b"\r\n" if how & 2 and s.version == "1.2" else b"\n"
    if ear is not None:
        _begins_slowly(s, ear)
    for n in range(1, TICKS + ticks % MORE):
        s.steps.append(Wait(TICK_MS))
        if how & 4 or (every and n * TICK_MS % (every if exact else every // 2) == 0):
            s.steps.append(SendBytes(0, (s.here(), life), "now"))
    if ear is not None:
        _ends_at_last(s)
    if len(program.ops) > 1:
        play(s, program.ops[1:2])
    s.end()
    return s.plan()


def _begins_slowly(s: Serving, ear: Ear) -> None:
    """A message whose body comes in its own time."""
    head = b"MESSAGE\ndestination:" + ear.place.encode() + b"\nmessage-id:slow\nsubscription:"
    s.steps.append(SendBytes(0, (head, s.id_of(ear), b"\n\n#slow"), "now"))


def _ends_at_last(s: Serving) -> None:
    """That message is whole, and is received."""
    s.steps.append(SendBytes(0, b"\0", "now"))
    s.said += 1
    s.receive()


class Rhythm(NamedTuple):
    """What both ends can do and want, in ms, as in `BEATS` and `OURS`; how often the tester shows life, in ms (0: it
    does not); whether it does so by the octets of a message, or the client sends meanwhile, or waits for a RECEIPT, or
    for a message; and how long it goes on, in ms: a client is late only when more than twice its time has passed, and
    some."""

    asked: tuple[int, int]
    ours: tuple[int, int]
    every: int
    octets: bool = False
    sends: bool = False
    waits: bool = False
    receives: bool = False
    lasts: int = 1_600


POINTED: Sequence[Rhythm] = (
    Rhythm((200, 0), (0, 200), 50, lasts=2_400),  # what it hears is no heart-beat of its own
    Rhythm((0, 600), (50, 0), 500),  # the larger of both numbers counts
    Rhythm((200, 0), (0, 250), 0, sends=True, lasts=2_600),  # it beats on behind what it has sent
    Rhythm((0, 200), (200, 0), 100, octets=True),  # octets are a sign of life
    Rhythm((300, 300), (0, 0), 0),  # nothing was agreed
    Rhythm((500, 200), (400, 200), 350),
    Rhythm((300, 300), (300, 300), 250, sends=True),
    Rhythm((0, 300), (0, 400), 0),
    Rhythm((0, 500), (4_294_967_295, 0), 0, lasts=600),  # twice that time is more than most clocks count to
    Rhythm((0, 500), (3_000_000_000, 0), 0, lasts=600),
    Rhythm((200, 0), (0, 300), 0, waits=True),  # it beats on while it waits for an answer
    Rhythm((200, 0), (0, 250), 0, receives=True),  # and while it waits for a message
)
FINE_MS, SENDS_MS = 50, (250, 700)
"""How finely time is told, and when the client sends."""
ROW = HEAD
"""The place of the head number that chooses the rhythm."""


def pointed() -> SearchStrategy[Program]:
    """One of the rhythms that tell a rule from what it is easily taken for."""
    return programs({"send": 1}, head=HEAD + 1, most=0, least=0)


def keeping(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """A session in such a rhythm."""
    rhythm = POINTED[program.head[ROW] % len(POINTED)]
    s = Serving(config, (0, 0, 0, 0))
    s.connect(more=b"heart-beat:%d,%d\n" % rhythm.ours, beats=rhythm.asked)
    s.serve()
    life = b"x" if rhythm.octets else b"\n"
    if rhythm.waits:
        s.send(b"held", receipt=True, serve=False)
    ear = s.subscribe(0, "auto") if rhythm.octets or rhythm.receives else None
    if ear is not None and rhythm.octets:
        _begins_slowly(s, ear)
    if rhythm.receives:
        s.receive()
    for at in range(FINE_MS, rhythm.lasts + 1, FINE_MS):
        s.steps.append(Wait(FINE_MS))
        if rhythm.every and at % rhythm.every == 0:
            s.steps.append(SendBytes(0, (s.here(), life), "now"))
        if rhythm.sends and at in SENDS_MS:
            s.send(b"now", when="now", serve=False)
    if rhythm.octets:
        _ends_at_last(s)
    if ear is not None and rhythm.receives:
        s.message(ear)
    if rhythm.waits:
        s.serve()
    s.end()
    return s.plan()
