"""How a server writes: the rules on what the decoder noted about a frame, on octets that are none, and on heart-beats.

Source: STOMP 1.2, STOMP Frames, Value Encoding, Augmented BNF, Heart-beating; docs/ambiguities.md, E-17. "frame" is
asked only of frames in which a rule could be broken: the decoder noted something, or a header holds what is escaped.
"""

from __future__ import annotations

from specs.causes import Causes
from specs.events import Noise, Quiet
from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.rules import Finding
from specs.stomp import ids
from specs.stomp.frames import SERVER_COMMANDS, Frame
from specs.stomp.headers import SPECIAL
from specs.stomp.machine import Phase
from specs.stomp.server.book import BOOK, outcome
from specs.stomp.server.case import Case
from specs.stomp.states import Conn, State

HEART_BEAT_SLACK_MS = 500
"""Added to twice the agreed interval before a missing heart-beat is a fault: schedulers are not the protocol."""
_PLAIN = ("raw-colon", "undefined-escape", "cr-in-line-end")
"""What frames around CONNECT may hold unescaped."""
_EARLY = (Phase.OPEN, Phase.WAIT, Phase.LEAVING)


def odd(frame: Frame) -> bool:
    """True for a frame in which a rule on writing could be broken."""
    if frame.warts:
        return True
    text = "".join([value for _, value in frame.headers])
    return not text.isascii() or SPECIAL.search(text) is not None


def _has(case: Case, *warts: str) -> str:
    """The first of these that the decoder noted, and that is the server's own doing."""
    return next((wart for wart in case.frame.warts if wart in warts and _counts(case, wart)), "")


def _counts(case: Case, wart: str) -> bool:
    if wart in _PLAIN and case.phase in _EARLY:
        return False
    if wart == "bare-cr" and case.conn.version != "1.2":
        return False  # those versions have no escape for it
    if wart in ("bad-content-length", "not-utf8"):  # what came in so may go out as it came
        state = case.state
        asked = any(c.lost or any(wart in p.frame.warts for p in c.pending) for c in state.conns.values())
        sent = any(wart in m.frame.warts for m in state.messages.values())
        return not sent and not (asked and wart == "not-utf8")
    return True


def _ill_formed(case: Case, wart: str) -> str:
    return f"{case.frame.command or 'an end of line'} is ill-formed ({wart})" if wart else ""


@BOOK.form(ids.ENC_01, on="frame", also=ids.ENC_13, if_=lambda case: not _values(case).isascii())
def headers_are_utf8(case: Case) -> str:
    """STOMP 1.2, STOMP Frames: commands and headers are encoded in UTF-8."""
    return _ill_formed(case, _has(case, "not-utf8"))


def _values(case: Case) -> str:
    return "".join([value for _, value in case.frame.headers])


def _escapes(case: Case) -> bool:
    """In this session headers are escaped, and something in this frame had to be."""
    return case.conn.version != "1.0" and case.phase not in _EARLY and (bool(case.frame.warts) or _special(case))


def _special(case: Case) -> bool:
    return SPECIAL.search(_values(case)) is not None


@BOOK.form("STOMP-1.2-ERROR-08", on="frame", if_=lambda case: case.frame.command == "ERROR" and _escapes(case))
def headers_of_error_are_escaped(case: Case) -> str:
    """STOMP 1.2, Value Encoding: every frame but CONNECT and CONNECTED is escaped."""
    return _ill_formed(case, _has(case, "raw-colon", "undefined-escape", "bare-cr"))


@BOOK.form("STOMP-1.2-ENC-10", on="frame", also=ids.FRAME_01, if_=lambda case: _escapes(case) and ":" in _values(case))
def colons_are_escaped(case: Case) -> str:
    """STOMP 1.2, Augmented BNF: no colon stands in a header value."""
    return _ill_formed(case, _has(case, "raw-colon"))


@BOOK.form(ids.ENC_02, on="frame", also=ids.FRAME_01, if_=lambda case: case.phase not in _EARLY)
def only_known_escapes(case: Case) -> str:
    """STOMP 1.2, Value Encoding: backslash, colon, line feed and carriage return are escaped."""
    return _ill_formed(case, _has(case, "undefined-escape", "bare-cr"))


@BOOK.form(ids.ENC_09, on="frame", also=ids.FRAME_01)
def header_lines_have_name_and_colon(case: Case) -> str:
    """STOMP 1.2, Augmented BNF: a header is a name, a colon and a value."""
    return _ill_formed(case, _has(case, "no-colon", "empty-name"))


@BOOK.form(ids.CLEN_06, on="frame", also=ids.FRAME_01, if_=lambda case: "bad-content-length" in case.frame.warts)
def content_length_is_a_number(case: Case) -> str:
    """STOMP 1.2, Header content-length: it is a count of octets."""
    return _ill_formed(case, _has(case, "bad-content-length"))


@BOOK.form(ids.FRAME_01, on="frame, heart-beat")
def lines_end_with_one_line_feed(case: Case) -> str:
    """L35: a line ends with LF, and in 1.2 an optional CR before it."""
    return _ill_formed(case, _has(case, "cr-in-line-end"))


# -- octets that are no frame ----------------------------------------------------------------------------------------

NO_FRAME = Causes("octets of the server that are no frame")


@NO_FRAME.cause(ids.CLEN_06, could=lambda case: case.text.startswith("content-length-mismatch"))
def length_does_not_fit(case: Case) -> str:
    return f"octets that are no frame ({case.text})"


