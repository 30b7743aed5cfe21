"""What a client's frame does to the state: what may follow from it, and what is owed from now on.

Source: 003_30478fd2f19f0da0.txt L77-193, STOMP 1.2 sections SEND to DISCONNECT. The state moves when the tester speaks;
whether the server agreed is settled by what it answers (forms_*.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from specs.stomp import ids
from specs.stomp.frames import CLIENT_COMMANDS, SERVER_COMMANDS, Frame, is_beat
from specs.stomp.headers import BEATS as BEATS_FORM
from specs.stomp.headers import TAG
from specs.stomp.machine import CONNECTS, LEAVES, MACHINE, SAYS, Phase
from specs.stomp.server.calls import call, common, deliveries_named, delivery_named, in_other_case, offered, sub_key
from specs.stomp.server.changes import covered_by, departed, expect, put, settle
from specs.stomp.server.refusals import contested
from specs.stomp.server.scarce import takes_much
from specs.stomp.server.transactions import abort, begin, commit, undone, without
from specs.stomp.states import Conn, Free, Message, Pending, Refusal, State, Sub, as_read

HAUNTED_MS = 2000
"""For how long the subscriptions of a connection that ended without a word may swallow messages."""
_ENDED = (Phase.LEAVING, Phase.CLOSING, Phase.LEFT, Phase.FAILED)


def said(state: State, number: int, frame: Frame) -> State:
    """The state after the tester sent `frame` on connection `number`."""
    conn = state.conns.get(number) or Conn(version=state.config.version)
    if conn.mute_ms:
        conn = conn._replace(mute_ms=0, lives=conn.lives | {"eol" if is_beat(frame) else "frame"})
    if conn.mine_ms:
        conn = conn._replace(heard={**conn.heard, "eol" if is_beat(frame) else "frame": state.elapsed_ms})
    if is_beat(frame):
        return put(state, number, conn._replace(eols=True))
    action = {"CONNECT": CONNECTS, "STOMP": CONNECTS, "DISCONNECT": LEAVES}.get(frame.command, SAYS)
    phase = MACHINE.move(conn.phase, action)
    if conn.phase in _ENDED:
        return _after_the_end(state, number, conn, frame)
    verdict, claims = call(state, number, conn, frame)
    if conn.eols:
        alive = (ids.HB_07,) if conn.version != "1.0" else ()
        claims, conn = (*alive, ids.FRAME_03, *claims), conn._replace(eols=False)
    if conn.version == "1.0" and in_other_case(frame):
        # 1.0 does not say that letter case counts, and its grammar is one in which it does not
        conn = conn._replace(lost=ids.FRAME_05)
    serial = state.serial + 1
    pending = Pending(
        serial,
        frame,
        frame.get("receipt"),
        verdict,
        claims,
        tx=frame.get("transaction") if frame.command in ("SEND", "ACK", "NACK") else None,
        early=conn.phase is Phase.WAIT,
        much=takes_much(state, conn, frame),
    )
    if conn.phase is Phase.OPEN and frame.command in ("CONNECT", "STOMP"):
        versions = offered(frame) or ()
        beats = BEATS_FORM.match(frame.get("heart-beat") or "")
        conn = conn._replace(
            phase=phase,
            connect=pending,
            version=common(state, versions) or conn.version,
            asked_beats=(int(beats[1]), int(beats[2])) if beats else (0, 0),
        )
        return put(state, number, conn, serial)
    conn = conn._replace(pending=(*conn.pending, pending), midway=0)
    behind = conn.doom
    if isinstance(verdict, Refusal) and conn.doom is None:
        conn = conn._replace(doom=verdict)
    if isinstance(verdict, Free) and pending.tx is not None and pending.tx in conn.txs:
        conn = conn._replace(txs={**conn.txs, pending.tx: conn.txs[pending.tx]._replace(doubtful=True)})
    state = put(state, number, conn, serial)
    effect = _EFFECTS.get(frame.command)
    if effect is not None:
        return effect(state, number, conn, pending, behind)
    if frame.command not in CLIENT_COMMANDS and frame.get("destination") is not None:
        never = _carried_out(frame.command)
        level = None if never == ids.FRAME_05 else "SHOULD"
        return _add_message(state, number, pending, None, never=never, level="" if conn.lost == ids.FRAME_05 else level)
    return state


def _carried_out(command: str) -> str:
    """The requirement that a server breaks which takes an unknown command for SEND."""
    if command.strip().upper() != "SEND":
        return ids.INV_28 if command in SERVER_COMMANDS else ids.INV_27
    return ids.FRAME_05 if command.strip() == command else ids.INV_27


def _after_the_end(state: State, number: int, conn: Conn, frame: Frame) -> State:
    """Frames behind a DISCONNECT or an ERROR must have no effect; after DISCONNECT the client broke a rule itself."""
    failed = conn.phase is Phase.FAILED
    pending = Pending(state.serial + 1, frame, frame.get("receipt"), Free(), due=False, late=True)
    conn = conn._replace(pending=(*conn.pending, pending), said_after_end=True)
    state = put(state, number, conn, pending.serial)
    tx = conn.txs.get(frame.get("transaction") or "")
    if frame.command == "COMMIT" and tx is not None:  # open behind an ERROR, before 1.2
        shown = {serial: state.messages[serial]._replace(may=True) for serial in tx.sends}
        return without(state, number, conn, tx.id)._replace(messages={**state.messages, **shown})
    if frame.command != "SEND":
        return state
    level = "" if failed and conn.version != "1.2" else None  # only 1.2 says that an ERROR is the end
    return _add_message(state, number, pending, None, never=ids.ERROR_02 if failed else ids.DISC_06, level=level)


def _add_message(
    state: State,
    number: int,
    pending: Pending,
    behind: Refusal | None,
    *,
    may: bool = True,
    never: str = "",
    level: str | None = None,
) -> State:
    frame, _conn = pending.frame, state.conns[number]
    destination = frame.get("destination") or ""
    message = Message(
        pending.serial,
        number,
        frame,
        destination,
        state.config.kind(destination),
        may,
        never,
        level,
        tx=frame.get("transaction"),
        loose=isinstance(pending.call, Free) and not pending.call.plain,
        behind=behind,
        at_ms=state.elapsed_ms,
    )
    tag = frame.get(TAG)
    key = f"\0{frame.body!r}" if tag is None else tag
    return state._replace(
        messages={**state.messages, message.serial: message},
        by_tag={key: message.serial, **state.by_tag},
    )


def _send(state: State, number: int, conn: Conn, pending: Pending, behind: Refusal | None) -> State:
    if isinstance(pending.call, Refusal):
        refusal = pending.call
        return _add_message(state, number, pending, None, never=refusal.requirement, level=refusal.accepted)
    tx = pending.tx
    if tx is None or tx not in conn.txs:
        state = _add_message(state, number, pending, behind)
        return expect(state, (pending.serial,)) if pending.call is None and behind is None else state
    state = _add_message(state, number, pending, behind, may=False)
    conn = state.conns[number]
    opened = conn.txs[tx]._replace(sends=(*conn.txs[tx].sends, pending.serial))
    return put(state, number, conn._replace(txs={**conn.txs, tx: opened}))


def _subscribe(state: State, number: int, conn: Conn, pending: Pending, behind: Refusal | None) -> State:
    frame = pending.frame
    destination, key = frame.get("destination"), frame.get("id")
    if isinstance(pending.call, Refusal) and pending.call.accepted == "MUST":
        return state
    if destination is None or (key is None and conn.version != "1.0"):
        return state
    if key is None:
        key = f"\0{destination}"
    known = conn.subs.get(key)
    if known is not None:
        # either of the two may get the messages: they are held back where one of them has to acknowledge
        ack = known.ack if known.ack != "auto" else frame.get("ack") or "auto"
        both = known._replace(destinations=(*known.destinations, destination), ack=ack, vague=True, closing=False)
        return put(state, number, conn._replace(subs={**conn.subs, key: both}))
    mode = frame.get("ack") or "auto"
    reused = key in conn.old_subs
    names = [name for name, _ in frame.headers]
    repeated = tuple(pair for at, pair in enumerate(frame.headers) if pair[0] in names[:at])
    stated = frame.get("ack") is not None
    # which mode a server takes for one that there is not is its own affair
    vague = isinstance(pending.call, Refusal) and pending.call.requirement == ids.INV_07
    sub = Sub(
        pending.serial, number, key, (destination,), mode,
        vague=vague, reused=reused, stated=stated, repeated=repeated,
    )  # fmt: skip
    state = put(state, number, conn._replace(subs={**conn.subs, key: sub}))
    kind = state.config.kind(destination)
    return state if kind is None or kind.shared else contested(state, number, destination)


def _unsubscribe(state: State, number: int, conn: Conn, pending: Pending, behind: Refusal | None) -> State:
    key = sub_key(conn, pending.frame)
    if isinstance(pending.call, Refusal) or key is None or key not in conn.subs:
        return state
    sub = conn.subs[key]
    closing = sub._replace(closing=True, vague=sub.vague or pending.call is not None)
    # before 1.2, "the connection will no longer receive messages from that destination"
    same = [
        other._replace(vague=True)
        for other in conn.subs.values()
        if other.serial != sub.serial
        and conn.version != "1.2"
        and not {*other.destinations}.isdisjoint(sub.destinations)
    ]
    state = put(state, number, conn._replace(subs={**conn.subs, key: closing} | {other.id: other for other in same}))
    return departed(state, [sub, *same])


def _ack(state: State, number: int, conn: Conn, pending: Pending, behind: Refusal | None) -> State:
    if isinstance(pending.call, Refusal):
        return state
    delivery = delivery_named(state, number, conn, pending.frame)
    if delivery is None:
        return state
    if delivery.fate != "out":
        found = state.messages[delivery.message]
        return state._replace(messages={**state.messages, found.serial: found._replace(wild=True)})
    verb = "acked" if pending.frame.command == "ACK" else "nacked"
    if isinstance(pending.call, Free):
        for other in deliveries_named(state, number, conn, pending.frame):
            if other.fate == "out" and other is not delivery:
                state = settle(state, other, "freed", "")
        return settle(state, delivery, "freed", "")
    if pending.tx is None:
        return settle(state, delivery, verb, f"{pending.serial}")
    opened = conn.txs[pending.tx]
    opened = opened._replace(acks=(*opened.acks, (delivery.serial, verb)))
    state = put(state, number, conn._replace(txs={**conn.txs, pending.tx: opened}))
    held = {
        d.serial: d._replace(tx=pending.tx) if d.tx is None else d._replace(fate="freed")
        for d in covered_by(state, delivery)
    }
    return state._replace(deliveries={**state.deliveries, **held})


def _disconnect(state: State, number: int, conn: Conn, pending: Pending, behind: Refusal | None) -> State:
    state = put(state, number, conn._replace(phase=MACHINE.move(conn.phase, LEAVES)))
    return left(state, number, orderly=True)


def left(state: State, number: int, *, orderly: bool = False, undoes: bool = True) -> State:
    """Connection `number` goes: open transactions are aborted if it `undoes` them, its subscriptions end, what it held
    is free.

    After an orderly end (DISCONNECT) the server should still process what it received; otherwise nothing is owed for
    what it has not said it processed.
    """
    conn = state.conns[number]
    state = undone(state, number, list(conn.txs), ids.TXN_05) if undoes else state
    held = [sub for sub in conn.subs.values() if not sub.closing]
    again = [] if orderly else _unsettled(state, number, held)
    state = departed(state, held)
    if not orderly:
        # until the server notices that the connection is gone, its subscriptions may swallow what is sent meanwhile
        until = state.elapsed_ms + HAUNTED_MS
        haunted = {
            as_read(place, state.config): until
            for sub in conn.subs.values()
            if sub.vague or sub.closing or not _comes_back(state, sub)
            for place in sub.destinations
        }
        state = state._replace(haunted={**state.haunted, **haunted})
        # the RECEIPT of 1.0 says no more than that the SEND has come
        unsure = {
            m.serial for m in state.messages.values() if m.conn == number and not (m.sure and conn.version != "1.0")
        }
        state = state._replace(
            due=tuple(pair for pair in state.due if pair[0] not in unsure),
            waiting={place: tuple(m for m in queue if m not in unsure) for place, queue in state.waiting.items()},
        )
    if again:
        waiting = dict(state.waiting)
        for serial in again:
            place = state.messages[serial].destination
            waiting[place] = (*waiting.get(place, ()), serial)
        state = state._replace(waiting=waiting)
    return state


def _comes_back(state: State, sub: Sub) -> bool:
    kind = state.config.kind(sub.destinations[0])
    return sub.ack != "auto" and kind is not None and kind.redelivers


def _unsettled(state: State, number: int, subs: Iterable[Sub]) -> list[int]:
    """Messages that a server which redelivers must deliver again: delivered once, in a client mode, never settled.

    Text leaves redelivery free; it is held only to what discovery saw it do every time (docs/ambiguities.md, N-09).
    """
    modes = {sub.serial: sub.ack for sub in subs if not sub.vague}
    found = []
    for delivery in state.deliveries.values():
        message = state.messages.get(delivery.message)
        if (
            delivery.conn == number
            and delivery.fate == "out"
            and modes.get(delivery.sub, "auto") != "auto"
            and message is not None
            and message.kind is not None
            and message.kind.redelivers
            and not message.kind.fanout
            and len(message.deliveries) == 1
        ):
            found.append(message.serial)
    return found


_EFFECTS = {
    "SEND": _send,
    "SUBSCRIBE": _subscribe,
    "UNSUBSCRIBE": _unsubscribe,
    "ACK": _ack,
    "NACK": _ack,
    "BEGIN": begin,
    "COMMIT": commit,
    "ABORT": abort,
    "DISCONNECT": _disconnect,
}
