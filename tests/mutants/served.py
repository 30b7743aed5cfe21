"""A seeded fault as a program, on real pipes or a real port: `python -m tests.mutants.served MODULE KEY [PORT]`.

In memory a fault is hunted in virtual time; here the suite waits for it in real time, as it does for a user's program.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from impls.references.front import Front

Serve = Callable[[Any, int], object]


def _stomp(mutant: Any, port: int) -> object:
    from impls.references.stomp.__main__ import StompPeer  # noqa: PLC0415 - a process imports what it needs, to start soon

    server = mutant.make()
    return Front(lambda _: server, [port], StompPeer).run()


def _pulsar(mutant: Any, port: int) -> object:
    from impls.references.pulsar.net import front  # noqa: PLC0415 - a process imports what it needs, to start soon

    return front(lambda url, other: mutant.make(url=url, other_url=other), port).run()


def _rpc(mutant: Any, port: int) -> object:
    from impls.references.msgpack.net import front  # noqa: PLC0415 - a process imports what it needs, to start soon

    return front(mutant.make(), port).run()


def _lines(mutant: Any, _: int) -> object:
    from impls.references.msgpack.__main__ import answer_lines  # noqa: PLC0415 - a process imports what it needs, to start soon

    return answer_lines(mutant.make())


def _idl_server(mutant: Any, _: int) -> object:
    from impls.references.msgpack.idl_server import run  # noqa: PLC0415 - a process imports what it needs, to start soon

    return run(mutant.make)


def _rpc_client(mutant: Any, _: int) -> object:
    from impls.references.msgpack.client import run  # noqa: PLC0415 - a process imports what it needs, to start soon

    return run(mutant.make().open().caller)


def _pulsar_client(mutant: Any, _: int) -> object:
    from impls.references.pulsar.telling import run  # noqa: PLC0415 - a process imports what it needs, to start soon

    return run(mutant.make().open().caller)


def _storm_child(mutant: Any, _: int) -> object:
    from impls.references.storm.__main__ import child  # noqa: PLC0415 - a process imports what it needs, to start soon

    return child(mutant.make().fresh())


def _storm_host(mutant: Any, _: int) -> object:
    from impls.references.storm.hosting import Program  # noqa: PLC0415 - a process imports what it needs, to start soon

    return Program(mutant.make().fresh()).run()


def _kcl_child(mutant: Any, _: int) -> object:
    from impls.references.kcl.__main__ import child  # noqa: PLC0415 - a process imports what it needs, to start soon

    return child(mutant.make().fresh(), lambda by, data: None)


def _kcl_host(mutant: Any, _: int) -> object:
    from impls.references.kcl.hosting import Program  # noqa: PLC0415 - a process imports what it needs, to start soon

    return Program(mutant.make().fresh()).run()


SERVE: Mapping[tuple[str, str], Serve] = {
    ("stomp", "server"): _stomp,
    ("pulsar", "broker"): _pulsar,
    ("pulsar", "client"): _pulsar_client,
    ("msgpack", "server"): _rpc,
    ("msgpack", "client"): _rpc_client,
    ("msgpack", "codec"): _lines,
    ("msgpack", "idl"): _lines,
    ("msgpack", "idl-server"): _idl_server,
    ("msgpack", "idl-client"): _rpc_client,
    ("storm", "bolt"): _storm_child,
    ("storm", "spout"): _storm_child,
    ("storm", "bolt-host"): _storm_host,
    ("storm", "spout-host"): _storm_host,
    ("kcl", "child"): _kcl_child,
    ("kcl", "host"): _kcl_host,
}
PORTS = frozenset({("stomp", "server"), ("pulsar", "broker"), ("msgpack", "server")})
"""The roles that are reached by a port; the others are told on their stdin what to do."""


def main(module: str, key: str, port: int = 0) -> int:
    """The exit status of the program. Only the module of the fault is imported, so that a process starts soon."""
    import_module(f"tests.mutants.{module}")
    kits = [found for name, found in sys.modules.items() if name.startswith("tests.mutants.") and name.endswith("kit")]
    lists = (found for kit in kits for name, found in vars(kit).items() if name.endswith("MUTANTS"))
    mutant = next(one for found in lists for one in found if f"{one.protocol}-{one.role}-{one.name}" == key)
    code = SERVE[mutant.protocol, mutant.role](mutant, port)
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    status = main(*sys.argv[1:3], *map(int, sys.argv[3:4]))
    if threading.active_count() == 1:
        sys.exit(status)
