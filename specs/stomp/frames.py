"""STOMP frames and their octets, for versions 1.0, 1.1 and 1.2.

Source: 003_30478fd2f19f0da0.txt L30-42 (frame structure) and STOMP 1.2, sections STOMP Frames, Value Encoding, Body,
Header content-length and Augmented BNF, which the seed lacks.

The decoder is exact about where a frame ends and lenient about what is inside: a deviation that does not hide the end
of the frame becomes a wart on it, and the model says what follows from a wart. What does hide it is `Malformed`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, Final

from specs.codec import Decoder, Malformed, Reader

MAX_HEAD = 1 << 20
"""Octets of command and headers that we hold for one frame."""
MAX_BODY = 1 << 24
"""Octets of body that we hold for one frame."""
MAX_PLAIN = 1 << 16
"""Octets of head, and of body, up to which a frame is read by the short cut: a long one costs its octets, not its
lines, and should cost the same in pieces."""

CLIENT_COMMANDS = frozenset(
    ["CONNECT", "STOMP", "SEND", "SUBSCRIBE", "UNSUBSCRIBE", "ACK", "NACK", "BEGIN", "COMMIT", "ABORT", "DISCONNECT"]
)
SERVER_COMMANDS = frozenset(["CONNECTED", "MESSAGE", "RECEIPT", "ERROR"])
PLAIN_COMMANDS = frozenset({"CONNECT", "STOMP", "CONNECTED"})
"""Frames whose headers are never escaped (for STOMP see docs/ambiguities.md, E-03)."""


Headers = tuple[tuple[str, Any], ...]


@dataclass(slots=True, unsafe_hash=True)
class Frame:
    """One frame with decoded headers, in wire order, repeats included.

    Octets that are no UTF-8 survive as lone surrogates. `warts` are slugs of the grammar rules it breaks:
    undefined-escape, no-colon, empty-name, raw-colon, bare-cr, not-utf8, bad-content-length, cr-in-line-end.
    (Final, not frozen: see `specs.events.Said`.)
    """

    command: Final[str]
    headers: Final[Headers] = ()
    body: Final[bytes] = b""
    warts: Final[tuple[str, ...]] = ()
    get: Callable[[str], Any] = field(init=False, repr=False, compare=False)
    """The first value of a header, or None: of repeated headers only the first counts."""

    def __getattr__(self, name: str) -> Any:
        """Make `get` when a header is asked for first. Rules do little else, so that it is a dictionary's own."""
        if name != "get":
            raise AttributeError(name)
        self.get = dict(reversed(self.headers)).get
        return self.get

    def has_any(self, names: frozenset[str]) -> bool:
        """True when there is a header of one of these names."""
        return not names.isdisjoint([name for name, _ in self.headers])


@dataclass(frozen=True, slots=True)
class Style:
    """How a frame is written where the grammar leaves a choice.

    `version` chooses the escapes; `eol` ends its lines, but for those whose number, modulo 3, is a bit of `mixed`: LF
    ends them. `before` and `after` are EOLs around the frame.
    """

    version: str = "1.2"
    eol: bytes = b"\n"
    before: bytes = b""
    after: bytes = b""
    mixed: int = 0


BEAT = Frame("")
"""One or more EOLs between frames: no frame, but a sign of life."""
CR_BEAT = Frame("", warts=("cr-in-line-end",))
"""The same, where one of them has a CR that the version of the session does not know."""

PLAIN = Style()

ESCAPES = {
    "1.2": str.maketrans({"\\": "\\\\", "\r": "\\r", "\n": "\\n", ":": "\\c"}),
    "1.1": str.maketrans({"\\": "\\\\", "\n": "\\n", ":": "\\c"}),
    "1.0": {},
}
"""What each version escapes, for `str.translate`."""
_UNESCAPES = {
    "1.2": {"r": "\r", "n": "\n", "c": ":", "\\": "\\"},
    "1.1": {"n": "\n", "c": ":", "\\": "\\"},
    "1.0": {},
}
_HEAD_END = re.compile(rb"\n\r?\n|\0")
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)
_DIGITS = re.compile(r"[0-9]{1,40}\Z", re.ASCII)


def unescape(text: str, version: str = "1.2") -> str | None:
    """Decode in one left-to-right scan; None when an escape is undefined."""
    table = _UNESCAPES[version]
    try:
        return _ESCAPE.sub(lambda match: table[match[1]], text)
    except KeyError:
        return None


def is_beat(frame: Frame) -> bool:
    """True for EOLs that stand alone."""
    return not frame.command and (frame is BEAT or frame in (BEAT, CR_BEAT))


