"""A spout around a library, whose user code obeys the suite. Write what is still to be written; `wireproof check` says
what is missing. The contract is docs/testees.md of Wireproof, "Storm bolts and spouts"."""

import kit


class Scripted:
    """What user code does. Let your library's spout call these at the beginning of its own callbacks."""

    def __init__(self):
        self.conf, self.nexts = {}, 0

    def initialize(self, conf, context):
        self.conf = conf
        kit.note("initialize", conf=conf, context=context)

    def next(self):
        kit.note("next")
        self.nexts += 1
        self.obey("next")

    def acked(self, emit_id):
        kit.note("ack", id=emit_id)
        self.obey("ack")

    def failed(self, emit_id):
        kit.note("fail", id=emit_id)
        self.obey("fail")

    def obey(self, command):
        steps = kit.steps_of_command(self.conf, command, self.nexts - 1)
        kit.run(steps, {"emit": self.emit, "log": lambda step: self.log(step.get("msg"))})

    def emit(self, step):
        """Emit step["tuple"] with the id step.get("id"), on step.get("stream"), to step.get("task"). Where the library
        waits for the ids of the tasks: kit.note("task_ids", ids=...) once it has them."""
        raise kit.Todo("emit")

    def log(self, text):
        """Log a text."""
        raise kit.Todo("log")


if __name__ == "__main__":
    # Start your library's spout here.
    raise kit.Todo("the start of the spout, and emit and log")
