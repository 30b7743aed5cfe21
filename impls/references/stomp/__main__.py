"""The references for STOMP as programs.

    python -m impls.references.stomp --port 61613 --switch nack=discard --switch heart_beat=0,0
    python -m impls.references.stomp client --switch leaving=plain

The first is the server, behind a TCP port of the loopback interface; it ends on SIGTERM or SIGINT. The second is the
client, told line by line what to do (docs/implementations.md); it ends with its stdin.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

from impls.references.front import HOST, Front, Peer
from impls.references.stomp.client import CLIENT_SWITCHES, Caller
from impls.references.stomp.client import from_text as client_text
from impls.references.stomp.client_program import run
from impls.references.stomp.reference import SWITCHES, Server, from_text


class StompPeer(Peer):
    """A client that has closed its end is told nothing more than what was under way."""

    def finish(self) -> None:
        if self.ended_at is None:
            self.session.hang_up()
        else:
            self.drop()

    def fill(self) -> bool:
        if more := self.session.take():
            self.out = bytearray(self.out) + more
        return bool(self.out)

    def flushed(self) -> None:
        super().flushed()
        if self.session.closed and self.session.hung:
            self.drop()

    @property
    def hears(self) -> bool:
        return super().hears and not self.session.backlogged

    @property
    def due(self) -> float:
        due: float = self.session.output_due()
        return due


def switches(pairs: Sequence[str], read: Callable[[str, str], Any] = from_text) -> dict[str, Any]:
    """The switches that are written name=value. Raises ValueError for one that does not exist."""
    found = {}
    for pair in pairs:
        name, _, text = pair.partition("=")
        found[name] = read(name, text)
    return found


def arguments_of(name: str, what: str, known: dict[str, tuple[Any, ...]]) -> argparse.ArgumentParser:
    """What both roles take."""
    listing = "; ".join(f"{key}={'|'.join(map(str, values))}" for key, values in known.items())
    parser = argparse.ArgumentParser(prog=name, description=what, epilog=f"Switches: {listing}")
    parser.add_argument("--seed", type=int, default=0, help="decides all random choices")
    parser.add_argument("--random", action="store_true", help="draw every switch that is not given, by the seed")
    parser.add_argument("--switch", action="append", default=[], metavar="NAME=VALUE", help="may be repeated")
    return parser


def serve(server: Server, port: int) -> None:
    """Run the server until a signal ends it."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    front = Front(lambda _: server, [port], StompPeer)
    print(f"listening on {HOST}:{front.port}", flush=True)
    front.run()


def client(arguments: Sequence[str], name: str) -> int:
    """Run the client until its stdin ends."""
    parser = arguments_of(name, "The reference STOMP client, told by JSON lines.", dict(CLIENT_SWITCHES))
    options = parser.parse_args(arguments)
    try:
        chosen = switches(options.switch, client_text)
        caller = Caller.random(options.seed, **chosen) if options.random else Caller(seed=options.seed, **chosen)
    except ValueError as wrong:
        parser.error(str(wrong))
    run(caller)
    return 0


def main(arguments: Sequence[str] | None = None, prog: str = "python -m impls.references.stomp") -> int:
    """Run the server, or the client, as the command line says; `prog` is what the command is called."""
    given = sys.argv[1:] if arguments is None else [*arguments]
    if given[:1] == ["client"]:
        return client(given[1:], f"{prog} client")
    what = "The reference STOMP server on a loopback port. `client` as the first argument runs the client instead."
    parser = arguments_of(prog, what, dict(SWITCHES))
    parser.add_argument("--port", type=int, default=61613, help="0 takes a free one")
    options = parser.parse_args(given)
    try:
        chosen = switches(options.switch)
        server = Server.random(options.seed, **chosen) if options.random else Server(seed=options.seed, **chosen)
    except ValueError as wrong:
        parser.error(str(wrong))
    serve(server, options.port)
    return 0


if __name__ == "__main__":
    sys.exit(main())
