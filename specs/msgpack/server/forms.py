"""What a server says must look so. Source: MessagePack-RPC specification, Response Message.

Order is precedence: whether it was asked for, how it is written, then what it says.
"""

from __future__ import annotations

from specs.msgpack import values
from specs.msgpack.calls import FAILURES, UNSUITABLE
from specs.msgpack.changes import (
    CHANGED,
    EXTENSIONS,
    KEYS,
    NOT_UTF8,
    SMALLEST,
    TEXT_OR_BINARY,
    TIMESTAMPS,
    keys_collide,
)
from specs.msgpack.frames import is_int
from specs.msgpack.machine import LIMITS, ONE_RESPONSE, READ, P
from specs.msgpack.server.book import BOOK, HOPELESS, SURVIVES, declared
from specs.msgpack.server.case import Case
from specs.msgpack.server.causes import ENDED, FOREIGN, UNASKED
from specs.rules import Broken

NO_ERROR = "MPRPC-RESP-03a"
AS_DECLARED = "MPRPC-BAD-02"

# -- freedoms ---------------------------------------------------------------------------------------------------------


@BOOK.freedom("MP-13")
def there_was_one_raw_type_before_2013(case: Case) -> bool:
    """Format of before 2013: no bin, and no str of 8 bits of size."""
    if case.wide:
        return case.state.config.old_raw and set(case.wide) <= {"str"}
    return _refused(case, TEXT_OR_BINARY)


def _refused(case: Case, *odd: str) -> bool:
    """True when a request is open that may be refused for one of the reasons `odd`, and this may be the refusal."""
    may = any(asked.want.closes and asked.want.odd in odd for asked in case.conn.asked)
    return may and (case.action != "response" or case.error is not None)


@BOOK.freedom("MP-17")
def what_is_large_or_deep_may_be_refused(case: Case) -> bool:
    """RPC, silent: a size may be refused as soon as it is announced, with an error of any id, or by closing."""
    return _refused(case, LIMITS, "")


@BOOK.freedom("MP-14")
def an_unknown_extension_may_be_refused(case: Case) -> bool:
    """Format, Extension types: refused with an error, or closed."""
    return _refused(case, EXTENSIONS, TIMESTAMPS)


@BOOK.freedom("MP-09")
def a_str_that_is_not_utf_8_may_be_refused(case: Case) -> bool:
    """Format, String: whoever cannot read it may pass over the request, or close."""
    return _refused(case, NOT_UTF8)


@BOOK.freedom("MP-10")
def keys_may_be_refused_and_repeated_ones_become_anything(case: Case) -> bool:
    """Format, Map: neither the types of keys nor their repetition is mentioned. What repeats is free."""
    if case.action == "response" and case.about is not None:
        return keys_collide(case.answered.want.value)
    return _refused(case, KEYS)


REFUSALS = (
    what_is_large_or_deep_may_be_refused,
    an_unknown_extension_may_be_refused,
    a_str_that_is_not_utf_8_may_be_refused,
    keys_may_be_refused_and_repeated_ones_become_anything,
    there_was_one_raw_type_before_2013,
)

# -- responses --------------------------------------------------------------------------------------------------------


def _watches_for_more(case: Case) -> bool:
    return case.action == "response" or case.conn.noted or case.conn.midway


@BOOK.form(
    ONE_RESPONSE, on="response, silence", when=(P.LIVE,), if_=_watches_for_more, causes=UNASKED, freed_by=REFUSALS
)
def nothing_but_open_requests_is_answered(case: Case) -> Broken | str:
    """Response Message: msgid is that of the request. Each request has one."""
    if case.action == "silence" or case.about is not None:
        return ""
    shown = f"{values.describe(case.name, 60)} {case.text}"
    if case.meant is not None:
        return Broken(f"response with another id than {case.meant.id}: {shown}", goes_on=True)
    return f"response that no request asked for: {shown}"


def _is_answer(case: Case) -> bool:
    return case.about is not None


@BOOK.form(SMALLEST, on="response", if_=_is_answer, freed_by=(there_was_one_raw_type_before_2013,))
def is_written_in_the_smallest_form(case: Case) -> str:
    """Format, Serialization: a value SHOULD be written in the smallest form."""
    return f"not written in the smallest form: {', '.join(case.wide)}" if case.wide else ""


@BOOK.form("MPRPC-RESP-03b", on="response", if_=lambda case: case.about is not None and case.error is not None)
def has_no_result_beside_an_error(case: Case) -> str:
    """Response Message, result: nil when an error occurred."""
    if case.result is None:
        return ""
    return f"a response with an error has a result as well: {values.describe(case.result, 100)}"


@BOOK.form(FAILURES, on="response", if_=lambda case: case.kind == "error", goes_on=True)
def what_cannot_succeed_fails(case: Case) -> Broken | str:
    """Response Message, error: it is not nil when the call failed."""
    if case.error is not None:
        return ""
    why = f"a request that must fail was answered with success: {case.text}"
    return Broken(why, level=case.answered.want.level)


