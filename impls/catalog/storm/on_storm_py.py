"""A bolt and a spout on storm.py of Apache Storm's multilang-python: `on_storm_py.py bolt|spout`."""

from __future__ import annotations

import sys
import traceback
from typing import Any

from kit import note, run, steps_of_command, steps_of_tuple

import storm


class ScriptedBolt(storm.Bolt):  # type: ignore[misc]
    """Scripted user code."""

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Called once, after the process id was said."""
        note("initialize", conf=conf, context=context)

    def process(self, tup: Any) -> None:
        """Called for each tuple."""
        note("process", id=tup.id, comp=tup.component, stream=tup.stream, task=tup.task, tuple=list(tup.values))
        steps = steps_of_tuple(tup.values)
        if steps is None:
            storm.ack(tup)
            return
        ops = {
            "emit": lambda step: told(tup, step),
            "ack": lambda step: storm.ack(_named(step.get("id", tup.id))),
            "fail": lambda step: storm.fail(_named(step.get("id", tup.id))),
            "log": lambda step: storm.log(step.get("msg")),
        }
        try:
            run(steps, ops)
        except RuntimeError:
            traceback.print_exc()
            raise


def _named(name: str) -> Any:
    return storm.Tuple(name, None, None, None, None)


def told(tup: Any, step: dict[str, Any]) -> None:
    """One emit of a bolt."""
    anchors = [tup] if step.get("anchor") else []
    if "task" in step:
        storm.emitDirect(step["task"], step["tuple"], stream=step.get("stream"), anchors=anchors)
        return
    note("task_ids", ids=storm.emit(step["tuple"], stream=step.get("stream"), anchors=anchors))


class ScriptedSpout(storm.Spout):  # type: ignore[misc]
    """Scripted user code."""

    nexts = 0
    conf: dict[str, Any]

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Called once, after the process id was said."""
        self.conf = conf
        note("initialize", conf=conf, context=context)

    def nextTuple(self) -> None:  # noqa: N802 - the library's name
        """Called for next."""
        note("next")
        self.nexts += 1
        self.obey(steps_of_command(self.conf, "next", self.nexts - 1))

    def ack(self, name: Any) -> None:
        """Called for ack."""
        note("ack", id=name)
        self.obey(steps_of_command(self.conf, "ack"))

    def fail(self, name: Any) -> None:
        """Called for fail."""
        note("fail", id=name)
        self.obey(steps_of_command(self.conf, "fail"))

    def obey(self, steps: list[dict[str, Any]]) -> None:
        """What a script says."""
        try:
            run(steps, {"emit": self.told, "log": lambda step: storm.log(step.get("msg"))})
        except RuntimeError:
            traceback.print_exc()
            raise

    def told(self, step: dict[str, Any]) -> None:
        """One emit."""
        if "task" in step:
            storm.emitDirect(step["task"], step["tuple"], stream=step.get("stream"), id=step.get("id"))
            return
        note("task_ids", ids=storm.emit(step["tuple"], stream=step.get("stream"), id=step.get("id")))


if __name__ == "__main__":
    (ScriptedSpout if sys.argv[1] == "spout" else ScriptedBolt)().run()
