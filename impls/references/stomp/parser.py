"""Octets from a client, in any pieces, into frames.

Source: STOMP 1.2, "STOMP Frames", "Value Encoding", "Body", "Header content-length", "Repeated Header Entries", "Size
Limits" and "Augmented BNF"; STOMP 1.1, "Value Encoding", for sessions that agreed on less.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from impls.references.stomp.switches import Switches

UNESCAPED = frozenset({"CONNECT", "STOMP", "CONNECTED"})
"""Frames whose headers are never escaped, so that 1.0 peers understand them. The text exempts CONNECT and CONNECTED
only, but also wants STOMP to be handled as CONNECT is."""

UNESCAPE = {
    "1.0": {},
    "1.1": {r"\n": "\n", r"\c": ":", r"\\": "\\"},
    "1.2": {r"\n": "\n", r"\c": ":", r"\\": "\\", r"\r": "\r"},
}

_ESCAPE = re.compile(r"\\.?", re.DOTALL)
_BLANK_LINE = {"1.0": re.compile(rb"\n\n"), "1.1": re.compile(rb"\n\n"), "1.2": re.compile(rb"\n\r?\n")}
_EOLS = {"refuse": re.compile(rb"(?:\r?\n)*+"), "drop": re.compile(rb"(?:\r?\n|\0)*+")}
_LFS = {"refuse": re.compile(rb"\n*+"), "drop": re.compile(rb"[\n\0]*+")}


class Frame(NamedTuple):
    """One frame of a client. `headers` has all entries in order; `first` the first value of each name."""

    command: str
    headers: list[tuple[str, str]]
    first: dict[str, str]
    body: bytes
    size: int
    """What it takes to keep this frame: its octets, and something for each header."""


class Malformed(Exception):
    """The octets are not STOMP. `frame` holds what could still be read: its command and its receipt header."""

    def __init__(self, why: str, frame: Frame | None = None) -> None:
        super().__init__(why)
        self.frame = frame


class OverLimit(Malformed):
    """The octets may be STOMP, but there are too many of them."""


class Parser:
    """Takes octets with `feed`, gives frames with `next`. Each octet is looked at a fixed number of times.

    `version` governs line ends and escapes; set it when it has been negotiated, between two frames. After Malformed
    the parser is of no more use: a stream without boundaries cannot be picked up again.
    """

    def __init__(self, switches: Switches) -> None:
        self.switches = switches
        self._buffer = bytearray()
        self._at = 0  # start of the frame, or of its body once the head is known
        self._seen = 0  # everything before it has been searched for the end of the head, or of the body
        self._line = 0  # start of the last line of an unfinished head, and the number of lines before it
        self._lines = 0
        self._head: tuple[str, list[tuple[str, str]], dict[str, str]] | None = None
        self._length: int | None = None
        self._head_size = 0
        self._eols = _EOLS[switches.nul_in_header]
        self.version = "1.2"

    @property
    def version(self) -> str:
        """The version whose grammar holds. Before one is agreed on, that of 1.2, which includes CR LF."""
        return self._version

    @version.setter
    def version(self, version: str) -> None:
        self._version = version
        self._blank_line = _BLANK_LINE[version]

    @property
    def command(self) -> str | None:
        """The command of a frame whose head is complete and whose body is not."""
        return self._head[0] if self._head else None

    @property
    def held(self) -> int:
        """How many octets wait here."""
        return len(self._buffer) - self._at

    def feed(self, data: bytes) -> None:
        """Take octets. They become frames when `next` is called."""
        if self._at:
            del self._buffer[: self._at]
            self._seen -= self._at
            self._line -= self._at
            self._at = 0
        self._buffer += data

    def next(self) -> Frame | None:
        """The next complete frame, or None. Raises Malformed."""
        head = self._head or self._read_head()
        if head is None:
            return None
        command, headers, first = head
        end = self._body_end()
        if end is None:
            return None
        body = bytes(self._buffer[self._at : end])
        size = self._head_size + len(body)
        self._at = self._seen = end + 1
        self._head = None
        return Frame(command, headers, first, body, size)

    # The body

    def _body_end(self) -> int | None:
        """Where the NUL behind the body is, or None while it is not there."""
        if self._length is not None:
            end = self._at + self._length
            if end >= len(self._buffer):
                return None
            if self._buffer[end]:
                raise Malformed("the body is longer than content-length says", self._partial())
            return end
        end = self._buffer.find(0, self._seen)
        if (len(self._buffer) if end < 0 else end) - self._at > self.switches.max_body:
            raise OverLimit("the body is too large", self._partial())
        if end >= 0:
            return end
        self._seen = len(self._buffer)
        return None

    def body_length(self, first: dict[str, str]) -> int | None:
        """How long content-length says the body is, or None without one. Raises Malformed."""
        value = first.get("content-length")
        return None if value is None else self.content_length(value)

    def content_length(self, value: str) -> int:
        """The number that a content-length stands for. Raises Malformed."""
        if self.switches.odd_content_length == "accept":
            value = value.removeprefix(" ").removeprefix("+")
        elif value.startswith("0") and len(value) > 1:
            raise Malformed("content-length has leading zeros")
        if not (value.isascii() and value.isdecimal()):
            raise Malformed("content-length is not a number")
        # A number that is too long to be small is not worth converting.
        value = value.lstrip("0") or "0"
        if len(value) > 20 or (length := int(value)) > self.switches.max_body:
            raise OverLimit("content-length is too large")
        return length

    # The head

    def _read_head(self) -> tuple[str, list[tuple[str, str]], dict[str, str]] | None:
        """Find and read command and headers. None while they are incomplete."""
        buffer = self._buffer
        if self._at >= len(buffer):
            return None
        if buffer[self._at] <= 0x0D and not self._skip_eols():
            return None
        blank = self._blank_line.search(buffer, self._seen)
        if blank is None:
            self._watch_head()
            return None
        octets = bytes(buffer[self._at : blank.start()])
        self._at = self._seen = blank.end()
        self._line = self._lines = 0
        try:
            command, lines = self._split(octets)
            headers = self.read_headers(command, lines)
            # First value wins: a later one in the reversed list replaces an earlier one.
            first = dict(reversed(headers))
            self._length = self.body_length(first)
        except Malformed as malformed:
            malformed.frame = self.salvage(octets)
            raise
        if self._version != "1.2":
            self._eols = _LFS[self.switches.nul_in_header]
        self._head_size = len(octets) + 400 + 200 * len(headers)
        self._head = command, headers, first
        return self._head

    def _skip_eols(self) -> bool:
        """Step over what may stand between two frames. False when there is nothing behind it."""
        # What follows CONNECT still belongs to it, and was written before any version was agreed on: CR LF is an end of
        # line there even when the session goes on in 1.1.
        found = self._eols.match(self._buffer, self._at)
        assert found is not None
        if found.end() > self._at:
            self._at = found.end()
            self._seen = max(self._seen, self._at)
            self._line = max(self._line, self._at)
        return self._at < len(self._buffer)

    def _watch_head(self) -> None:
        """Hold an unfinished head to the limits: a peer must not make us buffer for ever."""
        buffer, limits = self._buffer, self.switches
        if limits.nul_in_header == "refuse" and (nul := buffer.find(0, self._seen)) >= 0:
            raise Malformed("a NUL comes before the blank line", self.salvage(bytes(buffer[self._at : nul])))
        self._line = max(self._line, self._at)
        search = max(self._line, self._seen)
        too_many = len(buffer) - self._at > limits.max_head
        while not too_many and (end := buffer.find(b"\n", search)) >= 0:
            too_many = end - self._line > limits.max_line or self._lines > limits.max_headers
            search = self._line = end + 1
            self._lines += 1
        if too_many or len(buffer) - self._line > limits.max_line:
            raise OverLimit("the headers are too large", self.salvage(bytes(buffer[self._at : self._line])))
        # The blank line may be cut anywhere: its first two octets are looked at again.
        self._seen = max(self._at, len(buffer) - 2)

    def _split(self, octets: bytes) -> tuple[str, list[str]]:
        """Command and header lines. Raises Malformed."""
        limits = self.switches
        if len(octets) > limits.max_head:
            raise OverLimit("the headers are too large")
        command, *lines = self.decode(octets).split("\n")
        if len(lines) > limits.max_headers:
            raise OverLimit("too many headers")
        if len(octets) > limits.max_line and max(map(len, octets.split(b"\n"))) > limits.max_line:
            raise OverLimit("a header line is too long")
        if 13 in octets:  # CR
            command, *lines = map(self.end_line, (command, *lines))
        if "\r" in command:
            raise Malformed("a CR is in the command line")
        return command, lines

    def decode(self, octets: bytes) -> str:
        """Header octets as text. Raises Malformed."""
        if 0 in octets:
            if self.switches.nul_in_header == "refuse":
                raise Malformed("a NUL is in the header lines")
            octets = octets.replace(b"\0", b"")
        try:
            return octets.decode()
        except UnicodeDecodeError:
            if self.switches.invalid_utf8 == "replace":
                return octets.decode(errors="replace")
            raise Malformed("the headers are not UTF-8") from None

    def end_line(self, line: str) -> str:
        """A line without the optional CR of its end. Only 1.2 has that."""
        return line.removesuffix("\r") if self._version == "1.2" else line

    def read_headers(self, command: str, lines: list[str]) -> list[tuple[str, str]]:
        """Names and values, decoded. Raises Malformed."""
        if command in UNESCAPED or self._version == "1.0":
            return [self.split_header(line) for line in lines]
        return [self.decode_header(*self.split_header(line)) for line in lines]

    def split_header(self, line: str) -> tuple[str, str]:
        """Name and value as they stand in the line. Raises Malformed."""
        name, colon, value = line.partition(":")
        if not colon:
            raise Malformed("a header line has no colon")
        if not name:
            raise Malformed("a header has no name")
        if "\r" in line and self._version == "1.2" and self.switches.bare_cr == "refuse":
            raise Malformed("a CR is inside a header line")
        return name, value

    def decode_header(self, name: str, value: str) -> tuple[str, str]:
        """Name and value without escapes. Raises Malformed."""
        if ":" in value and self.switches.raw_colon == "refuse":
            raise Malformed("a colon is not escaped")
        if "\\" in name:
            name = self.unescape(name)
        if "\\" in value:
            value = self.unescape(value)
        return name, value

    def unescape(self, text: str) -> str:
        """Replace escapes in one scan from the left. Raises Malformed for those that the version does not define."""
        known = UNESCAPE[self._version]
        try:
            return _ESCAPE.sub(lambda found: known[found[0]], text)
        except KeyError:
            raise Malformed("an escape is not defined") from None

    # What an ERROR can say about a frame that cannot be read

    def salvage(self, octets: bytes) -> Frame:
        """The command, and the receipt header if that one can be read. What stands behind a NUL is another frame."""
        command, *lines = octets.partition(b"\0")[0].split(b"\n", self.switches.max_headers)
        name = command.removesuffix(b"\r").decode(errors="replace")
        for line in lines:
            if line.startswith(b"receipt:"):
                try:
                    ((_, value),) = self.read_headers(name, [self.end_line(line.decode())])
                except (Malformed, UnicodeDecodeError):
                    continue
                return Frame(name, [("receipt", value)], {"receipt": value}, b"", 0)
        return Frame(name, [], {}, b"", 0)

    def _partial(self) -> Frame | None:
        """The frame whose body is wrong."""
        return Frame(*self._head, b"", 0) if self._head else None
