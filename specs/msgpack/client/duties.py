"""What a client still has to send or to report. Source: MessagePack-RPC specification, Messages; our own minimum."""

from __future__ import annotations

from collections.abc import Iterator

from specs.msgpack.client.book import BLOCKING, BOOK, MATCHED, NOTIFIES_AS_WRITTEN, position
from specs.msgpack.client.causes import STUCK
from specs.msgpack.machine import CALLS_AS_WRITTEN, C
from specs.msgpack.states import ClientState
from specs.rules import Due

TOGETHER = 2
"""So many calls a client has open together that is not found to make one after the other (MP-27)."""


@BOOK.duty(f"{CALLS_AS_WRITTEN} {NOTIFIES_AS_WRITTEN}", met_by="request, notification")
def sends_what_it_is_told_to_send(state: ClientState) -> Iterator[Due]:
    """Request Message, Notification Message. A client may send when it waits for something, and not before (MP-25); a
    call may wait while two others are open (MP-27), and all of them for what it has asked for itself (MP-16)."""
    waits = next((at for at, (op, _) in enumerate(state.told) if op in BLOCKING), None)
    if state.lost or state.asks or waits is None:
        return
    later = frozenset(name for _, name in state.told[waits + 1 :])
    opened = sum(call.sent and not call.outcome and call.op != "notify" for call in state.calls)
    for call in state.calls:
        if opened >= TOGETHER and call.op != "notify":
            continue
        if not call.sent and not call.outcome and call.name not in later:
            rule = NOTIFIES_AS_WRITTEN if call.op == "notify" else CALLS_AS_WRITTEN
            yield Due(f"nothing was sent for {call.op} {call.method}", call, call.op, requirement=rule)


@BOOK.duty(MATCHED, met_by="reports", causes=STUCK)
def reports_what_is_settled(state: ClientState) -> Due | str:
    """The order of the response: a call ends when its response has come, or cannot come any more. What is no message
    may be passed over as long as the connection is there (MP-23)."""
    if not state.told or state.told[0][0] not in BLOCKING:
        return ""
    op, name = state.told[0]
    at = position(state, name)
    if at is None:
        return ""
    call = state.calls[at]
    if not call.outcome or (call.outcome == "lost" and state.phase is not C.OVER):
        return ""
    return Due(f"{op} does not end: {call.method} is settled ({call.outcome})", state.told[0], call.outcome)


@BOOK.duty(f"{CALLS_AS_WRITTEN} {NOTIFIES_AS_WRITTEN}", met_by="reports")
def answers_what_waits_for_nothing(state: ClientState) -> Due | str:
    """Notification Message: the client waits for nothing. The same is true of whatever else does not wait; but it may
    wait for what it has asked for itself (MP-16)."""
    if not state.told or state.asks:
        return ""
    op, name = state.told[0]
    if op in BLOCKING and position(state, name) is not None:
        return ""
    rule = NOTIFIES_AS_WRITTEN if op == "notify" else CALLS_AS_WRITTEN
    return Due(f"{op} does not end", state.told[0], op, requirement=rule)
