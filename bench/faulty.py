"""Programs that are hard on whoever waits for them: for `bench.ontime` and its test.

    python -m bench.faulty stomp FAULT PORT
    python -m bench.faulty kcl FAULT

Each is a reference with one way of not answering in time, or of not answering rightly, laid around it.
"""

from __future__ import annotations

import itertools
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any

from bench.dying import DYING
from bench.flickering import SESSIONS
from impls.references.front import Front
from impls.references.kcl.__main__ import _flush
from impls.references.kcl.child import READ, Child, Exit, Need, Running
from impls.references.stomp.__main__ import StompPeer
from impls.references.stomp.reference import Frame, Malformed, Parser, Server, Session

LATE_MS = 200.0
EVERY = 13
"""One in so many is lost."""


class Quiet(StompPeer):
    """Takes everything and says nothing."""

    def fill(self) -> bool:
        self.session.take()
        return False


class Late(StompPeer):
    """Says everything 200 ms late."""

    at = 0.0

    def fill(self) -> bool:
        if not self.at and not self.out:
            self.held = self.session.take()
            self.at = time.monotonic() + LATE_MS / 1000 if self.held else 0.0
        if self.at and time.monotonic() >= self.at:
            self.out, self.at = bytearray(self.held), 0.0
        return bool(self.out)

    @property
    def due(self) -> float:
        return min(super().due, self.session.server.now + 10.0 if self.at else float("inf"))


class Drips(StompPeer):
    """Says one octet a second."""

    at = 0.0

    def write(self) -> None:
        self.fill()
        if self.out and time.monotonic() >= self.at and not self.gone:
            self.at = time.monotonic() + 1.0
            try:
                self.out = self.out[self.sock.send(self.out[:1]) :]
            except OSError:
                self.drop()

    @property
    def due(self) -> float:
        return self.session.server.now + 50.0 if self.out else super().due


class Floods(StompPeer):
    """Says a line end again and again, as soon as it was spoken to."""

    spoken = False

    def fill(self) -> bool:
        more = self.session.take()
        self.spoken = self.spoken or bool(more)
        if len(self.out) < 1 << 14 and self.spoken:
            self.out = bytearray(self.out) + more + b"\n" * (1 << 14)
        return bool(self.out)

    @property
    def due(self) -> float:
        return self.session.server.now if self.spoken else super().due


class Deaf(StompPeer):
    """Reads nothing once it has answered CONNECT."""

    spoken = False

    def fill(self) -> bool:
        found = super().fill()
        self.spoken = self.spoken or found
        return found

    @property
    def hears(self) -> bool:
        return super().hears and not self.spoken


class Flickers(Session):
    """One message in thirteen is lost."""

    lost = itertools.count(1)

    def publish(self, frame: Frame) -> None:
        if next(self.lost) % EVERY:
            super().publish(frame)


class NoReceipt(Session):
    """SUBSCRIBE is never receipted."""

    def on_receipt(self, frame: Frame) -> None:
        if frame.command != "SUBSCRIBE":
            super().on_receipt(frame)


class Broken(Flickers):
    """Ten faults at once: much is lost, swapped, or never answered."""

    def on_receipt(self, frame: Frame) -> None:
        if frame.command not in ("SUBSCRIBE", "ABORT", "NACK"):
            super().on_receipt(frame)

    def on_UNSUBSCRIBE(self, frame: Frame) -> None:
        return None

    def on_ABORT(self, frame: Frame) -> None:
        super().on_COMMIT(frame)

    def on_NACK(self, frame: Frame) -> None:
        self.on_settle(frame, accepted=True)

    def pass_through(self, frame: Frame) -> list[tuple[str, str]]:
        return [(name, value.strip()) for name, value in super().pass_through(frame) if value]

    def on_SEND(self, frame: Frame) -> None:
        if b"\0" not in frame.body:
            super().on_SEND(frame)


class Reads(Parser):
    """An escape that is not defined is taken as it stands."""

    def unescape(self, text: str) -> str:
        try:
            return super().unescape(text)
        except Malformed:
            return text


