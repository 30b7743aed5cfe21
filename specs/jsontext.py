"""JSON for two protocols whose messages are JSON texts: ways of writing one, and plans as JSON data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from specs.plan import Ref

_AS_IT_IS, _IN_ASCII = json.JSONEncoder(ensure_ascii=False), json.JSONEncoder()


def ordered(members: Mapping[str, Any], order: int) -> list[tuple[str, Any]]:
    """The members rotated, and turned round for even numbers: chance has no place in a specification."""
    pairs = list(members.items())
    if not order or len(pairs) < 2:
        return pairs
    by = order % len(pairs)
    turned = pairs[by:] + pairs[:by]
    return turned[::-1] if order % 2 == 0 else turned


def text(value: str, escape: str) -> str:
    """A string in JSON. `escape`: "slash", "ascii" (what is not ASCII), "all", or "" for as little as possible."""
    if escape == "slash":
        return _AS_IT_IS.encode(value).replace("/", "\\/")
    if escape != "all":
        return (_IN_ASCII if escape == "ascii" else _AS_IT_IS).encode(value)
    units = value.encode("utf-16-be", "surrogatepass")
    return '"' + "".join(f"\\u{units[i]:02x}{units[i + 1]:02X}" for i in range(0, len(units), 2)) + '"'


def plain_to_json(value: Any, to_json: Callable[[Any], Any]) -> Any:
    """A Ref, or what holds several values, as JSON data; `to_json` is asked for what is inside."""
    if isinstance(value, Ref):
        return {"ref": value.name, "key": value.key}
    if isinstance(value, Mapping):
        return {name: to_json(item) for name, item in value.items()}
    return [to_json(item) for item in value] if isinstance(value, (list, tuple)) else value


def plain_from_json(data: Any, from_json: Callable[[Any], Any]) -> Any:
    """The inverse of `plain_to_json`."""
    if isinstance(data, list):
        return [from_json(item) for item in data]
    if not isinstance(data, dict):
        return data
    if set(data) == {"ref", "key"}:
        return Ref(data["ref"], tuple(data["key"]) if isinstance(data["key"], list) else data["key"])
    return {name: from_json(item) for name, item in data.items()}
