"""Play a plan against an implementation and write down what happened: how each step of a plan is carried out.

When it is time for one is decided in `impls.driver.conversation`, which listens meanwhile.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace

from impls.driver.conversation import PATIENCES, Conversation, Line, Stop
from impls.driver.link import LinkError, unread_of
from impls.driver.recording import Recording, Setting
from specs.codec import Bad
from specs.events import Closed, Fact, Noise, Quiet, Said
from specs.lag import Lagged
from specs.plan import Close, Control, Plan, Reach, Ref, Say, SendBytes, Step, Wait

__all__ = ["PATIENCES", "Recording", "Setting", "drive"]

APART_MS, LOOK_MS, BLIND_MS = 10.0, 0.1, 0.5
"""How long we wait, for a frame in pieces, until the peer has read each; how often we look; and how long we wait for a
piece where that can't be seen."""
AT_ONCE = 1 << 16
"""Octets of a frame that a link takes without waiting, as good as always."""


def drive(plan: Plan, setting: Setting, fresh: str) -> Recording:
    """Play `plan`; `fresh` is put into every name that must be new."""
    if setting.protocol.turns and any(getattr(step, "when", "turn") != "turn" for step in plan.steps):
        model = Lagged(setting.protocol.model, setting.played)
        config = setting.protocol.hasty(setting.config)
        setting = replace(setting, protocol=replace(setting.protocol, model=model), config=config)
    return _Drive(setting, fresh, plan).run()


