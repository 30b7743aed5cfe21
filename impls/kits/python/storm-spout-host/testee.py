"""A host of Storm spouts, told what to do. Write what is still to be written; `wireproof check` says what is
missing. Tell the events emit, log, sync, error, failed and exited when they reach the collector of the host."""

import kit


def start(given):
    """Have the library run child (its arguments, with env beside the environment) with conf and context."""
    raise kit.Todo("start")


def next_(given):
    """Ask it for the next tuple."""
    raise kit.Todo("next")


def ack(given):
    """Tell it that the emit id was acked."""
    raise kit.Todo("ack")


def fail(given):
    """Tell it that the emit id has failed."""
    raise kit.Todo("fail")


def task_ids(given):
    """Set what the emits that follow get: ids."""
    raise kit.Todo("task_ids")


OPS = {
    "start": start,
    "next": next_,
    "ack": ack,
    "fail": fail,
    "task_ids": task_ids,
}

if __name__ == "__main__":
    kit.serve(OPS, at_once=["task_ids"])
