"""What bolts and spouts have in common: the octets of messages, the handshake, and the end. Order is precedence.

Source: 000_a44a7e31e51ca0fa.txt, "Protocol Preamble", "The Protocol", "Initial Handshake".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from specs.rules import Broken
from specs.storm import ids
from specs.storm.child.book import BOTH, MISUSED, MISUSES, SPOUT
from specs.storm.child.case import Case, ended
from specs.storm.machine import SETUPS, SpoutPhase
from specs.storm.states import Misuse
from specs.storm.values import carried, is_number, shown

form, excuse = BOTH.form, BOTH.excuse

# -- octets: each message, whether it is JSON or not -------------------------------------------------------------------


@excuse(on="octets")
def an_answer_to_what_means_nothing_is_free(m: Case) -> bool:
    """What is written after the end of STDIN by a child that was sent invalid input (catalogue of invalid inputs)."""
    return m.text is not None and m.deaf and m.conv.misuse is not None and m.conv.misuse is not Misuse.UNKNOWN_ID


@form("STORM-FRAME-08", on="octets, printed", if_=lambda m: bool(m.conv.talked))
def what_user_code_prints_breaks_no_message(m: Case) -> Any:
    """Nothing but messages (Protocol Preamble). That a library keeps user code from its STDOUT is a recommendation:
    the text says nothing of what user code prints (S-33)."""
    if m.text is not None:
        return Broken(f"{_octets(m)}; user code had printed", ends=True)
    wrong = m.action == "printed"  # what was said was wrong, and is what user code printed
    return Broken(f"{shown(m.what)} was said; user code had printed one", ends=True) if wrong else ""


@form(ids.UTF_8, on="octets", if_=lambda m: m.config.has("x-utf8"))
def messages_are_utf_8(m: Case) -> str:
    """Both pipes carry UTF-8 (Storm 0.9.3)."""
    return _octets(m) if m.text is not None and m.text.why == "not-utf-8" else ""


@form(ids.NEWLINES_END_LINES, on="octets")
def a_newline_ends_each_line(m: Case) -> str:
    """Lines are ended by a newline when they are written (The Protocol)."""
    return _octets(m) if m.text is not None and _GLUED.search(m.text.data) else ""


_GLUED = re.compile(rb"[}\]]end\r?$", re.MULTILINE)


@form(ids.NO_END_INSIDE_TEXTS, on="octets", if_=lambda m: m.text is not None or _has_newline(m.what))
def no_line_end_stands_inside_a_text(m: Case) -> str:
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
def the_closing_line_has_no_quotes(m: Case) -> str:
    """The closing line is no JSON (The Protocol)."""
    quoted = m.text is not None and b'"end"' in m.text.data and b"{" in m.text.data
    return _octets(m) if quoted else ""


@form(ids.MESSAGES_ARE_CLOSED, on="octets")
def each_message_has_a_closing_line_of_its_own(m: Case) -> str:
    """A line that is exactly `end` behind each message, and behind nothing else (The Protocol)."""
    return _octets(m) if m.text is not None and m.text.why in ("empty", "several") else ""


@form(ids.TEXTS_ARE_STRICT_JSON, on="octets")
def what_stands_before_a_closing_line_is_json(m: Case) -> str:
    """All data is JSON (Protocol Preamble)."""
    return _octets(m) if m.text is not None else ""


def _octets(m: Case) -> str:
    assert m.text is not None
    return f"what stands before a line `end` is no JSON ({m.text.why}): {shown(m.text.data, 160)}"


@form(ids.MESSAGES_ARE_CLOSED, on="endless")
def the_last_message_is_closed(m: Case) -> str:
    """A line that is exactly `end` behind each message (The Protocol)."""
    return f"a message has no end: {m.what[:80]!r}"


# -- the process id ----------------------------------------------------------------------------------------------------


def _number(m: Case) -> Any:
    return m.what.get("pid") if isinstance(m.what, Mapping) else None


@form(MISUSES, on="pid", when=SETUPS, if_=lambda m: m.conv.misuse is not None, which=lambda m: MISUSED[m.conv.misuse])
def no_process_id_is_said_that_could_not_be_registered(m: Case) -> str:
    """A setup without a usable directory (catalogue of invalid inputs; S-24)."""
    if isinstance(m.conv.setup, Mapping) and m.conv.setup.get("pidDir") is None:
        return ""  # it may have a place of its own
    if isinstance(m.conv.setup, Mapping) and is_number(_number(m)):
        return ""  # what it does next decides
    return f"it says {shown(m.what)} although it could register no process id"


@excuse(on="pid", when=SETUPS)
def what_answers_an_unusable_setup_is_free(m: Case) -> bool:
    """Nothing says what a child says to it (S-24)."""
    return m.conv.misuse is not None


@form(ids.PID_IS_SAID, on="pid", when=SETUPS)
def the_process_id_is_a_number_under_pid(m: Case) -> str:
    """The child says its process id as an object (Initial Handshake)."""
    number = _number(m)
    right = is_number(number) and number >= 1
    return "" if right else f"{shown(m.what)} came where the process id is due"


@form("STORM-HS-12", on="pid", when=SETUPS, if_=lambda m: is_number(_number(m)))
def the_file_comes_before_the_process_id(m: Case) -> str:
    """Its order in the list of steps (Initial Handshake; S-12)."""
    number = int(_number(m))
    missing = str(number) not in dict(m.conv.files)
    return f"the file {number} was not there when its process id was said" if missing else ""


@form(ids.FILE_IS_EMPTY, on="pid, file", if_=lambda m: _file(m) is not None)
def the_file_is_empty(m: Case) -> str:
    """The child makes an empty file (Initial Handshake; S-12)."""
    size = _file(m).get("size")
    return f"the file {_named(m)} holds {size} octets" if size else ""


@form(ids.PID_IS_ITS_OWN, on="pid, file", if_=lambda m: _file(m) is not None)
def the_process_id_is_that_of_the_child(m: Case) -> str:
    """The host ends the process by it (Initial Handshake)."""
    return f"{_named(m)} is no process of it" if _file(m).get("ours") is False else ""


def _named(m: Case) -> str:
    return str(int(_number(m))) if m.action == "pid" and is_number(_number(m)) else str(m.conv.pid)


def _file(m: Case) -> Any:
    """What was seen of the file of the process id, or None."""
    if m.action == "file":
        return m.what if m.conv.pid is not None and str(m.what.get("name")) == str(m.conv.pid) else None
    return dict(m.conv.files).get(_named(m))


# -- user code is set up -----------------------------------------------------------------------------------------------


def _differs(m: Case, key: str) -> str:
    sent, got = m.conv.setup.get(key), m.what.get(key)
    lost = next((name for name in sent if not carried(sent[name], got.get(name))), None)
    if lost is None:
        return ""
    return f"user code was shown {key} with {shown(lost)} as {shown(got.get(lost))}, sent {shown(sent[lost])}"


def _shows(key: str) -> Any:
    """A predicate: the observation has that member of the setup."""

    def shows(m: Case) -> bool:
        setup = m.conv.setup
        return (
            isinstance(setup, Mapping) and isinstance(setup.get(key), Mapping) and isinstance(m.what.get(key), Mapping)
        )

    return shows


@form(ids.CONF_REACHES_USER_CODE, on="initialized", if_=_shows("conf"))
def user_code_is_shown_the_conf_as_it_was_sent(m: Case) -> str:
    """Any JSON may stand in conf (Initial Handshake; S-27)."""
    return _differs(m, "conf")


@form(ids.CONTEXT_REACHES_USER_CODE, on="initialized", if_=_shows("context"))
def user_code_is_shown_the_context_as_it_was_sent(m: Case) -> str:
    """The context has grown between versions (Initial Handshake; S-27)."""
    return _differs(m, "context")


@BOTH.freedom("S-28")
def ids_of_one_emit_come_in_any_order(m: Case) -> bool:
    """The text does not say in which order a list has them (Spouts, Bolts)."""
    return not m.wrong_list


# -- the end -----------------------------------------------------------------------------------------------------------


def _could_register(m: Case) -> bool:
    """It had said its process id before its STDIN ended, and there was a directory."""
    conv = m.conv
    return m.deaf and conv.was not in SETUPS and conv.pid is not None and bool(conv.folder) and conv.misuse is None


@form(ids.FILE_IS_MADE, on="exits", if_=_could_register)
def the_file_has_the_name_of_the_process_id(m: Case) -> str:
    """A file with its process id as name (Initial Handshake). It may be made just behind the process id, so that it is
    looked for at the end (S-12)."""
    made = ", ".join(name for name, _ in m.conv.files) or "none"
    return "" if str(m.conv.pid) in dict(m.conv.files) else f"it ended without a file {m.conv.pid}; files: {made:.80}"


@SPOUT.form(ids.UNKNOWN_IDS_ARE_ANSWERED, on="exits", when=(SpoutPhase.BUSY,),
            if_=lambda m: m.conv.misuse is Misuse.UNKNOWN_ID)  # fmt: skip
def an_unknown_id_is_no_reason_to_end(m: Case) -> Any:
    """Each command is answered by a sync (Spouts)."""
    return Broken(f"{ended(m.what)} for an id that it does not know", ends=True)


@form(MISUSES, on="exits", if_=lambda m: m.conv.misuse is not None, which=lambda m: MISUSED[m.conv.misuse])
def an_end_for_an_unusable_setup_shows(m: Case) -> Any:
    """The child ends with an error, and says no process id (catalogue of invalid inputs; S-24)."""
    if m.conv.misuse is not Misuse.SETUP:
        return ""
    if m.what == 0 and not m.conv.words:
        return Broken("it ended with status 0 and without a word on STDERR", level="SHOULD", ends=True)
    if m.conv.pid is not None:
        return Broken(f"it said {m.conv.pid}, and then ended because it could not register it", level="SHOULD")
    return ""


@excuse(on="exits")
def who_was_misused_or_raised_may_end(m: Case) -> bool:
    """Invalid input and a failure of user code may end a child (catalogue of invalid inputs; S-25)."""
    return m.conv.misuse is not None or m.conv.excused
