"""Peers for tests of campaigns, as tests/soaking.py describes them: MessagePack-RPC servers, of which some raise out of
their own code, and of some the specification cannot be told what they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from impls.driver.link import MemoryTransport
from impls.references.msgpack.reference import Server, Session
from tests.soak_msgpack import SOAK as CORRECT
from tests.soaking import Peer


class Deep(Server):
    """A server that follows its own tail in every third session."""

    opened = 0

    def open(self) -> Session:
        self.opened += 1
        session = super().open()
        if self.opened % 3 == 0:
            session.send = self._follow  # type: ignore[method-assign]
        return session

    def _follow(self, data: bytes) -> Any:
        return self._follow(data)


def made(role: str, number: int, real: bool) -> Peer:
    """Of three peers that follow each other, a correct one, one that raises, and one that cannot be spoken of."""
    peer = CORRECT.made(role, number, real)
    if number % 3 == 1:
        return replace(peer, transport=MemoryTransport(Deep), config=CORRECT.made(role, 0, real).config, name="deep")
    return replace(peer, config=None, name="unspeakable") if number % 3 == 2 else peer


SOAK = replace(CORRECT, made=made, roles=("server",), real=())