@NO_FRAME.cause(ids.CLEN_04, could=lambda case: case.text.startswith("nul-in-head") and _nul_in_a_body(case.state))
def body_went_on(case: Case) -> str:
    return f"octets that are no frame ({case.text})"


def _nul_in_a_body(state: State) -> bool:
    return any(b"\0" in m.frame.body for m in state.messages.values())


_NO_BEATS = ("b'\\x00'", "b' '", "b'\\t'", "b'\\r'")
"""Octets that stand in for a line end."""


def _beats(case: Case) -> bool:
    """A heart-beat may have come, and the octets are not what is left of a body."""
    agreed = case.conn.beats_ms > 0 and case.phase is Phase.LIVE
    return agreed and not (case.text.startswith("nul-in-head") and _nul_in_a_body(case.state))


@BOOK.form("STOMP-1.2-HB-05", on="octets, heart-beat", if_=_beats)
def beats_with_a_line_end(case: Case) -> str:
    """STOMP 1.2, Heart-beating: a heart-beat is an end of line."""
    data = case.text.partition(": ")[2]
    return f"a heart-beat that is no line end: {data}" if data[:7] in _NO_BEATS else ""


@BOOK.form(ids.FRAME_01, on="octets", causes=NO_FRAME)
def says_nothing_but_frames(case: Case) -> str:
    """L30-40: the server sends frames."""
    return f"octets that are no frame ({case.text})"


@BOOK.form(ids.CLEN_01, on="behind a cut body", also=ids.BODY_02, unless=lambda case: case.during == "rest")
def body_is_as_long_as_it_says(case: Case) -> str:
    """STOMP 1.2, Header content-length: an empty MESSAGE whose SEND has a body that begins with NUL was cut."""
    return case.conn.torn


@BOOK.form(ids.CLEN_04, on="behind a cut body", also=ids.BODY_02)
def length_of_a_body_with_nul_is_stated(case: Case) -> str:
    """STOMP 1.2, Body: octets follow that are no frame of a server, so the body was there, without its length."""
    return case.conn.torn


@BOOK.freedom("E-08")
def a_header_may_hold_a_nul(data: bytes) -> bool:
    """1.2, Augmented BNF: names and values of headers are any octets but CR, LF and colon, and line ends may stand
    before a frame. The line goes on behind the NUL, and what follows is header lines: a frame whose blank line is
    missing looks otherwise."""
    data = data.lstrip(b"\r\n")
    command, *lines = data.replace(b"\r\n", b"\n").partition(b"\n\n")[0].split(b"\n")
    head, nul, rest = data.partition(b"\0")
    line = head.rpartition(b"\n")[2] + rest.partition(b"\n")[0]
    inside = bool(nul) and b":" in line[1:] and rest[:1] not in (b"", b"\n", b"\r")
    named = command.decode("latin-1").rstrip("\r") in SERVER_COMMANDS
    return inside and named and all(b":" in line for line in lines[:-1])


def octets(state: State, number: int, conn: Conn, event: Noise) -> Outcome:
    """What the server said that is no frame. A NUL in a header may be right, but nobody can tell where it ends."""
    if event.why == "nul-in-head" and a_header_may_hold_a_nul(event.data):
        leans = (a_header_may_hold_a_nul.id,)
        return outcome(Finding(None, leans=leans, unjudged=True), state)
    text = f"{event.why}): {event.data[:80]!r}"
    if event.why == "nul-in-head" and event.data.lstrip(b"\r\n").startswith(b"ERROR"):
        text = f"NUL in its headers): {event.data[:80]!r}"
    return outcome(BOOK.ask("octets", Case(state, number, conn, text=text)), ANYTHING)


def torn(state: State, number: int, conn: Conn, *, rest: bool) -> Outcome:
    """What was wrong with an empty MESSAGE whose SEND has a body that begins with NUL."""
    case = Case(state, number, conn, during="rest" if rest else "")
    return outcome(BOOK.ask("behind a cut body", case), ANYTHING)


def is_no_frame_of_a_server(frame: Frame) -> bool:
    """True for what is read behind a body that was not told from frames."""
    return frame.command not in SERVER_COMMANDS | {""}


# -- connections that are refused, and heart-beats ---------------------------------------------------------------------


@BOOK.form(ids.ROB_01, on="refused")
def takes_connections(case: Case) -> str:
    """Robustness: whatever happened before, the server is there."""
    return f"a new connection was refused: {case.text}"


@BOOK.form("STOMP-1.2-HB-04", on="pause, heart-beat", if_=lambda case: case.conn.beats_ms > 0)
def is_heard_in_time(case: Case) -> str:
    """STOMP 1.2, Heart-beating: the server sends something at least every n milliseconds."""
    if case.conn.silent_ms <= 2 * case.conn.beats_ms + HEART_BEAT_SLACK_MS:
        return ""
    return f"silent for {case.conn.silent_ms} ms, agreed was something at least every {case.conn.beats_ms} ms"


def paused(state: State, event: Quiet) -> Breach | None:
    """A pause in which the server was silent for longer than it had agreed."""
    for number, conn in state.conns.items():
        if conn.beats_ms and conn.phase is Phase.LIVE:
            silent = conn._replace(silent_ms=conn.silent_ms + event.ms)
            found = BOOK.ask("pause", Case(state, number, silent))
            if found.breach is not None:
                return found.breach
    return None


def beat(state: State, number: int, conn: Conn, frame: Frame) -> Outcome:
    """Line ends between two frames."""
    if not conn.beats_ms and not frame.warts:
        return Allow(state)
    return outcome(BOOK.ask("heart-beat", Case(state, number, conn, frame)), state)
