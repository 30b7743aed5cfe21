"""What user code around every KCL library in Python does with a batch. The steps and the notes are those of the kit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import kit

Checkpoint = Callable[[str | None], str | None]
"""Asks for a checkpoint at a number, and answers the name of its error, or None."""


class Script:
    """User code that obeys records."""

    def __init__(self) -> None:
        self.last: str | None = None

    def batch(self, records: list[tuple[bytes, Any, Any]], checkpoint: Checkpoint) -> None:
        """processRecords with (data, partitionKey, sequenceNumber) of each record."""
        seen = [{"data_hex": data.hex(), "partitionKey": key, "sequenceNumber": n} for data, key, n in records]
        kit.note("processRecords", records=seen)
        if records:
            self.last = records[-1][2]

        def ask(step: Mapping[str, Any]) -> None:
            self.checkpoint(step.get("at"), checkpoint)

        for data, _, _ in records:
            kit.run(kit.steps_of_record(data), {"checkpoint": ask})

    def checkpoint(self, at: str | None, checkpoint: Checkpoint) -> None:
        """Ask for a checkpoint and note down what became of it."""
        kit.note("checkpoint", at=at, error=checkpoint(at))