def encode(frame: Frame, style: Style | None = None) -> bytes:
    """The octets of a frame whose Refs have been resolved."""
    if frame is BEAT:
        return b"\n"
    style = style or PLAIN
    text = "\n".join([frame.command, *map(":".join, frame.headers)])
    if (
        # with no more than its own separators a head has nothing to escape
        (text.count(":") + text.count("\n") > 2 * len(frame.headers) or "\\" in text or "\r" in text)
        and frame.command not in PLAIN_COMMANDS
        and style.version != "1.0"
    ):
        table = ESCAPES[style.version]
        pairs = [f"{name.translate(table)}:{value.translate(table)}" for name, value in frame.headers]
        text = "\n".join([frame.command, *pairs])
    head = text.encode("utf-8", "surrogateescape") + b"\n\n"
    if style.eol != b"\n":
        head = _ended(head, style)
    return b"%b%b%b\0%b" % (style.before, head, frame.body, style.after)


def _ended(head: bytes, style: Style) -> bytes:
    """The lines of a head, each with its end."""
    if not style.mixed:
        return head.replace(b"\n", style.eol)
    lines = head.split(b"\n")[:-1]
    return b"".join(line + (b"\n" if style.mixed >> n % 3 & 1 else style.eol) for n, line in enumerate(lines))


class _Pairs(dict[bytes, tuple[str, str]]):
    """Names and values of header lines that need no care, by the line as `version` writes it. Many lines come again and
    again, so they are kept. Raises KeyError for a line that breaks a rule or holds a CR or a NUL."""

    MOST, LONGEST = 2048, 128

    def __init__(self, version: str) -> None:
        super().__init__()
        self._version = version

    def __missing__(self, line: bytes) -> tuple[str, str]:
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise KeyError(line) from None
        name, colon, value = text.partition(":")
        if not name or not colon or "\r" in text or "\0" in text:
            raise KeyError(line)
        if self._version != "1.0":
            if ":" in value:
                raise KeyError(line)
            if "\\" in text:
                decoded_name, decoded_value = unescape(name, self._version), unescape(value, self._version)
                if decoded_name is None or decoded_value is None:
                    raise KeyError(line)
                name, value = decoded_name, decoded_value
        pair = name, value
        if len(line) <= self.LONGEST:
            if len(self) >= self.MOST:
                self.clear()
            self[line] = pair
        return pair


_PAIRS = {version: _Pairs(version) for version in ESCAPES}
_COMMANDS = {command.encode(): command for command in CLIENT_COMMANDS | SERVER_COMMANDS}


