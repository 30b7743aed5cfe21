"""The references for Pulsar as programs.

python -m impls.references.pulsar broker --port 6650 --switch lookup=redirect     a broker on a port of the loopback
interface
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from typing import Any

from impls.references.front import HOST
from impls.references.pulsar.client import CLIENT_SWITCHES, Caller
from impls.references.pulsar.client import from_text as client_text
from impls.references.pulsar.net import front
from impls.references.pulsar.reference import SWITCHES, Broker, from_text
from impls.references.pulsar.telling import run


def chosen(pairs: Sequence[str], read: Any) -> dict[str, Any]:
    """The switches that are written name=value. Raises ValueError for one that does not exist."""
    found = {}
    for pair in pairs:
        name, _, text = pair.partition("=")
        found[name] = read(name, text)
    return found


def serve(options: argparse.Namespace) -> None:
    """Run the broker until a signal ends it. Raises ValueError for what is no switch."""
    given = {"profile": options.profile, **chosen(options.switch, from_text)}
    make = Broker.random if options.random else lambda seed, **fixed: Broker(seed=seed, **fixed)
    Broker(**given)
    served = front(
        lambda url, other: make(options.seed, **{"url": url, "other_url": other, **given}), options.port, options.second
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    print(f"listening on {HOST}:{served.port}", flush=True)
    served.run()


def main(arguments: Sequence[str] | None = None, prog: str = "python -m impls.references.pulsar") -> int:
    """Run the role that the command line names; `prog` is what the command is called."""
    parser = argparse.ArgumentParser(prog=prog, description="The references for Pulsar.")
    roles = parser.add_subparsers(dest="role", required=True)
    listing = {
        name: "Switches: " + "; ".join(f"{key}={'|'.join(map(str, values))}" for key, values in switches.items())
        for name, switches in (("broker", SWITCHES), ("client", CLIENT_SWITCHES))
    }
    broker = roles.add_parser("broker", help="a broker", epilog=listing["broker"])
    broker.add_argument("--port", type=int, default=6650, help="0 takes a free one")
    broker.add_argument("--second", type=int, default=None, help="another port, to which lookups send clients")
    broker.add_argument("--profile", choices=("seed", "modern"), default="modern")
    client = roles.add_parser("client", help="a client, told line by line", epilog=listing["client"])
    for role in (broker, client):
        role.add_argument("--seed", type=int, default=0, help="decides all random choices")
        role.add_argument("--random", action="store_true", help="draw every switch that is not given, by the seed")
        role.add_argument("--switch", action="append", default=[], metavar="NAME=VALUE", help="may be repeated")
    options = parser.parse_args(arguments)
    try:
        if options.role == "broker":
            serve(options)
        else:
            given = chosen(options.switch, client_text)
            run(Caller.random(options.seed, **given) if options.random else Caller(seed=options.seed, **given))
    except ValueError as wrong:
        parser.error(str(wrong))
    return 0


if __name__ == "__main__":
    sys.exit(main())
