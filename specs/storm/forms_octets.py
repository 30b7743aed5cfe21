"""The octets of messages, whoever writes them: each message, whether it is JSON or not. Order is precedence.

Source: 000_a44a7e31e51ca0fa.txt, "Protocol Preamble", "The Protocol".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from specs.rules import Broken
from specs.storm import ids
from specs.storm.both import Both
from specs.storm.child.book import BOLT, BOTH, SPOUT
from specs.storm.host.book import BOLT_HOST, SPOUT_HOST
from specs.storm.states import Misuse
from specs.storm.values import shown

form = Both(BOLT, SPOUT, BOLT_HOST, SPOUT_HOST).form


def _octets(m: Any) -> str:
    return f"what stands before a line `end` is no JSON ({m.text.why}): {shown(m.text.data, 160)}"


@BOTH.excuse(on="octets")
def an_answer_to_what_means_nothing_is_free(m: Any) -> bool:
    """What is written after the end of STDIN by a child that was sent invalid input (catalogue of invalid inputs)."""
    return m.text is not None and m.deaf and m.conv.misuse not in (None, Misuse.UNKNOWN_ID)


@BOTH.form("STORM-FRAME-08", on="octets, printed", if_=lambda m: bool(m.conv.talked))
def what_user_code_prints_breaks_no_message(m: Any) -> Any:
    """Nothing but messages (Protocol Preamble). That a library keeps user code from its STDOUT is a recommendation:
    the text says nothing of what user code prints (S-33)."""
    if m.text is not None:
        return Broken(f"{_octets(m)}; user code had printed", ends=True)
    wrong = m.action == "printed"  # what was said was wrong, and is what user code printed
    return Broken(f"{shown(m.what)} was said; user code had printed one", ends=True) if wrong else ""


@form(ids.UTF_8, on="octets", if_=lambda m: m.config.has("x-utf8"))
def messages_are_utf_8(m: Any) -> str:
    """Both pipes carry UTF-8 (Storm 0.9.3)."""
    return _octets(m) if m.text is not None and m.text.why == "not-utf-8" else ""


@form(ids.NEWLINES_END_LINES, on="octets")
def a_newline_ends_each_line(m: Any) -> str:
    """Lines are ended by a newline when they are written (The Protocol)."""
    return _octets(m) if m.text is not None and _GLUED.search(m.text.data) else ""


_GLUED = re.compile(rb"[}\]]end\r*$", re.MULTILINE)


@form(ids.NO_END_INSIDE_TEXTS, on="octets", if_=lambda m: m.text is not None or _has_newline(m.what))
def no_line_end_stands_inside_a_text(m: Any) -> str:
    """JSON escapes the newlines of a text, so that none of its lines is `end` (The Protocol; JSON)."""
    if m.text is None or m.text.why != "no-json" or b"{" not in m.text.data:
        return ""
    quotes = m.text.data.replace(b"\\\\", b"").replace(b'\\"', b"").count(b'"')
    return f"a text is broken over lines: {_octets(m)}" if quotes % 2 else ""


def _has_newline(value: Any) -> bool:
    if isinstance(value, str):
        return "\n" in value
    if isinstance(value, Mapping):
        return any(map(_has_newline, value.values()))
    return isinstance(value, list) and any(map(_has_newline, value))


@form(ids.CLOSING_LINES_ARE_BARE, on="octets")
def the_closing_line_has_no_quotes(m: Any) -> str:
    """The closing line is no JSON (The Protocol)."""
    quoted = m.text is not None and b'"end"' in m.text.data and re.search(rb"[{[]", m.text.data)
    return _octets(m) if quoted else ""


@form(ids.MESSAGES_ARE_CLOSED, on="octets")
def each_message_has_a_closing_line_of_its_own(m: Any) -> str:
    """A line that is exactly `end` behind each message, and behind nothing else (The Protocol)."""
    return _octets(m) if m.text is not None and m.text.why in ("empty", "several") else ""


@form(ids.TEXTS_ARE_STRICT_JSON, on="octets")
def what_stands_before_a_closing_line_is_json(m: Any) -> str:
    """All data is JSON (Protocol Preamble)."""
    return _octets(m) if m.text is not None else ""


@form(ids.MESSAGES_ARE_CLOSED, on="endless")
def the_last_message_is_closed(m: Any) -> str:
    """A line that is exactly `end` behind each message (The Protocol)."""
    return f"a message has no end: {m.what[:80]!r}"
