"""Bytes to frames, in whatever pieces they arrive.

A protocol writes a grammar: a method that is a generator, reads through a `Reader`, and returns one frame. It yields
whenever bytes are missing, so that it reads from top to bottom like the text it implements. Every open-ended read has a
limit: a peer must not make us hold bytes for ever.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Protocol

Need = Generator[None, None, Any]


class Malformed(Exception):
    """The bytes cannot be a frame, and where the next one begins is unknown. `why` is a slug."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Bad:
    """`data` are the octets (at most the first `Decoder.KEEP`) from which on nothing can be decoded, and why."""

    data: bytes
    why: str


class Reader:
    """Octets received and not yet read. Searches continue where they stopped, so any cutting costs linear time."""

    __slots__ = ("_seen", "buffer", "pos")

    def __init__(self) -> None:
        self.buffer = bytearray()
        self.pos = 0
        self._seen = 0

    def __len__(self) -> int:
        return len(self.buffer) - self.pos

    def search(self, pattern: re.Pattern[bytes], overlap: int, limit: int) -> Generator[None, None, tuple[int, int]]:
        """Offsets (start, end) in `buffer` of the first match; `overlap` is the longest match less one.

        Raises Malformed("over-limit") once it is certain that no match begins within `limit` octets.
        """
        self._seen = self.pos
        while True:
            match = pattern.search(self.buffer, self._seen)
            if match is not None and match.start() - self.pos <= limit:
                return match.start(), match.end()
            if match is not None or len(self.buffer) - self.pos > limit + overlap:
                raise Malformed("over-limit")
            self._seen = max(self.pos, len(self.buffer) - overlap)
            held = self.pos
            yield
            self._seen -= held - self.pos  # the buffer may have been compacted while we waited

    def until(self, octet: int, limit: int) -> Generator[None, None, bytes]:
        """Octets up to `octet`, which is read and left out. Raises Malformed("over-limit") as `search` does."""
        seen = self.pos
        while True:
            end = self.buffer.find(octet, seen)
            if end >= 0 and end - self.pos <= limit:
                data = bytes(self.buffer[self.pos : end])
                self.pos = end + 1
                return data
            if len(self.buffer) - self.pos > limit:
                raise Malformed("over-limit")
            seen = len(self.buffer)
            held = self.pos
            yield
            seen -= held - self.pos

    def exactly(self, count: int) -> Generator[None, None, bytes]:
        """The next `count` octets. The caller checks `count` against its limit first."""
        while len(self.buffer) - self.pos < count:
            yield
        data = bytes(self.buffer[self.pos : self.pos + count])
        self.pos += count
        return data


class Grammar(Protocol):
    """One direction of one connection; may keep what earlier frames settled, such as the version.

    A grammar that also has a method `plain` (see `PlainGrammar`) is read faster.
    """

    def frame(self, reader: Reader) -> Generator[None, None, Any]:
        """Read one frame. Yields while octets are missing. Raises Malformed."""


class PlainGrammar(Grammar, Protocol):
    """A grammar with a short cut for what nearly all frames are: whole, and written in the simplest way."""

    def plain(self, data: bytes, at: int, items: list[Any]) -> int:
        """Read frames from `data[at:]` into `items`, as `frame` would, up to the first that is not whole or that needs
        care; answers where that one begins. Never raises."""


class Decoder:
    """Turns octets in any pieces into frames, or one `Bad` after which everything is ignored."""

    KEEP = 4096

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._plain: Callable[[bytes, int, list[Any]], int] | None = getattr(grammar, "plain", None)
        self._reader = Reader()
        self._reading = grammar.frame(self._reader)
        self.bad: Bad | None = None
        self.midway = False
        """True while a frame has been begun and not finished."""

    def feed(self, data: bytes) -> list[Any]:
        """Frames completed by `data`; the last item is a `Bad` when decoding cannot go on."""
        items: list[Any] = []
        if self.bad is not None:
            return items
        reader, plain = self._reader, self._plain
        shift = len(reader.buffer)  # what is at `at` in `data` is at `at + shift` in the buffer
        if plain is not None and not shift:
            shift = -plain(data, 0, items)
            if shift == -len(data):
                return items
        reader.buffer += data[-shift:] if shift < 0 else data
        start = 0  # where the frame that is being read begins: its octets are held until it is whole
        while True:
            try:
                next(self._reading)
                self.midway = len(reader.buffer) > start
                break
            except StopIteration as done:
                items.append(done.value)
                self._reading = self._grammar.frame(reader)
                if plain is not None and reader.pos < len(reader.buffer):
                    reader.pos = plain(data, reader.pos - shift, items) + shift
                start = reader.pos
            except Malformed as malformed:
                self.bad = Bad(bytes(reader.buffer[start : start + self.KEEP]), malformed.why)
                items.append(self.bad)
                self.midway = False
                reader.buffer.clear()
                reader.pos = 0
                return items
        if start:
            del reader.buffer[:start]
            reader.pos -= start
        return items
