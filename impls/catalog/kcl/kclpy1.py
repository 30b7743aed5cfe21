"""A record processor on amazon_kclpy 1.3.1, which speaks the wire of the seed."""

from __future__ import annotations

import base64
from typing import Any

import kit
from amazon_kclpy import kcl
from steps import Script


class Processor(kcl.RecordProcessorBase):  # type: ignore[misc]
    """Scripted user code."""

    def __init__(self) -> None:
        self.script = Script()

    def initialize(self, shard_id: str) -> None:
        """Called once."""
        kit.note("initialize", shardId=shard_id)

    def process_records(self, records: list[dict[str, Any]], checkpointer: Any) -> None:
        """Called with each batch."""
        seen = [(base64.b64decode(r["data"], validate=True), r["partitionKey"], r["sequenceNumber"]) for r in records]
        self.script.batch(seen, lambda at: _asked(checkpointer, at or self.script.last))

    def shutdown(self, checkpointer: Any, reason: str) -> None:
        """Called at the end."""
        kit.note("shutdown", reason=reason)
        if reason == "TERMINATE" and self.script.last is not None:
            self.script.checkpoint(None, lambda at: _asked(checkpointer, self.script.last))


def _asked(checkpointer: Any, at: str | None) -> str | None:
    try:
        checkpointer.checkpoint(at)
    except kcl.CheckpointError as error:
        return str(error.value)
    return None


if __name__ == "__main__":
    kcl.KCLProcess(Processor()).run()
