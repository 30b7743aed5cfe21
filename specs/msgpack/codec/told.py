"""Whether JSON data tells the value that octets stand for. Source of the tagged values: docs/implementations.md."""

from __future__ import annotations

from typing import Any

from specs.msgpack import values
from specs.msgpack.changes import EXTENSIONS, FLOATS, INTEGERS, NOT_UTF8, TEXT_OR_BINARY, TIMESTAMPS
from specs.msgpack.machine import READ
from specs.msgpack.values import Ext, Float, Map, Text

_NUMBERS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf"), "-0": -0.0}


def differs(value: Any, told: Any) -> str:
    """The requirement that is broken when `value` is told as the JSON data `told`; "" when it may be.

    An extension may be told in any way, but not as null.
    """
    if value is None or isinstance(value, bool):
        return "" if told is value else READ
    if isinstance(value, int):
        return "" if _integer(told) == value else INTEGERS
    if isinstance(value, Float):
        return "" if _float(value, told) else FLOATS
    if isinstance(value, str):
        return "" if told == value else TEXT_OR_BINARY if isinstance(told, dict) else READ
    if isinstance(value, bytes):
        return _raw(value, told)
    if isinstance(value, Text):
        return NOT_UTF8 if told is None else ""
    if isinstance(value, Ext):
        return (TIMESTAMPS if value.code == values.TIMESTAMP else EXTENSIONS) if told is None else ""
    if isinstance(value, tuple):
        if not isinstance(told, list) or len(told) != len(value):
            return READ
        return next((found for one, other in zip(value, told, strict=True) if (found := differs(one, other))), "")
    return _map(value, told)


def _integer(told: Any) -> int | None:
    if isinstance(told, bool):
        return None
    if isinstance(told, float):
        return int(told) if told.is_integer() else None
    try:
        return int(told) if isinstance(told, (int, str)) else None
    except ValueError:
        return None


def _float(value: Float, told: Any) -> bool:
    if isinstance(told, dict):
        told = _NUMBERS.get(str(told.get("$f")).lower(), told.get("$f"))
    if isinstance(told, bool) or not isinstance(told, (int, float)):
        return False
    try:
        number = float(told)
    except OverflowError:
        return False
    if values.alike(values.double(value.number), values.double(number)):
        return True
    if len(value.octets) != 4:
        return False
    try:
        return values.alike(value, values.single(number))
    except OverflowError:
        return False


def _raw(value: bytes, told: Any) -> str:
    if not isinstance(told, dict) or "$raw" not in told:
        return TEXT_OR_BINARY if isinstance(told, str) else READ
    return "" if str(told["$raw"]).lower() == value.hex() else READ


def _map(value: Map, told: Any) -> str:
    if isinstance(told, dict) and "$map" not in told:
        told = {"$map": [[name, part] for name, part in told.items()]}
    pairs = told.get("$map") if isinstance(told, dict) else None
    if not isinstance(pairs, list) or len(pairs) != len(value.pairs):
        return READ
    left = [pair for pair in pairs if isinstance(pair, list) and len(pair) == 2]
    texts = {pair[0]: pair[1] for pair in left if isinstance(pair[0], str)}
    if texts.keys() == {key for key, _ in value.pairs if isinstance(key, str)} and len(texts) == len(pairs):
        return next((found for key, part in value.pairs if (found := differs(part, texts[key]))), "")
    worst = ""
    for key, part in value.pairs:
        mine = [pair for pair in left if not differs(key, pair[0])]
        if not mine and not isinstance(key, str):  # there are languages whose maps have no other keys
            mine = [pair for pair in left if isinstance(pair[0], str)]
            mine.sort(key=lambda pair: bool(differs(part, pair[1])))
        if not mine:
            return READ
        worst = worst or differs(part, mine[0][1])
        left.remove(mine[0])
    return worst


def whole_as_integer(value: Any, told: Any) -> bool:
    """True when a float in `value` was told as an integer, so that whoever tells it cannot know any more."""
    if isinstance(value, Float):
        return type(told) is int or isinstance(told, str)
    if isinstance(value, tuple) and isinstance(told, list):
        return any(whole_as_integer(one, other) for one, other in zip(value, told, strict=False))
    if isinstance(value, Map):
        return any(isinstance(part, Float) for part in values.inside(value))
    return False
