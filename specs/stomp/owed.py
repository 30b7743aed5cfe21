"""What the server still has to say or do, and whom to blame when it never does.

Source: 003_30478fd2f19f0da0.txt L107-127 (ERROR and close, MESSAGE after SUBSCRIBE), L250-263 (RECEIPT), STOMP 1.2
sections RECEIPT, ERROR, COMMIT. Where the text leaves deliveries free (prefetch, choice among subscribers, fate of what
a lost subscriber held) nothing is owed; docs/ambiguities.md says which reading was chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.stomp.client import alone, subscribers
from specs.stomp.headers import ids
from specs.stomp.messages import blame
from specs.stomp.states import PREFIX, Conn, Free, Message, Pending, Phase, Refusal, State, Sub

_ENDED = (Phase.CLOSING, Phase.LEFT, Phase.CLOSED)


def owed(state: State) -> Iterator[str]:
    """Requirements by which it is still the server's turn."""
    for conn in state.conns.values():
        if conn.torn:
            yield PREFIX + "CLEN-01"
        if conn.pending or conn.phase in (Phase.WAIT, Phase.FAILED) or conn.lost:
            yield from _of_connection(conn)
    for message, _ in _due(state):
        yield PREFIX + ("TXN-03" if message.tx is not None else "SUB-05")
    for message in _stuck(state):
        yield PREFIX + ("TXN-03" if message.tx is not None else "SUB-05")


def _of_connection(conn: Conn) -> Iterator[str]:
    if conn.phase is Phase.WAIT:
        yield PREFIX + "CONNECT-02"
    elif conn.phase is Phase.FAILED:
        if conn.version == "1.2":
            yield PREFIX + "ERROR-01"
    elif conn.phase is Phase.OPEN:
        if conn.doom is not None:
            yield conn.doom.requirement
    elif conn.phase in (Phase.LIVE, Phase.CLOSING):
        if conn.doom is not None:
            yield conn.doom.requirement
        elif conn.lost == "CLEN-02":
            yield PREFIX + conn.lost
        for _ in _receipts(conn):
            yield PREFIX + "RECEIPT-01"


def _receipts(conn: Conn) -> Iterator[Pending]:
    """Frames whose RECEIPT is due: not those behind a refused frame, nor those of an open or aborted transaction."""
    if conn.phase not in (Phase.LIVE, Phase.CLOSING) or conn.lost:
        return
    for p in conn.pending:
        if isinstance(p.call, Refusal):
            return
        if p.call is None and p.receipt is not None and p.due and (p.tx is None or p.tx not in conn.txs):
            yield p


def _sub(state: State, serial: int) -> Sub | None:
    for conn in state.conns.values():
        if conn.phase is Phase.LIVE and conn.doom is None and not conn.lost:
            for sub in conn.subs.values():
                if sub.serial == serial:
                    return sub
    return None


def _idle(state: State, sub: Sub) -> bool:
    """True unless the server may be holding back because of what was not acknowledged, or may not have been: of a
    delivery that was freed nobody knows, and what came again elsewhere may have been there before. Whether each
    subscription has a window of its own or all of a connection share one is the server's choice."""
    return sub.ack == "auto" or not any(
        d.conn == sub.conn and d.mode != "auto" and d.fate in ("out", "freed") for d in state.deliveries.values()
    )


def _due(state: State) -> Iterator[tuple[Message, Sub]]:
    for serial, sub_serial in state.due:
        sub = _sub(state, sub_serial)
        if sub is None or sub.closing or sub.vague or not _idle(state, sub):
            continue
        message = state.messages[serial]
        if message.kind is None or message.kind.copies or alone(state, sub):
            yield message, sub


def _stuck(state: State) -> Iterator[Message]:
    """Messages at a queue that every subscriber of it is free to take, and none does."""
    for place, queue in state.waiting.items():
        if not queue or place in state.haunted:
            continue
        takers = subscribers(state, place)
        if not takers or not all(sub.sure and not sub.vague and _idle(state, sub) for sub in takers):
            continue
        for serial in queue:
            message = state.messages[serial]
            own = message.kind is not None and message.kind.own
            if own or all(sub.conn != message.conn for sub in takers):
                yield message


