"""A host of KCL record processors, told what to do. Write what is still to be written; `wireproof check` says what
is missing. Tell the event checkpoint with `at` when a checkpoint reaches the checkpointer, and failed with `why`
when a callback ends otherwise."""

import kit


def start(given):
    """Have the library run child (its arguments, with env beside the environment) for the shard shardId."""
    raise kit.Todo("start")


def initialize(given):
    """Have it initialize the child for shardId; answer when that callback is over, as for each of these."""
    raise kit.Todo("initialize")


def process_records(given):
    """Hand it records, each with data_hex, partitionKey and sequenceNumber."""
    raise kit.Todo("processRecords")


def shutdown(given):
    """Have it end the child for reason. In newer releases: the three that follow, and this one is unsupported."""
    raise kit.Todo("shutdown")


def lease_lost(given):
    """Tell it that the lease is lost."""
    raise kit.Todo("leaseLost")


def shard_ended(given):
    """Tell it that the shard has ended."""
    raise kit.Todo("shardEnded")


def shutdown_requested(given):
    """Tell it that a shutdown is requested."""
    raise kit.Todo("shutdownRequested")


def checkpointer(given):
    """Set what the next checkpoints meet: the name of an error, or null."""
    raise kit.Todo("checkpointer")


OPS = {
    "start": start,
    "initialize": initialize,
    "processRecords": process_records,
    "shutdown": shutdown,
    "leaseLost": lease_lost,
    "shardEnded": shard_ended,
    "shutdownRequested": shutdown_requested,
    "checkpointer": checkpointer,
}

if __name__ == "__main__":
    kit.serve(OPS, at_once=["checkpointer"])
