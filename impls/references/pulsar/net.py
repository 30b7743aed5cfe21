"""The reference broker behind TCP ports."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from impls.references.front import HOST, PAUSE_AT, Front, Peer
from impls.references.pulsar.reference import Broker


class BrokerPeer(Peer):
    """A client whose frames wait for others is not read from, nor one that leaves much unread."""

    @property
    def unread(self) -> int:
        waiting: int = self.session.waiting
        return waiting

    @property
    def hears(self) -> bool:
        return self.unread <= PAUSE_AT if self.out else not self.session.backlogged

    @property
    def due(self) -> float:
        return math.inf if self.out else float(self.session.output_due())


def front(make: Callable[[str, str], Broker], port: int, second: int | None = None) -> Front:
    """The broker that `make` makes for its URL, behind a port. With a second one, all topics live there: who asks on
    the first is sent to it, so `make` is told its URL too."""

    def broker(ports: Sequence[int]) -> Broker:
        urls = [f"pulsar://{HOST}:{number}" for number in ports]
        return make(urls[0], urls[1] if len(urls) > 1 else "")

    return Front(broker, [port] if second is None else [port, second], BrokerPeer)
