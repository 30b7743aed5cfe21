"""What a server that is made from a document must answer. Source: 004_4ca5b084f7ea0751.txt.

What a call may be answered was worked out when it was said (`calls`); the rules here say what is broken by whoever
answers otherwise, and `causes` which promise is the likeliest.
"""

from __future__ import annotations

from specs.msgpack import values
from specs.msgpack.idl.promises import Promise
from specs.msgpack.idl.server.book import SERVER
from specs.msgpack.idl.server.calls import ANY
from specs.msgpack.idl.server.case import Case
from specs.msgpack.idl.server.causes import ANSWERED_OTHERWISE
from specs.msgpack.idl.server.effects import refused_with
from specs.msgpack.idl.server.machine import At
from specs.msgpack.idl.wire import Unfit, Way


def _early_differs(case: Case) -> bool:
    """True when the answer tells whether an older function was found out when it was called, or before."""
    if case.call is None or not case.call.early:
        return False
    return case.fits_early != case.fits


@SERVER.form(Promise.FAILED, on="answer", when=(At.SERVING,), if_=lambda case: case.call is None,
             goes_on=True)  # fmt: skip
def an_answer_belongs_to_a_call(case: Case) -> str:
    """RPC: one response for each request, none for a notification."""
    return f"an answer to no call: {values.describe(case.number)}"


@SERVER.form(
    Promise.UNSCOPED,
    on="answer",
    if_=lambda case: case.call is not None and case.state.app.anonymous and case.error is not None,
    unless=lambda case: not refused_with(case),
    goes_on=True,
)
def a_service_can_be_called_without_a_scope_in_some_form(case: Case) -> str:
    """use without a scope; ML-19."""
    (name, _) = refused_with(case)[0]
    refused = {*case.state.refused, *refused_with(case)}
    known = any((name, form) not in refused for form in ("::", ":"))
    return "" if known else f"{name.partition(':')[0]} can be called in no form: error={case.answered.method!r}"


@SERVER.form("MPIDL-FALL-04", on="answer", if_=_early_differs)
def what_an_older_version_does_is_found_out_when_it_is_called(case: Case) -> str:
    """server side: the text calls the older function when it is called itself; ML-29."""
    return f"an older version does something else by now: {case.said}" if case.fits_early else ""


@SERVER.form(
    Promise.META, on="answer", if_=lambda case: case.call is not None and case.call.rule is Promise.NEWEST, goes_on=True
)
def every_application_tells_its_versions(case: Case) -> str:
    """meta service: `int getVersion(1: string scope)`."""
    return f"a version was wanted: {case.said}" if case.error is not None and not case.fits else ""


@SERVER.form(
    " ".join(dict.fromkeys(Promise)),
    on="answer",
    if_=lambda case: case.call is not None,
    unless=lambda case: _early_differs(case) and case.fits_early,
    which=lambda case: case.rule,
    causes=ANSWERED_OTHERWISE,
    goes_on=True,
)
def a_call_is_answered_as_what_it_reaches_says(case: Case) -> str:
    """Which of the promises the call is about is worked out from its name, its arguments and what was implemented."""
    if case.fits:
        return ""
    return f"{' or '.join(sorted({want[0] for want in case.answered.wanted}))} was wanted: {case.said}"


@SERVER.form("MPIDL-DISP-07", on="answer", if_=lambda case: case.call is not None and bool(case.call.declared),
             goes_on=True)  # fmt: skip
def a_name_without_scope_or_version_means_what_is_declared(case: Case) -> str:
    """client side: the text says nothing of it; the manifest's `bare_name` does."""
    return "" if case.fits_declared else f"{case.state.config.declares('bare_name')} is declared: {case.said}"


@SERVER.form("MPIDL-EXW-05", on="answer", if_=lambda case: case.call is not None and bool(case.throws),
             goes_on=True)  # fmt: skip
def an_exception_travels_as_it_is_declared(case: Case) -> str:
    """exception: the text says nothing of it; the manifest's `exception_wire` does."""
    wire, path, error = case.state.config.declares("exception_wire"), case.throws, case.error
    kept = {
        "list": isinstance(error, tuple) and bool(error) and error[0] == path,
        "code": error == path,
        "text": isinstance(error, str),
    }
    return "" if kept.get(wire, True) else f"{wire} is declared: {case.said}"


@SERVER.form("MPIDL-EXW-02", on="answer", if_=lambda case: case.call is not None and case.error is not None)
def beside_an_error_there_is_no_result(case: Case) -> str:
    """RPC, Response Message."""
    return "" if case.result is None else f"a result beside an error: {case.said}"


@SERVER.freedom("ML-22")
def a_document_with_an_open_point(case: Case) -> bool:
    """message, services: what no text says may be refused as a whole."""
    return case.state.loose


@SERVER.form(
    Promise.REACHED,
    on="reports",
    if_=lambda case: case.refuses and case.state.told[0][0] == "serve",
    freed_by=(a_document_with_an_open_point,),
)
def a_legal_document_is_served(case: Case) -> str:
    """services."""
    return f"a legal document is not served: {case.error!r:.200}"


@SERVER.freedom("ML-21")
def nothing_is_open(case: Case) -> bool:
    """RPC: neither is anything open on the connection that has a right answer, nor was something just refused. A server
    that ends each connection once it has answered may not have read what was on its way."""
    state = case.state
    if state.config.brief and state.answered:
        return True
    return state.calls[0].free if state.calls else not state.failed


def _rule_of_the_first(case: Case) -> str:
    """What the oldest call is about; closing is no choice of a scope."""
    rule = case.state.calls[0].rule if case.state.calls else None
    return (rule if rule and rule is not Promise.DEFAULT_SCOPE else Promise.FAILED).value


@SERVER.form(
    " ".join(dict.fromkeys(Promise)),
    on="closes",
    when=(At.SERVING,),
    if_=lambda case: case.state.app is not None,
    which=_rule_of_the_first,
    freed_by=(nothing_is_open,),
)
def the_connection_stays_while_something_is_open_or_was_refused(case: Case) -> str:
    """RPC; ML-21."""
    return f"the connection ended: {case.state.calls[0].method if case.state.calls else None!r}"


# -- what the text permits, and was made use of ------------------------------------------------------------------------


@SERVER.tried("MPIDL-DISP-04", on="answer", if_=lambda case: case.call is not None and case.call.short)
def scope_or_version_was_left_out(case: Case) -> bool:
    """client side; ML-17."""
    return case.error is None and case.fits and ANY not in case.answered.wanted


@SERVER.tried("MPIDL-ENC-09", on="answer", if_=lambda case: case.call is not None and case.value_wanted is not None)
def a_float_was_written_as_an_integer(case: Case) -> bool:
    """message; ML-26."""
    if case.error is not None or not case.fits or case.state.app is None or Way.MESSAGE not in case.answered.ways:
        return False
    try:
        case.state.app.types.decoded(case.result, case.value_wanted[1])
    except Unfit as unfit:
        return str(unfit) in ("no float", "no double")
    return False
