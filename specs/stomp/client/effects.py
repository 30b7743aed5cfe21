"""What the client's frames and reports do to the state, whether or not something was broken."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from specs.model import ANYTHING
from specs.stomp.client.book import BOOK
from specs.stomp.client.case import Case, Outcome, Reported
from specs.stomp.client.machine import BEATS, CONNECTS, ENDS, LEAVES, NONSENSE, REPORTS, K
from specs.stomp.client.state import ClientState, Push


def _forgiven(state: ClientState, commands: Iterable[int]) -> ClientState:
    """What some commands called for is not asked for any more: it came in a way that is wrong."""
    return state._replace(failed=state.failed | frozenset(commands))


def _placed(items: tuple[Any, ...], at: int, item: Any) -> tuple[Any, ...]:
    return (*items[:at], item, *items[at + 1 :])


def _asking(case: Case, nth: int) -> ClientState:
    """The state, with the receipt that a frame asks for, which is that of the command `nth`."""
    state, name = case.state, case.frame.get("receipt")
    return state if name is None else state._replace(receipts=(*state.receipts, (name, nth)))


@BOOK.effect(CONNECTS)
def a_session_is_asked_for(case: Case) -> ClientState:
    """Without accept-version it is one of 1.0."""
    state, frame = case.state, case.frame
    if state.phase is not K.NEW:
        return state
    offered = tuple(part.strip() for part in (frame.get("accept-version") or "1.0").split(","))
    return state._replace(offered=offered, asked_beats=frame.get("heart-beat") or "")


@BOOK.effect("SEND")
def a_message_was_sent(case: Case) -> ClientState:
    """It is looked for no more."""
    if not case.known:
        return _asking(case, -1)
    state = _asking(case, case.send.nth)
    return state._replace(sends=_placed(state.sends, case.at, case.send._replace(seen=True)))


@BOOK.effect("SUBSCRIBE")
def a_subscription_is_open(case: Case) -> ClientState:
    """By its id its messages are known."""
    if not case.known:
        return _asking(case, -1)
    state = _asking(case, case.sub.nth)
    sub = case.sub._replace(seen=True, wire=case.frame.get("id"))
    return state._replace(subs=_placed(state.subs, case.at, sub))


@BOOK.effect("UNSUBSCRIBE")
def a_subscription_has_ended(case: Case) -> ClientState:
    """Its id may be used again."""
    if not case.known:
        return _forgiven(_asking(case, -1), [sub.leaves for sub in case.state.subs if sub.open and sub.leaves >= 0])
    state = _asking(case, case.sub.leaves)
    return state._replace(subs=_placed(state.subs, case.at, case.sub._replace(ended=True)))


@BOOK.effect("BEGIN")
def a_transaction_is_open(case: Case) -> ClientState:
    """What is done in it is known by its id."""
    if not case.known:
        return _asking(case, -1)
    state = _asking(case, case.tx.nth)
    if case.frame.get("transaction") is None:
        return _forgiven(state, [case.tx.nth])
    tx = case.tx._replace(seen=True, wire=case.frame.get("transaction"))
    return state._replace(txs=_placed(state.txs, case.at, tx))


@BOOK.effect("COMMIT", "ABORT")
def a_transaction_has_ended(case: Case) -> ClientState:
    """Its id may be used again. What was settled in one that is aborted is not."""
    ending = [tx.ends for tx in case.state.txs if tx.verb == case.action and not tx.ended]
    if not case.known:
        return _forgiven(_asking(case, -1), ending)
    tx = case.tx
    state = _asking(case, tx.ends) if tx.ends >= 0 else _forgiven(_asking(case, -1), ending)
    if case.action == "ABORT":
        undone = {want.at for want in state.wants if want.tx == case.at}
        pushes = (push._replace(settled="", by=-1) if push.by in undone else push for push in state.pushes)
        state = state._replace(pushes=tuple(pushes))
    return state._replace(txs=_placed(state.txs, case.at, tx._replace(ended=True)))


@BOOK.effect("ACK", "NACK")
def a_message_is_settled(case: Case) -> ClientState:
    """In the mode client, all before it are, too (in 1.0 that is not said, so they may be)."""
    if not case.known:
        state = _asking(case, -1)
        return state._replace(wants=tuple(w._replace(met=True) if w.verb == case.action else w for w in state.wants))
    want = case.want
    state = _asking(case, -1 if want is None else want.nth)
    covered = {at for at, push in enumerate(state.pushes) if at == case.at or _before(state, at, case.at)}
    pushes = (
        push._replace(settled=case.action, by=case.at) if at in covered and not push.settled else push
        for at, push in enumerate(state.pushes)
    )
    wants = (
        want._replace(met=True) if want.at in covered and want.verb == case.action else want for want in state.wants
    )
    return state._replace(pushes=tuple(pushes), wants=tuple(wants))


def _before(state: ClientState, at: int, last: int) -> bool:
    """True for a message that an ACK of a later one settles as well."""
    first, other = state.pushes[at], state.pushes[last]
    return at < last and first.sub == other.sub and mode_of(state, other) == "client"


def mode_of(state: ClientState, push: Push) -> str:
    """How messages of its subscription are acknowledged."""
    return next((sub.mode for sub in reversed(state.subs) if sub.name == push.sub), "auto")


@BOOK.effect(LEAVES)
def it_leaves(case: Case) -> ClientState:
    """Nothing more is owed."""
    name = case.frame.get("receipt")
    return _asking(case, -1)._replace(left=True, bye=name)


@BOOK.effect(BEATS)
def nothing_changes(case: Case) -> ClientState:
    """Nothing that is remembered."""
    return case.state


@BOOK.effect(NONSENSE)
def what_was_meant_is_not_known(case: Case) -> Any:
    """It may have been anything that the client was told. Behind octets that are no frame nothing can be read."""
    if case.text:
        return ANYTHING
    return _forgiven(case.state, range(case.state.commands))


@BOOK.effect(ENDS)
def it_has_ended(case: Case) -> ClientState:
    """Nothing can come any more."""
    return case.state._replace(receipts=())


@BOOK.effect(REPORTS)
def a_command_was_answered(case: Reported) -> ClientState:
    """The oldest command is open no more."""
    state = case.state._replace(told=case.state.told[1:])
    if case.outcome is Outcome.FAILED:
        state = state._replace(failed=state.failed | {case.told.nth})
    if case.op == "connect":
        early = case.outcome is Outcome.DONE and state.phase in (K.NEW, K.ASKED)
        return state._replace(early=early, unconnected=case.outcome is Outcome.FAILED)
    if case.outcome is Outcome.MESSAGE:
        state = state._replace(fatal="") if case.push.bad else state
        push = case.push._replace(given=True, ref=case.got.get("ref"))
        return state._replace(pushes=_placed(state.pushes, case.at, push))
    return state
