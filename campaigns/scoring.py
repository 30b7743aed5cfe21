"""Mutation as a campaign: every seeded fault hunted, and what became of it.

A source `faults:MODULE:PATTERN` names a module with `names(pattern)`, the seeded faults that match, and
`scored(name, budget_s, seed)`, which hunts one and answers its row (`tests/mutants/hunted.py`): this layer knows no
test.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any, Final

from campaigns.found import Found, Order

FAULTS: Final = "faults:"


def names(source: str) -> list[str]:
    """The seeded faults of a source. Raises ImportError, AttributeError or ValueError for what is none."""
    _, module, pattern = source.split(":")
    return list(importlib.import_module(module).names(pattern))


def score(order: Order, faults: list[str]) -> Iterator[Found]:
    """Hunt these faults, each for the seconds of the order, and tell what became of them."""
    _, module, _ = order.source.split(":")
    scorer: Any = importlib.import_module(module)
    for name in faults:
        row, protocol, role, profile = scorer.scored(name, order.seconds, order.seed)
        yield Found(
            campaign=order.campaign, wave=order.wave, task=order.task, source=order.source, protocol=protocol,
            role=role, profile=profile, kind=row.status, name=row.requirement, about=name, level=row.level,
            why=row.why, key=row.found_by, size=round(row.seconds * 1000), times=row.plans,
        )  # fmt: skip
    yield Found(
        campaign=order.campaign, wave=order.wave, task=order.task, source=order.source, protocol="", role="",
        profile="", kind="task", name="", times=len(faults),
    )  # fmt: skip
