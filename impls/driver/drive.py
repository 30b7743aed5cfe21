"""Play a plan against an implementation and write down what happened.

The driver waits for its turn as the model says it, never for a pause. Everything it reads has a limit and everything it
waits for a deadline: an implementation that hangs, floods or dies ends the plan with what was seen up to there.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from impls.driver.link import ControlChannel, Link, LinkError, Transport, control_of, unread_of
from specs.codec import Bad, Decoder
from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.lag import Lagged
from specs.model import Judgement, Owed, Watcher
from specs.plan import Close, Control, Plan, Reach, Ref, Say, SendBytes, Step, Wait
from specs.protocol import Protocol

MAX_EVENTS = 50_000
MAX_OCTETS = 1 << 25
"""Events and octets taken from an implementation in one plan; beyond them it is a flood."""
KEEP_WIRE = 1 << 16
"""Octets of the wire log kept for a transcript."""
SLICE_MS = 20.0
"""Longest single wait: what one wait took longer than that, the tester itself was not running."""
PATIENCES = 12
"""A plan is given up after this many times its patience, explicit waits apart: nobody is blamed for being slow."""
APART_MS, LOOK_MS, BLIND_MS = 10.0, 0.1, 0.5
"""How long we wait, for a frame in pieces, until the peer has read each; how often we look; and how long we wait for a
piece where that can't be seen."""
AT_ONCE = 1 << 16
"""Octets of a frame that a link takes without waiting, as good as always."""
OUT_OF_TIME = "the time of the run was up"
GRAIN_MS = 20.0
"""Time that may pass without a word about it in the trace."""
KNOWN_SHARE = 0.25
"""Part of the patience for an answer that is known to be left out now and then. It may still come: a tester that did
not wait for it at all would speak out of turn."""
READING_MS = 1000 / (1 << 20)
"""What an octet adds to the patience with a peer that has not answered since: one second for each MiB. A language that
is slow at reading a line of 16 MiB has not failed to answer it."""
ENOUGH = 4
"""When the plan is given up, a peer that talked on but did not answer for this many patiences has failed to answer."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What stays the same from plan to plan. `patience_ms`: silence after which a peer will not answer any more;
    `until`, if given, is asked after each such silence: the plan is over when it says so. `set_aside` are known faults,
    behind which judging goes on: see `specs.model.Watcher`. `ends`, if given, says before each wait whether the time of
    the run is up: then the plan is given up with what was seen."""

    protocol: Protocol
    config: Any
    role: str
    transport: Transport
    patience_ms: float = 1000.0
    until: Callable[[Judgement], bool] | None = None
    set_aside: frozenset[str] = frozenset()
    ends: Callable[[], bool] | None = None

    @property
    def played(self) -> str:
        """The role that the tester plays."""
        return self.protocol.roles[self.role]


@dataclass(slots=True)
class Recording:
    """What happened. `stamps` are milliseconds since the plan began, one for each event; `wire` holds
    (ms, conn, "sent" | "received" | "closed by us" | "closed by peer", octets), cut after KEEP_WIRE octets; and where a
    connection "reached" another address, that address.
    `skipped` counts steps that could not be done. `overflow` says why the plan was given up, if it was. `took_s`: for
    how many seconds it was played, without what it had to wait for before."""

    events: list[Event] = field(default_factory=list)
    stamps: list[float] = field(default_factory=list)
    wire: list[tuple[float, int, str, bytes]] = field(default_factory=list)
    judgement: Judgement = field(default_factory=lambda: Judgement("pass"))
    skipped: int = 0
    overflow: str = ""
    refused: str = ""
    took_s: float = 0.0


def drive(plan: Plan, setting: Setting, fresh: str) -> Recording:
    """Play `plan`; `fresh` is put into every name that must be new."""
    if setting.protocol.turns and any(getattr(step, "when", "turn") != "turn" for step in plan.steps):
        model = Lagged(setting.protocol.model, setting.played)
        config = setting.protocol.hasty(setting.config)
        setting = replace(setting, protocol=replace(setting.protocol, model=model), config=config)
    return _Drive(setting, fresh).run(plan)


@dataclass(slots=True)
class _Line:
    """One open connection."""

    link: Link
    incoming: Decoder
    outgoing: Decoder
    held: bytes = b""
    raw: bool = False
    ended: bool = False
    control: ControlChannel | None = None
    """What the link shows and does beside the octets, if it can."""


class _Stop(Exception):
    """The plan cannot go on."""


