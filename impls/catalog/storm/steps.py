"""What scripted user code does, whatever library is around it. Standard library only."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

Steps = list[dict[str, Any]]


def note(call: str, **seen: Any) -> None:
    """Write down what user code saw."""
    name = os.environ.get("WIREPROOF_OBSERVATIONS")
    if name:
        with open(name, "a", encoding="utf-8") as file:  # noqa: PTH123 - the name is the caller's
            file.write(json.dumps({"call": call, **seen}) + "\n")


def of_tuple(values: Any) -> Steps | None:
    """The steps that a tuple carries; None for an ordinary one."""
    values = list(values)
    if len(values) == 2 and values[0] == "wireproof" and isinstance(values[1], list):
        return [step for step in values[1] if isinstance(step, dict)]
    return None


def of_command(conf: Mapping[str, Any], command: str, nexts: int = 0) -> Steps:
    """The steps that conf has for a command of a spout; `nexts` were next before it."""
    if command == "next":
        script = conf.get("wireproof.script") or []
        return script[nexts] if nexts < len(script) else []
    return conf.get(f"wireproof.on_{command}") or []


def run(steps: Steps, ops: Mapping[str, Callable[[dict[str, Any]], None]]) -> None:
    """Do them; `ops` are those that the library does."""
    for step in steps:
        op = str(step.get("op"))
        if op in ops:
            ops[op](step)
        elif op == "print":
            print(step.get("text"), end="", flush=True)
        elif op == "sleep":
            time.sleep(float(step.get("ms", 0)) / 1000)
        elif op == "raise":
            raise RuntimeError("told to raise")
        else:
            print(f"unknown step {op!r}", file=sys.stderr)