def at_the_end(state: State) -> Outcome:
    """Judge a silence in which the server was given all the patience of the run."""
    for number, conn in state.conns.items():
        if conn.torn:
            return blame("CLEN-01", conn.torn, also="BODY-02")
        outcome = _unanswered(state, number, conn)
        if outcome is not None:
            return outcome
    for message, sub in _due(state):
        return _missing(state, message, sub)
    for message in _stuck(state):
        return _missing(state, message, subscribers(state, message.destination)[0])
    return Allow(state, _shown_by_silence(state))


def about_connect(state: State, number: int, connect: Pending) -> str:
    """The requirement that a CONNECT which is refused or not answered breaks: what is special about it, or what went on
    before it."""
    special = next((name for name in connect.proves if name != PREFIX + "CONNECT-10"), None)
    if special is not None:
        return special
    others = [conn for key, conn in state.conns.items() if key != number]
    if any(conn.lost == "ROB-04" for conn in others):
        return PREFIX + "ROB-04"
    if sum(conn.phase is Phase.CLOSED for conn in others) > 4:
        return PREFIX + "LINGER-01"
    return PREFIX + ("ROB-01" if any(conn.lost or conn.phase is Phase.FAILED for conn in others) else "CONNECT-02")


def _unanswered(state: State, number: int, conn: Conn) -> Outcome | None:
    if conn.phase is Phase.WAIT:
        connect = conn.connect
        assert connect is not None
        if isinstance(connect.call, Refusal):
            return _ignored(connect.call, connect)
        if isinstance(connect.call, Free):
            return Allow(ANYTHING, lapses=(blame("CONNECT-04", "CONNECT was neither accepted nor refused", "SHOULD"),))
        requirement = about_connect(state, number, connect)
        return Breach("server", requirement, "no answer to CONNECT", level="MUST", also=ids("CONNECT-02"))
    if conn.phase is Phase.FAILED:
        return blame("ERROR-01", "the connection stayed open after ERROR") if conn.version == "1.2" else None
    if conn.phase is Phase.CLOSED:
        return None
    if conn.doom is not None:
        refused = next(p for p in conn.pending if p.call is conn.doom)
        return _ignored(conn.doom, refused)
    if conn.lost == "CLEN-02":
        return blame(
            "CLEN-02", "octets follow the body where NUL must stand, and the connection stayed open", also="INV-16"
        )
    for p in _receipts(conn):
        return _no_receipt(conn, p)
    return None


def _ignored(refusal: Refusal, pending: Pending) -> Outcome:
    """Neither ERROR nor close for a frame that should have been refused."""
    why = f"neither ERROR nor a close ({refusal.why or pending.frame.command})"
    broken = Breach("server", refusal.requirement, why, level=refusal.ignored or None, also=refusal.also)
    if refusal.ignored == "MUST":
        return broken
    return Allow(ANYTHING, lapses=(broken,) if refusal.ignored else ())


def _no_receipt(conn: Conn, pending: Pending) -> Outcome:
    frame, receipt = pending.frame, pending.receipt or ""
    why = f"no RECEIPT for {frame.command} with receipt {receipt!r:.60}"
    if pending.early:
        return Allow(ANYTHING, lapses=(blame("CONNECT-14", why, "SHOULD"),))
    if PREFIX + "REPEAT-01" in pending.proves:
        return blame("REPEAT-01", why)
    if frame.command == "DISCONNECT":
        return blame("DISC-03", why, also="RECEIPT-01")
    if receipt in conn.answered or sum(p.receipt == receipt for p in conn.pending) > 1:
        return blame("RECEIPT-08", why, also="RECEIPT-01")
    if not (receipt.isascii() and receipt.replace("-", "").isalnum()):
        return blame("RECEIPT-02", why, also="RECEIPT-01")
    return blame("RECEIPT-01", why)


