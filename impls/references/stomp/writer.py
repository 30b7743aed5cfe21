"""Frames for a client into octets.

Source: STOMP 1.2, "STOMP Frames", "Value Encoding", "Header content-length" and "Augmented BNF".
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from impls.references.stomp.switches import Switches

ESCAPE = {
    "1.0": (),
    "1.1": (("\\", r"\\"), ("\n", r"\n"), (":", r"\c")),
    "1.2": (("\\", r"\\"), ("\n", r"\n"), (":", r"\c"), ("\r", r"\r")),
}
"""Replacements in the order in which they are made: the backslash first, since the others bring new ones."""

Header = tuple[str, str]


class Writer:
    """Writes the frames of one session. Until a version is agreed on it writes as 1.2 does, with LF alone."""

    def __init__(self, switches: Switches, chance: random.Random) -> None:
        self.switches = switches
        self.chance = chance
        self.version = "1.2"
        self.crlf_allowed = False  # a client of 1.1 would not understand it
        self.crlf = False

    def agree(self, version: str) -> None:
        """From now on the session speaks `version`."""
        self.version = version
        self.crlf_allowed = version == "1.2"
        self.crlf = self.crlf_allowed and self.switches.line_end == "crlf"

    def encode(self, command: str, headers: Sequence[Header], body: bytes = b"") -> bytes:
        """The octets of a frame. Adds content-length where it is needed or wanted."""
        switches = self.switches
        if body or switches.empty_content_length:
            headers = [*headers, ("content-length", self.content_length(body))]
        if switches.shuffle_headers:
            headers = self.shuffle(headers)
        lines = "\n".join(map(":".join, headers))
        # With no more than its own separators the head has nothing to escape, as nearly always.
        if (
            "\\" in lines or lines.count(":") != len(headers) or lines.count("\n") != len(headers) - 1 or "\r" in lines
        ) and command != "CONNECTED":
            lines = "\n".join(map(":".join, self.escape(headers)))
        head = f"{command}\n{lines}\n\n" if headers else f"{command}\n\n"
        if self.crlf:
            head = head.replace("\n", "\r\n")
        return b"%b%b\0%b" % (head.encode(), body, self.trailing_eols())

    def content_length(self, body: bytes) -> str:
        """The value of content-length: octets, not characters."""
        return str(len(body))

    def escape(self, headers: Sequence[Header]) -> list[Header]:
        """Headers as they go on the wire.

        STOMP 1.0 has no escapes. A line that would mean something else there is left out rather than changed.
        """
        if self.version == "1.0":
            return [(name, value) for name, value in headers if ":" not in name and "\n" not in name + value]
        return [(self.escape_header(name), self.escape_header(value)) for name, value in headers]

    def escape_header(self, text: str) -> str:
        """A name or a value, escaped as the version wants it."""
        for octet, escaped in ESCAPE[self.version]:
            text = text.replace(octet, escaped)
        return text

    def shuffle(self, headers: Sequence[Header]) -> list[Header]:
        """Another order of the headers. Those of one name keep theirs, since the first is the one that counts."""
        place = {name: self.chance.random() for name, _ in headers}
        return sorted(headers, key=lambda header: place[header[0]])

    def eol(self) -> bytes:
        """A line end to stand between frames, as heart-beats do."""
        return b"\r\n" if self.crlf else b"\n"

    def trailing_eols(self) -> bytes:
        """Line ends behind a frame, which mean nothing."""
        style = self.switches.trailing_eols
        if style == "none":
            return b""
        if style == "several":
            kinds = (b"\n", b"\r\n") if self.crlf_allowed else (b"\n",)
            return b"".join(self.chance.choices(kinds, k=self.chance.randint(0, 4)))
        return b"\r\n" if self.crlf_allowed and style == "crlf" else b"\n"