class _Drive:
    def __init__(self, setting: Setting, fresh: str) -> None:
        self._setting = setting
        self._protocol = setting.protocol
        self._watched, self._played = setting.role, setting.played
        self._memory = setting.protocol.memory(setting.config, fresh)
        self._watcher = Watcher(setting.protocol.model, setting.config, setting.role, setting.set_aside)
        self._lines: dict[int, _Line] = {}
        self._gone: set[int] = set()
        self._out = Recording()
        self._transport = setting.transport
        self._start = self._mark = self._transport.now()
        self._silence = self._unread_ms = 0.0
        self._octets = self._logged = 0
        self._deadline = self._start + setting.patience_ms * PATIENCES

    def run(self, plan: Plan) -> Recording:
        out = self._out
        self._deadline += sum(step.ms for step in plan.steps if isinstance(step, Wait))
        try:
            for step in plan.steps:
                self._do(step)
                if self._watcher.over:
                    raise _Stop  # noqa: TRY301 - one way out of the plan, wherever it is over
            for number in list(self._lines):
                self._flush(number)
            self._turn(end=True)
            if not self._watcher.over:
                self._feed(Quiet(0, 0, final=True))
        except _Stop:
            pass  # what was seen is in the recording; the judgement says whether it decides anything
        finally:
            for line in self._lines.values():
                line.link.close()
        out.judgement = self._watcher.judgement()
        if out.overflow and out.judgement.verdict == "pass":
            out.judgement = replace(out.judgement, verdict="inconclusive", why=out.overflow)
        return out

    # -- steps ----------------------------------------------------------------------------------------------------

    def _do(self, step: Step) -> None:
        for number, line in self._lines.items():
            if line.held and (isinstance(step, Wait) or number != step.conn):
                self._flush(number)
        if isinstance(step, Wait):
            if step.ms:
                self._rest(step.ms)
            else:
                self._turn()
            return
        if step.conn in self._gone:
            self._out.skipped += 1
            return
        if isinstance(step, Close):
            if step.how in ("eof", "eof-now"):
                self._finish(step)
            else:
                self._close(step)
        elif isinstance(step, Reach):
            self._reach(step)
        else:
            self._act(step)

    def _act(self, step: Say | SendBytes | Control) -> None:
        """Say or do something on a connection, when its time has come."""
        line = self._line(step.conn)
        if step.when == "turn":
            self._flush(step.conn)
            self._turn()
        else:
            self._pump()
        if self._watcher.over:
            raise _Stop
        if isinstance(step, Control):
            self._beside(step, line)
        elif line.ended:
            self._out.skipped += 1
        elif isinstance(step, Say):
            for _ in range(step.upto):
                if not self._say(step, line) or step.upto == 1:
                    break
                self._turn()
                if self._watcher.over:
                    raise _Stop
        else:
            self._send_bytes(step, line)

    def _line(self, number: int) -> _Line:
        line = self._lines.get(number)
        if line is None:
            try:
                link = self._transport.open()
            except LinkError as error:
                self._stop_in_time()
                self._out.refused = str(error)
                self._feed(Fact(number, self._watched, "refused", str(error)))
                raise _Stop from None
            line = self._opened(number, link)
        return line

    def _opened(self, number: int, link: Link) -> _Line:
        session: dict[str, Any] = {}
        make, config = self._protocol.decoder, self._setting.config
        line = _Line(link, make(self._watched, config, session), make(self._played, config, session))
        line.control = control_of(link)
        self._lines[number] = line
        return line

    def _reach(self, step: Reach) -> None:
        """Go where the implementation says that it is. Nobody is blamed when nobody is there: who gave the address may
        have meant it for others."""
        self._turn()
        if self._watcher.over:
            raise _Stop
        where = self._memory.resolve(step.where) if isinstance(step.where, Ref) else step.where
        reach = getattr(self._transport, "reach", None)
        link = None
        if isinstance(where, str) and reach is not None:
            with contextlib.suppress(LinkError):
                link = reach(where)
        if link is None:
            self._gone.add(step.conn)
            self._out.skipped += 1
            return
        self._opened(step.conn, link)
        self._log(step.conn, "reached", str(where).encode())
        self._feed(Fact(step.conn, self._played, "reach", where))

    def _say(self, step: Say, line: _Line) -> bool:
        """Say it; False when it could not be said."""
        frame = self._protocol.resolve(step.frame, self._memory)
        if frame is None and step.when != "turn":
            self._flush(step.conn)
            self._turn()  # what the reference names may still be on its way
            frame = self._protocol.resolve(step.frame, self._memory)
        if frame is None or line.ended:
            self._out.skipped += 1
            return False
        data = self._protocol.encode(frame, step.style)
        said = Said(step.conn, self._played, frame)
        self._tell_how(step, data)
        if not (line.raw or line.held or step.cuts or step.when == "join" or len(data) > AT_ONCE):
            self._send(step.conn, line, data, said)
            return True
        if line.raw:
            self._decode_own(step.conn, line, data)
        else:
            self._feed(said)
        if step.when == "join":
            line.held += data
            return True
        start = len(line.held)
        data, line.held = line.held + data, b""
        at, apart_until = 0, self._transport.now() + APART_MS
        for cut in step.cuts:
            if at < start + cut < len(data):
                self._send(step.conn, line, data[at : start + cut])
                self._pump()
                self._until_read(line, apart_until)
                at = start + cut
        self._send(step.conn, line, data[at:])
        return True

    def _until_read(self, line: _Line, until: float) -> None:
        """Let the peer take what was sent: the next piece would come to it together with this one."""
        while (left := unread_of(line.link)) != 0 and self._transport.now() < until and not line.ended:
            self._transport.wait((), BLIND_MS if left is None else LOOK_MS)
            if left is None:
                return

    def _send_bytes(self, step: SendBytes, line: _Line) -> None:
        parts = (step.data,) if isinstance(step.data, bytes) else step.data
        data = b""
        for part in parts:
            text = self._memory.resolve(part) if isinstance(part, Ref) else part
            if text is None:
                self._out.skipped += 1
                return
            data += text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        self._tell_how(step, data)
        self._decode_own(step.conn, line, data)
        if step.when == "join":
            line.held += data
        else:
            data, line.held = line.held + data, b""
            self._send(step.conn, line, data)

    def _tell_how(self, step: Say | SendBytes, data: bytes) -> None:
        """Say in the trace what is special about how something is written."""
        how = self._protocol.written(self._watched, step, data)
        if how:
            self._feed(Fact(step.conn, self._played, "written", list(how)))

    def _decode_own(self, number: int, line: _Line, data: bytes) -> None:
        """Say in the trace what our own octets mean, frame or not."""
        for item in line.outgoing.feed(data):
            if isinstance(item, Bad):
                self._feed(Noise(number, self._played, item.data, item.why))
            else:
                self._feed(Said(number, self._played, item))
        line.raw = line.outgoing.midway or line.outgoing.bad is not None
        if line.outgoing.midway:
            self._feed(Fact(number, self._played, "octets", len(data)))

    def _send(self, number: int, line: _Line, data: bytes, said: Said | None = None) -> None:
        """Send octets, and then note what was `said` with them: so the peer works while we judge."""
        self._log(number, "sent", data)
        self._unread_ms += len(data) * READING_MS
        self._deadline += len(data) * READING_MS
        sent = line.link.send(data)
        if said is not None:
            self._feed(said)
        if not sent:
            self._pump()
            if not line.ended:
                self._stop_in_time()
                self._out.overflow = f"the {self._watched} took no more octets"
                raise _Stop

    def _flush(self, number: int) -> None:
        line = self._lines.get(number)
        if line is not None and line.held and not line.ended:
            data, line.held = line.held, b""
            self._send(number, line, data)

    def _close(self, step: Close) -> None:
        line = self._lines.get(step.conn)
        if line is None:
            return
        self._flush(step.conn)
        self._pump()
        self._gone.add(step.conn)
        del self._lines[step.conn]
        line.link.close(step.how)
        if not line.ended:
            self._log(step.conn, "closed by us", b"")
            self._feed(Closed(step.conn, self._played, step.how))

    def _finish(self, step: Close) -> None:
        """End what we say and listen on."""
        line = self._lines.get(step.conn)
        if line is None or line.control is None:
            self._close(step)
            return
        self._flush(step.conn)
        if step.how == "eof":
            self._turn()
        if self._watcher.over:
            raise _Stop
        if line.control.finish():
            self._log(step.conn, "closed by us", b"")
            self._feed(Closed(step.conn, self._played, step.how))

    def _beside(self, step: Control, line: _Line) -> None:
        value = self._protocol.resolve(step.value, self._memory)
        if line.control is None or (value is None and step.value is not None):
            self._out.skipped += 1
            return
        self._feed(Fact(step.conn, self._played, step.name, value))
        if not line.control.do(step.name, value):
            self._out.skipped += 1
        # the end of the one before need not have been seen: what is half a frame there is no part of this one
        if getattr(line.control, "renewed", bool)():
            self._opened(step.conn, line.link)

    # -- listening ------------------------------------------------------------------------------------------------

    def _pump(self) -> int:
        """Take everything that has arrived; answers how many events that made."""
        before = len(self._out.events)
        for number, line in self._lines.items():
            while not line.ended:
                data = line.link.take()
                if line.control is not None and data is not None:
                    self._notice(number, line.control)
                if data == b"":
                    break
                if data is None:
                    line.ended = True
                    self._log(number, "closed by peer", b"")
                    self._feed(Closed(number, self._watched))
                    break
                self._receive(number, line, data)
            if line.ended and line.control is not None:
                self._notice(number, line.control)
        return len(self._out.events) - before

    def _notice(self, number: int, control: ControlChannel) -> None:
        """Facts come before what was read just before them: whoever notes something down and then says so is right."""
        for name, value in control.facts():
            self._feed(Fact(number, self._watched, name, value))
            if self._watcher.over:
                raise _Stop

    def _receive(self, number: int, line: _Line, data: bytes) -> None:
        self._stop_in_time()
        self._log(number, "received", data)
        self._octets += len(data)
        items = line.incoming.feed(data)
        for item in items:
            if isinstance(item, Bad):
                self._feed(Noise(number, self._watched, item.data, item.why))
            else:
                self._feed(Said(number, self._watched, item))
            if self._watcher.over:
                raise _Stop
        if not items:
            self._feed(Fact(number, self._watched, "octets", len(data)))
        if self._octets > MAX_OCTETS or len(self._out.events) > MAX_EVENTS:
            self._out.overflow = f"the {self._watched} sent {self._octets} octets in {len(self._out.events)} events"
            raise _Stop

    def _turn(self, *, end: bool = False) -> None:
        """Wait until the peer owes nothing, or for all the patience since it last said something to the point.

        At the `end` of a plan it may owe nothing in any reading: what is judged then is final.
        """
        patience, slice_ms = self._setting.patience_ms + self._unread_ms + self._starting_ms(), 1.0
        began = last = self._transport.now()
        while True:
            heard = self._pump()
            owed = Owed.NOTHING if self._watcher.over else self._watcher.owed(self._watched, maybe=end)
            if owed is Owed.NOTHING:
                self._unread_ms = 0.0
                return
            now = self._transport.now()
            if heard and not all(self._beats(event) for event in self._out.events[-heard:]):
                last, slice_ms = now, 1.0
            late = now > self._deadline
            silence = Quiet(int(now - last), math.ceil(now - self._mark), final=True)
            known = owed is Owed.KNOWN and now - last >= patience * KNOWN_SHARE and self._watcher.expects(silence)
            if known or now - last >= patience or (late and now - began >= patience * ENOUGH):
                self._feed(silence)
                self._mark, self._silence = now, 0.0
                if self._setting.until is not None and self._setting.until(self._watcher.judgement()):
                    raise _Stop
                return
            if late:
                self._out.overflow = f"the plan was not over after {now - self._start:.0f} ms"
                raise _Stop
            self._stop_in_time()
            self._transport.wait(self._links(), min(slice_ms, patience - (now - last), 50.0))
            slice_ms *= 2

    def _starting_ms(self) -> float:
        """What is waited for longer as long as nothing was said by a program that was started for this conversation: it
        may not be there yet."""
        starting_ms: float = getattr(self._transport, "starting_ms", 0.0)
        if not starting_ms:
            return 0.0
        met = any(isinstance(event, (Said, Noise)) and event.by == self._watched for event in self._out.events)
        return 0.0 if met else starting_ms

    def _stop_in_time(self) -> None:
        """Give the plan up when the time of the run is over. What is missing then is nobody's fault."""
        if self._setting.ends is not None and self._setting.ends():
            self._out.overflow = OUT_OF_TIME
            raise _Stop

    def _beats(self, event: Event) -> bool:
        """True for what is no sign that an answer is under way: a heartbeat, and the silence before it."""
        return isinstance(event, Quiet) or (isinstance(event, Said) and self._protocol.beat(event.frame))

    def _rest(self, ms: float) -> None:
        """Let `ms` pass and say in the trace how long it was silent."""
        end = self._transport.now() + ms
        while (now := self._transport.now()) < end:
            self._stop_in_time()
            self._transport.wait(self._links(), min(end - now, SLICE_MS))
            self._silence += min(self._transport.now() - now, SLICE_MS)
            self._pump()
        self._quiet()

    def _quiet(self) -> None:
        now = self._transport.now()
        silence, elapsed = self._silence, now - self._mark
        self._silence, self._mark = 0.0, now
        self._feed(Quiet(int(silence), math.ceil(elapsed)))

    def _links(self) -> list[Link]:
        return [line.link for line in self._lines.values() if not line.ended or line.control is not None]

    def _feed(self, event: Event) -> None:
        now = self._transport.now()
        if not isinstance(event, Quiet) and (self._silence >= 1.0 or now - self._mark >= GRAIN_MS):
            self._quiet()
        self._out.events.append(event)
        self._out.stamps.append(now - self._start)
        self._memory.note(event)
        self._watcher.feed(event)

    def _log(self, number: int, what: str, data: bytes) -> None:
        if self._logged < KEEP_WIRE:
            kept = data[: KEEP_WIRE - self._logged]
            self._out.wire.append((self._transport.now() - self._start, number, what, kept))
            self._logged += len(kept)
