"""What a client that is made from a document must send and report.

Source: 004_4ca5b084f7ea0751.txt, client side, exception, message, interface, use without a scope; RPC.
"""

from __future__ import annotations

from specs.msgpack.idl.client.book import CLIENT
from specs.msgpack.idl.client.calls import gapped
from specs.msgpack.idl.client.case import Case
from specs.msgpack.idl.client.causes import REPORTED_OTHERWISE, SENT_OTHERWISE
from specs.msgpack.idl.client.duties import FAILS, UNSENT, unsent
from specs.msgpack.idl.client.machine import NAMED, At
from specs.msgpack.idl.compiler.causes import STRING_FORM
from specs.msgpack.idl.promises import Promise
from specs.msgpack.idl.wire import Unfit
from specs.msgpack.machine import CALLS_AS_WRITTEN

# -- requests ----------------------------------------------------------------------------------------------------------


@CLIENT.freedom("ML-32")
def it_asks_for_versions_or_is_late(case: Case) -> bool:
    """meta service; RPC: a client may ask by itself which versions there are, and what it is late with was judged."""
    return case.asks_for_versions or case.method in case.state.late


@CLIENT.form(CALLS_AS_WRITTEN, on="request", freed_by=(it_asks_for_versions_or_is_late,))
def nothing_is_called_that_it_was_not_told_to_call(case: Case) -> str:
    """RPC, Request Message: one request for each call."""
    return "" if case.asks else f"a request that nobody asked for: {case.request_said}"


@CLIENT.form(CALLS_AS_WRITTEN, on="nonsense")
def what_is_sent_is_a_request(case: Case) -> str:
    """RPC, Request Message: [0, msgid, method, params]."""
    return f"no request: {case.said}"


def _by_interface(case: Case) -> bool:
    return case.method in case.called.wrong


@CLIENT.form(Promise.INTERFACE_VERSION, on="request", if_=lambda case: case.asks and bool(case.called.wrong),
             goes_on=True)  # fmt: skip
def the_version_of_an_interface_does_not_travel(case: Case) -> str:
    """interface: its version is used for the names of classes alone."""
    return f"{case.called.name} was wanted: {case.request_said}" if _by_interface(case) else ""


@CLIENT.form(
    f"{NAMED} {Promise.UNSCOPED}", on="request", if_=lambda case: case.asks, unless=_by_interface,
    which=lambda case: Promise.UNSCOPED.value if case.called.anonymous else NAMED, goes_on=True,
)  # fmt: skip
def a_function_is_called_by_its_scope_and_version(case: Case) -> str:
    """client side: `add:storage:1`; without a scope: ML-19, ML-33."""
    return "" if case.method in case.called.names else f"{case.called.name} was wanted: {case.request_said}"


@CLIENT.form(
    f"{Promise.SAME_VALUE} {Promise.ARGUMENTS}", on="request", if_=lambda case: case.is_known,
    which=lambda case: (Promise.ARGUMENTS if len(case.function.args) != 1 else Promise.SAME_VALUE).value,
    causes=SENT_OTHERWISE, goes_on=True,
)  # fmt: skip
def arguments_are_sent_as_they_were_told(case: Case) -> str:
    """services; message: arguments stand in the place of their ids, and are values of their types."""
    if not case.is_meant:
        return f"other arguments were wanted: {case.request_said}"
    if case.has_more:
        return f"there are more than that: {case.request_said}"
    gap = gapped(case.types, case.function) and case.fills_gaps
    return f"there is something in a gap: {case.request_said}" if gap else ""


# -- reports -----------------------------------------------------------------------------------------------------------


@CLIENT.freedom("ML-22")
def a_document_with_an_open_point(case: Case) -> bool:
    """message, services: what no text says may be refused as a whole."""
    return case.state.loose


@CLIENT.form(NAMED, on="reports", if_=lambda case: case.op == "connect" and case.refuses,
             freed_by=(a_document_with_an_open_point,))  # fmt: skip
def a_client_is_made_of_a_legal_document(case: Case) -> str:
    """client side."""
    return f"no client is made of a legal document: {case.told.get('error')!r:.200}"


@CLIENT.form(
    UNSENT, on="reports", when=(At.CALLING, At.OVER), if_=lambda case: case.asks, which=lambda case: unsent(case.state),
    goes_on=True,
)  # fmt: skip
def a_call_is_sent_before_it_ends(case: Case) -> str:
    """client side: `storage.add("key", "value")` calls `add:storage:1`."""
    return f"nothing was sent: {case.report_said}"


