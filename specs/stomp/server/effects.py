"""What a client's frame does to the state: what may follow from it, and what is owed from now on.

Source: 003_30478fd2f19f0da0.txt L77-193, STOMP 1.2 sections SEND to DISCONNECT. The state moves when the tester speaks;
whether the server agreed is settled by what it answers (outcomes.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from specs.events import Noise
from specs.stomp import ids
from specs.stomp.frames import BEAT, CLIENT_COMMANDS, SERVER_COMMANDS, Frame
from specs.stomp.headers import BEATS as BEATS_FORM
from specs.stomp.headers import TAG
from specs.stomp.machine import CONNECTS, GOODBYE, LEAVES, MACHINE, SAYS, Phase
from specs.stomp.server.calls import call, common, delivery_named, offered, sub_key
from specs.stomp.states import Conn, Delivery, Free, Message, Pending, Refusal, State, Sub, Tx

HAUNTED_MS = 2000
"""For how long the subscriptions of a connection that ended without a word may swallow messages."""
_ENDED = (Phase.LEAVING, Phase.CLOSING, Phase.LEFT, Phase.FAILED)


def said(state: State, number: int, frame: Frame) -> State:
    """The state after the tester sent `frame` on connection `number`."""
    conn = state.conns.get(number) or Conn(version=state.config.version)
    if conn.mute_ms:
        conn = conn._replace(mute_ms=0, lives=conn.lives | {"eol" if frame == BEAT else "frame"})
    if conn.mine_ms:
        conn = conn._replace(heard={**conn.heard, "eol" if frame == BEAT else "frame": state.elapsed_ms})
    if frame == BEAT:
        return put(state, number, conn._replace(eols=True))
    action = {"CONNECT": CONNECTS, "STOMP": CONNECTS, "DISCONNECT": LEAVES}.get(frame.command, SAYS)
    phase = MACHINE.move(conn.phase, action)
    if conn.phase in _ENDED:
        return _after_the_end(state, number, conn, frame)
    verdict, claims = call(state, number, conn, frame)
    if conn.eols:
        claims, conn = (ids.HB_07, ids.FRAME_03, *claims), conn._replace(eols=False)
    serial = state.serial + 1
    pending = Pending(
        serial,
        frame,
        frame.get("receipt"),
        verdict,
        claims,
        tx=frame.get("transaction") if frame.command in ("SEND", "ACK", "NACK") else None,
        early=conn.phase is Phase.WAIT,
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
        return _add_message(
            state, number, pending, None, never=never, level=None if never == ids.FRAME_05 else "SHOULD"
        )
    return state


def _carried_out(command: str) -> str:
    """The requirement that a server breaks which takes an unknown command for SEND."""
    if command.strip().upper() != "SEND":
        return ids.INV_28 if command in SERVER_COMMANDS else ids.INV_27
    return ids.FRAME_05 if command.strip() == command else ids.INV_27


def put(state: State, number: int, conn: Conn, serial: int | None = None) -> State:
    """`state` with one connection changed."""
    return state._replace(conns={**state.conns, number: conn}, serial=state.serial if serial is None else serial)


def _after_the_end(state: State, number: int, conn: Conn, frame: Frame) -> State:
    """Frames behind a DISCONNECT or an ERROR must have no effect; after DISCONNECT the client broke a rule itself."""
    failed = conn.phase is Phase.FAILED
    pending = Pending(state.serial + 1, frame, frame.get("receipt"), Free(), due=False, late=True)
    conn = conn._replace(pending=(*conn.pending, pending), said_after_end=True)
    state = put(state, number, conn, pending.serial)
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
    """True when no other subscription of its connection may get what `sub` gets."""
    others = (other for other in state.conns[sub.conn].subs.values() if other.serial != sub.serial)
    return not any(place in sub.destinations for other in others for place in other.destinations)


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
        both = known._replace(destinations=(*known.destinations, destination), vague=True, closing=False)
        return put(state, number, conn._replace(subs={**conn.subs, key: both}))
    mode = frame.get("ack") or "auto"
    reused = key in conn.old_subs
    names = [name for name, _ in frame.headers]
    repeated = tuple(pair for at, pair in enumerate(frame.headers) if pair[0] in names[:at])
    stated = frame.get("ack") is not None
    sub = Sub(pending.serial, number, key, (destination,), mode, reused=reused, stated=stated, repeated=repeated)
    return put(state, number, conn._replace(subs={**conn.subs, key: sub}))


def _unsubscribe(state: State, number: int, conn: Conn, pending: Pending, behind: Refusal | None) -> State:
    key = sub_key(conn, pending.frame)
    if isinstance(pending.call, Refusal) or key is None or key not in conn.subs:
        return state
    sub = conn.subs[key]
    closing = sub._replace(closing=True, vague=sub.vague or pending.call is not None)
    state = put(state, number, conn._replace(subs={**conn.subs, key: closing}))
    return departed(state, [sub])


def departed(state: State, subs: Iterable[Sub]) -> State:
    """Subscriptions that end: nothing more is owed to them, and what they held may go anywhere or nowhere."""
    gone = {sub.serial for sub in subs}
    if not gone:
        return state
    places = {place for sub in subs for place in sub.destinations}
    deliveries = {
        serial: d._replace(fate="freed") if d.sub in gone and d.fate in ("out", "acked") else d
        for serial, d in state.deliveries.items()
    }
    return state._replace(
        due=tuple(pair for pair in state.due if pair[1] not in gone),
        waiting={place: queue for place, queue in state.waiting.items() if place not in places},
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
    if opened is None:
        opened = Tx(tx, reused=tx in conn.old_txs)
    else:
        state = state._replace(history=state.history | {f"begun twice {number} {tx}"})
    return put(state, number, conn._replace(txs={**conn.txs, tx: opened}))


def _commit(state: State, number: int, conn: Conn, pending: Pending, behind: Refusal | None) -> State:
    tx = pending.frame.get("transaction")
    if tx not in conn.txs or (isinstance(pending.call, Refusal) and pending.call.accepted == "MUST"):
        return state
    opened = conn.txs[tx]
    messages = {serial: state.messages[serial]._replace(may=True) for serial in opened.sends}
    state = _without(state, number, conn, tx)._replace(messages={**state.messages, **messages})
    for serial, verb in opened.acks:
        delivery = state.deliveries[serial]._replace(tx=None)
        freed = {
            d.serial: d._replace(tx=None)
            for d in state.deliveries.values()
            if d.sub == delivery.sub and d.serial <= serial and d.tx == tx and d.conn == number
        }
        state = state._replace(deliveries={**state.deliveries, **freed})
        state = _settle(state, state.deliveries[serial], verb, f"{pending.serial}")
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


def left(state: State, number: int, *, orderly: bool = False) -> State:
    """Connection `number` goes: open transactions are aborted, its subscriptions end, what it held is free.

    After an orderly end (DISCONNECT) the server should still process what it received; otherwise nothing is owed for
    what it has not said it processed.
    """
    conn = state.conns[number]
    state = undone(state, number, list(conn.txs), ids.TXN_05)
    held = [sub for sub in conn.subs.values() if not sub.closing]
    again = [] if orderly else _unsettled(state, number, held)
    state = departed(state, held)
    if not orderly:
        # until the server notices that the connection is gone, its subscriptions may swallow what is sent meanwhile
        until = state.elapsed_ms + HAUNTED_MS
        haunted = {
            place: until
            for sub in conn.subs.values()
            if sub.vague or sub.closing or not _comes_back(state, sub)
            for place in sub.destinations
        }
        state = state._replace(haunted={**state.haunted, **haunted})
        unsure = {m.serial for m in state.messages.values() if m.conn == number and not m.sure}
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


# -- what the server's actions do --------------------------------------------------------------------------------------


def entered(state: State, number: int, conn: Conn, frame: Frame) -> State:
    """The state once CONNECTED has come."""
    connect = conn.connect
    assert connect is not None
    form = BEATS_FORM.match(frame.get("heart-beat") or "")
    theirs, asked = (int(form[1]), int(form[2])) if form else (0, 0), conn.asked_beats
    conn = conn._replace(
        phase=MACHINE.move(conn.phase, "CONNECTED"),
        version=frame.get("version") or "1.0",
        connect=connect._replace(due=False),
        beats_ms=max(theirs[0], asked[1]) if theirs[0] and asked[1] else 0,
        mine_ms=max(theirs[1], asked[0]) if theirs[1] and asked[0] else 0,
        mute_ms=0,
        heard={"connected": state.elapsed_ms},
    )
    state = put(state, number, conn)
    session = frame.get("session")
    return state if session is None else state._replace(sessions=state.sessions | {session})


def failed(state: State, number: int) -> State:
    """The state once an ERROR has come."""
    conn = state.conns.get(number) or Conn()
    state = put(state, number, conn._replace(phase=MACHINE.move(conn.phase, "ERROR")))
    return left(state, number)


def processed(state: State, number: int, conn: Conn, pending: Pending) -> State:
    """The state once a frame was receipted."""
    frame = pending.frame
    rest = tuple(p for p in conn.pending if p is not pending)
    # frames before it were received; those that asked for nothing need not be remembered
    forgotten = [p for p in rest if p.receipt is None and p.call is None and p.serial < pending.serial]
    if forgotten:
        rest = tuple(p for p in rest if p not in forgotten)
    parted = frame.command == "DISCONNECT" and not pending.late
    conn = conn._replace(
        phase=MACHINE.move(conn.phase, GOODBYE if parted else "RECEIPT"),
        pending=rest,
        answered=(*conn.answered, pending.receipt or ""),
        hushed=conn.hushed or any(p.frame.command in ("ACK", "NACK") for p in forgotten),
        within=conn.within if pending.tx is None else conn.within | {pending.receipt or ""},
        doom=None if isinstance(pending.call, Refusal) and pending.call is conn.doom else conn.doom,
        farewell=conn.farewell or parted,
        vouched=max(conn.vouched, pending.serial),
    )
    if frame.command not in state.receipted and (pending.receipt or "").isalnum():
        state = state._replace(receipted=state.receipted | {frame.command})
    if frame.command == "SUBSCRIBE":
        key = frame.get("id")
        key = f"\0{frame.get('destination')}" if key is None else key
        sub = conn.subs.get(key)
        if sub is not None:
            conn = conn._replace(subs={**conn.subs, key: sub._replace(sure=True)})
    elif frame.command == "UNSUBSCRIBE":
        conn = _unsubscribed(state, conn, frame)
    return _settled(put(state, number, conn), pending)


def _unsubscribed(state: State, conn: Conn, frame: Frame) -> Conn:
    gone = [sub for sub in conn.subs.values() if sub.closing and frame.get("id") == sub.id]
    gone = gone or [s for s in conn.subs.values() if s.closing and s.id == f"\0{frame.get('destination')}"]
    places = tuple((place, state.serial) for sub in gone for place in sub.destinations)
    gone = [sub for sub in gone if not sub.vague]
    kept = {key: sub for key, sub in conn.subs.items() if sub not in gone}
    conn = conn._replace(subs=kept, old_subs=(*conn.old_subs, *[sub.id for sub in gone]))
    return conn._replace(left_places=(*conn.left_places, *places))


def _settled(state: State, pending: Pending) -> State:
    """What a RECEIPT says of the messages of its frame, and of the deliveries that it acknowledged."""
    frame, settled = pending.frame, f"{pending.serial}"
    sure = pending.sends if frame.command == "COMMIT" else (pending.serial,) if frame.command == "SEND" else ()
    if sure:
        known = {s: state.messages[s]._replace(sure=True) for s in sure if s in state.messages}
        state = state._replace(messages={**state.messages, **known})
    if frame.command == "COMMIT" or (frame.command in ("ACK", "NACK") and pending.tx is None):
        fates = {
            d.serial: d._replace(fate="settled")
            for d in state.deliveries.values()
            if d.fate == "acked" and d.by.split(" ")[0] == settled
        }
        state = state._replace(deliveries={**state.deliveries, **fates})
    return state


def delivered(state: State, number: int, conn: Conn, sub: Sub, frame: Frame, found: Message) -> State:
    """The state once a MESSAGE has come."""
    serial = state.serial + 1
    fate = "out" if conn.phase is Phase.LIVE and not sub.closing and not sub.vague else "freed"
    ack, name = frame.get("ack"), frame.get("message-id")
    delivery = Delivery(
        serial, number, sub.serial, found.serial, ack, name, sub.ack, fate, at_ms=state.elapsed_ms
    )  # fmt: skip
    due, waiting = state.due, state.waiting
    if due:
        due = tuple(pair for pair in due if pair != (found.serial, sub.serial))
    queue = waiting.get(found.destination)
    if queue and found.serial in queue:
        waiting = {**waiting, found.destination: tuple(other for other in queue if other != found.serial)}
    deliveries = state.deliveries
    if found.deliveries:  # it came again, and was allowed to: the earlier delivery may not be this client's any more
        fans_out = found.kind is not None and found.kind.fanout
        before = [deliveries[earlier] for earlier in found.deliveries]
        over = [d for d in before if d.fate == "out" and d.mode != "auto" and (d.sub == sub.serial or not fans_out)]
        deliveries = {**deliveries, **{d.serial: d._replace(fate="freed") for d in over}}
    return state._replace(
        serial=serial,
        due=due,
        waiting=waiting,
        deliveries={**deliveries, serial: delivery},
        messages={**state.messages, found.serial: found._replace(deliveries=(*found.deliveries, serial))},
    )


# -- what is no frame, and time ----------------------------------------------------------------------------------------

_LOST = {"content-length-mismatch": ids.CLEN_02, "over-limit": ids.INV_19}


def garbled(state: State, number: int, conn: Conn, event: Noise) -> State:
    """The state once the tester has sent octets that are no frame."""
    lost = _LOST.get(event.why, ids.ROB_04)
    if event.why == "nul-in-head":
        nul = event.data.find(0)
        lost = ids.INV_29 if event.data[:nul].endswith(b"\n") else ids.INV_25 if nul else ids.INV_30
    if conn.phase is Phase.OPEN:
        lost = ids.ROB_04
    return put(state, number, conn._replace(lost=lost, mute_ms=0, midway=0))


def heard(state: State, number: int, conn: Conn, by: str, count: int) -> State:
    """The state once `count` octets of a frame were seen that is not complete."""
    if by == "server":
        return put(state, number, conn._replace(silent_ms=0))
    lives = conn.lives | {"octets"} if conn.mute_ms else conn.lives
    known = {**conn.heard, "octets": state.elapsed_ms}
    return put(state, number, conn._replace(midway=conn.midway + count, mute_ms=0, lives=lives, heard=known))


def aged(state: State, silent_ms: int, elapsed_ms: int) -> State:
    """The state after a pause."""
    conns = {
        number: _older(conn, silent_ms, elapsed_ms) if conn.alive else conn for number, conn in state.conns.items()
    }
    return state._replace(conns=conns, elapsed_ms=state.elapsed_ms + elapsed_ms)


def _older(conn: Conn, silent_ms: int, mute_ms: int) -> Conn:
    mute_ms += conn.mute_ms
    overdue = conn.overdue or (conn.mine_ms > 0 and mute_ms >= conn.mine_ms)
    return conn._replace(silent_ms=conn.silent_ms + silent_ms, mute_ms=mute_ms, overdue=overdue)
