"""What a record tells user code to do, and where it notes down what it saw. For programs in Python."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any


class Script:
    """User code that obeys records. `checkpoint(at)` asks for one and answers the name of its error, or None."""

    def __init__(self) -> None:
        self._notes = os.environ.get("WIREPROOF_OBSERVATIONS")
        self.last: str | None = None

    def note(self, call: str, **seen: Any) -> None:
        """Write an observation down."""
        if self._notes:
            with open(self._notes, "a", encoding="utf-8") as file:  # noqa: PTH123 - a plain name
                file.write(json.dumps({"call": call, **seen}) + "\n")

    def batch(self, records: list[tuple[bytes, Any, Any]], checkpoint: Callable[[str | None], str | None]) -> None:
        """processRecords with (data, partitionKey, sequenceNumber) of each record."""
        seen = [{"data_hex": data.hex(), "partitionKey": key, "sequenceNumber": n} for data, key, n in records]
        self.note("processRecords", records=seen)
        if records:
            self.last = records[-1][2]
        for data, _, _ in records:
            for step in _steps(data):
                self._obey(step, checkpoint)

    def _obey(self, step: Mapping[str, Any], checkpoint: Callable[[str | None], str | None]) -> None:
        op = step.get("op")
        if op == "checkpoint":
            self.checkpoint(step.get("at"), checkpoint)
        elif op == "print":
            sys.stdout.write(step["text"])
        elif op == "stderr":
            sys.stderr.write(step["text"])
        elif op == "sleep":
            time.sleep(step["ms"] / 1000)
        elif op == "raise":
            raise RuntimeError("told to raise")
        else:
            print(f"unknown step {op!r}", file=sys.stderr)

    def checkpoint(self, at: str | None, checkpoint: Callable[[str | None], str | None]) -> None:
        """Ask for a checkpoint and note down what became of it."""
        self.note("checkpoint", at=at, error=checkpoint(at))


def _steps(data: bytes) -> list[Mapping[str, Any]]:
    if not data.startswith(b"{"):
        return []
    try:
        told = json.loads(data)
    except ValueError:
        return []
    steps = told.get("wireproof")
    return steps if isinstance(steps, list) else []
