"""A record processor on a library, which obeys the suite. Write what is still to be written; `wireproof check` says
what is missing. The contract is docs/testees.md of Wireproof, "KCL children"."""

import kit


class Scripted:
    """What user code does. Let your library's record processor call these at the beginning of its own callbacks."""

    def __init__(self):
        self.last = None

    def initialize(self, shard):
        kit.note("initialize", shardId=shard)

    def process_records(self, records, checkpointer):
        """`records` are (octets, partition key, sequence number); kit.decoded(text) where the library leaves the base64
        of the data to user code."""
        seen = [
            {"data_hex": data.hex(), "partitionKey": key, "sequenceNumber": number} for data, key, number in records
        ]
        kit.note("processRecords", records=seen)
        self.last = records[-1][2] if records else self.last
        for data, _, _ in records:
            steps = kit.steps_of_record(data)
            kit.run(steps, {"checkpoint": lambda step: self.checkpoint(step.get("at"), checkpointer)})

    def shutdown(self, reason, checkpointer):
        """Releases before 2: `reason` is TERMINATE or ZOMBIE."""
        kit.note("shutdown", reason=reason)
        if reason == "TERMINATE":
            self.checkpoint(self.last, checkpointer)

    def lease_lost(self):
        kit.note("leaseLost")

    def shard_ended(self, checkpointer):
        kit.note("shardEnded")
        self.checkpoint(self.last, checkpointer)

    def shutdown_requested(self):
        kit.note("shutdownRequested")

    def checkpoint(self, at, checkpointer):
        kit.note("checkpoint", at=at, error=self.ask(at, checkpointer))

    def ask(self, at, checkpointer):
        """Ask the checkpointer of the library for a checkpoint at the sequence number `at` (None: without a number).
        Answer the name of the error, such as "ShutdownException", or None. Do not try again."""
        raise kit.Todo("ask")


if __name__ == "__main__":
    # Start your library with this record processor here.
    raise kit.Todo("the start of the record processor, and ask")
