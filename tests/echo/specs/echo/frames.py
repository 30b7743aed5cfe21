"""ECHO lines and their octets. Source: docs/add-a-protocol.md, "The text"."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from specs.codec import Decoder, Malformed, Reader

MAX_LINE = 64
"""Octets that we hold for one line."""
_LINE = re.compile(rb"(HELLO|WELCOME|BYE)|(PUT|DONE) ([a-z0-9]{1,32})")


@dataclass(frozen=True, slots=True)
class Line:
    """One line. `name` (of PUT and DONE) is text, or a Ref until the plan runs."""

    word: str
    name: Any = ""


def encode(line: Line, style: Any = None) -> bytes:
    """The octets of a line; the grammar leaves no choice of style."""
    return f"{line.word} {line.name}".strip().encode() + b"\n"


class Grammar:
    """The same in both directions."""

    def frame(self, reader: Reader) -> Generator[None, None, Line]:
        """One line. Raises Malformed("no-line") when the text has no such line."""
        text = yield from reader.until(10, MAX_LINE)
        match = _LINE.fullmatch(text)
        if match is None:
            raise Malformed("no-line")
        return Line((match[1] or match[2]).decode(), (match[3] or b"").decode())


def decoder(role: str, config: Any, session: dict[str, Any]) -> Decoder:
    """A decoder for what `role` sends."""
    return Decoder(Grammar())
