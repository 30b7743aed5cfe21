"""What a client's frame does to the state: what may follow from it, and what is owed from now on.

Source: 003_30478fd2f19f0da0.txt L77-193, STOMP 1.2 sections SEND to DISCONNECT. The state moves when the tester speaks;
whether the server agreed is settled by what it answers (outcomes.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from specs.stomp import ids
from specs.stomp.frames import CLIENT_COMMANDS, SERVER_COMMANDS, Frame, is_beat
from specs.stomp.headers import BEATS as BEATS_FORM
from specs.stomp.headers import TAG
from specs.stomp.machine import CONNECTS, LEAVES, MACHINE, SAYS, Phase
from specs.stomp.server.calls import call, common, deliveries_named, delivery_named, in_other_case, offered, sub_key
from specs.stomp.server.refusals import contested
from specs.stomp.server.scarce import takes_much
from specs.stomp.states import Conn, Delivery, Free, Message, Pending, Refusal, State, Sub, Tx, as_read

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


def put(state: State, number: int, conn: Conn, serial: int | None = None) -> State:
    """`state` with one connection changed."""
    conns = {**state.conns, number: conn}
    return state._replace(conns=conns) if serial is None else state._replace(conns=conns, serial=serial)


def _after_the_end(state: State, number: int, conn: Conn, frame: Frame) -> State:
    """Frames behind a DISCONNECT or an ERROR must have no effect; after DISCONNECT the client broke a rule itself."""
    failed = conn.phase is Phase.FAILED
    pending = Pending(state.serial + 1, frame, frame.get("receipt"), Free(), due=False, late=True)
    conn = conn._replace(pending=(*conn.pending, pending), said_after_end=True)
    state = put(state, number, conn, pending.serial)
    tx = conn.txs.get(frame.get("transaction") or "")
    if frame.command == "COMMIT" and tx is not None:  # open behind an ERROR, before 1.2
        shown = {serial: state.messages[serial]._replace(may=True) for serial in tx.sends}
        return _without(state, number, conn, tx.id)._replace(messages={**state.messages, **shown})
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


def expect(state: State, serials: Iterable[int]) -> State:
    """Messages that the server must now deliver, where anyone is there for sure to get them."""
    due, waiting = list(state.due), dict(state.waiting)
    for serial in serials:
        message = state.messages[serial]
        if message.kind is None or message.loose or message.behind or message.never:
            continue
        takers = [sub for sub in subscribers(state, message.destination) if sub.sure]
        if message.tx is not None and not message.kind.keeps:
            # it may be given to those who are there when it is sent, or when it is committed
            takers = [sub for sub in takers if sub.since < serial]
        if message.kind.fanout:
            reached = [sub for sub in takers if message.kind.own or sub.conn != message.conn]
            due += [(serial, sub.serial) for sub in reached if message.kind.copies or alone(state, sub)]
        elif message.kind.keeps or takers:
            waiting[message.destination] = (*waiting.get(message.destination, ()), serial)
    return state._replace(due=tuple(due), waiting=waiting)


def subscribers(state: State, destination: str) -> list[Sub]:
    """Subscriptions of `destination` that are open as far as the tester knows."""
    return [
        sub
        for conn in state.conns.values()
        if conn.phase is Phase.LIVE and conn.doom is None
        for sub in conn.subs.values()
        if destination in sub.destinations and not sub.closing
    ]


def alone(state: State, sub: Sub) -> bool:
    """True when no other subscription of its connection may get what `sub` gets: names that are one to the server are
    one destination."""
    mine = {as_read(place, state.config) for place in sub.destinations}
    others = (other for other in state.conns[sub.conn].subs.values() if other.serial != sub.serial)
    return not any(as_read(place, state.config) in mine for other in others for place in other.destinations)


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


def departed(state: State, subs: Iterable[Sub]) -> State:
    """Subscriptions that end: nothing more is owed to them, and what they held may go anywhere or nowhere."""
    gone = {sub.serial for sub in subs}
    if not gone:
        return state
    places = {as_read(place, state.config) for sub in subs for place in sub.destinations}
    deliveries = {
        serial: d._replace(fate="freed") if d.sub in gone and d.fate in ("out", "acked") else d
        for serial, d in state.deliveries.items()
    }
    return state._replace(
        due=tuple(pair for pair in state.due if pair[1] not in gone),
        waiting={place: queue for place, queue in state.waiting.items() if as_read(place, state.config) not in places},
        deliveries=deliveries,
    )


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
                state = _settle(state, other, "freed", "")
        return _settle(state, delivery, "freed", "")
    if pending.tx is None:
        return _settle(state, delivery, verb, f"{pending.serial}")
    opened = conn.txs[pending.tx]
    opened = opened._replace(acks=(*opened.acks, (delivery.serial, verb)))
    state = put(state, number, conn._replace(txs={**conn.txs, pending.tx: opened}))
    held = {
        d.serial: d._replace(tx=pending.tx) if d.tx is None else d._replace(fate="freed")
        for d in covered_by(state, delivery)
    }
    return state._replace(deliveries={**state.deliveries, **held})


def covered_by(state: State, delivery: Delivery) -> list[Delivery]:
    """The deliveries that an acknowledgement of `delivery` is about: in client mode all earlier open ones as well."""
    if delivery.mode != "client":
        return [delivery]
    return [
        d
        for d in state.deliveries.values()
        if d.sub == delivery.sub and d.serial <= delivery.serial and d.fate == "out"
    ]


def _settle(state: State, delivery: Delivery, fate: str, by: str) -> State:
    """Give a delivery and those that it covers their fate; what another transaction holds becomes free to go anywhere:
    the text does not say which of two acknowledgements of one message counts."""
    changed = {}
    for d in covered_by(state, delivery):
        if d.fate == "settled":
            continue
        if d.tx != delivery.tx or (d is not delivery and state.conns[d.conn].version == "1.0"):
            changed[d.serial] = d._replace(fate="freed")  # 1.0 does not say whether an ACK is cumulative
        else:
            changed[d.serial] = d._replace(fate=fate, by=by if d is delivery else f"{by} cumulative")
    return state._replace(deliveries={**state.deliveries, **changed})


def _begin(state: State, number: int, conn: Conn, pending: Pending, behind: Refusal | None) -> State:
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


def _commit(state: State, number: int, conn: Conn, pending: Pending, behind: Refusal | None) -> State:
    tx = pending.frame.get("transaction")
    if tx not in conn.txs or (isinstance(pending.call, Refusal) and pending.call.accepted == "MUST"):
        return state
    opened = conn.txs[tx]
    shown = (*opened.sends, *_committed_with(state, number, opened.id))
    messages = {serial: state.messages[serial]._replace(may=True) for serial in shown}
    state = _without(state, number, conn, tx)._replace(messages={**state.messages, **messages})
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
        state = _settle(state, state.deliveries[serial], fate, f"{pending.serial}")
    conn = state.conns[number]
    state = put(state, number, conn._replace(pending=(*conn.pending[:-1], pending._replace(sends=opened.sends))))
    return expect(state, opened.sends) if pending.call is None and behind is None else state


def _abort(state: State, number: int, conn: Conn, pending: Pending, behind: Refusal | None) -> State:
    tx = pending.frame.get("transaction")
    return undone(state, number, [tx], ids.TXN_04) if tx in conn.txs else state


def _without(state: State, number: int, conn: Conn, tx: str) -> State:
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
        state = _without(state, number, state.conns[number], tx)
        conn = state.conns[number]
        pending = tuple(p._replace(due=False) if p.tx == tx else p for p in conn.pending)
        state = put(state, number, conn._replace(pending=pending))
        state = state._replace(messages={**state.messages, **never}, deliveries={**state.deliveries, **back})
    return state


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
    "BEGIN": _begin,
    "COMMIT": _commit,
    "ABORT": _abort,
    "DISCONNECT": _disconnect,
}
