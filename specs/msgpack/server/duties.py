"""What a server still has to say or do. Source: MessagePack-RPC specification, Response Message."""

from __future__ import annotations

from collections.abc import Iterator

from specs.msgpack.calls import FAILURES, UNSUITABLE
from specs.msgpack.changes import EXTENSIONS, TIMESTAMPS
from specs.msgpack.machine import ONE_RESPONSE, P
from specs.msgpack.server.book import BOOK, declared, in_line
from specs.msgpack.server.case import Place
from specs.msgpack.server.causes import MISSING
from specs.msgpack.server.forms import AS_DECLARED
from specs.msgpack.states import Asked
from specs.rules import Due


@BOOK.duty(AS_DECLARED, met_by="server ends")
def closes_as_it_declares(place: Place) -> str:
    """The manifest's `malformed`; the RPC specification is silent."""
    if (
        place.phase is not P.SPOILT
        or declared(place.config, place.conn) != "close"
        or in_line(place.whole, place.number)
    ):
        return ""
    return f"the connection stays open, which is declared to be closed: {place.conn.bad}"


@BOOK.duty(f"{ONE_RESPONSE} {FAILURES} {UNSUITABLE} {EXTENSIONS} {TIMESTAMPS}", met_by="response", causes=MISSING)
def every_request_is_answered(place: Place) -> Iterator[Due]:
    """Response Message: each request has one, also one that fails or that is refused."""
    if place.phase is P.LIVE and not in_line(place.whole, place.number):
        for asked in place.conn.asked if place.only is None else place.only:
            yield _due(asked)


def _due(asked: Asked) -> Due:
    rule = asked.want.rule
    if not rule:
        return Due(f"no answer came to a request: id {asked.id}", asked, asked.want.kind, requirement=ONE_RESPONSE)
    return Due(f"no answer came to a request: id {asked.id}", asked, asked.want.kind, requirement=rule,
               also=(ONE_RESPONSE,))  # fmt: skip
