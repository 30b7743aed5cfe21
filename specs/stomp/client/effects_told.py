"""What becomes of the state when the client is told to do something, beside the wire."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from specs.stomp.client.machine import DROPS, MACHINE, TOLD, K
from specs.stomp.client.state import UNBEGUN, ClientState, Send, Sub, Told, Tx, Want


def told(state: ClientState, op: str, value: Any) -> ClientState:
    """A command has to be answered, and carried out; or the tester ends the connection."""
    if op == "drop":
        return state._replace(phase=MACHINE.move(state.phase, DROPS), dropped=True)
    given: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    anew = op == "connect" and state.phase is K.OVER
    phase = MACHINE.move(state.phase, TOLD, K.NEW if anew else None if state.phase is not K.OVER else K.OVER)
    state = _anew(state) if anew else state
    nth = state.commands
    state = state._replace(phase=phase, commands=nth + 1, told=(*state.told, Told(nth, op, given)))
    does = _DOES.get(op)
    return state if does is None else does(state, nth, given)


def _connect(state: ClientState, nth: int, given: Mapping[str, Any]) -> ClientState:
    return state._replace(connect=given)


def _anew(state: ClientState) -> ClientState:
    """What belongs to the connection before is over. What had not been received of it may still be given."""
    pushes = tuple(push._replace(sure=False, old=True) for push in state.pushes)
    former = state.former | {sub.destination for sub in state.subs}
    return ClientState(
        state.config, told=state.told, commands=state.commands, failed=state.failed, pushes=pushes, former=former
    )


def _send(state: ClientState, nth: int, given: Mapping[str, Any]) -> ClientState:
    headers = tuple((given.get("headers") or {}).items())
    body, tx = bytes.fromhex(given.get("body_hex") or ""), _meant(state, given)
    return state._replace(sends=(*state.sends, Send(nth, given["destination"], body, headers, tx)))


def _subscribe(state: ClientState, nth: int, given: Mapping[str, Any]) -> ClientState:
    sub = Sub(nth, given["sub"], given["destination"], given.get("ack") or "auto")
    return state._replace(subs=(*state.subs, sub))


def _unsubscribe(state: ClientState, nth: int, given: Mapping[str, Any]) -> ClientState:
    subs = tuple(sub._replace(leaves=nth) if sub.name == given["sub"] and sub.leaves < 0 else sub for sub in state.subs)
    return state._replace(subs=subs)


def _ack(state: ClientState, nth: int, given: Mapping[str, Any]) -> ClientState:
    return _settle(state, nth, given, "ACK")


def _nack(state: ClientState, nth: int, given: Mapping[str, Any]) -> ClientState:
    return _settle(state, nth, given, "NACK")


def _settle(state: ClientState, nth: int, given: Mapping[str, Any], verb: str) -> ClientState:
    """The latest message of that name: a client may use names again."""
    at = next((at for at in reversed(range(len(state.pushes))) if state.pushes[at].ref == given.get("ref")), -1)
    if at < 0 or given.get("ref") is None:
        return state
    want = Want(nth, verb, at, _meant(state, given), met=bool(state.pushes[at].settled))
    return state._replace(wants=(*state.wants, want))


def _meant(state: ClientState, given: Mapping[str, Any]) -> int | None:
    """The place of the transaction that a command is part of (see `Send`): the latest of that name, since a name may be
    used again."""
    name = given.get("transaction")
    if not name:
        return None
    return next((at for at in reversed(range(len(state.txs))) if state.txs[at].name == name), UNBEGUN)


def _begin(state: ClientState, nth: int, given: Mapping[str, Any]) -> ClientState:
    return state._replace(txs=(*state.txs, Tx(nth, given["transaction"])))


def _commit(state: ClientState, nth: int, given: Mapping[str, Any]) -> ClientState:
    return _finish(state, nth, given, "COMMIT")


def _abort(state: ClientState, nth: int, given: Mapping[str, Any]) -> ClientState:
    return _finish(state, nth, given, "ABORT")


def _finish(state: ClientState, nth: int, given: Mapping[str, Any], verb: str) -> ClientState:
    """A transaction ends. One that the client was never told to begin is none of its affairs: only a plan from which
    the beginning was left out, to make it shorter, says so."""
    if not any(tx.name == given["transaction"] and tx.ends < 0 for tx in state.txs):
        stray = Tx(nth, given["transaction"], verb=verb, ends=nth)
        return state._replace(txs=(*state.txs, stray), failed=state.failed | {nth})
    txs = tuple(
        tx._replace(verb=verb, ends=nth) if tx.name == given["transaction"] and tx.ends < 0 else tx for tx in state.txs
    )
    return state._replace(txs=txs)


def _disconnect(state: ClientState, nth: int, given: Mapping[str, Any]) -> ClientState:
    return state._replace(left=True)


_DOES: Mapping[str, Callable[[ClientState, int, Mapping[str, Any]], ClientState]] = {
    "connect": _connect, "send": _send, "subscribe": _subscribe, "unsubscribe": _unsubscribe, "ack": _ack,
    "nack": _nack, "begin": _begin, "commit": _commit, "abort": _abort, "disconnect": _disconnect,
}  # fmt: skip
