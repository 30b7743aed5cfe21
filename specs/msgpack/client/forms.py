"""What a client sends and reports must look so.

Source: MessagePack-RPC specification, Request Message, Notification Message, Response Message.
"""

from __future__ import annotations

from specs.msgpack import values
from specs.msgpack.changes import CHANGED, SMALLEST
from specs.msgpack.client.book import (
    BOOK,
    ERRORS_FAIL,
    MATCHED,
    NOTIFIES_AS_WRITTEN,
    OPEN_IDS_DIFFER,
)
from specs.msgpack.client.case import Case, Report
from specs.msgpack.client.causes import EARLY, FOREIGN, REFUSED
from specs.msgpack.frames import is_id, is_int
from specs.msgpack.machine import CALLS_AS_WRITTEN, LIVES_ON, READ, C

# -- freedoms ---------------------------------------------------------------------------------------------------------


@BOOK.freedom("MP-13")
def there_was_one_raw_type_before_2013(case: Case) -> bool:
    """Format of before 2013: no bin, and no str of 8 bits of size."""
    return case.state.config.old_raw and set(case.wide) <= {"str"}


@BOOK.freedom("MP-16")
def it_may_say_something_of_its_own(case: Case) -> bool:
    """RPC, silent: notifications of its own accord, and anything when what came was no message."""
    return case.call is None and (case.action == "notification" or case.state.lost)


@BOOK.freedom("MP-18")
def its_id_was_that_of_a_stray_response(case: Case) -> bool:
    """Request Message: an id may be used again once its call has ended, and a second response to that one may be read
    after the next request was sent, or while it is still being written."""
    if case.call is None or case.call.sent:
        return case.call is not None and case.call.crossed
    used = {call.number for call in case.state.calls if is_int(call.number)}
    return any(is_int(number) and number in used for number, _ in case.state.strays)


# -- requests and notifications ---------------------------------------------------------------------------------------


@BOOK.form(SMALLEST, on="request, notification", freed_by=(there_was_one_raw_type_before_2013,))
def is_written_in_the_smallest_form(case: Case) -> str:
    """Format, Serialization: a value SHOULD be written in the smallest form."""
    return f"not written in the smallest form: {', '.join(case.wide)}" if case.wide else ""


@BOOK.form(
    CALLS_AS_WRITTEN, on="request, notification", if_=lambda case: case.call is None,
    freed_by=(it_may_say_something_of_its_own,), level="SHOULD", goes_on=True,
)  # fmt: skip
def sends_only_what_it_is_told(case: Case) -> str:
    """Request Message: it calls the method that it was told to call. That it calls no other by itself the text does not
    say (MP-16)."""
    return f"a message that nobody asked for: {values.describe(case.body, 200)}"


def _is_notification(case: Case) -> bool:
    return case.call is not None and case.call.op == "notify"


def _is_call(case: Case) -> bool:
    return case.call is not None and case.call.op != "notify"


@BOOK.form(NOTIFIES_AS_WRITTEN, on="request, notification", if_=_is_notification)
def notifies_once_and_by_a_notification(case: Case) -> str:
    """Notification Message: [2, method, params]."""
    if case.action == "request":
        return "notify was sent as a request"
    return "notify was sent a second time" if case.named.sent else ""


@BOOK.form(CALLS_AS_WRITTEN, on="request, notification", if_=_is_call)
def calls_once_and_by_a_request(case: Case) -> str:
    """Request Message: [0, msgid, method, params]."""
    if case.action == "notification":
        return f"{case.named.op} was sent as a notification"
    return f"{case.named.op} was sent a second time" if case.named.sent else ""


@BOOK.form(READ, on="request, notification", if_=lambda case: case.call is not None, causes=CHANGED, goes_on=True)
def params_are_written_as_they_are(case: Case) -> str:
    """Format, Formats: each stands for one value."""
    return "" if case.change is None else f"params {case.change.why}"


