"""The STOMP server's acceptor: which answers the text allows to what a client said.

Source: 003_30478fd2f19f0da0.txt L43-56 (CONNECTED), L214-248 (server frames), L250-263 (RECEIPT) and STOMP 1.2
sections CONNECTED Frame, RECEIPT, ERROR, Heart-beating, Connection Lingering.

The state is an envelope: it knows for everything the tester said whether it may, must or must never show. An answer is
judged by what had been said before it arrived, so that the same model is sound in lock-step and with any number of
frames on the wire; nothing is owed before the peer was given its patience (`Quiet(final=True)`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.stomp.calls import BEATS, ids, offered
from specs.stomp.client import left, put, said
from specs.stomp.frames import BEAT, Frame
from specs.stomp.messages import MIME, blame, message
from specs.stomp.owed import about_connect, at_the_end, owed
from specs.stomp.states import ALLOWED, PREFIX, Config, Conn, Free, Pending, Phase, Refusal, State

_SERVER = re.compile(r"[^\s/]+(/[^\s]+)?( .*)?\Z", re.DOTALL)
_RECEIPT_SHOWN = ids(
    "RECEIPT-01 RECEIPT-02 RECEIPT-03 RECEIPT-06 RECEIPT-07 HDR-01 FRAME-01 FRAME-08 ERROR-07 BODY-01 ENC-10"
)
_SOFT = frozenset(ids("REPEAT-01 CONNECT-14 ACK-06 NACK-04"))
_COMMON = frozenset(ids("SEND-05"))
"""Shown by nearly every frame: says nothing about why one was refused."""
_LOST = {
    "content-length-mismatch": "CLEN-02",
    "over-limit": "INV-19",
}
_LIFE = {"frame": "HB-06", "eol": "HB-07", "octets": "HB-10"}
MANY = 50
"""Frames in flight on one connection that make a client a slow reader."""
MARGIN = 0.05
"""A client given up within this part of its interval after the end of it was given no margin."""
IDLE_MS = 400
"""A silence after which a connection counts as idle: shorter ones say nothing about heart-beats."""
HEART_BEAT_SLACK_MS = 500
"""Added to twice the agreed interval before a missing heart-beat is a fault: schedulers are not the protocol."""


class StompModel:
    """See the module. `drifts` is False: the envelope needs no silent moves."""

    drifts = False

    def initial(self, config: Config) -> State:
        """Nothing said on any connection."""
        return State(config)

    def drift(self, state: State) -> Iterable[State]:
        """None; see the class."""
        return ()

    def owed(self, state: State, role: str) -> Iterator[str]:
        """Requirements by which the server still has something to say."""
        return owed(state) if role == "server" else iter(())

    def step(self, state: State, event: Event) -> Iterable[Outcome]:
        """One reading always: see the module."""
        if isinstance(event, Said):
            if event.by == "client":
                conn = state.conns.get(event.conn)
                completes = conn is not None and conn.midway and event.frame.get("content-length") is not None
                return (Allow(said(state, event.conn, event.frame), ids("CLEN-08") if completes else ()),)
            return self._answer(state, event.conn, event.frame)
        if isinstance(event, Quiet):
            return self._quiet(state, event)
        if isinstance(event, Closed):
            return (self._closed(state, event),)
        if isinstance(event, Noise):
            return (self._noise(state, event),)
        return (self._fact(state, event),)

    # -- what the server says -------------------------------------------------------------------------------------

    def _answer(self, state: State, number: int, frame: Frame) -> Iterable[Outcome]:
        conn = state.conns.get(number) or Conn()
        if conn.silent_ms:
            conn = conn._replace(silent_ms=0)
            state = put(state, number, conn)
        if conn.phase is Phase.CLOSED:
            return (Allow(state),)  # the tester hung up; what was under way may still be read
        if frame == BEAT:
            return (Allow(state, ids("HB-04 HB-05") if conn.beats_ms else ()),)
        table = ALLOWED[conn.phase]
        if frame.command not in table or frame.command == "close":
            return (blame("FRAME-08", f"a server does not send {frame.command!r:.60}"),)
        after = table[frame.command]
        if after is None:
            return (self._out_of_phase(conn, frame),)
        if frame.warts:
            broken = self._warts(state, conn, frame)
            if broken is not None:
                return (broken,)
        if frame.command == "MESSAGE":
            return (message(state, number, conn, frame),)
        if frame.command == "RECEIPT":
            return self._receipt(state, number, conn, frame)
        if frame.command == "CONNECTED":
            return (self._connected(state, number, conn, frame),)
        return (self._error(state, number, conn, frame),)

    def _out_of_phase(self, conn: Conn, frame: Frame) -> Outcome:
        command = frame.command
        if conn.phase is Phase.FAILED:
            return blame("ERROR-02", f"{command} after ERROR")
        if conn.phase is Phase.LEFT:
            late = command == "RECEIPT" and any(p.receipt == frame.get("receipt-id") for p in conn.pending)
            if late or conn.said_after_end:
                return Allow(
                    ANYTHING, lapses=(blame("DISC-04", f"{command} after the RECEIPT of DISCONNECT", "SHOULD"),)
                )
            return blame("DISC-04", f"{command} after the RECEIPT of DISCONNECT")
        if command == "CONNECTED":
            if conn.phase is Phase.OPEN:
                return blame("CONNECT-11", "CONNECTED although no CONNECT was sent")
            return blame("INV-33", "a second CONNECTED on one connection", "MUST")
        connect = conn.connect
        if command == "RECEIPT" and connect is not None and frame.get("receipt-id") == connect.receipt:
            return blame("CONNECT-12", "RECEIPT for a CONNECT frame", also="INV-36")
        return blame("CONNECT-11", f"{command} before CONNECTED")

    def _warts(self, state: State, conn: Conn, frame: Frame) -> Outcome | None:
        early = conn.phase in (Phase.OPEN, Phase.WAIT)
        for wart in frame.warts:
            if early and wart in ("raw-colon", "undefined-escape"):
                continue  # docs/ambiguities.md, E-17
            if wart == "bare-cr" and conn.version != "1.2":
                continue  # those versions have no escape for it
            if wart == "bad-content-length" and any(wart in m.frame.warts for m in state.messages.values()):
                continue
            if wart == "not-utf8":
                if any("not-utf8" in m.frame.warts for m in state.messages.values()) or self._asked_in_octets(state):
                    continue  # what came in as other octets may go out as it came
                return blame("ENC-01", f"{frame.command} has headers that are no UTF-8")
            if frame.command == "ERROR" and wart in ("raw-colon", "undefined-escape", "bare-cr"):
                return blame("ERROR-08", f"ERROR with a header that is not escaped ({wart})")
            requirement = {
                "raw-colon": "ENC-10",
                "undefined-escape": "ENC-02",
                "bare-cr": "ENC-02",
                "no-colon": "ENC-09",
                "empty-name": "ENC-09",
                "bad-content-length": "CLEN-06",
                "cr-in-line-end": "FRAME-01",
            }[wart]
            return blame(requirement, f"{frame.command} is ill-formed ({wart})", also="FRAME-01")
        return None

    def _asked_in_octets(self, state: State) -> bool:
        return any(conn.lost or any("not-utf8" in p.frame.warts for p in conn.pending) for conn in state.conns.values())

    def _connected(self, state: State, number: int, conn: Conn, frame: Frame) -> Outcome:
        connect = conn.connect
        assert connect is not None
        covers = (
            ids("CONNECT-02 CONNECTED-02 CONNECTED-05 CONNECT-11 HB-01 FRAME-01 FRAME-08 BODY-01 HDR-01")
            + connect.proves
        )
        if frame.body:
            return blame("BODY-01", "CONNECTED with a body")
        if isinstance(connect.call, Refusal):
            return self._accepted(state, connect, connect.call, "CONNECTED although the CONNECT had to be refused")
        version = frame.get("version")
        wrong = self._version(conn, connect, version)
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
        )
        lapses: tuple[Breach, ...] = ()
        if any(p.call is not None and not p.early for p in conn.pending):
            lapses = (blame("INV-32", "a frame before CONNECT was ignored"),)
        state = put(state, number, conn)
        if session is not None:
            state = state._replace(sessions=state.sessions | {session})
        return Allow(state, covers, lapses)

    def _version(self, conn: Conn, connect: Pending, version: str | None) -> Breach | None:
        versions = offered(connect.frame) or ()
        if connect.frame.get("accept-version") is None:
            if version not in (None, "1.0"):
                return blame("NEGO-02", f"a client that offers nothing speaks 1.0, CONNECTED says {version!r:.40}")
            return None
        if version is None:
            if versions == ("1.0",) or not versions:
                return None
            return blame("CONNECTED-01", "CONNECTED without version", also="HDR-01")
        if not versions:
            return None  # the list was not canonical: any outcome is allowed
        if version not in versions:
            return blame("NEGO-01", f"CONNECTED says version {version!r:.40}, which was not offered")
        if version != conn.version and not isinstance(connect.call, Free):
            why = f"CONNECTED says version {version!r:.40}, the highest version in common is {conn.version}"
            return blame("NEGO-01", why)
        return None

    def _receipt(self, state: State, number: int, conn: Conn, frame: Frame) -> Iterable[Outcome]:
        if frame.body:
            return (blame("RECEIPT-07", "RECEIPT with a body", also="BODY-01"),)
        wanted = frame.get("receipt-id")
        if wanted is None:
            return (blame("RECEIPT-02", "RECEIPT without receipt-id", also="HDR-01"),)
        asked = [p for p in conn.pending if p.receipt == wanted]
        if not asked and conn.lost == "CLEN-02":
            return (
                blame("CLEN-02", "RECEIPT for a frame whose content-length does not fit", also="INV-16 RECEIPT-03"),
            )
        if not asked and conn.lost:
            return (Allow(state),)  # the server was free to make what it could of those octets
        if not asked:
            return (self._unasked(conn, wanted),)
        # RECEIPTs of different frames may come in any order: one reading for each frame that it may be about
        return [self._receipted(state, number, conn, pending, wanted) for pending in asked]

    def _receipted(self, state: State, number: int, conn: Conn, pending: Pending, wanted: str) -> Outcome:
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
            covers += ids("HB-09 " + " ".join(_LIFE[life] for life in conn.lives))
        if any(c.phase is Phase.FAILED or c.lost or c.doom is not None for n, c in state.conns.items() if n != number):
            covers += ids("ROB-02 LIMIT-03")
        if pending.frame.command in ("ACK", "NACK"):
            covers += ids("NEGO-06")
        lapses: tuple[Breach, ...] = ()
        # frames before it were received; those that asked for nothing need not be remembered
        rest = tuple(p for p in rest if p.receipt is not None or p.call is not None or p.serial > pending.serial)
        conn = conn._replace(pending=rest, answered=(*conn.answered, wanted))
        if pending.tx is not None:
            conn = conn._replace(within=conn.within | {wanted})
        if isinstance(pending.call, Refusal):
            outcome = self._accepted(state, pending, pending.call, "RECEIPT for a frame that had to be refused")
            if not pending.call.forgives or isinstance(outcome, Breach):
                return outcome
            lapses = outcome.lapses
            conn = conn._replace(doom=None)
        elif isinstance(pending.call, Free):
            covers += pending.call.covers
        if pending.late:
            lapses = (blame("DISC-06", f"a {pending.frame.command} after DISCONNECT was processed", "SHOULD"),)
        return Allow(self._processed(state, number, conn, pending), covers, lapses)

    def _accepted(self, state: State, pending: Pending, refusal: Refusal, what: str) -> Allow | Breach:
        """The server agreed to a frame that it should have refused."""
        broken = Breach(
            "server",
            refusal.requirement,
            f"{what}: {refusal.why or pending.frame.command}",
            level=refusal.accepted or None,
            also=refusal.also + ids("RECEIPT-03"),
        )
        if refusal.accepted == "MUST":
            return broken
        return Allow(ANYTHING, lapses=(replace(broken, also=refusal.also),) if refusal.accepted else ())

    def _unasked(self, conn: Conn, wanted: str) -> Breach:
        text = f"RECEIPT for {wanted!r:.60}"
        for p in conn.pending:
            if p.receipt is None:
                continue
            later = [value for name, value in p.frame.headers if name == "receipt"][1:]
            if wanted in later:
                return blame("REPEAT-01", f"{text}, which is not the first of repeated receipt headers")
            if conn.version == "1.0" and "\\" in p.receipt:
                return blame("ENC-12", f"{text}, asked for was {p.receipt!r:.60} in a 1.0 session", also="RECEIPT-02")
            if p.receipt != wanted and (p.receipt.strip() == wanted.strip() or not p.receipt.isalnum()):
                return blame("RECEIPT-02", f"{text}, asked for was {p.receipt!r:.60}", also="RECEIPT-06")
        if conn.midway:
            return blame("CLEN-08", f"{text} before the frame was complete")
        if wanted in conn.answered:
            return blame("TXN-13" if wanted in conn.within else "RECEIPT-06", f"{text} came twice", also="RECEIPT-06")
        if any(p.receipt is not None for p in conn.pending):
            return blame("RECEIPT-02", f"{text}, which was never asked for", also="RECEIPT-06")
        return blame("RECEIPT-06", f"{text}, which was never asked for")

    def _processed(self, state: State, number: int, conn: Conn, pending: Pending) -> State:
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

    def _error(self, state: State, number: int, conn: Conn, frame: Frame) -> Outcome:
        suspects = [p for p in conn.pending if p.call is not None or p.early]
        connect = conn.connect if conn.phase is Phase.WAIT else None
        if connect is not None and connect.call is not None:
            suspects.insert(0, connect)
        receipt = frame.get("receipt-id")
        asked = [*conn.pending, *([conn.connect] if conn.connect else [])]
        named = next((p for p in asked if receipt is not None and p.receipt == receipt), None)
        lapses = self._error_form(frame, suspects, receipt)
        if conn.lost or conn.midway or conn.said_after_end:
            return Allow(self._failed(state, number, conn), ids("ERROR-03") + _lost_covers(conn), lapses)
        if conn.mine_ms and conn.mute_ms >= conn.mine_ms:
            return Allow(self._failed(state, number, conn), ids("HB-08"), lapses)  # the client was silent too long
        if not suspects:
            return self._unprovoked(
                state, number, conn, named, f"ERROR ({frame.get('message')!r:.120}) in a legal session"
            )
        if receipt is not None and named is None:
            what = "whose RECEIPT has come already" if receipt in conn.answered else "which no frame asked for"
            return blame("ERROR-04", f"ERROR with receipt-id {receipt!r:.60}, {what}", "MUST")
        if named is not None and named not in suspects and not any(p.serial < named.serial for p in suspects):
            return self._unprovoked(
                state, number, conn, named, f"ERROR ({frame.get('message')!r:.120}) for a legal frame"
            )
        hit = [m for m in state.messages.values() if m.conn == number and m.behind and m.deliveries]
        if any(m.behind and m.behind.accepted == "MUST" for m in hit):
            return blame("ERROR-02", "a SEND behind a refused frame was delivered")
        covers = ids("ERROR-03 ERROR-05 ERROR-08 FRAME-01 FRAME-08")
        for p in (_gravest(suspects),):
            if isinstance(p.call, Refusal):
                covers += (p.call.requirement, *p.call.also, *ids("RECEIPT-03"))
                covers += ids("ERROR-04") if p.receipt is not None else ()
                covers += ids("CONNECT-04") if p is connect else ()
            elif isinstance(p.call, Free):
                covers += p.call.covers
            else:
                early = blame("CONNECT-14", "a frame sent before CONNECTED came was refused", "SHOULD")
                lapses += (early,)
        if frame.body:
            covers += ids("ERROR-06 CTYPE-01")
        if frame.get("content-type") is not None:
            covers += ids("CTYPE-02")
        return Allow(self._failed(state, number, conn), covers, lapses)

    def _error_form(self, frame: Frame, suspects: list[Pending], receipt: str | None) -> tuple[Breach, ...]:
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

    def _failed(self, state: State, number: int, conn: Conn) -> State:
        state = put(state, number, conn._replace(phase=Phase.FAILED))
        return left(state, number)

    def _unprovoked(self, state: State, number: int, conn: Conn, named: Pending | None, what: str) -> Breach:
        """ERROR or a close that nothing the client did explains: blame what is most special about what it did last."""
        candidates = [named] if named is not None else [*reversed(conn.pending)]
        if not candidates and conn.connect is not None and conn.connect.due:
            candidates = [conn.connect]
        command = candidates[0].frame.command if candidates else "nothing"
        if conn.phase is Phase.WAIT and conn.connect is not None and named is None:
            requirement = about_connect(state, number, conn.connect)
            level = None if requirement in _SOFT else "MUST"
            return Breach("server", requirement, what, level=level, also=ids("CONNECT-02"))
        if not candidates and any(c.phase is Phase.FAILED or c.shaky for n, c in state.conns.items() if n != number):
            return blame("ROB-02", f"{what}, though only another connection was at fault", also="LIMIT-03 ERROR-07")
        for p in candidates if len(candidates) == 1 else ():
            special = [name for name in p.proves if name not in _COMMON]
            if special:
                level = None if special[0] in _SOFT else "MUST"
                return Breach("server", special[0], f"{what}: {command}", level=level, also=ids("ERROR-07"))
        return blame("ERROR-07", f"{what}: {command}")

    # -- everything else ------------------------------------------------------------------------------------------

    def _closed(self, state: State, event: Closed) -> Outcome:
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
                        self._unprovoked(
                            after, event.conn, conn._replace(pending=tuple(earlier)), None, "closed the connection"
                        )
                    )
                return replace_steady(blame("DISC-03", "closed without the RECEIPT of DISCONNECT", also="RECEIPT-01"))
            covers = ids("LINGER-02 DISC-04 DISC-08" if owing is None else "LINGER-02 DISC-04")
            return Allow(after, covers)
        if conn.phase is Phase.FAILED:
            return Allow(after, ids("ERROR-01 ERROR-02") if event.by == "server" else ())
        after = left(after, event.conn)
        if event.by == "client":
            return Allow(after, ids("DISC-01"))
        return self._cut_off(after, event.conn, conn)

    def _cut_off(self, after: State, number: int, conn: Conn) -> Outcome:
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
        slow = conn.midway and conn.mine_ms and "octets" in conn.lives
        if conn.lost or (conn.midway and not slow):
            return Allow(after, _lost_covers(conn))
        if not suspects:
            asked = any(p.receipt is not None for p in conn.pending)
            if conn.mine_ms and not asked and (conn.mute_ms or conn.lives):
                life = next((_LIFE[kind] for kind in ("octets", "eol", "frame") if kind in conn.lives), "HB-08")
                why = f"closed after {conn.mute_ms} ms of silence, agreed were {conn.mine_ms} ms"
                return blame(life, why, "MUST", also="HB-08 HB-09")
            if conn.phase is Phase.OPEN:
                return Allow(after)
            if conn.phase is Phase.LIVE and not conn.pending and conn.mute_ms > IDLE_MS:
                why = f"closed an idle connection after {conn.mute_ms} ms although no heart-beats were agreed"
                return replace_steady(blame("HB-03", why, also="HB-02 ERROR-07"))
            broken = self._unprovoked(after, number, conn, None, "closed the connection in a legal session")
            return replace_steady(broken)
        call = _gravest(suspects).call
        covers: tuple[str, ...] = ()
        lapses: tuple[Breach, ...] = ()
        if isinstance(call, Refusal):
            covers = (call.requirement, *call.also, *ids("RECEIPT-03"))
            if call.silent:
                missing = replace_steady(blame(_silently(call), f"closed without ERROR: {call.why}", call.silent))
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
            lapses = (blame("CONNECT-14", "closed because of a frame sent before CONNECTED came", "SHOULD"),)
        return Allow(after, covers, lapses)

    def _quiet(self, state: State, event: Quiet) -> Iterable[Outcome]:
        if event.ms or event.elapsed:
            late = self._overdue(state, event)
            if late is not None:
                return (late,)
            state = self._aged(state, event)
        if event.final:
            return (at_the_end(state),)
        idle = [c for c in state.conns.values() if c.phase is Phase.LIVE and c.mute_ms > IDLE_MS and not c.mine_ms]
        return (Allow(state, ids("HB-02 HB-03") if idle else ()),)

    def _overdue(self, state: State, event: Quiet) -> Breach | None:
        for conn in state.conns.values():
            silent = conn.silent_ms + event.ms
            if conn.beats_ms and conn.phase is Phase.LIVE and silent > 2 * conn.beats_ms + HEART_BEAT_SLACK_MS:
                return blame("HB-04", f"silent for {silent} ms, agreed was something at least every {conn.beats_ms} ms")
        return None

    def _aged(self, state: State, event: Quiet) -> State:
        elapsed = max(event.ms, event.elapsed)
        conns = {
            number: conn._replace(silent_ms=conn.silent_ms + event.ms, mute_ms=conn.mute_ms + elapsed)
            if conn.alive
            else conn
            for number, conn in state.conns.items()
        }
        return state._replace(conns=conns)

    def _noise(self, state: State, event: Noise) -> Outcome:
        conn = state.conns.get(event.conn) or Conn(version=state.config.version)
        if event.by == "server":
            if conn.phase is Phase.CLOSED:
                return Allow(state)
            name = {"content-length-mismatch": "CLEN-06", "cut-off": "FRAME-01"}.get(event.why, "FRAME-01")
            expected = [m for m in state.messages.values() if b"\0" in m.frame.body]
            if event.why == "nul-in-head" and expected and not event.data.startswith(b"ERROR"):
                name = "CLEN-04"
            return blame(name, f"octets that are no frame ({event.why}): {event.data[:80]!r}")
        lost = _LOST.get(event.why, "ROB-04")
        if event.why == "nul-in-head":
            nul = event.data.find(0)
            lost = "INV-29" if event.data[:nul].endswith(b"\n") else "INV-25" if nul else "INV-30"
        if conn.phase is Phase.OPEN:
            lost = "ROB-04"
        return Allow(put(state, event.conn, conn._replace(lost=lost, mute_ms=0, midway=False)))

    def _fact(self, state: State, event: Fact) -> Outcome:
        conn = state.conns.get(event.conn) or Conn(version=state.config.version)
        if event.name == "refused":
            return blame("ROB-01", f"a new connection was refused: {event.value!r:.120}")
        if event.name == "octets":
            if event.by == "server":
                conn = conn._replace(silent_ms=0)
            else:
                lives = conn.lives | {"octets"} if conn.mute_ms else conn.lives
                conn = conn._replace(midway=True, mute_ms=0, lives=lives)
            return Allow(put(state, event.conn, conn))
        return Allow(state)


def _lost_covers(conn: Conn) -> tuple[str, ...]:
    """What the end of a connection on which the framing was broken shows."""
    return ids(f"{conn.lost} INV-16" if conn.lost == "CLEN-02" else conn.lost) if conn.lost else ()


def _gravest(suspects: list[Pending]) -> Pending:
    """Of several frames for which a server may end the connection, one that it should, or else the last."""
    return next((p for p in suspects if isinstance(p.call, Refusal)), suspects[-1])


def _silently(call: Refusal) -> str:
    """The requirement that a close without ERROR misses, in its short form: the rule about ERROR rather than the rule
    that the client broke."""
    short = call.requirement.removeprefix(PREFIX)
    input_row = next((name.removeprefix(PREFIX) for name in call.also if "INV-" in name), short)
    return {"SEND-01": "SEND-06", "SUB-01": "SUB-06", "NEGO-03": "NEGO-03"}.get(short, input_row)


def replace_steady(breach: Breach) -> Breach:
    """The same breach, counted only when every repetition shows it: the text lets a last frame get lost."""
    return replace(breach, steady=True)
