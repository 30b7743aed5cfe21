"""What a test that pytest has collected hunts with."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from suites.hunt import Property, Tally
from suites.properties import key_of

SUITES = Path(__file__).resolve().parent


class _Asked(Exception):
    """A test has said what it would hunt with."""

    def __init__(self, *given: Any) -> None:
        self.given = given


def property_of(item: pytest.Item) -> Property | None:
    """What a test hunts with, found out without hunting; None for one that needs more than the hunt."""
    call = getattr(item, "callspec", None)
    function = getattr(item, "obj", None)
    if call is None or function is None:
        return None
    given = {name: value for name, value in call.params.items() if name != "hunting"}
    if set(signature(function).parameters) != {"hunt", *given}:
        return None

    def ask(
        programs: Any, interpret: Any, *, avoids: bool = False, always_calm: bool = False, deals: int | None = None,
        heavy: bool = False,
    ) -> Tally:  # fmt: skip
        raise _Asked(programs, interpret, avoids, always_calm, deals, heavy)

    try:
        function(hunt=ask, **given)
    except _Asked as asked:
        return made(item, *asked.given)
    return None


def made(
    item: pytest.Item, programs: Any, interpret: Any, avoids: bool, always_calm: bool, deals: int | None, heavy: bool
) -> Property:
    """The property of a test."""
    name = f"{Path(str(item.path)).relative_to(SUITES)}::{item.name}"
    params = dict(item.callspec.params)  # type: ignore[attr-defined]
    hurry = params.pop("hunting")[1] == "pipelined" and not always_calm
    label = " ".join([f"{Path(str(item.path)).stem}::{item.originalname}", *params.values()])  # type: ignore[attr-defined]
    key = key_of(label, hurry=hurry)
    return Property(name, programs, interpret, hurry=hurry, avoids=avoids, deals=deals, key=key, heavy=heavy)


def weight_of(item: pytest.Item) -> float:
    """What part of the time a test asks for."""
    marker = item.get_closest_marker("weight")
    return float(marker.args[0]) if marker else 1.0
