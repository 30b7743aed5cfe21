"""How the references write and read messages: their own, so that they do not share a mistake with the specification."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any


class BadMessage(Exception):
    """A message that cannot be understood."""


def parse(lines: list[bytes], errors: str = "strict") -> Any:
    """The JSON value on the lines before an `end`; `errors`: what becomes of octets that are no UTF-8. Raises
    BadMessage."""
    try:
        return json.loads(b"\n".join(lines).decode("utf-8", errors), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise BadMessage(f"no JSON: {error}") from None


def _refuse(word: str) -> Any:
    raise BadMessage(f"{word} is no JSON number")


def write(value: Any, *, ascii_only: bool, indent: int, backwards: bool, eol: bytes) -> bytes:
    """A message with its closing line."""
    if backwards and isinstance(value, dict):
        value = dict(reversed(value.items()))
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent or None)
    return text.encode("utf-8").replace(b"\n", eol) + eol + b"end" + eol


class Lines:
    """Octets to messages: `take` is handed the lines of each."""

    def __init__(self, take: Callable[[list[bytes]], None]) -> None:
        self._take = take
        self._rest = b""
        self.lines: list[bytes] = []

    def feed(self, data: bytes) -> None:
        """Octets in any pieces."""
        if b"\n" not in data:
            self._rest += data
            return
        *whole, self._rest = (self._rest + data).split(b"\n")
        for line in whole:
            stripped = line[:-1] if line.endswith(b"\r") else line
            if stripped == b"end":
                lines, self.lines = self.lines, []
                self._take(lines)
            else:
                self.lines.append(stripped)

    @property
    def midway(self) -> bool:
        """True while part of a message has come."""
        return bool(self._rest or self.lines)


def whole_number(value: Any) -> bool:
    """True for a JSON number without a fraction."""
    return isinstance(value, int) and not isinstance(value, bool)


def text_of(members: Mapping[str, Any], name: str) -> str:
    """A member that has to be a text. Raises BadMessage."""
    value = members.get(name)
    if not isinstance(value, str):
        raise BadMessage(f"{name} is {value!r:.60}")
    return value
