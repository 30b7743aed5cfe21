"""The reference server behind a TCP port."""

from __future__ import annotations

from impls.references.front import Front, Peer
from impls.references.msgpack.reference import Server


class CallerPeer(Peer):
    """A client that has closed its end still gets the answers that it waits for."""

    def finish(self) -> None:
        if self.ended_at is not None or not self.session.open:
            self.drop()

    def flushed(self) -> None:
        if self.finished and not self.session.open:
            self.drop()
        else:
            super().flushed()


def front(server: Server, port: int) -> Front:
    """`server` behind a port, 0 for a free one."""
    return Front(lambda _: server, [port], CallerPeer)
