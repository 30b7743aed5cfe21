"""The reference server behind a TCP port of the loopback interface.

    python -m impls.references.stomp --port 61613 --switch nack=discard --switch heart_beat=0,0

Ends on SIGTERM or SIGINT.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from typing import Any

from impls.references.front import HOST, Front, Peer
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


def switches(pairs: Sequence[str]) -> dict[str, Any]:
    """The switches that are written name=value. Raises ValueError for one that does not exist."""
    found = {}
    for pair in pairs:
        name, _, text = pair.partition("=")
        found[name] = from_text(name, text)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the server as the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m impls.references.stomp",
        description="The reference STOMP server on a loopback port.",
        epilog="Switches: " + "; ".join(f"{name}={'|'.join(map(str, values))}" for name, values in SWITCHES.items()),
    )
    parser.add_argument("--port", type=int, default=61613, help="0 takes a free one")
    parser.add_argument("--seed", type=int, default=0, help="decides all random choices")
    parser.add_argument("--random", action="store_true", help="draw every switch that is not given, by the seed")
    parser.add_argument("--switch", action="append", default=[], metavar="NAME=VALUE", help="may be repeated")
    options = parser.parse_args(arguments)
    try:
        chosen = switches(options.switch)
        server = Server.random(options.seed, **chosen) if options.random else Server(seed=options.seed, **chosen)
    except ValueError as wrong:
        parser.error(str(wrong))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    front = Front(lambda _: server, [options.port], StompPeer)
    print(f"listening on {HOST}:{front.port}", flush=True)
    front.run()


if __name__ == "__main__":
    sys.exit(main())
