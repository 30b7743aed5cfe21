"""A bolt and a spout on pystorm 3.1.4: `on_pystorm.py bolt|spout`.."""

from __future__ import annotations

import sys
import traceback
from typing import Any

from kit import note, run, steps_of_command, steps_of_tuple
from pystorm import Bolt, Spout


class ScriptedBolt(Bolt):  # type: ignore[misc]
    """Scripted user code."""

    auto_ack = False
    auto_anchor = False

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Called once, after the process id was said."""
        note("initialize", conf=conf, context=context)

    def process_tick(self, tup: Any) -> None:
        """Called for ticks."""
        self.process(tup)

    def process(self, tup: Any) -> None:
        """Called for each tuple."""
        note("process", id=tup.id, comp=tup.component, stream=tup.stream, task=tup.task, tuple=list(tup.values))
        steps = steps_of_tuple(tup.values)
        if steps is None:
            self.ack(tup)
            return
        ops = {
            "emit": lambda step: self.told(tup, step),
            "ack": lambda step: self.ack(step.get("id", tup.id)),
            "fail": lambda step: self.fail(step.get("id", tup.id)),
            "log": lambda step: self.log(step.get("msg")),
        }
        try:
            run(steps, ops)
        except RuntimeError:
            traceback.print_exc()
            raise

    def told(self, tup: Any, step: dict[str, Any]) -> None:
        """One emit."""
        wants = step.get("need_task_ids", True)
        ids = self.emit(
            step["tuple"],
            stream=step.get("stream"),
            anchors=[tup.id] if step.get("anchor") else [],
            direct_task=step.get("task"),
            need_task_ids=wants,
        )
        if wants and "task" not in step:
            note("task_ids", ids=ids)


class ScriptedSpout(Spout):  # type: ignore[misc]
    """Scripted user code."""

    nexts = 0

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Called once, after the process id was said."""
        note("initialize", conf=conf, context=context)

    def next_tuple(self) -> None:
        """Called for next."""
        note("next")
        self.nexts += 1
        self.obey(steps_of_command(self.storm_conf, "next", self.nexts - 1))

    def ack(self, tup_id: Any) -> None:
        """Called for ack."""
        note("ack", id=tup_id)
        self.obey(steps_of_command(self.storm_conf, "ack"))

    def fail(self, tup_id: Any) -> None:
        """Called for fail."""
        note("fail", id=tup_id)
        self.obey(steps_of_command(self.storm_conf, "fail"))

    def obey(self, steps: list[dict[str, Any]]) -> None:
        """What a script says."""
        try:
            run(steps, {"emit": self.told, "log": lambda step: self.log(step.get("msg"))})
        except RuntimeError:
            traceback.print_exc()
            raise

    def told(self, step: dict[str, Any]) -> None:
        """One emit."""
        wants = step.get("need_task_ids", True)
        ids = self.emit(
            step["tuple"],
            tup_id=step.get("id"),
            stream=step.get("stream"),
            direct_task=step.get("task"),
            need_task_ids=wants,
        )
        if wants and "task" not in step:
            note("task_ids", ids=ids)


if __name__ == "__main__":
    (ScriptedSpout if sys.argv[1] == "spout" else ScriptedBolt)().run()
