"""What a request calls for, by its method and by what stands in its params.

The methods are the five or six that a server under test offers (docs/implementations.md); what is in the params may be
such that a correct server can take it in more than one way. Source: MessagePack specification; docs/ambiguities.md.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from specs.msgpack import values
from specs.msgpack.format import WIDEST, styled
from specs.msgpack.states import FMT, RPC, Config, Want
from specs.msgpack.values import Ext, Float, Map, Text

METHODS = ("echo", "add", "fail", "sleep", "count", "bump")
DEEP = 16
"""Containers around a value that every server takes; more may be refused."""
LARGE = 1 << 16
"""Octets of a text or binary, elements of a container, that every server takes; more may be refused."""
ENVELOPE = 1 << 8
"""More octets than there are in a message around what is meant."""
EXACT = 1 << 53
"""Integers below it are exact in every language."""
INHERITED = frozenset(
    ("constructor", "toString", "__proto__", "__init__", "__class__", "send", "instance_eval", "connection", "close")
)
"""Names that every object has in some language; see docs/ambiguities.md, MP-12."""


@cache
def ids(text: str, prefix: str = RPC) -> tuple[str, ...]:
    """Full requirement ids from short ones separated by blanks."""
    return tuple(prefix + name for name in text.split())


def fmt(text: str) -> tuple[str, ...]:
    """As `ids`, for the requirements of the format."""
    return ids(text, FMT)


def oddity(value: Any, config: Config) -> str:
    """The requirement by which a correct server may refuse `value` or give it back changed; "" when none."""
    found = ""
    for part in values.inside(value):
        if isinstance(part, Text):
            return FMT + "07"
        if isinstance(part, Map):
            keys = [key for key, _ in part.pairs]
            if any(not isinstance(key, str) or key == "__proto__" for key in keys) or len(set(keys)) < len(keys):
                found = found or FMT + "12"
            if len(keys) > LARGE:
                found = found or FMT + "11"
        elif isinstance(part, Ext):
            found = found or FMT + ("09" if part.code == values.TIMESTAMP else "08")
        elif isinstance(part, (str, bytes, tuple)) and len(part) > LARGE:
            found = found or FMT + "11"
        elif config.old_raw and isinstance(part, bytes):
            found = found or FMT + "06"
    if values.depth(value) > min(DEEP, config.depth or DEEP):
        found = found or FMT + "11"
    if config.size and not found and len(styled(value, WIDEST)) + ENVELOPE > config.size:
        found = FMT + "11"
    return found


def called(config: Config, method: str, params: tuple[Any, ...]) -> Want:
    """What the request `method(*params)` calls for."""
    odd = oddity(params, config)
    meant = next((ours for ours, name in config.methods if name == method), "")
    want = _meant(config, meant, method, params)
    if not odd:
        return want
    if meant == "echo" and want.kind == "value" and odd in (FMT + "07", FMT + "08", FMT + "09", FMT + "11"):
        return want._replace(kind="either", closes=True, rule=odd, covers=(odd,))
    return Want("free", rule=odd, closes=True, covers=(odd,))


def _meant(config: Config, meant: str, method: str, params: tuple[Any, ...]) -> Want:
    if not meant:
        if method in METHODS:
            return Want("free")  # not declared, yet it may well be there
        if len(method) > LARGE:
            return Want("free", closes=True)
        known = {name.lower() for _, name in config.methods}
        level = "SHOULD" if method in INHERITED or method.lower() in known else None
        return Want("error", rule=RPC + "RESP-05a", level=level, covers=ids("RESP-05a"))
    if meant == "echo" and len(params) == 1:
        return Want("value", params[0], covers=_shown(params[0]))
    if meant == "add" and len(params) == 2 and all(type(n) is int and abs(n) < EXACT // 2 for n in params):
        return Want("value", params[0] + params[1])
    if meant == "fail" and len(params) == 1 and isinstance(params[0], str) and params[0]:
        return Want("error", rule=RPC + "RESP-05a", covers=ids("RESP-05a"))
    if meant == "sleep" and len(params) == 1 and type(params[0]) is int and 0 <= params[0] <= 1000:
        return Want("value", params[0])
    if meant == "count" and not params:
        return Want("count")
    if meant == "bump":
        return Want("free")
    return Want("free", rule=RPC + "RESP-05b", covers=ids("RESP-05b"))


def _shown(value: Any) -> tuple[str, ...]:
    """The requirements of the format that echoing `value` shows."""
    found = set()
    for part in values.inside(value):
        if type(part) is int:
            found |= {"01", "04"}
        elif isinstance(part, Float):
            found |= {"01", "05"}
        elif isinstance(part, (str, bytes)):
            found |= {"01", "06"}
        else:
            found.add("01")
    return fmt(" ".join(sorted(found)))


def changed(sent: Any, got: Any, config: Config) -> tuple[str, str | None, str] | None:
    """The requirement that is broken when `sent` comes back as `got`, the level if it is another than the
    requirement's, and what was changed; None when they are the same value."""
    if values.alike(sent, got):
        return None
    parts = _parts(sent, got)
    if parts is not None:
        return next((found for one, other in parts if (found := changed(one, other, config)) is not None), None)
    text = f"{values.describe(sent, 120)} came as {values.describe(got, 120)}"
    return _scalar(sent, got, config, text)


