"""The conversation that a plan makes: its connections, what is heard on them, and what is written down of it.

The driver waits for its turn as the model says it, never for a pause. Everything it reads has a limit and everything it
waits for a deadline: an implementation that hangs, floods or dies ends the plan with what was seen up to there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from impls.driver.link import ControlChannel, Link, control_of
from impls.driver.recording import Recording, Setting
from impls.driver.vigil import Vigil
from specs.codec import Bad, Decoder
from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import Owed, Watcher

MAX_EVENTS = 50_000
MAX_OCTETS = 1 << 25
"""Events and octets taken from an implementation in one plan; beyond them it is a flood."""
KEEP_WIRE = 1 << 16
"""Octets of the wire log kept for a transcript."""
SLICE_MS = 20.0
"""Longest single wait: what one wait took longer than that, the tester itself was not running."""
PATIENCES = 12
"""A plan is given up after this many times its patience, explicit waits apart: nobody is blamed for being slow."""
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


class Stop(Exception):
    """The plan cannot go on."""


@dataclass(slots=True)
class Line:
    """One open connection."""

    link: Link
    incoming: Decoder
    outgoing: Decoder
    held: bytes = b""
    cuts: tuple[int, ...] = ()
    """Where what is held is cut when it is sent."""
    raw: bool = False
    ended: bool = False
    control: ControlChannel | None = None
    """What the link shows and does beside the octets, if it can."""
    starting: bool = True
    """Nothing was said on it yet by a program that may have been started for it."""


class Conversation:
    """That of one plan. `fresh` is put into every name that must be new; the plan itself rests for `resting_ms`."""

    def __init__(self, setting: Setting, fresh: str, resting_ms: float) -> None:
        self._setting = setting
        self._protocol = setting.protocol
        self._watched, self._played = setting.role, setting.played
        self._transport = setting.transport
        self.memory = setting.protocol.memory(setting.config, fresh)
        self.watcher = Watcher(setting.protocol.model, setting.config, setting.role, setting.set_aside)
        self.lines: dict[int, Line] = {}
        self.out = Recording()
        self._start = self._mark = self._transport.now()
        self._silence = self._unread_ms = 0.0
        self._octets = self._logged = 0
        self._deadline = self._start + setting.patience_ms * PATIENCES + resting_ms

    def end(self) -> Recording:
        """End the connections, and say what has become of it."""
        out = self.out
        out.judgement = self.watcher.judgement()
        self._part()
        if out.overflow and out.judgement.verdict == "pass":
            out.judgement = replace(out.judgement, verdict="inconclusive", why=out.overflow)
        return out

    def _part(self) -> None:
        """End the connections, or leave them open to whoever wants to know what comes of a silence."""
        last, lingers = next(reversed(self.out.events), None), self._setting.lingers
        silent = isinstance(last, Quiet) and last.final and last.ms > 0
        lines = [line for line in self.lines.values() if not line.ended]
        bare = bool(lines) and all(line.control is None for line in lines)
        if silent and bare and lingers is not None and lingers(self.out.judgement):
            known = [(line.link, line.incoming) for line in lines]
            self.out.vigil = Vigil(self._transport, known, self._protocol.beat)
            return
        self.close_all()

    def close_all(self) -> None:
        """End the connections."""
        for line in self.lines.values():
            line.link.close()

    def end_if_decided(self) -> None:
        """Raise Stop when judging is over."""
        if self.watcher.over:
            raise Stop

    def sending(self, octets: int) -> None:
        """So many octets are about to be sent: it takes time to read them."""
        self._unread_ms += octets * READING_MS
        self._deadline += octets * READING_MS

    def opened(self, number: int, link: Link) -> Line:
        """Listen on a connection that was opened."""
        session: dict[str, Any] = {}
        make, config = self._protocol.decoder, self._setting.config
        line = Line(link, make(self._watched, config, session), make(self._played, config, session))
        line.control = control_of(link)
        line.starting = getattr(link, "starts", True)
        self.lines[number] = line
        self.out.kept = getattr(link, "kept", None)
        return line

    # -- listening -----------------------------------------------------------------------------------------------

    def pump(self) -> int:
        """Take everything that has arrived; answers how many events that made."""
        before = len(self.out.events)
        for number, line in self.lines.items():
            while not line.ended:
                data = line.link.take()
                if line.control is not None and data is not None:
                    self._notice(number, line.control)
                if data == b"":
                    break
                if data is None:
                    line.ended = True
                    self.log(number, "closed by peer", b"")
                    self.feed(Closed(number, self._watched))
                    break
                self._receive(number, line, data)
            if line.ended and line.control is not None:
                self._notice(number, line.control)
        return len(self.out.events) - before

    def _notice(self, number: int, control: ControlChannel) -> None:
        """Facts come before what was read just before them: whoever notes something down and then says so is right."""
        for name, value in control.facts():
            self.feed(Fact(number, self._watched, name, value))
            self.end_if_decided()

    def _receive(self, number: int, line: Line, data: bytes) -> None:
        if self._setting.ends is not None:
            self.stop_in_time()
        self.log(number, "received", data)
        self._octets += len(data)
        items = line.incoming.feed(data)
        line.starting = line.starting and not items
        for item in items:
            if isinstance(item, Bad):
                self.feed(Noise(number, self._watched, item.data, item.why))
            else:
                self.feed(Said(number, self._watched, item))
            self.end_if_decided()
        if not items:
            self.feed(Fact(number, self._watched, "octets", len(data)))
        if self._octets > MAX_OCTETS or len(self.out.events) > MAX_EVENTS:
            self.out.overflow = f"the {self._watched} sent {self._octets} octets in {len(self.out.events)} events"
            raise Stop

    def turn(self, *, end: bool = False) -> None:
        """Wait until the peer owes nothing, or for all the patience since it last said something to the point.

        At the `end` of a plan it may owe nothing in any reading: what is judged then is final.
        """
        began = last = self._transport.now()
        pieces: dict[int, float] = {}  # when a part of what is not complete was read, by connection
        starting_ms, slice_ms, waited = self._starting_ms(), 1.0, False
        while True:
            heard = self.pump()
            owed = self.watcher.owed(self._watched, maybe=end)
            if owed is Owed.NOTHING:
                if heard or waited:  # what nobody answers may still be read when the next thing is said
                    self._unread_ms = 0.0
                return
            waited = True
            now, patience = self._transport.now(), self._patience_ms() + self._unread_ms + starting_ms
            if heard and self._answers(self.out.events[-heard:], pieces, now):
                last = now
            silent_ms = now - max((last, *pieces.values()))
            slice_ms = slice_ms if silent_ms else 1.0
            late = now > self._deadline
            # a heart-beat was no answer, and no silence either
            ms = min(silent_ms, max(1.0, now - self._mark))
            silence = Quiet(int(ms), math.ceil(now - self._mark), final=True)
            known = owed is Owed.KNOWN and silent_ms >= patience * KNOWN_SHARE and self.watcher.expects(silence)
            if known or silent_ms >= patience or (late and now - began >= patience * ENOUGH):
                self.feed(silence)
                self._mark, self._silence = now, 0.0
                if self._setting.until is not None and self._setting.until(self.watcher.judgement()):
                    raise Stop
                return
            if late:
                self.out.overflow = f"the plan was not over after {now - self._start:.0f} ms"
                raise Stop
            self.stop_in_time()
            self._transport.wait(self._links(), min(slice_ms, patience - silent_ms, 50.0))
            slice_ms *= 2

    def _patience_ms(self) -> float:
        """That of the setting; less for a silence that only stands before the one that the plan is played for."""
        setting = self._setting
        if not setting.passing:
            return setting.patience_ms
        passed = sum(isinstance(event, Quiet) and event.final for event in self.out.events)
        return setting.passing_ms if passed < setting.passing else setting.patience_ms

    def _starting_ms(self) -> float:
        """What is waited for longer as long as nothing was said by a program that was started for a connection: it may
        not be there yet."""
        starting_ms: float = getattr(self._transport, "starting_ms", 0.0)
        return starting_ms if starting_ms and any(line.starting for line in self.lines.values()) else 0.0

    def stop_in_time(self) -> None:
        """Give the plan up when the time of the run is over. What is missing then is nobody's fault."""
        if self._setting.ends is not None and self._setting.ends():
            self.out.overflow = OUT_OF_TIME
            raise Stop

    def _answers(self, heard: Sequence[Event], pieces: dict[int, float], now: float) -> bool:
        """True when the peer said something to the point. Of a part of what is not complete, which is noted in
        `pieces`, nobody knows yet: it may become a heartbeat."""
        said = False
        for event in heard:
            if isinstance(event, Fact) and event.name == "octets":
                pieces[event.conn] = now
            else:
                pieces.pop(getattr(event, "conn", -1), None)
                said |= not self._beats(event)
        return said

    def _beats(self, event: Event) -> bool:
        """True for what is no sign that an answer is under way: a heartbeat, and the silence before it."""
        return isinstance(event, Quiet) or (isinstance(event, Said) and self._protocol.beat(event.frame))

    def rest(self, ms: float) -> None:
        """Let `ms` pass and say in the trace how long it was silent."""
        end = self._transport.now() + ms
        while (now := self._transport.now()) < end:
            self.stop_in_time()
            self._transport.wait(self._links(), min(end - now, SLICE_MS))
            self._silence += min(self._transport.now() - now, SLICE_MS)
            self.pump()
        self._quiet()

    def _quiet(self) -> None:
        now = self._transport.now()
        silence, elapsed = self._silence, now - self._mark
        self._silence, self._mark = 0.0, now
        self.feed(Quiet(int(silence), math.ceil(elapsed)))

    def _links(self) -> list[Link]:
        return [line.link for line in self.lines.values() if not line.ended or line.control is not None]

    def feed(self, event: Event) -> None:
        """Write an event down, and have it judged."""
        now = self._transport.now()
        if not isinstance(event, Quiet) and (self._silence >= 1.0 or now - self._mark >= GRAIN_MS):
            self._quiet()
        self.out.events.append(event)
        self.out.stamps.append(now - self._start)
        self.memory.note(event)
        self.watcher.feed(event)

    def log(self, number: int, what: str, data: bytes) -> None:
        """Keep octets for a transcript."""
        if self._logged < KEEP_WIRE:
            kept = data[: KEEP_WIRE - self._logged]
            self.out.wire.append((self._transport.now() - self._start, number, what, kept))
            self._logged += len(kept)