class Grammar:
    """One direction of a connection; `session["version"]`, shared by both, is set when CONNECTED is read."""

    def __init__(self, version: str = "1.2", session: dict[str, Any] | None = None) -> None:
        self._session = {} if session is None else session
        self._session.setdefault("version", version)
        self._last = ""

    @property
    def version(self) -> str:
        """The version whose escapes and line ends hold now."""
        version: str = self._session["version"]
        return version

    def plain(self, data: bytes, at: int, items: list[Any]) -> int:
        """Whole frames with LF alone; see `specs.codec.PlainGrammar`."""
        find = data.find
        while (blank := find(b"\n\n", at)) >= 0:
            if blank - at > MAX_PLAIN:
                return at
            body = blank + 2
            length = find(b"\ncontent-length:", at, blank)
            if length < 0:
                end = find(0, body, body + MAX_PLAIN)
                if end < 0:
                    return at
            else:
                digits = data[length + 16 : find(b"\n", length + 16)]
                if not digits.isdigit() or len(digits) > 9:
                    return at
                end = body + int(digits)
                if end >= len(data) or data[end] or end - body > MAX_PLAIN:
                    return at
            short = self._plain_head(data[at:blank])  # only now: it is what takes time, and is not to be done twice
            if short is None:
                return at
            command, headers = short
            items.append(Frame(command, headers, data[body:end]))
            self._last = command
            if command == "CONNECTED":
                self._agree(headers)
            at = end + 1
        return at

    def _plain_head(self, head: bytes) -> tuple[str, Headers] | None:
        """Command and headers if nothing about them needs care."""
        lines = head.split(b"\n")
        command = _COMMANDS.get(lines[0])
        if command is None:
            return None
        pairs = _PAIRS["1.0" if command in PLAIN_COMMANDS else self._session["version"]]
        try:
            return command, tuple([pairs[line] for line in lines[1:]])
        except KeyError:
            return None

    def _agree(self, headers: Headers) -> None:
        """The version that CONNECTED names; without one it is 1.0."""
        named = [value for name, value in headers if name == "version"]
        self._session["version"] = "1.0" if not named else named[0] if named[0] in ESCAPES else "1.2"

    def frame(self, reader: Reader) -> Generator[None, None, Frame]:
        """EOLs (as BEAT when nothing follows them yet, or as CR_BEAT) or one frame."""
        beats = cr = False
        while True:
            buffer, pos = reader.buffer, reader.pos
            if pos >= len(buffer):
                if beats:
                    return CR_BEAT if cr else BEAT
                yield
            elif buffer[pos] == 10:
                reader.pos, beats = pos + 1, True
            elif buffer[pos] == 13 and pos + 1 >= len(buffer):
                yield  # CR LF may be cut in two
            elif buffer[pos] == 13 and buffer[pos + 1] == 10:
                reader.pos, beats, cr = pos + 2, True, cr or self._forbids_cr()
            elif cr:
                return CR_BEAT
            else:
                break
        start, end = yield from reader.search(_HEAD_END, 2, MAX_HEAD)
        if reader.buffer[start] == 0:
            raise Malformed("nul-in-head")
        head = bytes(reader.buffer[reader.pos : start])
        reader.pos = end
        command, headers, length, warts = self._head(head)
        if length is None:
            body = yield from reader.until(0, MAX_BODY)
        elif length > MAX_BODY:
            raise Malformed("over-limit")
        else:
            body = yield from reader.exactly(length + 1)
            if body[-1] != 0:
                raise Malformed("content-length-mismatch")
            body = body[:-1]
        if command == "CONNECTED":
            self._agree(headers)
        self._last = command
        return Frame(command, headers, body, warts)

    def _forbids_cr(self) -> bool:
        """True where an EOL is a line feed alone: in 1.1, behind a frame that was said in its session. The EOLs behind
        CONNECT may be written before the version is known."""
        return self.version == "1.1" and self._last not in ("", "CONNECT", "STOMP")

    def _head(self, head: bytes) -> tuple[str, Headers, int | None, tuple[str, ...]]:
        warts: list[str] = []
        try:
            text = head.decode()
        except UnicodeDecodeError:
            text = head.decode("utf-8", "surrogateescape")
            warts.append("not-utf8")
        version = self.version
        lines = text.split("\n")
        if "\r" in text:
            # before 1.2, a CR at the end of a line is part of the value, unless every line is written that way
            if version == "1.2" or lines[0].endswith("\r"):
                lines = [line.removesuffix("\r") for line in lines]
                if version != "1.2":
                    warts.append("cr-in-line-end")
            if any("\r" in line for line in lines):
                warts.append("bare-cr")
        command = lines[0]
        plain = command in PLAIN_COMMANDS or version == "1.0"
        length: int | None = None
        headers: list[tuple[str, str]] = []
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon:
                warts.append("no-colon")
            elif not name:
                warts.append("empty-name")
            if not plain:
                if ":" in value:
                    warts.append("raw-colon")
                if "\\" in line:
                    name, value = self._decoded(name, value, version, warts)
            if name == "content-length" and length is None and "bad-content-length" not in warts:
                if _DIGITS.match(value):
                    length = int(value)
                else:
                    warts.append("bad-content-length")
            headers.append((name, value))
        return command, tuple(headers), length, tuple(warts)

    def _decoded(self, name: str, value: str, version: str, warts: list[str]) -> tuple[str, str]:
        decoded_name, decoded_value = unescape(name, version), unescape(value, version)
        if decoded_name is None or decoded_value is None:
            warts.append("undefined-escape")
            return name, value
        return decoded_name, decoded_value


class PaddedGrammar(Grammar):
    """What a client writes: in 1.0, whose own examples have `destination: /queue/foo`, blanks around a value are
    padding (docs/ambiguities.md, "Clients")."""

    def plain(self, data: bytes, at: int, items: list[Any]) -> int:
        """No short cut in 1.0."""
        return at if self.version == "1.0" else super().plain(data, at, items)

    def _head(self, head: bytes) -> tuple[str, Headers, int | None, tuple[str, ...]]:
        if self.version == "1.0":
            parts = [line.partition(b":") for line in head.split(b"\n")]
            head = b"\n".join([name + colon + value.strip(b" \t") for name, colon, value in parts])
        return super()._head(head)


def decoder(role: str, config: Any, session: dict[str, Any]) -> Decoder:
    """A decoder for what `role` sends. `session` is shared by both directions of one connection: it holds the version
    once CONNECTED has been read. Where a server is judged, the client is the tester, which pads nothing."""
    judged = role == "client" and getattr(config, "role", "") == "client"
    grammar = PaddedGrammar if judged else Grammar
    return Decoder(grammar(getattr(config, "version", "1.2"), session))


def describe(frame: Frame) -> str:
    """A frame as people read it, in one string with line feeds; the body in Python's notation when it is no text."""
    if is_beat(frame):
        return " ".join(("(end of line)", *(f"({wart})" for wart in frame.warts)))
    lines = [frame.command, *[f"{name}:{value}" for name, value in frame.headers]]
    if frame.body:
        lines += [
            "",
            repr(frame.body[:400])[2:-1] + (f" ... {len(frame.body)} octets" if len(frame.body) > 400 else ""),
        ]
    if frame.warts:
        lines.append("(" + ", ".join(frame.warts) + ")")
    return "\n".join(lines)
