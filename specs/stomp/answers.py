"""What answers CONNECT and what acknowledges a frame: CONNECTED and RECEIPT.

Source: 003_30478fd2f19f0da0.txt L43-56 (CONNECTED), L250-263 (RECEIPT); STOMP 1.2, CONNECTED Frame, Protocol
Negotiation, Header receipt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.stomp.calls import offered
from specs.stomp.client import put
from specs.stomp.damage import damage
from specs.stomp.frames import Frame
from specs.stomp.headers import BEATS, ids
from specs.stomp.messages import blame
from specs.stomp.states import Conn, Free, Pending, Phase, Refusal, State

_SERVER = re.compile(r"[^\s/]+(/[^\s]+)?( .*)?\Z", re.DOTALL)
_RECEIPT_SHOWN = ids(
    "RECEIPT-01 RECEIPT-02 RECEIPT-03 RECEIPT-06 RECEIPT-07 HDR-01 FRAME-01 FRAME-08 ERROR-07 BODY-01 ENC-10"
)
LIFE = {"frame": "HB-06", "eol": "HB-07", "octets": "HB-10"}
"""Which requirement each way of showing life tries."""
MANY = 50
"""Frames in flight on one connection that make a client a slow reader."""


def connected(state: State, number: int, conn: Conn, frame: Frame) -> Outcome:
    connect = conn.connect
    assert connect is not None
    covers = (
        ids("CONNECT-02 CONNECTED-02 CONNECTED-05 CONNECT-11 HB-01 FRAME-01 FRAME-08 BODY-01 HDR-01") + connect.proves
    )
    if frame.body:
        return blame("BODY-01", "CONNECTED with a body")
    if isinstance(connect.call, Refusal):
        return accepted(state, connect, connect.call, "CONNECTED although the CONNECT had to be refused")
    version = frame.get("version")
    wrong = _version(conn, connect, version)
    if wrong is not None:
        return wrong
    if connect.frame.get("accept-version") is None:
        covers += ids("NEGO-02")
    elif "," in (connect.frame.get("accept-version") or ""):
        covers += ids("NEGO-01 CONNECTED-01")
    else:
        covers += ids("CONNECTED-01")
    server = frame.get("server")
    if server is not None and not _SERVER.match(server):
        return blame("CONNECTED-03", f"server {server!r:.80} does not begin with a name")
    covers += ids("CONNECTED-03") if server is not None else ()
    session = frame.get("session")
    if session is not None and session in state.sessions:
        return blame("CONNECTED-04", f"session {session!r:.60} was given to two connections")
    covers += ids("CONNECTED-04") if session is not None and state.sessions else ()
    beats, heart = frame.get("heart-beat"), (0, 0)
    if beats is not None:
        form = BEATS.match(beats)
        if form is None:
            return blame("HB-01", f"heart-beat {beats!r:.60} is not two non-negative integers")
        heart = (int(form[1]), int(form[2]))
    if isinstance(connect.call, Free):
        covers += connect.call.covers
    if version != "1.2":
        covers += ids("VER-01")
    others = [c for n, c in state.conns.items() if n != number]
    if any(c.phase is Phase.FAILED or c.lost or c.doom is not None or c.midway for c in others):
        covers += ids("ROB-01 ROB-02")
        covers += ids("ROB-04 INV-40") if any(c.lost == "ROB-04" for c in others) else ()
    if sum(c.phase is Phase.CLOSED for c in others) > 4:
        covers += ids("LINGER-01")
    asked = conn.asked_beats
    conn = conn._replace(
        phase=Phase.CLOSING if any(p.frame.command == "DISCONNECT" for p in conn.pending) else Phase.LIVE,
        version=version or "1.0",
        connect=connect._replace(due=False),
        beats_ms=max(heart[0], asked[1]) if heart[0] and asked[1] else 0,
        mine_ms=max(heart[1], asked[0]) if heart[1] and asked[0] else 0,
        mute_ms=0,
        heard={"connected": state.elapsed_ms},
    )
    lapses: tuple[Breach, ...] = ()
    if any(p.call is not None and not p.early for p in conn.pending):
        lapses = (blame("INV-32", "a frame before CONNECT was ignored"),)
    state = put(state, number, conn)
    if session is not None:
        state = state._replace(sessions=state.sessions | {session})
    return Allow(state, covers, lapses)


def _version(conn: Conn, connect: Pending, version: str | None) -> Breach | None:
    versions = offered(connect.frame) or ()
    if connect.frame.get("accept-version") is None:
        if version not in (None, "1.0"):
            return blame("NEGO-02", f"a client that offers nothing speaks 1.0, CONNECTED says {version!r:.40}")
        return None
    if version is None:
        if conn.version == "1.0" or not versions:
            return None  # the session is one of 1.0, whose CONNECTED has no such header
        return blame("CONNECTED-01", "CONNECTED without version", also="HDR-01")
    if not versions:
        return None  # the list was not canonical: any outcome is allowed
    if version not in versions:
        return blame("NEGO-01", f"CONNECTED says version {version!r:.40}, which was not offered")
    if version != conn.version and not isinstance(connect.call, Free):
        why = f"CONNECTED says version {version!r:.40}, the highest version in common is {conn.version}"
        return blame("NEGO-01", why)
    return None


def receipt(state: State, number: int, conn: Conn, frame: Frame) -> Iterable[Outcome]:
    if frame.body:
        return (blame("RECEIPT-07", "RECEIPT with a body", also="BODY-01"),)
    wanted = frame.get("receipt-id")
    if wanted is None:
        return (blame("RECEIPT-02", "RECEIPT without receipt-id", also="HDR-01"),)
    asked = [p for p in conn.pending if p.receipt == wanted]
    if not asked and conn.lost == "CLEN-02":
        return (blame("CLEN-02", "RECEIPT for a frame whose content-length does not fit", also="INV-16 RECEIPT-03"),)
    if not asked and conn.lost:
        return (Allow(state),)  # the server was free to make what it could of those octets
    if not asked:
        return (_unasked(conn, wanted),)
    # RECEIPTs of different frames may come in any order: one reading for each frame that it may be about
    return [_receipted(state, number, conn, pending, wanted) for pending in asked]


def _receipted(state: State, number: int, conn: Conn, pending: Pending, wanted: str) -> Outcome:
    rest = tuple(p for p in conn.pending if p is not pending)
    covers = _RECEIPT_SHOWN + pending.proves
    if wanted in conn.answered:
        covers += ids("RECEIPT-08")
    if len(rest) < len(conn.pending) - 1 or any(p.serial < pending.serial and p.receipt is None for p in rest):
        covers += ids("RECEIPT-05")
    if pending.early:
        covers += ids("CONNECT-14")
    if len(rest) > MANY:
        covers += ids("INV-42")
    if pending.tx is not None:
        covers += ids("TXN-13 SEND-07" if pending.frame.command == "SEND" else "TXN-13 ACK-06 NACK-04")
    if conn.mine_ms and conn.lives:
        covers += ids("HB-09 " + " ".join(LIFE[life] for life in conn.lives))
    if any(c.phase is Phase.FAILED or c.lost or c.doom is not None for n, c in state.conns.items() if n != number):
        covers += ids("ROB-02 LIMIT-03")
    if pending.frame.command in ("ACK", "NACK"):
        covers += ids("NEGO-06")
    lapses: tuple[Breach, ...] = ()
    # frames before it were received; those that asked for nothing need not be remembered
    forgotten = [p for p in rest if p.receipt is None and p.call is None and p.serial < pending.serial]
    hushed = conn.hushed or any(p.frame.command in ("ACK", "NACK") for p in forgotten)
    rest = tuple(p for p in rest if p not in forgotten) if forgotten else rest
    conn = conn._replace(pending=rest, answered=(*conn.answered, wanted), hushed=hushed)
    if pending.tx is not None:
        conn = conn._replace(within=conn.within | {wanted})
    if isinstance(pending.call, Refusal):
        outcome = accepted(state, pending, pending.call, "RECEIPT for a frame that had to be refused")
        if not pending.call.forgives or isinstance(outcome, Breach):
            return outcome
        lapses = outcome.lapses
        conn = conn._replace(doom=None)
    elif isinstance(pending.call, Free):
        covers += pending.call.covers
    if pending.late:
        lapses = (blame("DISC-06", f"a {pending.frame.command} after DISCONNECT was processed", "SHOULD"),)
    return Allow(_processed(state, number, conn, pending), covers, lapses)


def accepted(state: State, pending: Pending, refusal: Refusal, what: str) -> Allow | Breach:
    """The server agreed to a frame that it should have refused."""
    broken = Breach(
        "server",
        refusal.requirement,
        f"{what} ({refusal.why or pending.frame.command})",
        level=refusal.accepted or None,
        also=refusal.also + ids("RECEIPT-03"),
    )
    if refusal.accepted == "MUST":
        return broken
    return Allow(ANYTHING, lapses=(replace(broken, also=refusal.also),) if refusal.accepted else ())


def _unasked(conn: Conn, wanted: str) -> Breach:
    text = f"RECEIPT for {wanted!r:.60}"
    for p in conn.pending:
        if p.receipt is None:
            continue
        later = [value for name, value in p.frame.headers if name == "receipt"][1:]
        if wanted in later:
            return blame("REPEAT-01", f"{text}, which is not the first of repeated receipt headers")
        spoilt = damage(p.receipt, wanted, conn.version)
        if spoilt:
            return blame(spoilt, f"{text}, asked for was {p.receipt!r:.60}", also="RECEIPT-02 RECEIPT-06")
        if p.receipt != wanted and (p.receipt.strip() == wanted.strip() or not p.receipt.isalnum()):
            return blame("RECEIPT-02", f"{text}, asked for was {p.receipt!r:.60}", also="RECEIPT-06")
    if conn.midway:
        return blame("CLEN-08", f"{text} before the frame was complete")
    if wanted in conn.answered:
        return blame("TXN-13" if wanted in conn.within else "RECEIPT-06", f"{text} came twice", also="RECEIPT-06")
    if any(p.receipt is not None for p in conn.pending):
        return blame("RECEIPT-02", f"{text}, which was never asked for", also="RECEIPT-06")
    return blame("RECEIPT-06", f"{text}, which was never asked for")


def _processed(state: State, number: int, conn: Conn, pending: Pending) -> State:
    """The state once a frame is known to have been processed."""
    frame, settled = pending.frame, f"{pending.serial}"
    if frame.command == "SUBSCRIBE":
        key = frame.get("id")
        key = f"\0{frame.get('destination')}" if key is None else key
        sub = conn.subs.get(key)
        if sub is not None:
            conn = conn._replace(subs={**conn.subs, key: sub._replace(sure=True)})
    elif frame.command == "UNSUBSCRIBE":
        gone = [sub for sub in conn.subs.values() if sub.closing and frame.get("id") == sub.id]
        gone = gone or [s for s in conn.subs.values() if s.closing and s.id == f"\0{frame.get('destination')}"]
        places = tuple((place, state.serial) for sub in gone for place in sub.destinations)
        gone = [sub for sub in gone if not sub.vague]
        kept = {key: sub for key, sub in conn.subs.items() if sub not in gone}
        conn = conn._replace(subs=kept, old_subs=(*conn.old_subs, *[sub.id for sub in gone]))
        conn = conn._replace(left_places=(*conn.left_places, *places))
    elif frame.command == "DISCONNECT":
        conn = conn._replace(phase=Phase.LEFT)
    state = put(state, number, conn)
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
