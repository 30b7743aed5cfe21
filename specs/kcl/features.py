"""Ways of writing messages that must not matter, and how a plan is written without each of them.

When a fault is gone from a plan that is the same but for one of these, the fault is that it matters
(`specs.protocol.Feature`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from specs.kcl.child.book import MISUSED
from specs.kcl.child.causes import BIG_BATCHES
from specs.kcl.frames import Message
from specs.kcl.machine import CHARACTERS_SURVIVE
from specs.kcl.states import KNOWN, PREFIX, Misuse
from specs.plan import Control, Plan, Say, SendBytes, Step
from specs.protocol import Feature

MANY, MUCH = 1000, 1 << 19
"""Records, or characters of base64, from which on a batch is a big one."""
BREAKS = dict.fromkeys(map(ord, "\u0085\u2028\u2029"), "\u00e4")


def _whole(plan: Plan) -> Plan:
    """No message is cut into pieces."""
    return plan.each(lambda step: replace(step, cuts=()) if isinstance(step, Say) and step.cuts else step)


def _styled(**style: Any) -> Callable[[Plan], Plan]:
    """The same with something changed in how messages are written."""

    def change(step: Step) -> Step:
        if not isinstance(step, Say) or step.style is None or not isinstance(step.frame, Message):
            return step
        frame = replace(step.frame, escaped=step.frame.escaped and style.get("escape") != "")
        return replace(step, style=replace(step.style, **style), frame=frame)

    return lambda plan: plan.each(change)


def _framed(plan: Plan, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Plan:
    def changed(step: Step) -> Step:
        if not isinstance(step, Say) or not isinstance(step.frame, Message):
            return step
        members = change(step.frame.members)
        return step if members == step.frame.members else replace(step, frame=replace(step.frame, members=members))

    return plan.each(changed)


def _of_records(members: Mapping[str, Any], change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> dict[str, Any]:
    records = members.get("records")
    if not isinstance(records, list):
        return dict(members)
    return {**members, "records": [change(r) if isinstance(r, Mapping) else r for r in records]}


def _known(plan: Plan) -> Plan:
    """Messages have the members that their profile knows."""

    def only(members: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in members.items() if name in KNOWN or name == "responseFor"}

    return _framed(plan, lambda members: _of_records(only(members), only))


def _keys(plan: Plan, change: Callable[[str], str]) -> Plan:
    """Partition keys are others, but for those that are written in ASCII whatever they are."""

    def changed(record: Mapping[str, Any]) -> Mapping[str, Any]:
        key = record.get("partitionKey")
        return {**record, "partitionKey": change(key)} if isinstance(key, str) else record

    def rewritten(step: Step) -> Step:
        if isinstance(step, Control) and isinstance(step.value, Mapping) and step.value.get("records"):
            return replace(step, value=_of_records(step.value, changed))
        if not isinstance(step, Say) or not isinstance(step.frame, Message) or step.frame.escaped:
            return step
        members = _of_records(step.frame.members, changed)
        return step if members == step.frame.members else replace(step, frame=replace(step.frame, members=members))

    return plan.each(rewritten)


def _ascii(plan: Plan) -> Plan:
    """Partition keys are of ASCII."""
    return _keys(plan, lambda key: key if key.isascii() else "key")


def _unbroken(plan: Plan) -> Plan:
    """Partition keys have none of the characters that end a line elsewhere, but others beyond ASCII."""
    return _keys(plan, lambda key: key.translate(BREAKS))


def _small(plan: Plan) -> Plan:
    """Batches have a few small records."""

    def cut(members: Mapping[str, Any]) -> Mapping[str, Any]:
        records = members.get("records")
        if not isinstance(records, list) or not all(isinstance(r, Mapping) for r in records):
            return members
        if len(records) < MANY and sum(len(str(r.get("data"))) for r in records) < MUCH:
            return members
        return {**members, "records": [{**r, "data": "eA=="} for r in records[:3]]}

    return _framed(plan, cut)


def _one_by_one(plan: Plan) -> Plan:
    """The tester waits for its turn before it says anything."""
    return plan.each(lambda step: replace(step, when="turn") if isinstance(step, (Say, SendBytes)) else step)


INSTEAD_OF = (
    *(f"FRAME-{n:02}" for n in range(1, 14)),
    *(f"PROC-{n:02}" for n in range(1, 11)),
    *(f"INIT-{n:02}" for n in range(1, 10)),
    *(f"REC-{n:02}" for n in range(2, 15) if n != 10),
    *(f"STAT-{n:02}" for n in range(1, 8)),
    *(f"CHECKPOINT-{n:02}" for n in range(1, 18)),
    *(f"SHUT-{n:02}" for n in range(1, 14)),
)
"""What texts and how they are written can be behind. A record that arrives changed (REC-01, REC-10) is just that, where
the characters that it lost are not for the octets to blame."""


ORDER_AND_OCTETS = ("REC-05", "REC-11")
"""What a child owes for the records that it hands over, however many there are; REC-12 is about those that it cannot
take (K-33)."""


def _feature(
    name: str, requirement: str, why: str, without: Callable[[Plan], Plan], instead_of: tuple[str, ...] = ()
) -> Feature:
    others = frozenset(PREFIX + name for name in instead_of)
    return Feature(name, requirement, why, without=without, instead_of=others)


SPLIT = (*(name for name in INSTEAD_OF if name != "FRAME-12"), *(f"INV-CHILD-{n:02}" for n in range(1, 17)))
"""What a line that is split at other line ends can be behind: not a key that arrives changed, since its line was read
as one."""


CUT_ANYWHERE, WRITTEN_ANYHOW = "KCL-FRAME-05", "KCL-FRAME-10"
FEATURES = (
    _feature("cuts", CUT_ANYWHERE, "it matters where the octets are cut into pieces", _whole),
    _feature("order", WRITTEN_ANYHOW, "it matters in which order members stand", _styled(order=0)),
    _feature("escape", WRITTEN_ANYHOW, "it matters how texts are escaped", _styled(escape=""), INSTEAD_OF),
    _feature("wide", WRITTEN_ANYHOW, "it matters whether blanks stand between the tokens", _styled(wide=False)),
    _feature("members", "KCL-FRAME-09", "members that are not known matter", _known),
    _feature("crlf", "KCL-INV-CHILD-05", "it matters whether lines end with CR LF or LF", _styled(eol=b"\n")),
    _feature(
        "together", MISUSED[Misuse.TOO_SOON], "it matters whether actions are sent one after the other", _one_by_one
    ),
    _feature(
        "big",
        BIG_BATCHES,
        "it matters how big a batch is",
        _small,
        tuple(name for name in INSTEAD_OF if name not in ORDER_AND_OCTETS),
    ),
    _feature("breaks", CUT_ANYWHERE, "it matters whether a line holds what ends lines elsewhere", _unbroken, SPLIT),
    _feature("unicode", CHARACTERS_SURVIVE, "it matters which characters a partition key has", _ascii, INSTEAD_OF),
)