def _missing(state: State, message: Message, sub: Sub) -> Breach:
    """A message that never came; the circumstances that are left in a shortest plan say which rule that breaks."""
    sender, taker = state.conns[message.conn], state.conns[sub.conn]
    why = f"the message {message.frame.body[:40]!r} sent to {message.destination!r:.60} never came to {sub.id!r:.40}"
    fanout = message.kind is not None and message.kind.fanout
    if message.deliveries and not fanout:
        return _not_again(state, message, why)
    if sender.phase in _ENDED and not message.sure and sub.conn != message.conn:
        return blame("DISC-07", f"{why}: its sender had disconnected in order", "SHOULD")
    names = [name for name, _ in message.frame.headers]
    if names.count("destination") > 1 or names.count("transaction") > 1:
        return blame("REPEAT-01", why)
    same_tx = message.tx is not None and any(
        message.tx in (*c.txs, *c.old_txs) for n, c in state.conns.items() if n != message.conn
    )
    rules: tuple[tuple[bool, str], ...] = (
        (same_tx, "TXN-07"),
        (message.tx is not None and sender.old_txs.count(message.tx) > 1, "TXN-09"),
        (message.tx is not None and _twice_begun(state, message), "TXN-06"),
        (message.tx is not None and len(set(sender.old_txs) | set(sender.txs)) > 1, "TXN-10"),
        (message.tx is not None, "TXN-03"),
        (bool(sender.txs) or bool(sender.old_txs), "TXN-11"),
        (not message.frame.body, "BODY-03"),
        (sub.reused, "SUB-11"),
        (bool(taker.old_subs) or any(s.closing for s in taker.subs.values()), "UNSUB-05"),
        (any(sub.id in c.subs for n, c in state.conns.items() if n != sub.conn), "SUB-04"),
        (any(d.sub == sub.serial and sub.ack == "auto" for d in state.deliveries.values()), "SUB-08"),
    )
    for holds, requirement in rules:
        if holds:
            return replace(blame(requirement, why, also="SUB-05"), steady=sub.ack == "auto", about=f"{message.serial}")
    return replace(blame("SUB-05", why), steady=sub.ack == "auto", about=f"{message.serial}")


def _twice_begun(state: State, message: Message) -> bool:
    return f"begun twice {message.conn} {message.tx}" in state.history


def _not_again(state: State, message: Message, why: str) -> Breach:
    last = state.deliveries[message.deliveries[-1]]
    others = [d for d in state.deliveries.values() if d.conn == last.conn and d.fate in ("settled", "acked", "nacked")]
    beside = [d for d in others if d.sub != last.sub]
    text = f"{why}: a second time, although it was never acknowledged and this server redelivers"
    name = "ACK-02"
    if last.by == "abort":
        name = "ACK-06"
    elif any(d.mode == "client" for d in beside):  # what covers more than itself reaches too far more easily
        name = "ACKMODE-07"
    elif any(d.sub == last.sub and d.fate == "nacked" for d in others):
        name = "NACK-03"
    elif beside:
        name = "ACKMODE-07"
    elif others:
        name = "ACKMODE-05" if last.mode == "client-individual" else "ACKMODE-04"
    # no more than a recommendation: redelivery itself is a MAY (docs/ambiguities.md, N-09)
    return replace(blame(name, text, "SHOULD"), steady=True, about=f"{message.serial}")


def _shown_by_silence(state: State) -> tuple[str, ...]:
    """What did not come although someone was there to get it, and what could not be disturbed."""
    shown: list[str] = []
    places = {
        place
        for conn in state.conns.values()
        if conn.phase is Phase.LIVE
        for s in conn.subs.values()
        if s.sure
        for place in s.destinations
    }
    for message in state.messages.values():
        if message.never and message.destination in places:
            shown.append(message.never)
            shown += ids("INV-38") if message.never == PREFIX + "DISC-06" else ()
        elif message.behind is not None and message.destination in places and not message.deliveries:
            shown.append(PREFIX + "ERROR-02")
        elif not message.may and message.destination in places:
            shown.append(PREFIX + "TXN-02")
    for delivery in state.deliveries.values():
        if delivery.fate == "settled" and state.messages[delivery.message].destination in places:
            shown.append(PREFIX + ("ACKMODE-04" if delivery.by.endswith("cumulative") else "ACKMODE-08"))
    for conn in state.conns.values():
        for place, since in conn.left_places:
            if any(m.destination == place and m.serial > since and not m.never for m in state.messages.values()):
                shown += ids("UNSUB-03")
                shown += ids("UNSUB-05") if place in places else ()
        if conn.midway and conn.phase is Phase.CLOSED and places:
            shown += ids("ROB-03 INV-41")
    return tuple(shown)
