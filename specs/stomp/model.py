"""The STOMP server's acceptor: which answers the text allows to what a client said.

Source: 003_30478fd2f19f0da0.txt L43-56 (CONNECTED), L214-248 (server frames), L250-263 (RECEIPT) and STOMP 1.2
sections CONNECTED Frame, RECEIPT, ERROR, Heart-beating, Connection Lingering.

The state is an envelope: it knows for everything the tester said whether it may, must or must never show. An answer is
judged by what had been said before it arrived, so that the same model is sound in lock-step and with any number of
frames on the wire; nothing is owed before the peer was given its patience (`Quiet(final=True)`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.stomp.answers import connected, receipt
from specs.stomp.client import put, said
from specs.stomp.endings import IDLE_MS, closed, error
from specs.stomp.frames import BEAT, SERVER_COMMANDS, Frame
from specs.stomp.headers import ids
from specs.stomp.messages import blame, message
from specs.stomp.owed import at_the_end, owed
from specs.stomp.states import ALLOWED, NORMAL, Config, Conn, Phase, State

_LOST = {
    "content-length-mismatch": "CLEN-02",
    "over-limit": "INV-19",
}
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
        torn = _torn(state, event)
        if torn is not None:
            return (torn,)
        if isinstance(event, Said):
            if event.by == "client":
                if state.config.sizes.exceeded(event.frame) and not NORMAL.exceeded(event.frame):
                    return (Allow(ANYTHING),)  # beyond what this server takes: what it makes of it decides all else
                conn = state.conns.get(event.conn)
                completes = conn is not None and conn.midway and event.frame.get("content-length") is not None
                return (Allow(said(state, event.conn, event.frame), ids("CLEN-08") if completes else ()),)
            return self._answer(state, event.conn, event.frame)
        if isinstance(event, Quiet):
            return self._quiet(state, event)
        if isinstance(event, Closed):
            return (closed(state, event),)
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
            return receipt(state, number, conn, frame)
        if frame.command == "CONNECTED":
            return (connected(state, number, conn, frame),)
        return (error(state, number, conn, frame),)

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
            if early and wart in ("raw-colon", "undefined-escape", "cr-in-line-end"):
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
        conns = {number: _aged(conn, event.ms, elapsed) if conn.alive else conn for number, conn in state.conns.items()}
        return state._replace(conns=conns, elapsed_ms=state.elapsed_ms + elapsed)

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
                heard = {**conn.heard, "octets": state.elapsed_ms}
                conn = conn._replace(midway=True, mute_ms=0, lives=lives, heard=heard)
            return Allow(put(state, event.conn, conn))
        return Allow(state)


def _aged(conn: Conn, silent_ms: int, mute_ms: int) -> Conn:
    mute_ms += conn.mute_ms
    overdue = conn.overdue or (conn.mine_ms > 0 and mute_ms >= conn.mine_ms)
    return conn._replace(silent_ms=conn.silent_ms + silent_ms, mute_ms=mute_ms, overdue=overdue)


def _torn(state: State, event: Event) -> Breach | None:
    """What was wrong with an empty MESSAGE whose SEND has a body that begins with NUL: its length was not stated if
    octets follow that are no frame of a server; else the body was cut."""
    if isinstance(event, (Quiet, Fact)) or event.by == "client":
        return None
    conn = state.conns.get(event.conn)
    if conn is None or not conn.torn:
        return None
    rest = isinstance(event, Noise) or (isinstance(event, Said) and event.frame.command not in SERVER_COMMANDS | {""})
    return blame("CLEN-04" if rest else "CLEN-01", conn.torn, also="BODY-02")