def _parts(sent: Any, got: Any) -> list[tuple[Any, Any]] | None:
    """What of two containers has to be the same; None when they are not of one make."""
    if isinstance(sent, tuple) and isinstance(got, tuple) and len(sent) == len(got):
        return list(zip(sent, got, strict=True))
    if isinstance(sent, Map) and isinstance(got, Map) and len(sent.pairs) == len(got.pairs):
        theirs = {key: part for key, part in got.pairs if isinstance(key, str)}
        if len(theirs) == len(sent.pairs) and all(isinstance(key, str) and key in theirs for key, _ in sent.pairs):
            return [(part, theirs[key]) for key, part in sent.pairs]
    return None


def _scalar(sent: Any, got: Any, config: Config, text: str) -> tuple[str, str | None, str] | None:
    if isinstance(sent, (str, bytes)) and isinstance(got, (str, bytes, Text)):
        data = got.octets if isinstance(got, Text) else got.encode() if isinstance(got, str) else got
        if data == (sent.encode() if isinstance(sent, str) else sent):
            return None if config.old_raw else (FMT + "06", None, text)
        return FMT + "01", None, text
    numbers = [_number(sent), _number(got)]
    if None not in numbers and type(sent) is not type(got):
        # a language with one number type says 1 for 1.0 and 1e300 for a large integer; MP-07 in docs/ambiguities.md
        level = "SHOULD" if config.one_number and numbers[0] == numbers[1] else None
        return FMT + ("04" if type(sent) is int else "05"), level, text
    if type(sent) is int:
        return FMT + "04", None, text
    if isinstance(sent, Float):
        return FMT + "05", None, text
    if isinstance(sent, Text):
        return None if isinstance(got, (str, bytes, Text)) else (FMT + "07", None, text)
    if isinstance(sent, Ext):
        stamp = values.moment(sent) is not None
        if stamp and isinstance(got, Ext) and _near(sent, got):
            return FMT + "09", "SHOULD", text  # the type for moments of many languages is coarser; MP-08
        if sent.code == values.TIMESTAMP and not stamp:
            return None if isinstance(got, Ext) else (FMT + "09", None, text)
        # a codec may know an extension of its own by that type; nothing is what none of them becomes
        level = None if got is None or isinstance(got, Ext) else "SHOULD"
        return FMT + ("09" if stamp else "08"), level, text
    return FMT + "01", None, text


def _near(one: Ext, other: Ext) -> bool:
    """True when two timestamps are less than a millisecond apart."""
    mine, theirs = values.moment(one), values.moment(other)
    if mine is None or theirs is None:
        return False
    return abs((mine[0] - theirs[0]) * 1_000_000_000 + mine[1] - theirs[1]) < 1_000_000


def _number(value: Any) -> float | int | None:
    return value.number if isinstance(value, Float) else value if type(value) is int else None
