"""What holds for whatever a client sends, and for its silence.

Topics: "frame" (any frame), "nonsense" (what is none), "heart-beat" and "pause" (the client was silent for a while).
Source: 003_30478fd2f19f0da0.txt L30-42; STOMP 1.2, STOMP Frames, Value Encoding, Body, Heart-beating, Augmented BNF.
"""

from __future__ import annotations

from specs.stomp import ids
from specs.stomp.client.book import BODIES, BOOK
from specs.stomp.client.case import Case
from specs.stomp.client.machine import BEATS, CONNECTS, NONSENSE, K
from specs.stomp.frames import CLIENT_COMMANDS

NEEDED = {
    "CONNECT": ("accept-version", "host"), "STOMP": ("accept-version", "host"), "SEND": ("destination",),
    "SUBSCRIBE": ("destination", "id"), "UNSUBSCRIBE": ("id",), "BEGIN": ("transaction",), "COMMIT": ("transaction",),
    "ABORT": ("transaction",),
}  # fmt: skip
"""Headers that a frame must have in 1.1 and 1.2."""
HEART_BEAT_SLACK_MS = 500
"""What is added to twice the interval before a silence counts: clocks and machines are inexact."""


def _wart(case: Case, *warts: str) -> str:
    found = [wart for wart in warts if wart in case.frame.warts]
    if not found:
        return ""
    what = case.frame.command or "an end of line"
    return f"{what} has {found[0].replace('-', ' ')}: {case.frame.headers!r:.200}"


def _escapes(case: Case) -> bool:
    return case.action != CONNECTS and case.version not in ("", "1.0")


def _told_lines(case: Case) -> bool:
    """True when the application gave a text with a line end in it, so that a line may have been torn."""
    given = [text for send in case.state.sends for pair in send.headers for text in pair]
    return any("\n" in text or "\r" in text for text in given)


def _look_alike(case: Case) -> str:
    command, names = case.frame.command, [name for name, _ in case.frame.headers]
    if command not in CLIENT_COMMANDS:
        return f"the command {command!r}" if command.strip().upper() in CLIENT_COMMANDS else ""
    missing = [name for name in NEEDED.get(command, ()) if name not in names]
    return next((f"the header {name!r}" for name in names if name.lower() in missing), "")


def _sent_nul(case: Case) -> bool:
    return any(b"\0" in send.body and send.seen for send in case.state.sends)


@BOOK.form(BODIES, on=f"frame, {NONSENSE}", if_=_sent_nul)
def a_body_with_a_nul_is_told_from_what_follows(case: Case) -> str:
    """STOMP 1.2, Body: what follows the first NUL of a body without content-length is no frame."""
    if case.action != NONSENSE or _look_alike(case):
        return ""
    return f"octets that are no frame behind a body that holds a NUL ({case.text or case.frame.command!r:.80})"


@BOOK.form(ids.FRAME_05, on="frame")
def commands_and_names_are_written_as_they_are(case: Case) -> str:
    """L42: commands and header names are case-sensitive."""
    return _look_alike(case)


@BOOK.form(ids.CLEN_06, on=NONSENSE, if_=lambda case: case.text.startswith("content-length-mismatch"))
def a_length_counts_octets(case: Case) -> str:
    """STOMP 1.2, Header content-length: an octet count for the length of the body, and NUL behind them."""
    return f"a content-length that is not the number of octets ({case.text})"


@BOOK.form(ids.FRAME_01, on=f"frame, {NONSENSE}")
def says_nothing_but_frames(case: Case) -> str:
    """L30-40; STOMP 1.2, Augmented BNF: a client sends frames with the commands of a client."""
    if case.action != NONSENSE:
        return ""
    return f"octets that are no frame of a client ({case.text or case.frame.command!r:.80})"


@BOOK.form(ids.ENC_13, on="frame")
def is_utf_8(case: Case) -> str:
    """STOMP 1.2, Value Encoding, and content-type: commands and headers are UTF-8, which everybody supports."""
    return _wart(case, "not-utf8")


@BOOK.form(ids.ENC_02, on="frame", if_=_escapes)
def escapes_what_has_to_be(case: Case) -> str:
    """STOMP 1.2, Value Encoding: CR, LF, colon and backslash are escaped; there are no other escapes. 1.1 has none for
    CR, which stands as it is there (E-34)."""
    torn = ["no-colon", "empty-name", *(["bare-cr"] if case.version == "1.2" else [])] if _told_lines(case) else []
    return _wart(case, "undefined-escape", *torn)


@BOOK.form("STOMP-1.2-ENC-10", on="frame", if_=_escapes)
def no_colon_is_left_in_a_value(case: Case) -> str:
    """STOMP 1.2, Augmented BNF: a value holds no colon, nor does a name."""
    return _wart(case, "raw-colon")


@BOOK.form(ids.ENC_09, on="frame")
def header_lines_have_a_name_and_a_colon(case: Case) -> str:
    """STOMP 1.2, Augmented BNF: header = header-name ":" header-value, and a name is not empty."""
    return _wart(case, "no-colon", "empty-name")


@BOOK.form(ids.FRAME_02, on="frame", if_=lambda case: case.version == "1.2")
def no_cr_stands_inside_a_line(case: Case) -> str:
    """STOMP 1.2, STOMP Frames: a CR stands before the LF that ends a line, and nowhere else."""
    return _wart(case, "bare-cr")


@BOOK.form(ids.NEGO_06, on=f"frame, {BEATS}", if_=lambda case: case.version in ("1.0", "1.1"))
def lines_end_as_the_version_has_it(case: Case) -> str:
    """STOMP 1.1, STOMP Frames: before 1.2, lines end with LF alone. Heart-beating: a heart-beat is the one octet 0A."""
    return _wart(case, "cr-in-line-end")


@BOOK.form(ids.CLEN_06, on="frame", if_=lambda case: case.frame.get("content-length") is not None)
def a_length_is_a_number(case: Case) -> str:
    """STOMP 1.2, Header content-length: an octet count."""
    return _wart(case, "bad-content-length")


@BOOK.form(ids.BODY_01, on="frame", unless=lambda case: case.action == "SEND")
def only_send_has_a_body(case: Case) -> str:
    """STOMP 1.2, Body: of a client's frames only SEND has one."""
    return f"{case.frame.command} with the body {case.frame.body[:60]!r}" if case.frame.body else ""


# -- heart-beats -------------------------------------------------------------------------------------------------------


@BOOK.form("STOMP-1.2-HB-11", on=f"pause, {BEATS}", when=(K.LIVE,), if_=lambda case: case.state.mine_ms > 0)
def is_heard_in_time(case: Case) -> str:
    """STOMP 1.2, Heart-beating: the client sends something at least every n milliseconds."""
    state = case.state
    if state.silent_ms <= 2 * state.mine_ms + HEART_BEAT_SLACK_MS:
        return ""
    return f"silent for {state.silent_ms} ms, agreed was something at least every {state.mine_ms} ms"
