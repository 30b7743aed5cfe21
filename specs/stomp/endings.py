"""How a connection ends: ERROR, a close, and what either needs as its reason.

Source: 003_30478fd2f19f0da0.txt L107-127, L194-212; STOMP 1.2, ERROR, DISCONNECT, Heart-beating, Connection Lingering.
"""

from __future__ import annotations

from dataclasses import replace

from specs.events import Closed
from specs.model import Allow, Breach, Outcome
from specs.stomp.answers import LIFE
from specs.stomp.client import left, put
from specs.stomp.frames import Frame
from specs.stomp.headers import ids
from specs.stomp.messages import MIME, blame
from specs.stomp.owed import about_connect
from specs.stomp.states import PREFIX, Conn, Free, Pending, Phase, Refusal, State

_SOFT = frozenset(ids("REPEAT-01 CONNECT-14 ACK-06 NACK-04"))
_COMMON = frozenset(ids("SEND-05"))
"""Shown by nearly every frame: says nothing about why one was refused."""
_ANSWERED_BY = {"SEND-01": "SEND-06", "SUB-01": "SUB-06", "NEGO-03": "NEGO-03"}
"""Rules that a client broke for which the text itself asks for an ERROR, and the rule about that ERROR."""
MARGIN = 0.05
"""A client given up within this part of its interval after the end of it was given no margin."""
HASTY = 0.25
"""A client given up before this part of its interval was over was not given up for its silence."""
IDLE_MS = 400
"""A silence after which a connection counts as idle: shorter ones say nothing about heart-beats."""


def error(state: State, number: int, conn: Conn, frame: Frame) -> Outcome:
    suspects = [p for p in conn.pending if p.call is not None or p.early]
    connect = conn.connect if conn.phase is Phase.WAIT else None
    if connect is not None and connect.call is not None:
        suspects.insert(0, connect)
    receipt = frame.get("receipt-id")
    asked = [*conn.pending, *([conn.connect] if conn.connect else [])]
    named = next((p for p in asked if receipt is not None and p.receipt == receipt), None)
    if receipt is not None and named is None and receipt not in conn.answered:
        others = [p for other, c in state.conns.items() if other != number for p in c.pending]
        if any(p.receipt == receipt for p in others):
            why = f"ERROR with receipt-id {receipt!r:.60}, which a frame of another connection asked for"
            return blame("ROB-02", why, also="ERROR-04")
    lapses = _error_form(frame, suspects, receipt)
    if conn.lost or conn.midway or conn.said_after_end:
        return Allow(_failed(state, number, conn), ids("ERROR-03") + _lost_covers(conn), lapses)
    if conn.mine_ms and conn.mute_ms >= conn.mine_ms:
        return Allow(_failed(state, number, conn), ids("HB-08"), lapses)  # the client was silent too long
    if conn.overdue:
        return Allow(_failed(state, number, conn), (), lapses)  # on its way, maybe, when the client spoke again
    if not suspects:
        return _unprovoked(state, number, conn, named, f"ERROR ({frame.get('message')!r:.120}) in a legal session")
    if receipt is not None and named is None:
        what = "whose RECEIPT has come already" if receipt in conn.answered else "which no frame asked for"
        return blame("ERROR-04", f"ERROR with receipt-id {receipt!r:.60}, {what}", "MUST")
    if named is not None and named not in suspects and not any(p.serial < named.serial for p in suspects):
        return _unprovoked(state, number, conn, named, f"ERROR ({frame.get('message')!r:.120}) for a legal frame")
    hit = [m for m in state.messages.values() if m.conn == number and m.behind and m.deliveries]
    if any(m.behind and m.behind.accepted == "MUST" for m in hit):
        return blame("ERROR-02", "a SEND behind a refused frame was delivered")
    covers = ids("ERROR-03 ERROR-05 ERROR-08 FRAME-01 FRAME-08")
    for p in (_gravest(suspects, connect),):
        if isinstance(p.call, Refusal):
            covers += (p.call.requirement, *p.call.also, *ids("RECEIPT-03"))
            covers += ids("ERROR-04") if p.receipt is not None else ()
            covers += ids("CONNECT-04") if p is connect else ()
        elif isinstance(p.call, Free):
            covers += p.call.covers
        else:
            why = f"ERROR ({frame.get('message')!r:.120}) in a legal session: a frame before CONNECTED was refused"
            early = blame("CONNECT-14", why, "SHOULD")
            lapses += (early,)
    if frame.body:
        covers += ids("ERROR-06 CTYPE-01")
    if frame.get("content-type") is not None:
        covers += ids("CTYPE-02")
    return Allow(_failed(state, number, conn), covers, lapses)


