"""Ways of writing messages that must not matter, and how a plan is written without each of them.

When a fault is gone from a plan that is the same but for one of these, the fault is that it matters
(`specs.protocol.Feature`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from specs.plan import Control, Plan, Say, Step
from specs.protocol import Feature
from specs.storm.frames import Message
from specs.storm.states import PREFIX

FUTURE = "future"
"""What members that nobody knows begin with."""


def _whole(plan: Plan) -> Plan:
    """No message is cut into pieces."""
    return plan.each(lambda step: replace(step, cuts=()) if isinstance(step, Say) and step.cuts else step)


def _apart(plan: Plan) -> Plan:
    """No two messages are sent in one write."""
    return plan.each(lambda step: replace(step, when="turn") if isinstance(step, Say) and step.when == "join" else step)


def _styled(**style: Any) -> Callable[[Plan], Plan]:
    """The same with something changed in how messages are written."""

    def change(step: Step) -> Step:
        if not isinstance(step, Say) or step.style is None or not isinstance(step.frame, Message):
            return step
        return replace(step, style=replace(step.style, **style))

    return lambda plan: plan.each(change)


def _mute(plan: Plan) -> Plan:
    """The child writes nothing to its STDERR."""
    return replace(
        plan, steps=tuple(step for step in plan.steps if not (isinstance(step, Control) and step.name == "stderr"))
    )


def _known(plan: Plan) -> Plan:
    """Messages have no members that nobody knows."""

    def change(step: Step) -> Step:
        if (
            not isinstance(step, Say)
            or not isinstance(step.frame, Message)
            or not isinstance(step.frame.value, Mapping)
        ):
            return step
        value = _without(step.frame.value)
        return step if value == step.frame.value else replace(step, frame=Message(value, step.frame.needs))

    return plan.each(change)


def _without(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _without(v) if k == "context" else v for k, v in value.items() if not k.startswith(FUTURE)}
    return value


def _feature(
    name: str, requirement: str, why: str, without: Callable[[Plan], Plan], instead_of: frozenset[str] = frozenset()
) -> Feature:
    return Feature(name, PREFIX + requirement, why, without=without, instead_of=instead_of)


SAID_WRONGLY = frozenset((*(f"BOLT-{n:02}" for n in (*range(6, 9), *range(10, 15), 27)), "HB-04", "HB-05"))
"""What a bolt breaks by what it says: with one message at a time it has fewer tuples in its hands, and a fault may be
gone that has nothing to do with how octets are read."""
PARTS = ("FRAME", "HS", "BOLT", "SPOUT", "HB", "END", "EXT", "INV-CHILD", "INV-HOST")
LOST = frozenset(
    PREFIX + f"{part}-{n:02}" for part in PARTS for n in range(1, 30) if f"{part}-{n:02}" not in SAID_WRONGLY
)
"""What it can break when a message is lost that came together with another."""


FEATURES = (
    _feature("cuts", "FRAME-07", "it matters where the octets are cut into pieces", _whole),
    _feature("together", "FRAME-07", "it matters whether messages are sent in one write", _apart, LOST),
    _feature("lines", "FRAME-06", "it matters over how many lines a message is spread", _styled(lines=0)),
    _feature("order", "FRAME-12", "it matters in which order members stand", _styled(order=0)),
    _feature("escape", "FRAME-13", "it matters how texts are escaped", _styled(escape="")),
    _feature("members", "FRAME-11", "members that are not known matter", _known),
    _feature("stderr", "END-06", "it matters that the child writes to its STDERR", _mute),
)
