"""A record processor on amazon_kclpy 3.2.0."""

from __future__ import annotations

from typing import Any

import kit
from amazon_kclpy import kcl
from amazon_kclpy.v3 import processor
from steps import Script


class Processor(processor.RecordProcessorBase):  # type: ignore[misc]
    """Scripted user code."""

    def __init__(self) -> None:
        self.script = Script()

    def initialize(self, initialize_input: Any) -> None:
        """Called once."""
        kit.note("initialize", shardId=initialize_input.shard_id)

    def process_records(self, process_records_input: Any) -> None:
        """Called with each batch."""
        records = process_records_input.records
        seen = [(r.binary_data, r.partition_key, r.sequence_number) for r in records]
        self.script.batch(seen, lambda at: _asked(process_records_input.checkpointer, at))

    def lease_lost(self, lease_lost_input: Any) -> None:
        """Another worker has the shard."""
        kit.note("leaseLost")

    def shard_ended(self, shard_ended_input: Any) -> None:
        """The shard is at its end."""
        kit.note("shardEnded")
        self.script.checkpoint(None, lambda at: _asked(shard_ended_input.checkpointer, at))

    def shutdown_requested(self, shutdown_requested_input: Any) -> None:
        """The host is told to stop."""
        kit.note("shutdownRequested")


def _asked(checkpointer: Any, at: str | None) -> str | None:
    try:
        checkpointer.checkpoint(at)
    except kcl.CheckpointError as error:
        return str(error.value)
    return None


if __name__ == "__main__":
    kcl.KCLProcess(Processor()).run()
