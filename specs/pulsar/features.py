"""Ways of sending frames that must not matter, and how a plan is written without each of them.

Source: 001_c0ea8805bb7ed422.txt, "Framing".
"""

from __future__ import annotations

from dataclasses import replace

from specs.plan import Plan, Say
from specs.protocol import Feature
from specs.pulsar.calls import Trait
from specs.pulsar.frames import SECOND, Draft


def _whole(plan: Plan) -> Plan:
    """No frame is cut into segments."""
    return plan.each(lambda step: replace(step, cuts=()) if isinstance(step, Say) and step.cuts else step)


def _known(plan: Plan) -> Plan:
    """No command has fields that nobody knows. A second sub-message is none: everybody knows it."""

    def plain(frame: object) -> object:
        return replace(frame, extra=b"") if isinstance(frame, Draft) and frame.extra != SECOND else frame

    return plan.each(lambda step: replace(step, frame=plain(step.frame)) if isinstance(step, Say) else step)


FEATURES = (
    Feature("cuts", Trait.PIECES.value, "it matters where the octet stream is cut into segments", without=_whole),
    Feature("unknown", Trait.UNKNOWN.value, "it matters whether a command has unknown fields", without=_known),
)
"""The ways of sending that must not matter."""
