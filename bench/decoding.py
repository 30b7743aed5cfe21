"""Decoding: one stream of MESSAGE frames read by our decoder, by stomp.py's transport and by CoilMQ's frame buffer.

stomp.py's own reading and parsing is called as its receiver thread does it, without threads, sockets, listeners and
the decoding of bodies. Each parser gets the stream whole, in the 16 KiB that stomp.py reads at a time, and in pieces of
1 KiB; who does not find every body, or fails, is not compared. CoilMQ cannot read a head that comes in two pieces, so
there is also a stream of frames of 4 KiB each, whose heads are never cut. Our decoder remembers header lines, so every
repetition reads another stream, with message ids and ack values that no stream before it had.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bench.measure import Figure, RunOptions, in_turns, ratios, say
from specs.stomp.frames import Frame, decoder, encode

Parse = Callable[[Sequence[bytes]], list[bytes]]
"""Bodies found in the pieces of a stream."""
BODIES = (b"x", b"0123456789" * 20, b'{"a": [1, 2, 3]}', b"", b"y" * 1000, b"a line\nand another\n")
REPEAT = 8
"""How often one frame is read in one measurement. It is large: a thousand calls must not be what is measured."""
PIECES = {"whole": 1 << 30, "16 KiB pieces": 1 << 14, "1 KiB pieces": 1 << 10}


def message(number: int, body: bytes, *extra: tuple[str, str]) -> bytes:
    """A MESSAGE as brokers write it; one in four has a header that is escaped."""
    headers = [
        ("destination", "/queue/orders"),
        ("message-id", f"T_0@@session-kF3n0Xq@@{number}"),
        ("subscription", f"sub-{number % 7}"),
        ("ack", f"{number}"),
        ("content-type", "text/plain"),
        ("content-length", f"{len(body)}"),
        ("priority", "4"),
        *extra,
    ]
    if number % 4 == 0:
        headers.append(("reply-to", "http://example.org:80/a\\b"))
    return encode(Frame("MESSAGE", tuple(headers), body))


def stream(frames: int, first: int = 0) -> bytes:
    """So many frames with small bodies, as tests have them, numbered from `first`."""
    return b"".join(message(n, BODIES[n % len(BODIES)]) for n in range(first, first + frames))


def cut(data: bytes, size: int) -> list[bytes]:
    """The pieces of a stream."""
    return [data[at : at + size] for at in range(0, len(data), size)]


def ours(pieces: Sequence[bytes]) -> list[bytes]:
    """specs.stomp.frames."""
    reading = decoder("server", None, {"version": "1.2"})
    return [frame.body for piece in pieces for frame in reading.feed(piece)]


def stomp_py() -> Parse | None:
    """stomp.py, if it is installed."""
    try:
        from stomp.transport import BaseTransport  # noqa: PLC0415 - may be missing
    except ImportError:
        return None

    class Transport(BaseTransport):  # type: ignore[misc]
        def __init__(self, pieces: Sequence[bytes]) -> None:
            super().__init__(auto_decode=False)
            self.running = True
            self.pieces = iter(pieces)
            self.bodies: list[bytes] = []

        def receive(self) -> bytes:
            piece = next(self.pieces, None)
            if piece is None:
                self.blocking = False  # nothing more: makes its reader give up
                return b""
            return piece

        def process_frame(self, f: Any, frame_str: bytes) -> None:
            if f.cmd != "heartbeat":
                self.bodies.append(f.body)

    def parse(pieces: Sequence[bytes]) -> list[bytes]:
        transport = Transport(pieces)
        while transport.blocking:
            transport._BaseTransport__read_frames()
        return transport.bodies

    return parse


def coilmq() -> Parse | None:
    """CoilMQ, if it is installed."""
    try:
        from coilmq.util.frames import FrameBuffer  # noqa: PLC0415 - may be missing
    except ImportError:
        return None

    def parse(pieces: Sequence[bytes]) -> list[bytes]:
        buffer, bodies = FrameBuffer(), []
        for piece in pieces:
            buffer.append(piece)
            bodies += [frame.body for frame in buffer]
        return bodies

    return parse


def plainly(body: Any) -> bytes:
    """A body in octets: CoilMQ gives none where there is nothing."""
    return body.encode() if isinstance(body, str) else bytes(body or b"")


def aligned(frames: int, first: int = 0) -> bytes:
    """Frames of 4 KiB each, numbered from `first`."""
    one = len(message(1_000_001, b"z" * 1000)) - 1000
    return b"".join(message(1_000_001 + 7 * 4 * n, b"z" * (4096 - one)) for n in range(first, first + frames))


def found(parse: Parse, pieces: Sequence[bytes]) -> list[bytes] | str:
    """Bodies that a parser finds, or how it fails."""
    try:
        return [plainly(body) for body in parse(pieces)]
    except Exception as error:  # noqa: BLE001 - whatever another parser raises
        return f"{type(error).__name__}: {error}"


def run(options: RunOptions) -> list[Figure]:
    """Against the others, and against ourselves at other sizes."""
    figures: list[Figure] = []
    frames = 60 if options.tiny else 1500
    for kind, make, count in (("", stream, frames), ("4 KiB frames, ", aligned, frames // 4)):
        streams = [make(count, count * n) for n in range(options.repeats + 1)]
        for how, size in PIECES.items():
            figures += compared(f"{kind}{how}", [cut(data, size) for data in streams], options)
    return figures + growth(options)


def compared(how: str, streams: Sequence[Sequence[bytes]], options: RunOptions) -> list[Figure]:
    """Streams cut in one way, one for each repetition, read by everybody; the last is the one that does not count."""
    pieces = streams[-1]
    parsers = {"ours": ours, "stomp.py": stomp_py(), "CoilMQ": coilmq()}
    expected, works, notes = found(ours, pieces), {}, dict.fromkeys(parsers, "")
    for name, parse in parsers.items():
        got = "not installed" if parse is None else found(parse, pieces)
        if got == expected and parse is not None:
            works[name] = lambda n, parse=parse: len(parse(streams[n]))
        else:
            notes[name] = f": cannot read it ({got:.40})" if isinstance(got, str) else ": misreads it"
    rates = in_turns(works, options.repeats, unit="frames")
    for rate in rates.values():
        say(f"  {how}: {rate}")
    return [
        Figure(
            "decoding",
            f"{how}, against {name}{notes[name]}",
            ratios(rates["ours"], rates[name]) if name in rates else (),
            3,
        )
        for name in ("stomp.py", "CoilMQ")
    ]


def growth(options: RunOptions) -> list[Figure]:
    """Twice the data, and one frame in a thousand pieces."""
    octets = 10_000 if options.tiny else 400_000
    body = b"z" * (octets if options.tiny else 1 << 23)
    figures: list[Figure] = []
    small, large = stream(octets // 400), stream(2 * octets // 400)
    for how, size in PIECES.items():
        times = in_turns(
            {
                "once": lambda _, size=size: 1.0 if ours(cut(small, size)) else 0.0,
                "twice": lambda _, size=size: 1.0 if ours(cut(large, size)) else 0.0,
            },
            options.repeats,
        )
        figures.append(
            Figure("decoding", f"time of twice as much, {how}", ratios(times["once"], times["twice"]), 2.5, True)
        )
    for name, frame in {
        "with a length": message(0, body),
        "without": encode(Frame("MESSAGE", (("subscription", "0"),), body)),
        "all head": encode(Frame("MESSAGE", tuple((f"h{n}", "v" * 40) for n in range(2 * octets // 50)))),
    }.items():
        pieces = cut(frame, -(-len(frame) // 1000))
        times = in_turns(
            {
                "whole": lambda _, frame=frame: sum(len(ours([frame])) for _ in range(REPEAT)),
                "pieces": lambda _, pieces=pieces: sum(len(ours(pieces)) for _ in range(REPEAT)),
            },
            options.repeats,
        )
        what = f"one frame of {len(frame):,} octets in {len(pieces)} pieces, {name}"
        figures.append(Figure("decoding", what, ratios(times["whole"], times["pieces"]), 2, True))
    return figures
