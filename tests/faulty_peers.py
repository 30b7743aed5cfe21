"""Peers for tests of campaigns, as tests/soaking.py describes them: every second MessagePack-RPC server has a fault.
And a STOMP server with another fault."""

from __future__ import annotations

from dataclasses import replace

from impls.driver.link import MemoryTransport
from impls.references.stomp import reference as stomp
from tests.mutants.hunted import ALL, key_of
from tests.soak_msgpack import SOAK as CORRECT
from tests.soaking import Peer

FAULT = next(mutant for mutant in ALL if mutant.name == "error-false" and mutant.role == "server")
NAME = key_of(FAULT)


def made(role: str, number: int, real: bool) -> Peer:
    """A correct peer, or the one with the fault."""
    peer = CORRECT.made(role, number, real)
    if number % 2:
        return peer
    return replace(peer, transport=MemoryTransport(FAULT.make), config=FAULT.config_of(FAULT), name=NAME)


class Deaf(stomp.Session):
    """A session with a STOMP server that knows no NACK."""

    def on_NACK(self, frame: stomp.Frame) -> None:
        self.fail("NACK is not here", frame)


class Faulty(stomp.Server):
    """A STOMP server with a fault, which a manifest names as start.python."""

    session_type = Deaf


SOAK = replace(CORRECT, made=made, roles=("server",), real=())
