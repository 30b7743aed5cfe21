"""How the tester's frames were put into octets: what must not matter to a client that reads them.

Source: STOMP 1.2, STOMP Frames: lines end with LF or CR LF, line ends may follow a frame's NUL, and the stream is one
of octets, however it is cut into segments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from specs.plan import Say, SendBytes
from specs.stomp import ids
from specs.stomp.frames import Style

_PIECES, _JOINED, _CRLF, _EOLS = "in pieces", "joined to what follows", "CR LF", "line ends around it"
MARKS: Mapping[str, str] = {
    _PIECES: ids.FRAME_06,
    _JOINED: ids.FRAME_06,
    _CRLF: ids.FRAME_02,
    _EOLS: ids.FRAME_03,
}
"""The requirement that a client breaks to which a way of writing matters."""


def how_written(step: Say | SendBytes, data: bytes) -> tuple[str, ...]:
    """What is special about how a step is written, by the names of `MARKS`."""
    found = [_JOINED] if step.when == "join" else []
    if isinstance(step, SendBytes):
        head, end, _ = data.partition(b"\0")
        return (*found, _CRLF) if end and b"\r\n" in head.strip(b"\r\n") else tuple(found)
    style = step.style if isinstance(step.style, Style) else Style()
    found += [_PIECES] if any(0 < cut < len(data) for cut in step.cuts) else []
    found += [_CRLF] if style.eol != b"\n" else []
    found += [_EOLS] if style.before or style.after else []
    return tuple(found)


def marks_of(how: Iterable[str]) -> frozenset[str]:
    """The marks (see `specs.stomp.client.marks`) of ways of writing."""
    return frozenset(MARKS[name] for name in how if name in MARKS)