@BOOK.form(NO_ERROR, on="response", if_=lambda case: case.kind in ("value", "count"), goes_on=True)
def what_can_succeed_has_no_error(case: Case) -> str:
    """Response Message, error: it is nil when no error occurred."""
    return "" if case.error is None else f"a request that must succeed was answered with an error: {case.text}"


@BOOK.form(ONE_RESPONSE, on="response", if_=lambda case: case.kind == "count", level="ASSUMED")
def a_count_is_a_number(case: Case) -> str:
    """Our own test program: `count` answers how many notifications have arrived."""
    return "" if is_int(case.result) else f"a count that is no integer: {case.text}"


def _counts(case: Case) -> bool:
    return case.kind == "count" and case.answered.least is not None and is_int(case.result)


@BOOK.form("MPRPC-NOTE-03", on="response", if_=_counts, level="ASSUMED")
def notifications_are_dispatched(case: Case) -> str:
    """Notification Message: a call, although nothing shows it to the client."""
    least = case.answered.least
    assert least is not None
    if case.result >= least:
        return ""
    return f"{case.result} notifications were counted, at least {least} were sent"


def _gives_back(case: Case) -> bool:
    return case.kind in ("value", "either") and case.error is None


@BOOK.form(ONE_RESPONSE, on="response", if_=_gives_back, causes=FOREIGN, goes_on=True)
def a_request_gets_its_own_result(case: Case) -> str:
    """Response Message, msgid: it tells which request is answered."""
    return f"the result of another request: {case.text}" if case.foreign else ""


@BOOK.form(
    READ,
    on="response",
    if_=_gives_back,
    causes=CHANGED,
    goes_on=True,
    freed_by=(keys_may_be_refused_and_repeated_ones_become_anything,),
)
def values_come_back_as_they_were(case: Case) -> str:
    """Format, Formats: each stands for one value."""
    return "" if case.change is None else case.change.why


@BOOK.tried("MPRPC-RESP-04", on="response", if_=_is_answer)
def answers_in_another_order(case: Case) -> bool:
    """The order of the response: it need not be that of the requests."""
    return case.about is not case.conn.asked[0]


# -- other values, and what is none -----------------------------------------------------------------------------------


@BOOK.form(ONE_RESPONSE, on="nonsense")
def says_only_messages(case: Case) -> Broken:
    """Messages: a request, a response or a notification."""
    return Broken(f"the server said what is no message: {case.said}", goes_on=case.is_value)


# -- the end of a connection ------------------------------------------------------------------------------------------


@BOOK.freedom("MP-20")
def it_ends_each_connection_that_was_answered(case: Case) -> bool:
    """RPC, silent: who ends a connection on which nothing is open. What was on its way may not have been read."""
    return case.state.config.brief and bool(case.conn.done)


def _is_declared_to_stay(case: Case) -> bool:
    return declared(case.state.config, case.conn) == "open" and case.conn.bad == HOPELESS


@BOOK.form(AS_DECLARED, on="server ends, silence", when=(P.SPOILT,), if_=_is_declared_to_stay,
           freed_by=(it_ends_each_connection_that_was_answered,))  # fmt: skip
def stays_open_as_it_declares(case: Case) -> str:
    """The manifest's `malformed`; the RPC specification is silent."""
    if case.action == "silence":
        return ""
    return f"the connection was closed, which is declared to stay open: {case.conn.bad}"


@BOOK.form(
    SURVIVES, on="server ends", when=(P.LIVE,), if_=lambda c: not c.conn.asked and c.state.whole.bad,
    freed_by=(it_ends_each_connection_that_was_answered,), steady=True,
)  # fmt: skip
def others_are_not_closed_for_a_misused_one(case: Case) -> str:
    """Our own minimum: what one client says does not end the connections of others; MP-20."""
    return "the server closed a connection on which nothing was wrong: another one was misused"


def _cut(case: Case) -> str:
    return case.first.want.rule if case.first.want.rule not in ("", UNSUITABLE) else ONE_RESPONSE


@BOOK.form(
    f"{ONE_RESPONSE} {FAILURES} {EXTENSIONS} {TIMESTAMPS}", on="server ends", when=(P.LIVE,),
    if_=lambda case: bool(case.conn.asked), which=_cut, causes=ENDED,
    freed_by=(*REFUSALS, it_ends_each_connection_that_was_answered), steady=True,
)  # fmt: skip
def ends_only_when_all_is_answered(case: Case) -> str:
    """Response Message: each request has one."""
    return f"the server closed the connection before it answered request {case.first.id}"


@BOOK.form(ONE_RESPONSE, on="refused", unless=lambda case: case.state.whole.bad)
def takes_connections(case: Case) -> str:
    """Our own minimum: a server takes more than one connection in its life."""
    return f"the server takes no more connections: {case.said}"


@BOOK.form(SURVIVES, on="refused", if_=lambda case: case.state.whole.bad)
def takes_connections_after_what_is_no_message(case: Case) -> str:
    """Our own minimum: no input makes the server fail new connections."""
    return f"the server takes no more connections: {case.said}"
