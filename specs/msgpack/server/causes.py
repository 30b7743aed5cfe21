"""What is likeliest behind a response that nobody asked for, a missing one, a wrong result, or a connection that ended.

Source: MessagePack-RPC specification, Response Message, Notification Message.
"""

from __future__ import annotations

from specs.causes import Causes
from specs.msgpack import values
from specs.msgpack.changes import CUT_OFF
from specs.msgpack.frames import is_id, is_int
from specs.msgpack.machine import ONE_RESPONSE
from specs.msgpack.server.book import SURVIVES
from specs.msgpack.server.case import Case, cut_down, resembles

NO_RESPONSE_TO_NOTES = "MPRPC-NOTE-01"
ID_IS_INTEGER = "MPRPC-RESP-02"
OWN_CONNECTION = "MPRPC-RESP-06"
PIPELINED = "MPRPC-PIPE-01"

UNASKED = Causes("a response that no open request asked for")


def _response(case: Case) -> str:
    shown = f"error={values.describe(case.error, 80)} result={values.describe(case.result, 80)}"
    return f"{values.describe(case.name, 60)} {shown}"


@UNASKED.cause(ID_IS_INTEGER, could=lambda case: bool(case.conn.asked), also=ONE_RESPONSE)
def the_id_came_back_in_another_type(case: Case) -> str:
    """msgid is a 32-bit unsigned integer."""
    found = next((asked.id for asked in case.conn.asked if resembles(case.name, asked.id)), None)
    return "" if found is None else f"the id {found} came back as {values.describe(case.name, 60)}"


@UNASKED.cause(ONE_RESPONSE, could=lambda case: bool(case.conn.asked), also=ID_IS_INTEGER)
def the_id_lost_or_gained_bits(case: Case) -> str:
    """The response has the msgid of its request."""
    found = next((asked.id for asked in case.conn.asked if cut_down(case.name, asked.id)), None)
    return "" if found is None else f"the id {found} came back as {case.name}"


def _id_elsewhere(case: Case) -> bool:
    return is_int(case.name) and any(
        case.name in there.done or any(asked.id == case.name for asked in there.asked) for there in case.state.others()
    )


@UNASKED.cause(OWN_CONNECTION, could=lambda case: case.action == "response" and _id_elsewhere(case))
def it_answers_another_connection(case: Case) -> str:
    """Each connection has its own ids and gets its own answers."""
    waits = any(asked.id == case.name for there in case.state.others() for asked in there.asked)
    return f"response to a request of another connection: {_response(case)}" if waits else ""


def _in_parts(case: Case) -> bool:
    return case.conn.midway if case.about is None else case.about.parted


@UNASKED.cause(CUT_OFF, could=_in_parts, also=ONE_RESPONSE)
def the_request_was_not_whole(case: Case) -> str:
    """What is cut off before its end is no value yet."""
    return f"response before the request was whole: {_response(case)}"


@UNASKED.cause(NO_RESPONSE_TO_NOTES, could=lambda case: case.conn.noted, also=ONE_RESPONSE)
def a_notification_was_answered(case: Case) -> str:
    """A notification gets no response."""
    again = is_id(case.name) and case.name in case.conn.fresh
    return "" if again else f"response that no request asked for: {_response(case)}"


@UNASKED.cause(ID_IS_INTEGER, could=lambda case: bool(case.conn.asked), also=ONE_RESPONSE)
def the_id_is_no_integer(case: Case) -> str:
    """msgid is a 32-bit unsigned integer."""
    return "" if is_int(case.name) else f"response whose id is no integer: {_response(case)}"


MISSING = Causes("a request that was not answered")


@MISSING.cause(SURVIVES, could=lambda case: case.answered.after_bad, also=ONE_RESPONSE)
def something_that_is_no_message_came_before(case: Case) -> str:
    """No input makes the server fail its other connections and new ones."""
    return f"no answer came to a request, behind what is no message: id {case.answered.id}"


@MISSING.cause(PIPELINED, could=lambda case: case.answered.behind and not case.answered.want.rule, also=ONE_RESPONSE)
def others_were_open(case: Case) -> str:
    """Requests may be sent before earlier ones are answered."""
    return f"no answer came to a request: id {case.answered.id}, sent while others were open"


FOREIGN = Causes("the result of another request")


@FOREIGN.cause(OWN_CONNECTION, could=lambda case: any(there.asked or there.given for there in case.state.others()))
def it_is_that_of_another_connection(case: Case) -> str:
    """A response goes to the connection on which its request came."""
    return f"the result of another request: {case.text}" if case.foreign == "elsewhere" else ""


ENDED = Causes("a connection that ended before it was answered")


@ENDED.cause(SURVIVES, could=lambda case: case.first.after_bad, also=ONE_RESPONSE, steady=True)
def another_connection_had_been_misused(case: Case) -> str:
    """No input makes the server fail its other connections and new ones."""
    return f"the server closed the connection before it answered request {case.first.id}"
