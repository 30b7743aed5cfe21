"""References on loopback ports of this process: correct peers for clients whose testee is looked at."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from impls.driver.link import LinkError, TcpLink
from impls.references.front import HOST, Front

WAKE_S = 0.5


@contextlib.contextmanager
def serving(front: Front) -> Iterator[str]:
    """`front` served by a thread; HOST:PORT."""
    over, port = threading.Event(), front.port  # the front may close its ports the moment that it is over

    def serve() -> None:
        while not over.is_set():
            front.step()
        for each in (*front.listeners, *front.peers):
            each.close()
        front.selector.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"{HOST}:{port}"
    finally:
        over.set()
        with contextlib.suppress(LinkError):
            TcpLink((HOST, port), WAKE_S).close()  # wakes it
        thread.join(WAKE_S)
