"""Lines of KCL MultiLang and their octets.

Source: 002_696459db5d1db11c.txt, "Action messages" and "High Level Description Of Protocol": one JSON object with a
member `action` on one line. Whatever else stands on a line is no message; a host skips it, and for a child's STDOUT it
is as ordinary as a user's `print`. So a line is either a `Message` or `Text`, and neither is malformed.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from specs import jsontext
from specs.codec import Decoder, Reader

MAX_LINE = 1 << 26
"""Octets that we hold for one line."""
SHOWN = 400
"""Characters of a line that a description shows."""


@dataclass(frozen=True, slots=True)
class Message:
    """A JSON object with a text under `action`. `members` is never changed once it is here; a value of it, or of a
    record in it, may be a Ref until the plan runs. `escaped`: it is written in ASCII, so that how octets become
    characters does not matter."""

    members: Mapping[str, Any]
    escaped: bool = field(default=False, compare=False)

    @property
    def action(self) -> str:
        """Which message it is."""
        name: str = self.members["action"]
        return name


@dataclass(frozen=True, slots=True)
class Text:
    """A line that is no message. `why`: blank, not-utf-8, no-json, no-object, no-action. `holds`: a message stands in
    it, behind or before something else."""

    data: bytes
    why: str
    holds: bool = False


@dataclass(frozen=True, slots=True)
class Style:
    """How a message is written. `order`: 0 as given, else the seed of a permutation. `escape`: "" (only what must be),
    "ascii" (everything beyond ASCII), "all" (every character of every text), "slash" (the solidus, as in base64,
    and what must be). `wide`: blanks between the tokens."""

    order: int = 0
    escape: str = ""
    wide: bool = False
    eol: bytes = b"\n"


PLAIN = Style()


def message(action: str, **members: Any) -> Message:
    """A message, for short."""
    return Message({"action": action, **members})


def encode(frame: Message | Text, style: Style | None = None) -> bytes:
    """The octets of a line, its end included."""
    style = style or PLAIN
    if isinstance(frame, Text):
        return frame.data + style.eol
    return _json(frame.members, style).encode("utf-8", "surrogatepass") + style.eol


_PLAINLY = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _json(value: Any, style: Style) -> str:
    if not style.order and not style.escape and not style.wide:
        return _PLAINLY.encode(value)
    return _written(value, style)


def _written(value: Any, style: Style) -> str:
    comma, colon = (" , ", " : ") if style.wide else (",", ":")
    if isinstance(value, Mapping):
        pairs = jsontext.ordered(value, style.order)
        return "{" + comma.join(jsontext.text(k, style.escape) + colon + _written(v, style) for k, v in pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + comma.join(_written(item, style) for item in value) + "]"
    return jsontext.text(value, style.escape) if isinstance(value, str) else json.dumps(value)


def read(line: bytes) -> Message | Text:
    """What a line is, its end left out."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return Text(line, "not-utf-8", _holds(line.decode("utf-8", "replace")))
    if not text.strip():
        return Text(line, "blank")
    try:
        value = _STRICTLY.decode(text)
    except (ValueError, RecursionError):
        return Text(line, "no-json", _holds(text))
    if not isinstance(value, dict):
        return Text(line, "no-object")
    if not isinstance(value.get("action"), str):
        return Text(line, "no-action")
    return Message(value, b"\\u" in line and line.isascii())


def _never(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


_STRICTLY = json.JSONDecoder(parse_constant=_never)


def _holds(text: str) -> bool:
    """True when a message stands somewhere in the line."""
    at = text.find("{")
    for _ in range(8):
        if at < 0:
            return False
        try:
            value, _end = json.JSONDecoder().raw_decode(text, at)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and isinstance(value.get("action"), str):
            return True
        at = text.find("{", at + 1)
    return False


class Grammar:
    """The same in both directions."""

    def frame(self, reader: Reader) -> Generator[None, None, Message | Text]:
        """One line; a CR before its LF belongs to the line end."""
        line = yield from reader.until(10, MAX_LINE)
        return read(line[:-1] if line.endswith(b"\r") else line)

    def plain(self, data: bytes, at: int, items: list[Any]) -> int:
        """See `specs.codec.PlainGrammar`: whole lines."""
        while 0 <= (end := data.find(b"\n", at)) <= at + MAX_LINE:
            line = data[at:end]
            items.append(read(line[:-1] if line.endswith(b"\r") else line))
            at = end + 1
        return at


def decoder(role: str, config: Any, session: dict[str, Any]) -> Decoder:
    """A decoder for what `role` sends."""
    return Decoder(Grammar())


def describe(frame: Any) -> str:
    """A line for people."""
    if isinstance(frame, Text):
        return f"({frame.why}) {frame.data[:SHOWN]!r}"
    if not isinstance(frame, Message):
        return repr(frame)[:SHOWN]
    text = json.dumps(frame.members, ensure_ascii=True, default=repr)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text)} characters)"
