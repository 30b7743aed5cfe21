"""What the server's frames, the tester's octets that are no frame, and time do to the state.

Source: as in forms_answers.py and forms_messages.py, which judge what is said; what follows does not depend on that.
"""

from __future__ import annotations

from specs.events import Noise
from specs.stomp import ids
from specs.stomp.frames import Frame
from specs.stomp.headers import BEATS as BEATS_FORM
from specs.stomp.machine import GOODBYE, MACHINE, Phase
from specs.stomp.server.changes import put
from specs.stomp.server.effects_said import left
from specs.stomp.states import Conn, Delivery, Message, Pending, Refusal, State, Sub


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


def failed(state: State, number: int, refused: Pending | None = None) -> State:
    """The state once an ERROR has come, about the frame `refused` if that is known. Before 1.2 it need not be the end:
    what is open may still be committed."""
    conn = state.conns.get(number) or Conn()
    if refused is not None and refused.frame.command == "SUBSCRIBE":
        conn = _not_subscribed(state, conn, refused)
    state = put(state, number, conn._replace(phase=MACHINE.move(conn.phase, "ERROR")))
    return left(state, number, undoes=conn.version == "1.2")


def _not_subscribed(state: State, conn: Conn, refused: Pending) -> Conn:
    """The connection without what a SUBSCRIBE asked for that was refused, and of which nothing was seen."""
    place, key = refused.frame.get("destination"), refused.frame.get("id") or ""
    sub = conn.subs.get(key)
    if sub is None or not isinstance(refused.call, Refusal) or place != sub.destinations[-1]:
        return conn
    if any(d.sub == sub.serial and state.messages[d.message].destination == place for d in state.deliveries.values()):
        return conn
    left = sub.destinations[:-1]
    subs = {**conn.subs, key: sub._replace(destinations=left)}
    return conn._replace(subs=subs if left else {name: other for name, other in subs.items() if name != key})


def processed(state: State, number: int, conn: Conn, pending: Pending) -> State:
    """The state once a frame was receipted."""
    frame = pending.frame
    rest = tuple([p for p in conn.pending if p is not pending])
    # frames before it were received; those that asked for nothing need not be remembered
    forgotten = [p for p in rest if p.receipt is None and p.call is None and p.serial < pending.serial]
    if forgotten:
        rest = tuple([p for p in rest if p not in forgotten])
    parted = frame.command == "DISCONNECT" and not pending.late
    subs = conn.subs
    if frame.command == "SUBSCRIBE":
        key = frame.get("id")
        key = f"\0{frame.get('destination')}" if key is None else key
        sub = subs.get(key)
        if sub is not None:
            subs = {**subs, key: _in_force(state, sub)}
    conn = conn._replace(
        phase=MACHINE.move(conn.phase, GOODBYE if parted else "RECEIPT"),
        pending=rest,
        answered=(*conn.answered, pending.receipt or ""),
        hushed=conn.hushed or any(p.frame.command in ("ACK", "NACK") for p in forgotten),
        within=conn.within if pending.tx is None else conn.within | {pending.receipt or ""},
        subs=subs,
        doom=None if isinstance(pending.call, Refusal) and pending.call is conn.doom else conn.doom,
        farewell=conn.farewell or parted,
        vouched=max(conn.vouched, pending.serial),
        dubious=conn.dubious or (conn.version == "1.0" and pending.call is not None),
    )
    if frame.command not in state.receipted and (pending.receipt or "").isalnum():
        state = state._replace(receipted=state.receipted | {frame.command})
    if frame.command == "UNSUBSCRIBE":
        conn = _unsubscribed(state, conn, frame)
    return _settled(put(state, number, conn), pending)


def _in_force(state: State, sub: Sub) -> Sub:
    return sub._replace(sure=True, since=sub.since or state.serial)


def _unsubscribed(state: State, conn: Conn, frame: Frame) -> Conn:
    gone = [sub for sub in conn.subs.values() if sub.closing and frame.get("id") == sub.id]
    gone = gone or [s for s in conn.subs.values() if s.closing and s.id == f"\0{frame.get('destination')}"]
    places = tuple((place, state.serial) for sub in gone for place in sub.destinations)
    gone = [sub for sub in gone if not sub.vague]
    kept = {key: sub for key, sub in conn.subs.items() if sub not in gone}
    conn = conn._replace(subs=kept, old_subs=(*conn.old_subs, *[sub.id for sub in gone]))
    return conn._replace(left_places=(*conn.left_places, *places))


def _settled(state: State, pending: Pending) -> State:
    """What a RECEIPT says of the messages of its frame, and of the deliveries that it acknowledged. That of a SEND in a
    transaction says nothing of its COMMIT."""
    frame, settled = pending.frame, f"{pending.serial}"
    alone = frame.command == "SEND" and pending.tx is None
    sure = pending.sends if frame.command == "COMMIT" else (pending.serial,) if alone else ()
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
    """The state once a MESSAGE has come: whose subscription it names is in force, with or without a RECEIPT."""
    if not (sub.sure or sub.vague or sub.closing or conn.subs.get(sub.id) is not sub):
        state = put(state, number, conn._replace(subs={**conn.subs, sub.id: _in_force(state, sub)}))
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
