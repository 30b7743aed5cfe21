"""What became of a value on its way: whether it is the same, and which requirement of the format is broken when not.

Detection is `changed`. `CHANGED` are the causes that name the requirement: servers, clients and codecs share them. A
case that they look at has `shown`, the requirements that its value can break, and `change`, a `Change` or None.
Source: MessagePack specification, Formats, Type system, Extension types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from specs.causes import Causes, Named
from specs.msgpack import values
from specs.msgpack.machine import READ
from specs.msgpack.states import Config
from specs.msgpack.values import Ext, Float, Map, Text

SMALLEST = "MP-FMT-02"
INTEGERS = "MP-FMT-04"
FLOATS = "MP-FMT-05"
TEXT_OR_BINARY = "MP-FMT-06"
NOT_UTF8 = "MP-FMT-07"
EXTENSIONS = "MP-FMT-08"
TIMESTAMPS = "MP-FMT-09"
CUT_OFF = "MP-FMT-10"
KEYS = "MP-FMT-12"


class Change(NamedTuple):
    """How a value was changed. `requirement`: what is broken by it. `level`: how binding that is, where the text is
    weaker than in general."""

    requirement: str
    level: str | None
    why: str


class Compared(Protocol):
    """A case in which a value that was sent is compared with what came back."""

    @property
    def shown(self) -> frozenset[str]:
        """Requirements of the format that the value which was sent can break."""

    @property
    def change(self) -> Change | None:
        """What was changed."""


# -- causes: which requirement a change breaks ------------------------------------------------------------------------

CHANGED = Causes("a value came as another", turns_on=lambda case: case.shown)


def _shows(requirement: str) -> Callable[[Compared], bool]:
    return lambda case: requirement in case.shown


def _evidence(case: Compared, requirement: str) -> Named | str:
    change = case.change
    if change is None or change.requirement != requirement:
        return ""
    return Named(requirement, change.why, level=change.level)


@CHANGED.cause(INTEGERS, could=_shows(INTEGERS))
def an_integer_is_another_number(case: Compared) -> Named | str:
    """Integers from -2^63 to 2^64-1 are kept (Limitation)."""
    return _evidence(case, INTEGERS)


@CHANGED.cause(FLOATS, could=_shows(FLOATS))
def a_float_is_another_number(case: Compared) -> Named | str:
    """A float is an IEEE 754 number of single or double precision (float format family)."""
    return _evidence(case, FLOATS)


@CHANGED.cause(TEXT_OR_BINARY, could=_shows(TEXT_OR_BINARY))
def a_str_and_a_bin_are_mixed_up(case: Compared) -> Named | str:
    """String and Binary are two types (Type system)."""
    return _evidence(case, TEXT_OR_BINARY)


@CHANGED.cause(NOT_UTF8, could=_shows(NOT_UTF8))
def a_str_that_is_not_utf_8_is_lost(case: Compared) -> Named | str:
    """A str may contain what is no UTF-8; a decoder lets an application have the octets (Type system, String)."""
    return _evidence(case, NOT_UTF8)


@CHANGED.cause(EXTENSIONS, could=_shows(EXTENSIONS))
def an_extension_is_another(case: Compared) -> Named | str:
    """An extension is a type and octets; an unknown one is handed over as such (Extension types)."""
    return _evidence(case, EXTENSIONS)


@CHANGED.cause(TIMESTAMPS, could=_shows(TIMESTAMPS))
def a_timestamp_names_another_moment(case: Compared) -> Named | str:
    """A timestamp is seconds and nanoseconds since 1970 (Timestamp extension type)."""
    return _evidence(case, TIMESTAMPS)


@CHANGED.cause(READ)
def a_format_is_read_as_another_value(case: Compared) -> Named | str:
    """Each format stands for one value (Formats)."""
    return _evidence(case, READ)


def shown_by(value: Any) -> frozenset[str]:
    """The requirements of the format that `value` can break on its way."""
    found = {READ}
    for part in values.inside(value):
        if type(part) is int:
            found.add(INTEGERS)
        elif isinstance(part, Float):
            found.add(FLOATS)
        elif isinstance(part, (str, bytes)):
            found.add(TEXT_OR_BINARY)
        elif isinstance(part, Text):
            found.add(NOT_UTF8)
        elif isinstance(part, Ext):
            found.add(TIMESTAMPS if part.code == values.TIMESTAMP else EXTENSIONS)
    return frozenset(found)


# -- detection --------------------------------------------------------------------------------------------------------


def changed(sent: Any, got: Any, config: Config) -> Change | None:
    """What is changed when `sent` comes back as `got`; None when they are the same value. Of several changes the first
    that is no mere recommendation missed, or else the first."""
    if values.alike(sent, got):
        return None
    parts = _parts(sent, got)
    if parts is not None:
        every = [found for one, other in parts if (found := changed(one, other, config)) is not None]
        return next((found for found in every if found.level != "SHOULD"), every[0] if every else None)
    return _scalar(sent, got, config, f"{values.describe(sent, 120)} came as {values.describe(got, 120)}")


def _parts(sent: Any, got: Any) -> list[tuple[Any, Any]] | None:
    """What of two containers has to be the same; None when they are not of one make."""
    if isinstance(sent, tuple) and isinstance(got, tuple) and len(sent) == len(got):
        return list(zip(sent, got, strict=True))
    if isinstance(sent, Map) and isinstance(got, Map) and len(sent.pairs) == len(got.pairs):
        theirs = {key: part for key, part in got.pairs if isinstance(key, str)}
        if len(theirs) == len(sent.pairs) and all(isinstance(key, str) and key in theirs for key, _ in sent.pairs):
            return [(part, theirs[key]) for key, part in sent.pairs]
        return _by_odd_keys(sent, got)
    return None


def _by_odd_keys(sent: Map, got: Map) -> list[tuple[Any, Any]] | None:
    """As `_parts`, where keys that are no str may have become one: there are languages whose maps have no others."""
    left, texted, found = list(got.pairs), [], []
    for key, part in sent.pairs:
        at = next((n for n, (name, _) in enumerate(left) if values.alike(key, name)), None)
        if at is not None:
            found.append((part, left.pop(at)[1]))
        elif isinstance(key, str):
            return None
        else:
            texted.append(part)
    for part in texted:
        at = next((n for n, (name, other) in enumerate(left) if isinstance(name, str) and values.alike(part, other)), 0)
        if not isinstance(left[at][0], str):
            return None
        found.append((part, left.pop(at)[1]))
    return found


def keys_collide(value: Any) -> bool:
    """True when a map in `value` has a key twice, or keys that some language takes for one: 1, 1.0, true and "1"; or
    any two that are neither numbers nor texts. The key `__proto__` counts as such; MP-10."""
    return any(isinstance(part, Map) and _collide([key for key, _ in part.pairs]) for part in values.inside(value))


def _collide(keys: list[Any]) -> bool:
    if all(isinstance(key, str) for key in keys):
        return len(set(keys)) < len(keys) or "__proto__" in keys
    seen: set[Any] = set()
    for key in keys:
        names = _names(key)
        if not seen.isdisjoint(names):
            return True
        seen |= names
    return "__proto__" in seen


def _names(key: Any) -> set[Any]:
    """What a key may be called in some language."""
    if key is None:
        return {"nil", "null", "None", "undefined", ""}
    if isinstance(key, bool):
        return {int(key), str(int(key)), str(key), str(key).lower()}
    if isinstance(key, int):
        return {key, str(key)}
    if isinstance(key, str):
        return {key}
    if isinstance(key, bytes):
        return {key.decode("utf-8", "replace"), "any other"}
    if isinstance(key, Float) and key.number.is_integer():
        return {int(key.number), str(int(key.number)), str(key.number)}
    return {"any other"}


def _scalar(sent: Any, got: Any, config: Config, text: str) -> Change | None:
    if isinstance(sent, (str, bytes)) and isinstance(got, (str, bytes, Text)):
        data = got.octets if isinstance(got, Text) else got.encode() if isinstance(got, str) else got
        if data == (sent.encode() if isinstance(sent, str) else sent):
            return None if config.old_raw else Change(TEXT_OR_BINARY, None, text)
        return Change(READ, None, text)
    numbers = [_number(sent), _number(got)]
    if None not in numbers and type(sent) is not type(got):
        # a language with one number type says 1 for 1.0 and 1e300 for a large integer; MP-07 in docs/ambiguities.md
        level = "SHOULD" if config.one_number and numbers[0] == numbers[1] else None
        return Change(INTEGERS if type(sent) is int else FLOATS, level, text)
    if type(sent) is int:
        return Change(INTEGERS, None, text)
    if isinstance(sent, Float):
        return Change(FLOATS, None, text)
    if isinstance(sent, Text):
        return None if isinstance(got, (str, bytes, Text)) else Change(NOT_UTF8, None, text)
    if isinstance(sent, Ext):
        return _extension(sent, got, text)
    return Change(READ, None, text)


def _extension(sent: Ext, got: Any, text: str) -> Change | None:
    stamp = values.moment(sent) is not None
    if stamp and isinstance(got, Ext) and _near(sent, got):
        return Change(TIMESTAMPS, "SHOULD", text)  # the type for moments of many languages is coarser; MP-08
    if sent.code == values.TIMESTAMP and not stamp:
        # that a moment is made of what names none is not forbidden in so many words; MP-08
        return Change(TIMESTAMPS, "SHOULD" if isinstance(got, Ext) else None, text)
    # a codec may know an extension of its own by that type; nothing is what none of them becomes
    level = None if got is None or isinstance(got, Ext) else "SHOULD"
    return Change(TIMESTAMPS if stamp else EXTENSIONS, level, text)


def _near(one: Ext, other: Ext) -> bool:
    """True when two timestamps are less than a millisecond apart."""
    mine, theirs = values.moment(one), values.moment(other)
    if mine is None or theirs is None:
        return False
    return abs((mine[0] - theirs[0]) * 1_000_000_000 + mine[1] - theirs[1]) < 1_000_000


def _number(value: Any) -> float | int | None:
    return value.number if isinstance(value, Float) else value if type(value) is int else None