def _error_form(frame: Frame, suspects: list[Pending], receipt: str | None) -> tuple[Breach, ...]:
    lapses: list[Breach] = []
    if frame.get("message") is None:
        lapses.append(blame("ERROR-03", "ERROR without a message header"))
    refused = [p for p in suspects if isinstance(p.call, Refusal)]
    if len(suspects) == len(refused) == 1 and refused[0].receipt is not None and receipt is None:
        lapses.append(blame("ERROR-04", "ERROR without the receipt-id of the frame that it is about"))
    if frame.body and frame.get("content-length") is None:
        lapses.append(blame("ERROR-06", "ERROR with a body but without content-length", also="CLEN-05"))
    if frame.body and frame.get("content-type") is None:
        lapses.append(blame("ERROR-06", "ERROR with a body but without content-type", also="CTYPE-01"))
    elif frame.get("content-type") is not None and not MIME.match(frame.get("content-type")):
        lapses.append(blame("CTYPE-02", f"content-type {frame.get('content-type')!r:.60} is no MIME type"))
    return tuple(lapses)


def _failed(state: State, number: int, conn: Conn) -> State:
    state = put(state, number, conn._replace(phase=Phase.FAILED))
    return left(state, number)


def _unprovoked(state: State, number: int, conn: Conn, named: Pending | None, what: str) -> Breach:
    """ERROR or a close that nothing the client did explains: blame what is most special about what it did last."""
    candidates = [named] if named is not None else [p for p in reversed(conn.pending) if not _shown(state, p)]
    if not candidates and conn.connect is not None and conn.connect.due:
        candidates = [conn.connect]
    command = candidates[0].frame.command if candidates else "nothing"
    if conn.phase is Phase.WAIT and conn.connect is not None and named is None:
        requirement = about_connect(state, number, conn.connect)
        level = None if requirement in _SOFT else "MUST"
        return Breach("server", requirement, what, level=level, also=ids("CONNECT-02"))
    others = [c for n, c in state.conns.items() if n != number]
    at_fault = any(c.phase is Phase.FAILED or c.lost or c.doom is not None or _beyond_limits(c) for c in others)
    if not candidates and at_fault:
        why = f"{what}, though only another connection was at fault"
        return replace(blame("ROB-02", why, also="LIMIT-03 ERROR-07"), otherwise=PREFIX + "ERROR-07")
    if not candidates and any(m.conn == number and b"\0" in m.frame.body for m in state.messages.values()):
        return blame("CLEN-01", f"{what}: octets of a body with a NUL were read as a frame", also="ERROR-07")
    certain = len(candidates) == 1 and (named is not None or not conn.hushed)
    for p in candidates if certain else ():
        special = [name for name in p.proves if name not in _COMMON]
        if special:
            level = None if special[0] in _SOFT else "MUST"
            return Breach("server", special[0], f"{what}: {command}", level=level, also=ids("ERROR-07"))
    return blame("ERROR-07", f"{what}: {command}")


def _beyond_limits(conn: Conn) -> bool:
    """True when what was sent on it may be too much for the server."""
    return any(p.call is not None and p.call.requirement == PREFIX + "LIMIT-02" for p in conn.pending)


def _shown(state: State, pending: Pending) -> bool:
    """True when a MESSAGE has shown that a frame which was not receipted was carried out."""
    if pending.frame.command == "SEND":
        sent = state.messages.get(pending.serial)
        return sent is not None and bool(sent.deliveries)
    return pending.frame.command == "SUBSCRIBE" and any(d.sub == pending.serial for d in state.deliveries.values())


def closed(state: State, event: Closed) -> Outcome:
    conn = state.conns.get(event.conn) or Conn()
    closed = conn._replace(phase=Phase.CLOSED, silent_ms=0)
    if conn.phase is Phase.CLOSED:
        return Allow(state)
    after = put(state, event.conn, closed)
    if conn.phase in (Phase.CLOSING, Phase.LEFT):
        owing = next((p for p in conn.pending if p.frame.command == "DISCONNECT" and p.receipt is not None), None)
        if event.by == "server" and owing is not None:
            earlier = [p for p in conn.pending if p is not owing]
            if any(p.call is not None or p.early for p in earlier) or conn.said_after_end:
                return Allow(after)
            if earlier:
                return replace_steady(
                    _unprovoked(after, event.conn, conn._replace(pending=tuple(earlier)), None, "closed the connection")
                )
            return replace_steady(blame("DISC-03", "closed without the RECEIPT of DISCONNECT", also="RECEIPT-01"))
        covers = ids("LINGER-02 DISC-04 DISC-08" if owing is None else "LINGER-02 DISC-04")
        return Allow(after, covers)
    if conn.phase is Phase.FAILED:
        return Allow(after, ids("ERROR-01 ERROR-02") if event.by == "server" else ())
    after = left(after, event.conn)
    if event.by == "client":
        return Allow(after, ids("DISC-01"))
    return _cut_off(after, event.conn, conn)