@BOOK.form(OPEN_IDS_DIFFER, on="request", if_=_is_call, goes_on=True)
def its_id_is_that_of_no_open_request(case: Case) -> str:
    """Request Message, msgid: a sequence number; read as unique among what is open (MP-18)."""
    number = case.body[1]
    again = any(other.number == number and not other.outcome for other in case.state.calls)
    return f"the id {number} is that of an open request" if again else ""


# -- other messages ---------------------------------------------------------------------------------------------------


def _nearly(case: Case) -> str:
    """What a message that is odd should have been, "octets" for what is no value."""
    body = case.body
    if case.said:
        return "octets"
    if isinstance(body, tuple) and len(body) == 4 and is_int(body[0]) and body[0] == 0 and not is_id(body[1]):
        return "id"
    return "notification" if isinstance(body, tuple) and body and is_int(body[0]) and body[0] == 2 else "request"


@BOOK.form(OPEN_IDS_DIFFER, on="nonsense", if_=lambda case: _nearly(case) == "id")
def ids_are_integers_of_32_bits(case: Case) -> str:
    """Request Message, msgid: a 32-bit unsigned integer."""
    return f"an id that is no integer from 0 to 2^32-1: {values.describe(case.body, 200)}"


@BOOK.form(NOTIFIES_AS_WRITTEN, on="nonsense", if_=lambda case: _nearly(case) == "notification")
def a_notification_is_an_array_of_three(case: Case) -> str:
    """Notification Message: [2, method, params]."""
    return f"a notification of another form: {values.describe(case.body, 200)}"


@BOOK.form(CALLS_AS_WRITTEN, on="nonsense", if_=lambda case: _nearly(case) == "request")
def a_request_is_an_array_of_four(case: Case) -> str:
    """Request Message: [0, msgid, method, params]."""
    return f"a request of another form: {values.describe(case.body, 200)}"


@BOOK.form(CALLS_AS_WRITTEN, on="nonsense", if_=lambda case: _nearly(case) == "octets")
def sends_messagepack(case: Case) -> str:
    """Messages: each is one MessagePack value."""
    return f"the client sent octets that are no MessagePack: {case.said}"


# -- reports ----------------------------------------------------------------------------------------------------------


@BOOK.form(
    NOTIFIES_AS_WRITTEN, on="reports", if_=lambda case: case.op == "notify" and not case.state.lost, goes_on=True
)
def a_notification_waits_for_nothing(case: Case) -> str:
    """Notification Message: it has no response, so nothing can fail but sending it."""
    return f"notify failed: {case.told['error']!s:.200}" if "error" in case.told else ""


@BOOK.form(
    CALLS_AS_WRITTEN, on="reports", if_=lambda case: case.op in ("connect", "call_async") and not case.state.lost,
    goes_on=True,
)  # fmt: skip
def a_call_can_be_begun(case: Case) -> str:
    """Request Message: the client sends it when it is told to."""
    return f"{case.op} failed: {case.told['error']!s:.200}" if "error" in case.told else ""


@BOOK.form(MATCHED, on="reports", if_=lambda case: case.report is Report.UNREADABLE, goes_on=True)
def a_result_is_a_value(case: Case) -> str:
    """Response Message, result: any value."""
    why = getattr(case.result, "why", "")
    return f"the result of {case.named.method} is reported as no value ({why})"


@BOOK.form(MATCHED, on="reports", if_=lambda case: case.outcome == "", causes=EARLY, goes_on=True,
           freed_by=(its_id_was_that_of_a_stray_response,))  # fmt: skip
def a_call_ends_when_it_is_answered(case: Case) -> str:
    """The order of the response: each is matched to its call by msgid."""
    if case.failed:
        return f"{case.named.method} failed before it was answered: {case.told!s:.200}"
    return f"{case.named.method} has a result before it was answered: {case.told!s:.200}"


