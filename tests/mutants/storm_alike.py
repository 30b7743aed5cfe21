"""Faulty bolts and spouts: values that are taken for others which are like them."""

from __future__ import annotations

from typing import Any

from impls.references.storm.child import Bolt, Child, Spout
from tests.mutants.storm_kit import ACK, NEXT, TWICE, both, child, emit, script, told


def _values(*values: Any) -> dict[str, Any]:
    """The step of an emit of these values alone: what differs in every tuple would hide that others are alike."""
    return {"op": "emit", "tuple": list(values)}


class _Loose(Child):
    """A tuple that equals the one before is not encoded again, and true equals 1, and 0, "" and null each other."""

    before: Any = None

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        if self.before is None or _loosely(self.before) != _loosely(message["tuple"]):
            self.before = message["tuple"]
        return {**message, "tuple": self.before}


def _loosely(value: Any) -> Any:
    if isinstance(value, list) and value:
        return [_loosely(part) for part in value]
    return str(int(value)) if isinstance(value, (int, float)) and value else value or ""


@child("bolt-loose-memory", "BOLT-27", told(_values(1), _values(True), ACK))
class LooseMemory(_Loose, Bolt):
    """Values that equal those before them loosely are taken for the same."""


@child("bolt-loose-memory-of-nothing", "BOLT-27", both(told(_values(""), ACK), told(_values(None), ACK)))
class LooseMemoryOfNothing(_Loose, Bolt):
    """Values that equal loosely what was emitted for the tuple before are taken for the same."""


@child("spout-loose-memory", "SPOUT-21", TWICE, conf=script([_values(0)], [_values(False)]))
class LooseMemoryOfSpouts(_Loose, Spout):
    """Values that equal loosely what was emitted in the command before are taken for the same."""


class _Rounds(Child):
    """Numbers in objects have 15 digits."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        return {**message, "tuple": [_rounded(v) if isinstance(v, dict) else v for v in message["tuple"]]}


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    return float(f"{value:.15g}") if isinstance(value, float) else value


SUM = 0.30000000000000004
"""It needs 17 digits."""


@child("bolt-rounds-in-objects", "BOLT-27", told(emit({"sum": SUM}), ACK))
class RoundsInObjects(_Rounds, Bolt):
    """Numbers in objects have 15 digits."""


@child("spout-rounds-in-objects", "SPOUT-21", NEXT, conf=script([emit({"of": {"sum": SUM}})]))
class SpoutRoundsInObjects(_Rounds, Spout):
    """Numbers in objects have 15 digits."""
