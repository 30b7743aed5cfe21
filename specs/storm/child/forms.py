"""What bolts and spouts have in common: the handshake, and the end. Order is precedence.

Source: 000_a44a7e31e51ca0fa.txt, "Protocol Preamble", "The Protocol", "Initial Handshake".
"""

from __future__ import annotations

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
