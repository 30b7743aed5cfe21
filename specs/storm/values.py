"""JSON values as Storm multilang compares them, and what an emit says."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, TypeGuard

DEFAULT = "default"
"""The name of the stream that an emit without one goes to."""


def same(one: Any, other: Any) -> bool:
    """True for the same JSON value. JSON knows one kind of number; true is no number."""
    if type(one) is str:  # nearly always
        return type(other) is str and one == other
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return one == other
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
    return type(one) is type(other) and bool(one == other)


def carried(sent: Any, got: Any) -> bool:
    """True when conf or context came through: a member that is null says no more than one that is absent."""
    return same(_lean(sent), _lean(got))


def _lean(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _lean(item) for name, item in value.items() if item is not None}
    return [_lean(item) for item in value] if isinstance(value, (list, tuple)) else value


def is_number(value: Any) -> TypeGuard[int | float]:
    """A whole number: 9, and 9.0 too, which JSON does not tell apart."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())


def stream_of(value: Any) -> Any:
    """The stream of an emit or of what was seen of it; none is the default one."""
    return DEFAULT if value is None else value


def is_direct(emit: Mapping[str, Any]) -> bool:
    """True for an emit to one task."""
    return emit.get("task") not in (None, 0)


def wants_ids(extensions: frozenset[str], emit: Mapping[str, Any]) -> bool:
    """True for an emit that is answered by a list of task ids."""
    if is_direct(emit):
        return False
    return not ("x-need-task-ids" in extensions and emit.get("need_task_ids") is False)


def same_tasks(one: Any, other: Any) -> bool:
    """True for the same task ids: where each stands in its list means nothing."""
    if not isinstance(other, (list, tuple)) or not all(is_number(item) for item in (*one, *other)):
        return same(one, other)
    return same(sorted(one), sorted(other))


def is_heartbeat(message: Any) -> bool:
    """A heartbeat is told by stream and task together."""
    return isinstance(message, Mapping) and message.get("stream") == "__heartbeat" and same(message.get("task"), -1)


def shown(value: Any, limit: int = 100) -> str:
    """A value for a sentence, of which no more is looked at than is told: a message may be of many MiB, and a duty that
    names it is asked for after each event."""
    text = repr(_begun(value, limit + 1))
    return text if len(text) <= limit else text[:limit] + "…"


def _begun(value: Any, limit: int) -> Any:
    """As much of a value as its first `limit` characters can tell: each level of it takes one."""
    if limit <= 0 and isinstance(value, (str, bytes, Mapping, list)):
        return ""
    if isinstance(value, (str, bytes)):
        return value[:limit]
    if isinstance(value, Mapping):
        return {_begun(key, limit): _begun(item, limit - 1) for key, item in islice(value.items(), limit)}
    return [_begun(item, limit - 1) for item in value[:limit]] if isinstance(value, list) else value


AROUND = 24
"""How many characters of a text are told where another one begins to differ."""


def apart(due: Any, got: Any, place: str = "") -> str:
    """Where two values that are not the same begin to differ, for a sentence. Texts are told in ASCII: characters that
    look alike, or cannot be printed, are told apart."""
    if isinstance(due, (list, tuple)) and isinstance(got, (list, tuple)):
        at = next((n for n, (a, b) in enumerate(zip(due, got, strict=False)) if not same(a, b)), None)
        if at is not None:
            return apart(due[at], got[at], f"{place}[{at}]")
        return f"{place or 'the list'} has {len(got)} values, not {len(due)}"
    if isinstance(due, Mapping) and isinstance(got, Mapping):
        name = next(each for each in (*due, *got) if not (each in due and each in got and same(due[each], got[each])))
        inside = f"{place}[{name[:AROUND]!a}]"
        if name in due and name in got:
            return apart(due[name], got[name], inside)
        return f"{inside} is {'missing' if name in due else 'not due'}"
    if isinstance(due, str) and isinstance(got, str):
        at = next((n for n, (a, b) in enumerate(zip(due, got, strict=False)) if a != b), min(len(due), len(got)))
        return f"{place} is {got[at : at + AROUND]!a} from its character {at} on, not {due[at : at + AROUND]!a}"
    return f"{place or 'it'} is {shown(got)}, not {shown(due)}"
