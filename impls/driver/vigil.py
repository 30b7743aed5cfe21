"""Listening on after a final silence: was the answer lost, or only late?

A hunt waits for an answer as long as answers of this implementation take. What was not there by then is looked into by
playing the conversation again; where it is there each time, nobody knows what it was. The connections on which it was
missing know: they are kept open, and whoever is only slow says something on them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from impls.driver.link import Link, Transport
from specs.codec import Decoder

SLICE_MS = 50.0
"""Longest single wait; what one took longer than that, the tester itself was not running."""
Heard = Literal["nothing", "late", "ended"]
"""What came in that time: nothing; something; or it could not be listened to the end, which says nothing."""


class Vigil:
    """Connections that were left open at a final silence. `beats` says of a frame that it is no answer. Whoever gets
    one has to listen, or to close it."""

    def __init__(
        self, transport: Transport, lines: Sequence[tuple[Link, Decoder]], beats: Callable[[Any], bool]
    ) -> None:
        self._transport, self._lines, self._beats = transport, lines, beats
        self._midway: set[Link] = set()

    def listen(self, ms: float, over: Callable[[], bool] = lambda: False) -> Heard:
        """Listen until it has been silent for `ms` more, and end the connections. `over` says when there is no more
        time."""
        links = [link for link, _ in self._lines]
        waited = 0.0
        try:
            while waited < ms:
                if heard := self._heard():
                    return heard
                if over():
                    return "ended"
                before = self._transport.now()
                self._transport.wait(links, min(SLICE_MS, ms - waited))
                waited += min(SLICE_MS, self._transport.now() - before)
            return self._heard() or ("ended" if self._midway else "nothing")
        finally:
            self.close()

    def close(self) -> None:
        """End the connections."""
        for link, _ in self._lines:
            link.close()

    def _heard(self) -> Heard | None:
        """What has come since the last time, if anything."""
        for link, decoder in self._lines:
            while data := link.take():
                items = decoder.feed(data)
                if not all(self._beats(item) for item in items):
                    return "late"
                (self._midway.discard if items else self._midway.add)(link)  # a part of it may become a heartbeat
            if data is None:
                return "ended"
        return None