def _cut_off(after: State, number: int, conn: Conn) -> Outcome:
    """The server closed without ERROR."""
    suspects = [p for p in conn.pending if p.call is not None or p.early]
    if conn.phase is Phase.WAIT and conn.connect is not None and conn.connect.call is not None:
        suspects.insert(0, conn.connect)
    if conn.mine_ms and conn.mute_ms >= conn.mine_ms:
        hasty: tuple[Breach, ...] = ()
        if conn.mute_ms <= conn.mine_ms * (1 + MARGIN) and not suspects:
            why = f"closed after {conn.mute_ms} ms of silence, agreed were {conn.mine_ms} ms: no margin"
            hasty = (blame("HB-09", why, "SHOULD"),)
        return Allow(after, ids("HB-08"), hasty)
    if conn.overdue:
        return Allow(after)  # it was on its way, maybe, when the client spoke again
    life = _unnoticed(after, conn)
    if conn.lost or (conn.midway and life != LIFE["octets"]):
        return Allow(after, _lost_covers(conn))
    if not suspects:
        asked = any(p.receipt is not None for p in conn.pending)
        if life and not asked:
            why = f"closed after {conn.mute_ms} ms of silence, agreed were {conn.mine_ms} ms"
            return blame(life, why, "MUST", also="HB-08 HB-09")
        if conn.phase is Phase.OPEN:
            return Allow(after)
        if conn.phase is Phase.LIVE and not conn.pending and conn.mute_ms > IDLE_MS:
            why = f"closed an idle connection after {conn.mute_ms} ms although no heart-beats were agreed"
            return replace_steady(blame("HB-03", why, also="HB-02 ERROR-07"))
        broken = _unprovoked(after, number, conn, None, "closed the connection in a legal session")
        return replace_steady(broken)
    call = _gravest(suspects, conn.connect if conn.phase is Phase.WAIT else None).call
    covers: tuple[str, ...] = ()
    lapses: tuple[Breach, ...] = ()
    if isinstance(call, Refusal):
        covers = (call.requirement, *call.also, *ids("RECEIPT-03"))
        if call.silent:
            missing = replace_steady(blame(_silently(call), f"closed without ERROR ({call.why})", call.silent))
            if call.silent == "MUST":
                return replace(missing, then=after)
            lapses = (missing,)
    elif isinstance(call, Free):
        covers = call.covers
        if call.silent:
            short = call.requirement.removeprefix(PREFIX)
            missing = replace_steady(blame(short, "closed without ERROR", call.silent))
            if call.silent == "MUST":
                return replace(missing, then=after)
            lapses = (missing,)
    else:
        why = "closed the connection in a legal session: a frame before CONNECTED was refused"
        lapses = (blame("CONNECT-14", why, "SHOULD"),)
    return Allow(after, covers, lapses)


def _unnoticed(state: State, conn: Conn) -> str:
    """The rule about heart-beats that explains why a client which showed life in time was given up; "" if none does:
    the sign of life without which the agreed time would have passed, or that some of it had passed."""
    if not conn.mine_ms:
        return ""
    for kind in ("octets", "eol", "frame"):
        others = [at for other, at in conn.heard.items() if other != kind]
        if kind in conn.lives and state.elapsed_ms - max(others, default=0) >= conn.mine_ms:
            return LIFE[kind]
    return "HB-08" if conn.mute_ms >= conn.mine_ms * HASTY else ""


def _lost_covers(conn: Conn) -> tuple[str, ...]:
    """What the end of a connection on which the framing was broken shows."""
    return ids(f"{conn.lost} INV-16" if conn.lost == "CLEN-02" else conn.lost) if conn.lost else ()


def _gravest(suspects: list[Pending], connect: Pending | None) -> Pending:
    """Of several frames for which a server may end the connection, one that it should, or else a CONNECT that is not
    answered, without which the others mean nothing, or else the last."""
    should = next((p for p in suspects if isinstance(p.call, Refusal)), None)
    return should or next((p for p in suspects if p is connect), suspects[-1])


def _silently(call: Refusal) -> str:
    """The requirement that a close without ERROR misses, in its short form: the rule about ERROR rather than the rule
    that the client broke."""
    for name in (call.requirement, *call.also):
        short = name.removeprefix(PREFIX)
        if short in _ANSWERED_BY or "INV-" in short:
            return _ANSWERED_BY.get(short, short)
    return call.requirement.removeprefix(PREFIX)


def replace_steady(breach: Breach) -> Breach:
    """The same breach, counted only when every repetition shows it: the text lets a last frame get lost."""
    return replace(breach, steady=True)
