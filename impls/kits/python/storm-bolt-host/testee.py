"""A host of Storm bolts, told what to do. Write what is still to be written; `wireproof check` says what is
missing. Tell the events emit, ack, fail, log, error, failed and exited when they reach the collector of the
host."""

import kit


def start(given):
    """Have the library run child (its arguments, with env beside the environment) with conf and context."""
    raise kit.Todo("start")


def tuple_(given):
    """Hand it the tuple id with comp, stream, task and tuple."""
    raise kit.Todo("tuple")


def task_ids(given):
    """Set what the emits that follow get: ids."""
    raise kit.Todo("task_ids")


OPS = {
    "start": start,
    "tuple": tuple_,
    "task_ids": task_ids,
}

if __name__ == "__main__":
    kit.serve(OPS, at_once=["task_ids"])
