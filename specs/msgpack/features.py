"""Ways of writing messages that must not matter, and how a plan is written without each of them.

Source of what must not matter: MessagePack specification, Formats; MessagePack-RPC runs over a stream of octets.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from specs.msgpack.frames import Frame, shape
from specs.msgpack.machine import ONE_RESPONSE, READ
from specs.msgpack.server.causes import PIPELINED
from specs.msgpack.server.forms import NO_ERROR
from specs.plan import Plan, Say, Step
from specs.protocol import Feature


def _whole(plan: Plan) -> Plan:
    """No message is cut into segments."""
    return plan.each(lambda step: replace(step, cuts=()) if isinstance(step, Say) and step.cuts else step)


def _apart(plan: Plan) -> Plan:
    """No message shares a write with the one behind it."""
    return plan.each(lambda step: replace(step, when="now") if isinstance(step, Say) and step.when == "join" else step)


def _smallest(plan: Plan) -> Plan:
    """Everything is written in its smallest form."""
    return plan.each(lambda step: replace(step, style=None) if isinstance(step, Say) and step.style else step)


def _small(plan: Plan) -> Plan:
    """Calls carry nothing but a small number each; where nothing else is said, the plan is left as it is."""
    steps: list[Step] = []
    for at, step in enumerate(plan.steps):
        if isinstance(step, Say) and isinstance(step.frame, Frame) and shape(step.frame.body) == "request":
            kind, number, method, params = step.frame.body
            plain = tuple(part if _is_plain(part) else (at % 100,) for part in params)
            steps.append(replace(step, frame=Frame((kind, number, method, plain))))
        else:
            steps.append(step)
    return replace(plan, steps=tuple(steps))


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple) and len(value) == 1:
        (value,) = value
    return (type(value) is int and 0 <= value < 100) or (isinstance(value, str) and value.isalpha() and len(value) < 10)


_UNREAD = frozenset((ONE_RESPONSE, NO_ERROR, PIPELINED))
"""What a message that a server cannot read looks like from outside."""

FEATURES = (
    Feature("cuts", "MPRPC-FRAG-01", "it matters where the octet stream is cut into segments", without=_whole),
    Feature("joined", "MPRPC-FRAG-01", "it matters whether messages come in one segment", without=_apart),
    Feature("wide", "MPRPC-REQ-03", "it matters in which legal form a request is encoded", without=_smallest),
    Feature("wide", READ, "it matters in which legal form a response is encoded", without=_smallest),
    Feature("values", READ, "it matters of which format the params are", _UNREAD, _small),
)
"""The ways of writing messages that must not matter, the plainest first."""