@BOOK.form(LIVES_ON, on="reports", if_=lambda case: case.outcome == "lost", goes_on=True)
def a_call_whose_connection_has_ended_fails(case: Case) -> str:
    """Our own minimum: it was not answered, so it has no result."""
    if case.failed:
        return ""
    return f"{case.named.method} has a result although it was not answered: {case.told!s:.200}"


@BOOK.form(ERRORS_FAIL, on="reports", if_=lambda case: case.outcome == "error", goes_on=True,
           freed_by=(its_id_was_that_of_a_stray_response,))  # fmt: skip
def a_call_that_is_answered_with_an_error_fails(case: Case) -> str:
    """Response Message, error: nil when no error occurred, so anything else is one (MP-02)."""
    if case.failed:
        return ""
    why = f"{case.named.method} was answered with the error {values.describe(case.named.value, 60)} and has a result"
    return f"{why}: {case.told!s:.200}"


@BOOK.form(MATCHED, on="reports", if_=lambda case: case.outcome == "result", causes=REFUSED, goes_on=True,
           freed_by=(its_id_was_that_of_a_stray_response,))  # fmt: skip
def a_call_that_is_answered_with_a_result_has_one(case: Case) -> str:
    """Response Message, error: nil when no error occurred."""
    return f"{case.named.method} was answered with a result and failed: {case.told!s:.200}" if case.failed else ""


def _has_result(case: Case) -> bool:
    return case.outcome == "result" and case.report is Report.RESULT


@BOOK.form(MATCHED, on="reports", if_=_has_result, causes=FOREIGN, goes_on=True,
           freed_by=(its_id_was_that_of_a_stray_response,))  # fmt: skip
def a_call_gets_its_own_result(case: Case) -> str:
    """The order of the response: each is matched to its call by msgid."""
    if not case.foreign:
        return ""
    return f"{case.named.method} got the result of another call: {values.describe(case.result, 100)}"


@BOOK.form(READ, on="reports", if_=_has_result, unless=lambda case: bool(case.foreign) or case.named.crossed,
           causes=CHANGED, goes_on=True)  # fmt: skip
def results_are_handed_over_as_they_are(case: Case) -> str:
    """Format, Formats: each stands for one value."""
    return "" if case.change is None else f"result {case.change.why}"


# -- ends -------------------------------------------------------------------------------------------------------------


def _unsent(case: Case) -> list[str]:
    return [call.method for call in case.state.calls if call.op == "notify" and not call.sent]


@BOOK.form(
    NOTIFIES_AS_WRITTEN, on="client ends", when=(C.READY,),
    if_=lambda case: any(call.op == "notify" for call in case.state.calls),
)  # fmt: skip
def ends_when_its_notifications_are_sent(case: Case) -> str:
    """Notification Message: what the client was told to notify goes out."""
    unsent = _unsent(case)
    return f"the client closed the connection and had not sent: notify {unsent[0]}" if unsent else ""


def _waiting(case: Case) -> list[str]:
    open_ = (call for call in case.state.calls if call.sent and not call.outcome and call.op != "notify")
    return [] if case.state.stray or case.state.left else [call.method for call in open_]


@BOOK.form(MATCHED, on="client ends", when=(C.READY,), if_=_waiting, steady=True)
def stays_while_calls_are_open(case: Case) -> str:
    """Response Message: each request has one, which a client that leaves cannot get."""
    return f"the client closed the connection with {_waiting(case)[0]} open"


@BOOK.form(LIVES_ON, on="ends", if_=lambda case: case.action == "exit")
def does_not_exit(case: Case) -> str:
    """Our own minimum: the process lives on, whatever comes."""
    return f"the client has ended: {case.said}"


@BOOK.form(LIVES_ON, on="ends", if_=lambda case: case.action == "refused")
def can_be_started_again(case: Case) -> str:
    """Our own minimum: what came before does not keep a client from being started."""
    return f"the client cannot be started: {case.said}"
