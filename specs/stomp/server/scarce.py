"""What a server may have little of: connections, places for what is open on them, and for messages that wait.

Source: STOMP 1.2, Size Limits, which lists three limits against clients that use up memory and names no other; ERROR,
which a server may send when something goes wrong; JA L54-56: a server may reject any attempt to connect.
docs/ambiguities.md, N-18a and N-20a.
"""

from __future__ import annotations

from itertools import islice

from specs.stomp.frames import Frame
from specs.stomp.states import Conn, Message, State

TRANSACTIONS, SUBSCRIPTIONS, FRAMES, WAITING = 2, 2, 8, 8
"""How many open transactions and subscriptions of a connection, frames of a transaction, and messages in a queue there
is room for on every server: the text speaks of several subscriptions of a connection, and of several transactions."""

CONNECTIONS = 10
"""How many connections discovery opens at once: what a server has taken then, it has room for again."""


def is_crowded(state: State, number: int) -> bool:
    """True when a server may have no room for this connection: it has refused one of so many before, was never seen to
    take as many as the conversation has, or has few places, of which those of the conversation are more than half.
    Those that have ended may be counted for some time, also those of the conversation before."""
    open_ = len(state.conns.keys() | {number})
    return state.config.crowded or open_ > CONNECTIONS or 0 < state.config.places < 2 * open_


def takes_much(state: State, conn: Conn, frame: Frame) -> bool:
    """True for a frame that adds to so much that a server may have no room for it, and for the COMMIT of so much."""
    if frame.command == "BEGIN":
        return len(conn.txs) >= TRANSACTIONS
    if frame.command == "SUBSCRIBE":
        return len(conn.subs) >= SUBSCRIPTIONS
    held = conn.txs.get(frame.get("transaction") or "")
    if held is not None:
        return len(held.sends) + len(held.acks) >= FRAMES
    return (
        frame.command == "SEND" and len(state.messages) >= WAITING and _is_full(state, frame.get("destination") or "")
    )


def _is_full(state: State, destination: str) -> bool:
    """True when so many messages may lie in a queue: those that nobody has, and those that nobody has acknowledged."""
    there = (m for m in state.messages.values() if m.destination == destination and _is_kept(state, m))
    return len(list(islice(there, WAITING))) == WAITING


def _is_kept(state: State, message: Message) -> bool:
    if message.kind is not None and message.kind.fanout:
        return False
    last = state.deliveries[message.deliveries[-1]] if message.deliveries else None
    return last is None or (last.mode != "auto" and last.fate not in ("acked", "settled"))
