"""How the references write and read lines: their own, so that they do not share a mistake with the specification."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, NamedTuple


class Profile(NamedTuple):
    """What a profile has: the member for a checkpoint's number, final actions, shutdownRequested, later members."""

    number: str
    finals: tuple[str, ...]
    requested: bool

    @property
    def later(self) -> bool:
        """True from KCL 1.7.2 on."""
        return self.number == "sequenceNumber"


_NEW = Profile("sequenceNumber", ("leaseLost", "shardEnded"), requested=True)
PROFILES: Mapping[str, Profile] = {
    "kcl1-seed": Profile("checkpoint", ("shutdown",), requested=False),
    "kcl1-seq": Profile("sequenceNumber", ("shutdown",), requested=True),
    "kcl2": _NEW,
    "kcl3": _NEW,
}


class BadLine(Exception):
    """A line that cannot be understood."""


def parse(line: bytes) -> dict[str, Any]:
    """The JSON object on a line. Raises BadLine."""
    try:
        value = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadLine(f"not a JSON line: {error}") from None
    if not isinstance(value, dict) or not isinstance(value.get("action"), str):
        raise BadLine(f"no action in {line[:100]!r}")
    return value


def unpack(text: Any) -> bytes:
    """The octets behind base64 text; a null stands for none. Raises BadLine."""
    if text is None:
        return b""
    try:
        return base64.b64decode(text, validate=True)
    except (ValueError, TypeError) as error:
        raise BadLine(f"data is no base64: {error}") from None


def pack(data: bytes) -> str:
    """Base64 text without line breaks."""
    return base64.b64encode(data).decode("ascii")
