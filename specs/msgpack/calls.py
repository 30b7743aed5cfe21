"""What a request calls for, by its method and by what stands in its params.

The methods are the five or six that a server under test offers (docs/implementations.md); what is in the params may be
such that a correct server can take it in more than one way. Source: MessagePack specification; docs/ambiguities.md.
"""

from __future__ import annotations

from typing import Any

from specs.msgpack import values
from specs.msgpack.changes import EXTENSIONS, KEYS, NOT_UTF8, TEXT_OR_BINARY, TIMESTAMPS, keys_collide
from specs.msgpack.format import WIDEST, styled
from specs.msgpack.machine import LIMITS
from specs.msgpack.states import Config, Want
from specs.msgpack.values import Ext, Map, Text

FAILURES = "MPRPC-RESP-05a"
UNSUITABLE = "MPRPC-RESP-05b"
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
    (
        *("constructor", "toString", "valueOf", "__proto__", "__init__", "__class__", "getClass", "hashCode"),
        *("send", "instance_eval", "class", "object_id", "hash", "inspect", "to_s", "connection", "close"),
    )
)
"""Names that every object has in some language; see docs/ambiguities.md, MP-12."""


def oddity(value: Any, config: Config) -> str:
    """The requirement by which a correct server may refuse `value` or give it back changed; "" when none."""
    found = ""
    for part in values.inside(value):
        if isinstance(part, Text):
            return NOT_UTF8
        if not found:
            found = _odd(part, config)
    if not found and values.depth(value) > min(DEEP, config.depth or DEEP):
        found = LIMITS
    if config.size and not found and len(styled(value, WIDEST)) + ENVELOPE > config.size:
        found = LIMITS
    return found


def _odd(part: Any, config: Config) -> str:
    """As `oddity`, for a value without what stands in it."""
    if isinstance(part, Map):
        keys = [key for key, _ in part.pairs]
        if any(not isinstance(key, str) or key == "__proto__" for key in keys) or len(set(keys)) < len(keys):
            return KEYS
        return LIMITS if len(keys) > LARGE else ""
    if isinstance(part, Ext):
        return TIMESTAMPS if part.code == values.TIMESTAMP else EXTENSIONS
    if isinstance(part, (str, bytes, tuple)) and len(part) > LARGE:
        return LIMITS
    return TEXT_OR_BINARY if config.old_raw and isinstance(part, bytes) else ""


_ECHOED = (NOT_UTF8, EXTENSIONS, TIMESTAMPS, LIMITS)
"""What makes a value one that is given back as it was, or refused."""


def called(config: Config, method: str, params: tuple[Any, ...]) -> Want:
    """What the request `method(*params)` calls for."""
    odd = oddity(params, config)
    meant = next((ours for ours, name in config.methods if name == method), "")
    want = _meant(config, meant, method, params)
    if not odd:
        return want
    if meant == "echo" and want.kind == "value" and (odd in _ECHOED or (odd == KEYS and not keys_collide(params))):
        return want._replace(kind="either", closes=True, odd=odd, rule=odd if odd in (EXTENSIONS, TIMESTAMPS) else "")
    return Want("free", closes=True, odd=odd)


def _meant(config: Config, meant: str, method: str, params: tuple[Any, ...]) -> Want:
    if not meant:
        return _unknown(config, method)
    if meant == "echo" and len(params) == 1:
        return Want("value", params[0])
    if meant == "add" and len(params) == 2 and all(type(n) is int and abs(n) < EXACT // 2 for n in params):
        return Want("value", params[0] + params[1])
    if meant == "fail" and len(params) == 1 and isinstance(params[0], str):
        return Want("error", rule=FAILURES)
    if meant == "sleep" and len(params) == 1 and type(params[0]) is int and 0 <= params[0] <= 1000:
        return Want("value", params[0])
    if meant == "count" and not params:
        return Want("count")
    return Want("free") if meant == "bump" else Want("free", rule=UNSUITABLE)


def _unknown(config: Config, method: str) -> Want:
    if method in METHODS:
        return Want("free")  # not declared, yet it may well be there
    if len(method) > LARGE:
        return Want("free", closes=True)
    known = {name.lower() for _, name in config.methods}
    level = "SHOULD" if method in INHERITED or method.lower() in known else None
    return Want("error", rule=FAILURES, level=level)
