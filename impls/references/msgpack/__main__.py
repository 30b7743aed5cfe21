"""The references for MessagePack as programs.

python -m impls.references.msgpack server --port 18800 --switch order=last     a server on a port of the loopback
interface python -m impls.references.msgpack idl FILE                                    the tree of a document, or what
is wrong with it
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from impls.references.front import HOST
from impls.references.msgpack import idl_server
from impls.references.msgpack.client import Caller, run
from impls.references.msgpack.idl import Idl, marked
from impls.references.msgpack.idl_client import IdlClient
from impls.references.msgpack.idl_codec import IdlCodec
from impls.references.msgpack.net import front
from impls.references.msgpack.reference import SWITCHES, Server, from_text


def switches(pairs: Sequence[str]) -> dict[str, Any]:
    """The switches that are written name=value. Raises ValueError for one that does not exist."""
    found = {}
    for pair in pairs:
        name, _, text = pair.partition("=")
        found[name] = from_text(name, text)
    return found


def serve(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Run the server until a signal ends it."""
    try:
        chosen = switches(options.switch)
        server = Server.random(options.seed, **chosen) if options.random else Server(seed=options.seed, **chosen)
    except ValueError as wrong:
        parser.error(str(wrong))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    served = front(server, options.port)
    print(f"listening on {HOST}:{served.port}", flush=True)
    served.run()


def answer_lines(peer: IdlCodec | Idl) -> None:
    """One answer for each line of stdin."""
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(peer.line(line.rstrip(b"\r\n")) + b"\n")
        sys.stdout.buffer.flush()


def show(file: Path) -> int:
    """Print the tree of a document as JSON, or its errors to stderr; the exit status is 1 for these, 2 for no file."""
    try:
        source = file.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as wrong:
        sys.stderr.write(f"{file}: {wrong}\n")
        return 2
    found = Idl(errors="all").parse(source)
    for each in found.get("errors", ()):
        sys.stderr.write(marked(source, each, str(file)) + "\n")
    if "ast" in found:
        sys.stdout.write(json.dumps(found["ast"], indent=1) + "\n")
    return 1 if "errors" in found else 0


def main(arguments: Sequence[str] | None = None, prog: str = "python -m impls.references.msgpack") -> int:
    """Run the role that the command line names; `prog` is what the command is called."""
    parser = argparse.ArgumentParser(prog=prog, description="The references for MessagePack.")
    roles = parser.add_subparsers(dest="role", required=True)
    listing = "Switches: " + "; ".join(f"{name}={'|'.join(map(str, values))}" for name, values in SWITCHES.items())
    server = roles.add_parser("server", help="a MessagePack-RPC server", epilog=listing)
    server.add_argument("--port", type=int, default=18800, help="0 takes a free one")
    server.add_argument("--seed", type=int, default=0, help="decides all random choices")
    server.add_argument("--random", action="store_true", help="draw every switch that is not given, by the seed")
    server.add_argument("--switch", action="append", default=[], metavar="NAME=VALUE", help="may be repeated")
    for name, what in (("codec", "a codec, told line by line"), ("client", "a client, told line by line")):
        roles.add_parser(name, help=what)
    made = roles.add_parser("idl-client", help="a client that is made from a document, told line by line")
    made.add_argument("--seed", type=int, default=0, help="decides all random choices")
    made.add_argument("--random", action="store_true", help="draw every switch by the seed")
    roles.add_parser("idl-server", help="a server that is made from a document, told line by line")
    idl = roles.add_parser("idl", help="a processor of the interface language, told line by line")
    idl.add_argument("file", nargs="?", type=Path, help="print the tree of this document, or its errors")
    options = parser.parse_args(arguments)
    if options.role == "server":
        serve(server, options)
    elif options.role == "idl-server":
        idl_server.run()
    elif options.role == "idl-client":
        client = IdlClient.random(options.seed) if options.random else IdlClient(seed=options.seed)
        run(client.open().caller)
    elif options.role == "idl" and options.file:
        return show(options.file)
    elif options.role == "idl":
        answer_lines(Idl())
    elif options.role == "codec":
        answer_lines(IdlCodec())
    else:
        run(Caller())
    return 0


if __name__ == "__main__":
    sys.exit(main())
