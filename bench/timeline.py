"""A plugin of pytest for `bench.musts`: notes when each requirement was judged for the first time.

The seconds are those since the process was started. They are written to the file that TIMELINE names, as JSON.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from suites.deadline import age_s
from suites.hunt import Hunter

VARIABLE = "WIREPROOF_TIMELINE"
_judged: dict[str, float] = {}
_must: set[str] = set()
_judge = Hunter.judge


def _noting(self: Hunter, *given: Any, **named: Any) -> None:
    _judge(self, *given, **named)
    _must.update(name for name, requirement in self.binding.items() if requirement.level == "MUST")
    now = age_s()
    for name in self.judged - _judged.keys():
        _judged[name] = now


def pytest_configure() -> None:
    """Look at every conversation that is judged."""
    Hunter.judge = _noting  # type: ignore[method-assign]


def pytest_unconfigure() -> None:
    """Write down what was seen."""
    found = {"judged": {name: round(at, 3) for name, at in _judged.items()}, "must": sorted(_must)}
    Path(os.environ[VARIABLE]).write_text(json.dumps(found), encoding="utf-8")
