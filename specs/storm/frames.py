"""Messages of Storm multilang and their octets.

Source: 000_a44a7e31e51ca0fa.txt, "The Protocol": JSON text, and then a line that is exactly `end`. Every sample of the
text is printed over several lines, so a message is all lines up to that one. What stands before an `end` and is no JSON
is a `Text`: for the model to judge, since the next message begins behind it all the same.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from specs import jsontext
from specs.codec import Decoder, Malformed, Reader

MAX_LINE = 1 << 26
"""Octets that we hold for one line, and for one message."""
SHOWN = 400
"""Characters of a message that a description shows."""
END = b"end"


@dataclass(frozen=True, slots=True)
class Message:
    """A JSON value, never changed once it is here; a value in it may be a Ref until the plan runs. With `needs`, a Ref,
    it is said only once that is known."""

    value: Any
    needs: Any = None

    @property
    def command(self) -> Any:
        """What an object has under `command`."""
        return self.value.get("command") if isinstance(self.value, Mapping) else None


@dataclass(frozen=True, slots=True)
class Text:
    """What stood before an `end` line and is no JSON text. `why`: empty, not-utf-8, no-json, several (JSON texts),
    twice (a member)."""

    data: bytes
    why: str


@dataclass(frozen=True, slots=True)
class Style:
    """How a message is written. `order`: 0 as given, else the seed of a permutation. `escape`: "" (only what must be),
    "ascii", "all" (every character) or "slash" (`/` too). `lines`: spread over several lines by so many blanks."""

    order: int = 0
    escape: str = ""
    lines: int = 0
    eol: bytes = b"\n"


PLAIN = Style()


def encode(frame: Message | Text, style: Style | None = None) -> bytes:
    """The octets of a message, its `end` line included."""
    style = style or PLAIN
    body = frame.data if isinstance(frame, Text) else written(frame.value, style).encode("utf-8", "surrogatepass")
    return body.replace(b"\n", style.eol) + style.eol + END + style.eol


def written(value: Any, style: Style = PLAIN) -> str:
    """JSON text in a style."""
    if style == PLAIN or (not style.order and not style.escape and not style.lines):
        return _PLAINLY.encode(value)
    return _written(value, style, 0)


def _written(value: Any, style: Style, depth: int) -> str:
    if isinstance(value, Mapping):
        items = [
            f"{jsontext.text(k, style.escape)}: {_written(v, style, depth + 1)}"
            for k, v in jsontext.ordered(value, style.order)
        ]
        return _joined("{", items, "}", style, depth)
    if isinstance(value, (list, tuple)):
        return _joined("[", [_written(item, style, depth + 1) for item in value], "]", style, depth)
    return jsontext.text(value, style.escape) if isinstance(value, str) else json.dumps(value)


def _joined(start: str, items: list[str], end: str, style: Style, depth: int) -> str:
    if not style.lines or not items:
        return start + ",".join(items) + end
    inside = "\n" + " " * (style.lines * (depth + 1))
    return start + inside + ("," + inside).join(items) + "\n" + " " * (style.lines * depth) + end


def read(data: bytes) -> Message | Text:
    """What stands before an `end` line."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return Text(data, "not-utf-8")
    if not text.strip(" \t\r\n"):
        return Text(data, "empty")
    try:
        return Message(_STRICTLY.decode(text))
    except _Twice:
        return Text(data, "twice")
    except (ValueError, RecursionError) as error:
        return Text(data, "several" if getattr(error, "msg", "") == "Extra data" else "no-json")


class _Twice(Exception):
    """A member stands twice in an object."""


def _single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _Twice
    return members


def _never(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


_PLAINLY = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_STRICTLY = json.JSONDecoder(parse_constant=_never, object_pairs_hook=_single)


class Grammar:
    """The same in both directions."""

    def frame(self, reader: Reader) -> Generator[None, None, Message | Text]:
        """One message; a CR before its LF belongs to the line end."""
        lines: list[bytes] = []
        held = 0
        while True:
            line = yield from reader.until(10, MAX_LINE)
            line = line.removesuffix(b"\r")
            if line == END:
                return read(b"\n".join(lines))
            held += len(line) + 1
            if held > MAX_LINE:
                raise Malformed("over-limit")
            lines.append(line)


def decoder(role: str, config: Any, session: dict[str, Any]) -> Decoder:
    """A decoder for what `role` sends."""
    return Decoder(Grammar())


def describe(frame: Any) -> str:
    """A line for people."""
    if isinstance(frame, Text):
        return f"({frame.why}) {frame.data[:SHOWN]!r}"
    if not isinstance(frame, Message):
        return repr(frame)[:SHOWN]
    text = json.dumps(frame.value, ensure_ascii=True, default=repr)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text)} characters)"
