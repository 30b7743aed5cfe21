"""One JSON object a line: how test programs around libraries are told what to do, and what they say.

A request has `id` and `op`; its answer repeats the `id` and has `ok` or `error`; a line with an `event` is one.
What is no JSON object is talk, and is kept for people.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

MAX_LINE = 1 << 26
"""Octets held for one line of a test program; what is longer is dropped and counts as talk."""


class HarnessLine(NamedTuple):
    """One line. `kind`: "answer" (value: op, and ok or error), the name of an event (value: its members), or "talk"."""

    kind: str
    value: Any


class Commands:
    """Both directions of one test program's stdin and stdout."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)
        self._open: dict[int | str, str] = {}
        self._inbox = bytearray()

    def request(self, op: str, **given: Any) -> bytes:
        """The octets that ask for an op. An `id` that the op itself has is the request's too."""
        request = {"id": next(self._ids), "op": op, **given}
        self._open[request["id"]] = op
        return json.dumps(request).encode() + b"\n"

    def feed(self, data: bytes) -> Iterator[HarnessLine]:
        """What the test program says, in any pieces."""
        first, *others = data.split(b"\n")
        self._inbox += first
        if len(self._inbox) > MAX_LINE:
            self._inbox.clear()
            yield HarnessLine("talk", "a line without an end")
        if not others:
            return
        whole = [bytes(self._inbox), *others[:-1]]
        self._inbox = bytearray(others[-1])
        for line in whole:
            if line.strip():
                yield self._heard(line)

    def _heard(self, line: bytes) -> HarnessLine:
        try:
            members = json.loads(line)
        except (ValueError, RecursionError):
            members = None
        if not isinstance(members, dict):
            return HarnessLine("talk", line[:200].decode("utf-8", "backslashreplace"))
        if isinstance(members.get("event"), str):
            return HarnessLine(members["event"], {k: v for k, v in members.items() if k != "event"})
        if "id" in members:
            op = self._open.pop(members["id"], "") if isinstance(members["id"], int | str) else ""
            return HarnessLine("answer", {"op": op, **{k: v for k, v in members.items() if k in ("ok", "error")}})
        return HarnessLine("talk", str(members)[:200])