class Fatal(NoReceipt):
    """SUBSCRIBE is never receipted, and five further faults: an ACK ends the process, and so does a SEND that names no
    destination; what comes behind DISCONNECT is still done; a frame that is refused gets a RECEIPT before its ERROR;
    and see `Reads`."""

    parser_type = Reads

    def leave(self) -> None:
        while (behind := self.parser.next()) is not None:
            if behind.command == "SEND":
                self.publish(behind)
        super().leave()

    def on_ACK(self, frame: Frame) -> None:
        sys.exit(3)

    def on_SEND(self, frame: Frame) -> None:
        if "destination" not in frame.first:
            sys.exit(4)
        super().on_SEND(frame)

    def fail(self, why: str, frame: Frame | None = None, *headers: Any) -> None:
        if frame is not None and "receipt" in frame.first and frame.command in self.commands:
            self.on_receipt(frame)
        super().fail(why, frame, *headers)


class Stays(Session):
    """Neither DISCONNECT nor a fault ends a connection."""

    def on_DISCONNECT(self, frame: Frame) -> None:
        return None


def serving(session: type[Session], parser: type[Parser] = Parser) -> type[Server]:
    """A server of such sessions."""
    return type("Faulty", (Server,), {"session_type": session, "parser_type": parser})


SERVERS: Mapping[str, tuple[type[Server], type[StompPeer]]] = {
    "silent": (Server, Quiet),
    "slow": (Server, Late),
    "dripping": (Server, Drips),
    "flooding": (Server, Floods),
    "deaf": (Server, Deaf),
    "flickering": (serving(Flickers), StompPeer),
    "unreceipted": (serving(NoReceipt), StompPeer),
    "broken": (serving(Broken), StompPeer),
    "dying": (DYING["connections-40"], StompPeer),
    "staying": (serving(Stays), StompPeer),
    "fatal": (serving(Fatal, Reads), StompPeer),
    **{name: (kind, StompPeer) for name, kind in DYING.items()},
    **{name: (serving(session), StompPeer) for name, session in SESSIONS.items()},
}


def server(fault: str, port: int) -> None:
    """Serve on `port` until a signal; "staying" does not obey it."""
    kind, peer = SERVERS[fault]
    signal.signal(signal.SIGTERM, signal.SIG_IGN if fault == "staying" else lambda *_: sys.exit(0))
    front = Front(lambda _: kind(), [port], peer)
    print(f"listening on 127.0.0.1:{front.port}", flush=True)
    front.run()


class Mute(Child):
    """Answers nothing behind `initialize`."""

    def status(self, action: str) -> Running:
        if action == "initialize":
            yield from super().status(action)


class Waits(Child):
    """Answers each action 200 ms late."""

    def status(self, action: str) -> Running:
        yield Need(int(LATE_MS))
        yield from super().status(action)


class Ends(Child):
    """Ends with the second batch."""

    batches = 0

    def process_records(self, records: Any) -> Running:
        self.batches += 1
        if self.batches > 1:
            raise Exit(1)
        yield from super().process_records(records)


class Stuck(Child):
    """Neither the end of STDIN nor a signal ends it."""

    def at_end(self) -> int:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            time.sleep(60)


class Babbles(Child):
    """Prints lines without end behind its first answer."""

    def status(self, action: str) -> Running:
        yield from super().status(action)
        while action == "processRecords":
            self.out += b"chatter\n" * 1000
            yield Need(0)


CHILDREN: Mapping[str, type[Child]] = {
    "mute": Mute,
    "waiting": Waits,
    "ending": Ends,
    "stuck": Stuck,
    "babbling": Babbles,
    "trickling": Child,
}


def child(fault: str) -> int:
    """Run a child on this process's own streams."""
    one = CHILDREN[fault]()
    out = sys.stdout.buffer
    running, line = one.run(), None
    while True:
        try:
            need = running.send(line)
        except StopIteration as end:
            return int(end.value or 0)
        if fault == "trickling":
            for at in range(len(one.out)):
                time.sleep(0.02)
                out.write(one.out[at : at + 1])
                out.flush()
            one.out.clear()
        _flush(one, None, lambda by, data: None)
        line = None
        if need is READ:
            read = sys.stdin.buffer.readline()
            line = read.rstrip(b"\n") if read else None
        else:
            time.sleep(need.ms / 1000)


def main() -> int:
    """As the command line says."""
    protocol, fault, *port = sys.argv[1:]
    if protocol == "stomp":
        server(fault, int(port[0]))
    return child(fault)


if __name__ == "__main__":
    sys.exit(main())