class _Drive:
    def __init__(self, setting: Setting, fresh: str, plan: Plan) -> None:
        self._plan = plan
        self._protocol, self._transport = setting.protocol, setting.transport
        self._watched, self._played = setting.role, setting.played
        self._talk = Conversation(setting, fresh, sum(step.ms for step in plan.steps if isinstance(step, Wait)))
        self._holding = False
        """True when octets are held back on some connection, as far as is known."""
        self._gone: set[int] = set()

    def run(self) -> Recording:
        talk = self._talk
        try:
            for step in self._plan.steps:
                self._do(step)
                talk.end_if_decided()
            for number in list(talk.lines):
                self._flush(number)
            talk.turn(end=True)
            if not talk.watcher.over:
                talk.feed(Quiet(0, 0, final=True))
        except Stop:
            pass  # what was seen is in the recording; the judgement says whether it decides anything
        except BaseException:
            talk.close_all()
            raise
        return talk.end()

    def _do(self, step: Step) -> None:
        if self._holding:
            for number, line in self._talk.lines.items():
                if line.held and (isinstance(step, Wait) or number != step.conn):
                    self._flush(number)
            self._holding = any(line.held for line in self._talk.lines.values())
        if isinstance(step, Wait):
            if step.ms:
                self._talk.rest(step.ms)
            else:
                self._talk.turn()
            return
        if step.conn in self._gone:
            self._talk.out.skipped += 1
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
            if self._holding:
                self._flush(step.conn)
            self._talk.turn()
        else:
            self._talk.pump()
        self._talk.end_if_decided()
        if isinstance(step, Control):
            self._beside(step, line)
        elif line.ended:
            self._talk.out.skipped += 1
        elif isinstance(step, Say):
            for _ in range(step.upto):
                if not self._say(step, line) or step.upto == 1:
                    break
                self._talk.turn()
                self._talk.end_if_decided()
        else:
            self._send_bytes(step, line)

    def _line(self, number: int) -> Line:
        line = self._talk.lines.get(number)
        if line is None:
            try:
                link = self._transport.open()
            except LinkError as error:
                self._talk.stop_in_time()
                self._talk.out.refused = str(error)
                self._talk.feed(Fact(number, self._watched, "refused", str(error)))
                raise Stop from None
            line = self._talk.opened(number, link)
        return line

    def _reach(self, step: Reach) -> None:
        """Go where the implementation says that it is. Nobody is blamed when nobody is there: who gave the address may
        have meant it for others."""
        self._talk.turn()
        self._talk.end_if_decided()
        where = self._talk.memory.resolve(step.where) if isinstance(step.where, Ref) else step.where
        reach = getattr(self._transport, "reach", None)
        link = None
        if isinstance(where, str) and reach is not None:
            with contextlib.suppress(LinkError):
                link = reach(where)
        if link is None:
            self._gone.add(step.conn)
            self._talk.out.skipped += 1
            return
        self._talk.opened(step.conn, link)
        self._talk.log(step.conn, "reached", str(where).encode())
        self._talk.feed(Fact(step.conn, self._played, "reach", where))

    def _say(self, step: Say, line: Line) -> bool:
        """Say it; False when it could not be said."""
        frame = self._protocol.resolve(step.frame, self._talk.memory)
        if frame is None and step.when != "turn":
            self._flush(step.conn)
            self._talk.turn()  # what the reference names may still be on its way
            frame = self._protocol.resolve(step.frame, self._talk.memory)
        if frame is None or line.ended:
            self._talk.out.skipped += 1
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
            self._talk.feed(said)
        start = len(line.held)
        line.held += data
        line.cuts += _places(step.cuts, start, len(line.held))
        self._send_held(step, line)
        return True

    def _send_held(self, step: Say | SendBytes, line: Line) -> None:
        """Send what is held of a connection, unless more is to come in one write with it."""
        if step.when == "join":
            self._holding = True
        else:
            self._in_pieces(step.conn, line)

    def _in_pieces(self, number: int, line: Line) -> None:
        """Send what is held of a connection, cut where its frames are, and not where one ends and the next begins."""
        data, cuts, line.held, line.cuts = line.held, line.cuts, b"", ()
        at, apart_until = 0, self._transport.now() + APART_MS
        for cut in cuts:
            self._send(number, line, data[at:cut])
            self._talk.pump()
            self._until_read(line, apart_until)
            at = cut
        self._send(number, line, data[at:])

    def _until_read(self, line: Line, until: float) -> None:
        """Let the peer take what was sent: the next piece would come to it together with this one."""
        while (left := unread_of(line.link)) != 0 and self._transport.now() < until and not line.ended:
            self._transport.wait((), BLIND_MS if left is None else LOOK_MS)
            if left is None:
                return

    def _send_bytes(self, step: SendBytes, line: Line) -> None:
        parts = (step.data,) if isinstance(step.data, bytes) else step.data
        data = b""
        written = getattr(self._talk.memory, "octets", self._talk.memory.resolve)
        for part in parts:
            text = written(part) if isinstance(part, Ref) else part
            if text is None:
                self._talk.out.skipped += 1
                return
            data += text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        self._tell_how(step, data)
        self._decode_own(step.conn, line, data)
        line.held += data
        self._send_held(step, line)

    def _tell_how(self, step: Say | SendBytes, data: bytes) -> None:
        """Say in the trace what is special about how something is written."""
        how = self._protocol.written(self._watched, step, data)
        if how:
            self._talk.feed(Fact(step.conn, self._played, "written", list(how)))

    def _decode_own(self, number: int, line: Line, data: bytes) -> None:
        """Say in the trace what our own octets mean, frame or not."""
        for item in line.outgoing.feed(data):
            if isinstance(item, Bad):
                self._talk.feed(Noise(number, self._played, item.data, item.why))
            else:
                self._talk.feed(Said(number, self._played, item))
        line.raw = line.outgoing.midway or line.outgoing.bad is not None
        if line.outgoing.midway:
            self._talk.feed(Fact(number, self._played, "octets", len(data)))

    def _send(self, number: int, line: Line, data: bytes, said: Said | None = None) -> None:
        """Send octets, and then note what was `said` with them: so the peer works while we judge."""
        self._talk.log(number, "sent", data)
        self._talk.sending(len(data))
        sent = line.link.send(data)
        if said is not None:
            self._talk.feed(said)
        if not sent:
            self._talk.pump()
            if not line.ended:
                self._talk.stop_in_time()
                self._talk.out.overflow = f"the {self._watched} took no more octets"
                raise Stop

    def _flush(self, number: int) -> None:
        line = self._talk.lines.get(number)
        if line is not None and line.held and not line.ended:
            self._in_pieces(number, line)

    def _close(self, step: Close) -> None:
        line = self._talk.lines.get(step.conn)
        if line is None:
            return
        self._flush(step.conn)
        self._talk.pump()
        self._gone.add(step.conn)
        del self._talk.lines[step.conn]
        line.link.close(step.how)
        if not line.ended:
            self._talk.log(step.conn, "closed by us", b"")
            self._talk.feed(Closed(step.conn, self._played, step.how))

    def _finish(self, step: Close) -> None:
        """End what we say and listen on."""
        line = self._talk.lines.get(step.conn)
        if line is None or line.control is None:
            self._close(step)
            return
        self._flush(step.conn)
        if step.how == "eof":
            self._talk.turn()
        self._talk.end_if_decided()
        if line.control.finish():
            self._talk.log(step.conn, "closed by us", b"")
            self._talk.feed(Closed(step.conn, self._played, step.how))

    def _beside(self, step: Control, line: Line) -> None:
        value = self._protocol.resolve(step.value, self._talk.memory)
        if line.control is None or (value is None and step.value is not None):
            self._talk.out.skipped += 1
            return
        self._talk.feed(Fact(step.conn, self._played, step.name, value))
        if not line.control.do(step.name, value):
            self._talk.out.skipped += 1
        # the end of the one before need not have been seen: what is half a frame there is no part of this one
        if getattr(line.control, "renewed", bool)():
            self._talk.opened(step.conn, line.link)


def _places(cuts: Sequence[int], start: int, size: int) -> tuple[int, ...]:
    """Where octets up to `size` are cut, of which those of the frame begin at `start`."""
    places = {(start if cut >= 0 else size) + cut for cut in cuts}
    return tuple(sorted(place for place in places if start < place < size))
