"""What is likeliest behind a call that ends too early, wrongly, or never.

Source: MessagePack-RPC specification, The order of the response; Response Message, error.
"""

from __future__ import annotations

from specs.causes import Causes, Named
from specs.msgpack.client.book import ERRORS_FAIL, MATCHED, STRAYS_SPOIL_NOTHING
from specs.msgpack.client.case import Case
from specs.msgpack.machine import LIVES_ON
from specs.msgpack.states import Call


def _stray(case: Case) -> bool:
    return case.state.stray


EARLY = Causes("a call that ends before it was answered")


@EARLY.cause(STRAYS_SPOIL_NOTHING, could=_stray)
def a_stray_response_made_it_fail(case: Case) -> str:
    """Our own minimum: such a response spoils no call."""
    return f"{case.named.method} failed before it was answered: {case.told!s:.200}" if case.failed else ""


@EARLY.cause(MATCHED, could=_stray, also=STRAYS_SPOIL_NOTHING)
def a_stray_response_was_its_result(case: Case) -> str:
    """The order of the response: the msgid tells whose it is."""
    return f"{case.named.method} has a result before it was answered: {case.told!s:.200}"


REFUSED = Causes("a call that was answered with a result, and fails")


@REFUSED.cause(STRAYS_SPOIL_NOTHING, could=_stray)
def a_stray_response_spoilt_it(case: Case) -> str:
    """Our own minimum: such a response spoils no call."""
    return f"{case.named.method} was answered with a result and failed: {case.told!s:.200}"


@REFUSED.cause(ERRORS_FAIL, could=lambda case: case.named.value is None or case.named.value is False)
def the_result_was_taken_for_an_error(case: Case) -> str:
    """Response Message, error: nil when no error occurred; a result of nil or false is a result."""
    return f"{case.named.method} was answered with a result and failed: {case.told!s:.200}"


FOREIGN = Causes("the result of another response")


@FOREIGN.cause(STRAYS_SPOIL_NOTHING, could=_stray)
def it_is_that_of_a_second_response(case: Case) -> str:
    """Our own minimum: a second response with a known id completes nothing."""
    own = case.foreign == "a second response"
    return f"result {case.change.why}" if own and case.change is not None else ""


@FOREIGN.cause(MATCHED, could=_stray, also=STRAYS_SPOIL_NOTHING)
def it_is_that_of_a_stray_response(case: Case) -> str:
    """The order of the response: the msgid tells whose it is."""
    stray = case.foreign == "a stray response"
    return f"result {case.change.why}" if stray and case.change is not None else ""


STUCK = Causes("a call that is settled and does not end")


def _stuck(case: Case) -> Call:
    return case.named


def _told(case: Case) -> str:
    """What the client was told to do and has not done: a call that was begun is waited for by another op."""
    return "await" if _stuck(case).op == "call_async" else _stuck(case).op


@STUCK.cause(ERRORS_FAIL, could=lambda case: _stuck(case).outcome == "error" and not _says(_stuck(case)))
def its_error_was_taken_for_none(case: Case) -> str:
    """Response Message, error: anything but nil is an error."""
    return f"{_told(case)} does not end: {_stuck(case).method} was answered with an error that is empty"


def _says(call: Call) -> bool:
    return call.value not in (False, 0, "", b"", ())


@STUCK.cause(LIVES_ON, could=lambda case: _stuck(case).outcome == "lost")
def its_connection_has_ended(case: Case) -> Named | str:
    """Our own minimum: open calls fail in bounded time. A time limit of the client's own is a bound, too, and may be
    longer than we wait (MP-23)."""
    if _stuck(case).outcome != "lost":
        return ""
    why = f"{_told(case)} does not end: the connection of {_stuck(case).method} has ended"
    return Named(LIVES_ON, why, level="SHOULD")


@STUCK.cause(STRAYS_SPOIL_NOTHING, could=_stray)
def a_stray_response_blocked_it(case: Case) -> str:
    """Our own minimum: such a response spoils no call."""
    return f"{_told(case)} does not end: {_stuck(case).method} is settled ({_stuck(case).outcome})"