@CLIENT.form(NAMED, on="reports", when=(At.CALLING,),
             if_=lambda case: case.call is not None and case.call.sent and not case.wanted,
             goes_on=True)  # fmt: skip
def a_call_ends_when_it_was_answered(case: Case) -> str:
    """RPC: a response to each request."""
    return f"it was not answered yet: {case.report_said}"


@CLIENT.form(FAILS, on="reports", if_=lambda case: case.wants("failure") and case.called.rule is None, goes_on=True)
def an_error_is_a_failure(case: Case) -> str:
    """RPC, Response Message, error: nil when no error occurred, so that anything else is one; MP-02."""
    return "" if case.failed else f"it was answered with an error: {case.report_said}"


@CLIENT.form(
    " ".join((Promise.MISSING, Promise.NIL, Promise.WIDTH)), on="reports",
    if_=lambda case: case.wants("failure") and case.called.rule is not None,
    which=lambda case: case.called.rule.value, goes_on=True,
)  # fmt: skip
def a_result_that_is_none_of_its_type_is_a_failure(case: Case) -> str:
    """message: required, nullable, and the built-in types."""
    return "" if case.failed else f"the result is not of its type, so that the call must fail: {case.report_said}"


def _caught_as(case: Case) -> frozenset[str | None]:
    found: frozenset[str | None] = case.wanted[1] if case.wants("failure") and case.wanted[1] else frozenset()
    return found


def _is_known(case: Case) -> bool:
    """True when the path is that of an exception that the function throws, and it must be caught. One that only a base
    of it is thrown for may be unknown to code that was made for the function (ML-34)."""
    known = _caught_as(case)
    if not (case.failed and known and None not in known):
        return False
    return case.called.path in [case.paths.get(name) for name, _ in case.function.throws]


@CLIENT.form(STRING_FORM, on="reports", if_=_is_known, goes_on=True)
def an_exception_is_known_by_its_path(case: Case) -> str:
    """exception: the string form is the bases from the root and itself, joined by dots."""
    missed = case.caught is None
    return f"{case.called.path} was thrown and is caught as no exception: {case.report_said}" if missed else ""


@CLIENT.form("MPIDL-EXW-04", on="reports", if_=lambda case: case.failed and bool(_caught_as(case)),
             unless=lambda case: case.caught is None and _is_known(case), goes_on=True)  # fmt: skip
def an_exception_is_caught_as_its_nearest_known_base(case: Case) -> str:
    """exception: an exception is one of its base, by whole parts of its path; ML-34."""
    known = _caught_as(case)
    if case.caught in known:
        return ""
    wanted = " or ".join(sorted(str(name) for name in known))
    return f"{case.called.path} was thrown, {wanted} was to be caught: {case.report_said}"


@CLIENT.form(Promise.SAME_VALUE, on="reports", if_=lambda case: case.wants("value"), causes=REPORTED_OTHERWISE,
             goes_on=True)  # fmt: skip
def a_result_is_reported_as_it_was_answered(case: Case) -> str:
    """message: a value of a declared type."""
    return "" if case.fits else f"the result is not reported as it was answered: {case.report_said}"


# -- ends --------------------------------------------------------------------------------------------------------------


@CLIENT.form(
    NAMED, on="closes", when=(At.CALLING,),
    if_=lambda case: case.call is not None and case.call.sent and not case.call.wanted, steady=True,
)  # fmt: skip
def the_connection_stays_while_a_call_is_open(case: Case) -> str:
    """RPC: a response to each request, which a client that leaves cannot get. What was not sent yet may be sent on
    another connection (MP-26)."""
    return f"the client closed the connection while {case.called.name} was open"


# -- what the text permits, and was made use of ------------------------------------------------------------------------


@CLIENT.tried("MPIDL-ENC-09", on="request", if_=lambda case: case.is_known and case.takes("float", "double", "raw"))
def a_float_was_written_as_an_integer(case: Case) -> bool:
    """message; ML-26."""
    if not case.is_meant:
        return False
    try:
        case.types.message(case.elements, case.function.args, "")
    except Unfit as unfit:
        return str(unfit) in ("no float", "no double")
    return False
