"""What a client still has to send or to report. Source: L150-162 (acknowledging); STOMP 1.2, all client frames; our own
minimum: what it is told to do is done or fails."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from specs.rules import Due
from specs.stomp.client.book import ACKNOWLEDGES, BOOK, LIVES_ON, READS
from specs.stomp.client.case import waiting
from specs.stomp.client.causes import LOST, STUCK
from specs.stomp.client.machine import CONNECTS, ENDS, LEAVES, REPORTS, SETTLING, K
from specs.stomp.client.state import UNBEGUN, ClientState, Sub, Tx

SHORT_MS = 100
"""A `receive` that waits no longer than this for a message that need not come has ended before patience is over."""
_NACKS = "STOMP-1.2-ACKMODE-06"


def _due(state: ClientState, nth: int) -> bool:
    """True for a command that is under way, or that was carried out by what the client says."""
    if nth < 0 or nth in state.failed:
        return False
    return not state.told or nth <= state.told[0].nth


@BOOK.duty(LIVES_ON, met_by=f"{CONNECTS}, {REPORTS}, {ENDS}", when=(K.NEW,))
def begins_what_it_is_told(state: ClientState) -> Due | str:
    """It connects, or says why not; one that has said so already connects for what it has to send."""
    if not state.told or state.unconnected:
        return ""
    return Due(f"{state.told[0].op}: nothing follows", kind=state.told[0].op)


@BOOK.duty(READS, met_by=REPORTS, when=(K.LIVE,), causes=LOST)
def gives_what_was_said(state: ClientState) -> Due | str:
    """STOMP 1.2, SUBSCRIBE, MESSAGE: messages of a subscription are given to the client."""
    if not state.told or state.told[0].op != "receive":
        return ""
    push = waiting(state)
    if push is None:
        return ""
    return Due(f"the message {push.frame.body[:40]!r} was said and is not given", state.told[0])


@BOOK.duty(LIVES_ON, met_by=REPORTS, when=(K.LIVE, K.OVER), causes=STUCK)
def ends_what_it_is_told(state: ClientState) -> Due | str:
    """Our own minimum. Who waits for a RECEIPT, or for the server to hang up, has time until that has come; when the
    server has, nothing can come any more. A client that has ended its own side of the connection may wait for the other
    side (E-31)."""
    if not state.told or (state.phase is K.OVER and not state.dropped):
        return ""
    op, given = state.told[0].op, state.told[0].given
    if state.phase is K.LIVE:
        if op == "disconnect" or state.receipts:
            return ""
        if op == "receive" and (waiting(state) is not None or int(given.get("timeout_ms") or 0) > SHORT_MS):
            return ""
    return Due(f"{op} does not end", state.told[0], op)


@BOOK.duty(LIVES_ON, met_by=f"{LEAVES}, {ENDS}, {REPORTS}", when=(K.LIVE,))
def leaves_when_it_is_told(state: ClientState) -> Due | str:
    """L195-208: it sends DISCONNECT, or closes."""
    return Due("disconnect: nothing follows") if state.told and state.told[0].op == "disconnect" else ""


@BOOK.duty(LIVES_ON, met_by="SEND", when=(K.LIVE,))
def sends_what_it_is_told(state: ClientState) -> Iterator[Due]:
    """L76-109: SEND."""
    for send in state.sends:
        if not send.seen and _due(state, send.nth) and not _kept(state, send.tx):
            yield Due(
                f"no SEND came for {send.body[:40]!r}", send, "SEND", forgive=partial(_without_send, nth=send.nth)
            )


def _kept(state: ClientState, at: int | None) -> bool:
    """True for what belongs to a transaction that is not committed: a library may keep it until then, and has nothing
    to say when it is aborted."""
    if at is None or at == UNBEGUN:
        return False
    tx = state.txs[at]
    return not (tx.verb == "COMMIT" and _due(state, tx.ends))


def _without_send(state: ClientState, nth: int) -> ClientState:
    return state._replace(sends=tuple(send for send in state.sends if send.nth != nth))


def _fails(state: ClientState, nth: int) -> ClientState:
    return state._replace(failed=state.failed | {nth})


@BOOK.duty(LIVES_ON, met_by="SUBSCRIBE, UNSUBSCRIBE", when=(K.LIVE,))
def subscribes_as_it_is_told(state: ClientState) -> Iterator[Due]:
    """L110-140; STOMP 1.2, UNSUBSCRIBE."""
    for sub in state.subs:
        if not sub.seen and _due(state, sub.nth):
            yield _of_sub("SUBSCRIBE", sub, sub.nth)
        elif sub.open and _due(state, sub.leaves):
            yield _of_sub("UNSUBSCRIBE", sub, sub.leaves)


def _of_sub(verb: str, sub: Sub, nth: int) -> Due:
    return Due(f"no {verb} came for {sub.name!r}", sub, verb, forgive=partial(_fails, nth=nth))


@BOOK.duty(LIVES_ON, met_by="COMMIT, ABORT", when=(K.LIVE,))
def ends_transactions_as_it_is_told(state: ClientState) -> Iterator[Due]:
    """L182-193. Who begins one only when there is something in it need not end one that was never begun."""
    for tx in state.txs:
        if tx.seen and not tx.ended and _due(state, tx.ends):
            yield _of_tx(tx)


def _of_tx(tx: Tx) -> Due:
    return Due(f"no {tx.verb} came for {tx.name!r}", tx, tx.verb, forgive=partial(_fails, nth=tx.ends))


@BOOK.duty(f"{ACKNOWLEDGES} {_NACKS}", met_by=", ".join(SETTLING), when=(K.LIVE,))
def settles_what_it_is_told(state: ClientState) -> Iterator[Due]:
    """L150-162: what was processed is acknowledged, and by NACK the client tells what was not, which is recommended."""
    for want in state.wants:
        if not want.met and _due(state, want.nth) and not _kept(state, want.tx):
            rule = ACKNOWLEDGES if want.verb == "ACK" else _NACKS
            why = f"no {want.verb} came for {state.pushes[want.at].frame.body[:40]!r}"
            forgive = partial(_met, nth=want.nth)
            yield Due(why, want, want.verb, requirement=rule, forgive=forgive)


def _met(state: ClientState, nth: int) -> ClientState:
    return state._replace(wants=tuple(w._replace(met=True) if w.nth == nth else w for w in state.wants))
