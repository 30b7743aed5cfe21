"""How the reference client reads what a server says, and writes what it says itself.

Source: STOMP 1.2, "STOMP Frames", "Value Encoding", "Header content-length" and "Augmented BNF"; for older sessions
the sections of the same names in STOMP 1.1, and STOMP 1.0.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from impls.references.stomp.client_switches import ClientSwitches
from impls.references.stomp.parser import Malformed, Parser
from impls.references.stomp.writer import ESCAPE

Header = tuple[str, str]


class Unsayable(Exception):
    """The version spoken has no way to say this."""


class ServerReader(Parser):
    """Reads the frames of a server. Until a version is agreed on, an ERROR may be escaped or not."""

    def __init__(self, switches: Any) -> None:
        super().__init__(switches)
        self.agreed = False

    def agree(self, version: str) -> None:
        """From now on the session speaks `version`."""
        self.agreed = True
        self.version = version

    def read_headers(self, command: str, lines: list[str]) -> list[Header]:
        """Names and values, decoded. Raises Malformed."""
        if self.agreed or command != "ERROR":
            return super().read_headers(command, lines)
        try:
            return super().read_headers(command, lines)
        except Malformed:
            return [self.split_header(line) for line in lines]


class ClientWriter:
    """Writes the frames of one session."""

    UNESCAPED = frozenset({"CONNECT", "STOMP"})

    def __init__(self, switches: ClientSwitches, chance: random.Random) -> None:
        self.switches = switches
        self.chance = chance
        self.version = "1.0"  # what all servers read, as long as none is agreed on
        self.crlf_allowed = False

    def offer(self, versions: Sequence[str]) -> None:
        """These versions are on offer: what is said first must be read by servers of each of them."""
        self.crlf_allowed = list(versions) == ["1.2"]

    def agree(self, version: str) -> None:
        """From now on the session speaks `version`."""
        self.version = version
        self.crlf_allowed = version == "1.2"

    def encode(self, command: str, headers: Sequence[Header], body: bytes = b"") -> bytes:
        """The octets of a frame. Raises Unsayable."""
        found = self.order([*headers, *self.length(command, headers, body)])
        pairs = [self.header(command, name, value) for name, value in found]
        end = self.line_end()
        head = end.join([command, *pairs, "", ""])
        return head.encode() + body + b"\0" + (self.eols() if command != "DISCONNECT" else b"")

    def length(self, command: str, headers: Sequence[Header], body: bytes) -> list[Header]:
        """The header content-length, where it is needed or wanted."""
        how = self.switches.content_length
        wanted = 0 in body or (bool(body) and how == "body") or (command == "SEND" and how == "always")
        return [("content-length", self.content_length(body))] if wanted else []

    def content_length(self, body: bytes) -> str:
        """The value of content-length: octets, not characters."""
        return str(len(body))

    def order(self, headers: list[Header]) -> list[Header]:
        """The headers in the order in which they are written. No name occurs twice."""
        how = self.switches.header_order
        if how == "reversed":
            headers.reverse()
        elif how == "shuffled":
            self.chance.shuffle(headers)
        return headers

    def header(self, command: str, name: str, value: str) -> str:
        """One header line, without its end. Raises Unsayable."""
        first = command in self.UNESCAPED
        plain = first or self.version == "1.0"
        if plain and (":" in name or "\n" in name + value or (first and "\r" in name + value)):
            raise Unsayable(f"a header {name!r} with the value {value!r} cannot be said there")
        if not name or "\0" in name + value:
            raise Unsayable(f"a header {name!r} with the value {value!r} cannot be said")
        return f"{name}:{value}" if plain else f"{self.escape(name)}:{self.escape(value)}"

    def escape(self, text: str) -> str:
        """A name or a value, escaped as the version wants it."""
        for octet, escaped in ESCAPE[self.version]:
            text = text.replace(octet, escaped)
        return text

    def line_end(self) -> str:
        """What ends a line."""
        return "\r\n" if self.crlf_allowed and self.switches.line_end == "crlf" else "\n"

    def eols(self) -> bytes:
        """Line ends behind a frame, which mean nothing."""
        style = self.switches.trailing_eols
        if style == "none":
            return b""
        if style == "several":
            kinds = (b"\n", b"\r\n") if self.crlf_allowed else (b"\n",)
            return b"".join(self.chance.choices(kinds, k=self.chance.randint(0, 4)))
        return b"\r\n" if self.crlf_allowed and style == "crlf" else b"\n"

    def beat(self) -> bytes:
        """A heart-beat."""
        return b"\r\n" if self.crlf_allowed and self.switches.beat_octets == "crlf" else b"\n"
