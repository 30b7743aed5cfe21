"""What BEGIN, COMMIT and ABORT do to the state, and the end of a connection to its open transactions.

Source: 003_30478fd2f19f0da0.txt L77-193, STOMP 1.2 sections BEGIN, COMMIT and ABORT.
"""

from __future__ import annotations

from collections.abc import Iterable

from specs.stomp import ids
from specs.stomp.server.changes import expect, put, settle
from specs.stomp.states import Conn, Pending, Refusal, State, Tx


def begin(state: State, number: int, conn: Conn, pending: Pending, behind: Refusal | None) -> State:
    tx = pending.frame.get("transaction")
    if not tx:
        return state
    opened = conn.txs.get(tx)
    if opened is None and pending.call is not None and _is_open_elsewhere(state, number, tx):
        state = _shared(state, tx)
    if opened is None:
        opened = Tx(tx, reused=tx in conn.old_txs, doubtful=pending.call is not None)
    else:
        state = state._replace(history=state.history | {f"begun twice {number} {tx}"})
    return put(state, number, conn._replace(txs={**conn.txs, tx: opened}))


def _is_open_elsewhere(state: State, number: int, tx: str) -> bool:
    """True when another connection has a transaction of this name, or had one in 1.0, where it does not end with the
    connection. One that was committed or aborted is over, here and there: the identifier bound frames to that one."""
    others = [conn for key, conn in state.conns.items() if key != number and conn.version != "1.2"]
    return any(tx in conn.txs or (conn.version == "1.0" and tx in conn.old_txs) for conn in others)


def _shared(state: State, tx: str) -> State:
    """Transactions of one name on several connections may be one before 1.2, which is the first to say that they are
    not: what becomes of those that are open, and of those that will be, is open."""
    state = state._replace(history=state.history | {f"shared {tx}"})
    for number, conn in state.conns.items():
        if tx in conn.txs and conn.version != "1.2":
            state = put(state, number, conn._replace(txs={**conn.txs, tx: conn.txs[tx]._replace(doubtful=True)}))
    return state


def shared(state: State, number: int, tx: str | None) -> bool:
    """True when a transaction may be one with those of the same name on other connections."""
    return f"shared {tx}" in state.history and state.conns[number].version != "1.2"


def _committed_with(state: State, number: int, tx: str) -> list[int]:
    """Messages of other connections that may be in the same transaction, before 1.2; 1.0 does not say either that it
    ends with its connection."""
    if state.conns[number].version == "1.2":
        return []
    return [
        m.serial
        for m in state.messages.values()
        if m.tx == tx and m.conn != number and state.conns[m.conn].version != "1.2" and not (m.may or m.never)
    ]


def commit(state: State, number: int, conn: Conn, pending: Pending, behind: Refusal | None) -> State:
    tx = pending.frame.get("transaction")
    if tx not in conn.txs or (isinstance(pending.call, Refusal) and pending.call.accepted == "MUST"):
        return state
    opened = conn.txs[tx]
    shown = (*opened.sends, *_committed_with(state, number, opened.id))
    messages = {serial: state.messages[serial]._replace(may=True) for serial in shown}
    state = without(state, number, conn, tx)._replace(messages={**state.messages, **messages})
    for serial, verb in opened.acks:
        delivery = state.deliveries[serial]._replace(tx=None)
        freed = {
            d.serial: d._replace(tx=None)
            for d in state.deliveries.values()
            if d.sub == delivery.sub and d.serial <= serial and d.tx == tx and d.conn == number
        }
        state = state._replace(deliveries={**state.deliveries, **freed})
        # what has met another fate, as with the end of its subscription, is not settled by this any more
        known = state.deliveries[serial].fate == "out" and not shared(state, number, opened.id)
        fate = verb if known else "freed"
        state = settle(state, state.deliveries[serial], fate, f"{pending.serial}")
    conn = state.conns[number]
    state = put(state, number, conn._replace(pending=(*conn.pending[:-1], pending._replace(sends=opened.sends))))
    return expect(state, opened.sends) if pending.call is None and behind is None else state


def abort(state: State, number: int, conn: Conn, pending: Pending, behind: Refusal | None) -> State:
    tx = pending.frame.get("transaction")
    return undone(state, number, [tx], ids.TXN_04) if tx in conn.txs else state


def without(state: State, number: int, conn: Conn, tx: str) -> State:
    left = {key: value for key, value in conn.txs.items() if key != tx}
    return put(state, number, conn._replace(txs=left, old_txs=(*conn.old_txs, tx)))


def undone(state: State, number: int, txs: Iterable[str], requirement: str) -> State:
    """Transactions rolled back: their messages must never be seen, their acknowledgements never happened."""
    if requirement == ids.TXN_05 and state.conns[number].version == "1.0":
        requirement = ""  # 1.0 does not say that a transaction ends with its connection; nor is it committed by that
    for tx in txs:
        opened = state.conns[number].txs[tx]
        never = {serial: state.messages[serial]._replace(never=requirement) for serial in opened.sends}
        back = {
            d.serial: d._replace(tx=None, by="abort")
            for d in state.deliveries.values()
            if d.conn == number and d.tx == tx
        }
        state = without(state, number, state.conns[number], tx)
        conn = state.conns[number]
        pending = tuple(p._replace(due=False) if p.tx == tx else p for p in conn.pending)
        state = put(state, number, conn._replace(pending=pending))
        state = state._replace(messages={**state.messages, **never}, deliveries={**state.deliveries, **back})
    return state
