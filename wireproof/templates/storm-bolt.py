"""A bolt around a library, whose user code obeys the suite. Write what is still to be written; `wireproof check` says
what is missing. The contract is docs/testees.md of Wireproof, "Storm bolts and spouts"."""

import kit


class Scripted:
    """What user code does. Let your library's bolt call `initialize` and `process`, at the beginning of its own."""

    def initialize(self, conf, context):
        kit.note("initialize", conf=conf, context=context)

    def process(self, tuple_id, component, stream, task, values):
        kit.note("process", id=tuple_id, comp=component, stream=stream, task=task, tuple=list(values))
        steps = kit.steps_of_tuple(values)
        if steps is None:
            self.ack(tuple_id)
            return
        ops = {
            "emit": lambda step: self.emit(tuple_id, step),
            "ack": lambda step: self.ack(step.get("id", tuple_id)),
            "fail": lambda step: self.fail(step.get("id", tuple_id)),
            "log": lambda step: self.log(step.get("msg")),
        }
        kit.run(steps, ops)

    def emit(self, tuple_id, step):
        """Emit step["tuple"], on step.get("stream"), anchored to this tuple if step.get("anchor"), to step.get("task").
        Where the library waits for the ids of the tasks: kit.note("task_ids", ids=...) once it has them."""
        raise kit.Todo("emit")

    def ack(self, tuple_id):
        """Ack the tuple that has this id."""
        raise kit.Todo("ack")

    def fail(self, tuple_id):
        """Fail the tuple that has this id."""
        raise kit.Todo("fail")

    def log(self, text):
        """Log a text."""
        raise kit.Todo("log")


if __name__ == "__main__":
    # Start your library's bolt here.
    raise kit.Todo("the start of the bolt, and emit, ack, fail and log")
