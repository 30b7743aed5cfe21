"""`python -m bench [NAME ...] [--repeats N] [--address HOST:PORT] [--every N] [--tiny]`; see `bench`."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Sequence

from bench.measure import Figure, RunOptions, say, table

BENCHES = (
    "lockstep",
    "turns",
    "calls",
    "pipes",
    "decoding",
    "drawing",
    "broker",
    "ontime",
    "musts",
    "inflight",
    "finding",
    "documents",
    "spark",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benches and print the table; targets missed are shown, not punished."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="How fast Wireproof is, as ratios.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHES)}; all when left out")
    parser.add_argument("--repeats", type=int, default=7, help="repetitions of everything (at least 5 say something)")
    parser.add_argument("--address", default="", help="HOST:PORT or URL of a running broker, instead of starting one")
    parser.add_argument("--every", type=int, default=9, metavar="N", help="hunt every nth mutant")
    parser.add_argument("--tiny", action="store_true", help="only see that it runs; the figures mean nothing")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in BENCHES]
    if unknown:
        parser.error(f"no bench is called {unknown[0]!r}; there are {', '.join(BENCHES)}")
    asked = RunOptions(1 if options.tiny else options.repeats, options.tiny, options.address, options.every)
    figures: list[Figure] = []
    for name in options.names or BENCHES:
        begun = time.monotonic()
        say(f"{name} ...")
        figures += importlib.import_module(f"bench.{name}").run(asked)
        say(f"  took {time.monotonic() - begun:.0f} s")
    say()
    say(table(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
