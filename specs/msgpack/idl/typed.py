"""What a codec makes of values whose types a document declares.

Source: 004_4ca5b084f7ea0751.txt, message, default values. A question names the document and a message of it: decoding
gives tagged JSON data, encoding takes them. See `specs.msgpack.idl.wire` for the layouts that are judged.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from specs.codec import Malformed
from specs.model import Allow, Breach, Outcome
from specs.msgpack.format import decoded
from specs.msgpack.idl.grammar import IDL
from specs.msgpack.idl.semantics import read
from specs.msgpack.idl.tree import Type
from specs.msgpack.idl.wire import Types, Unfit, floating, types_of, untold
from specs.msgpack.lines import Answer, Ask

EXTENSIONS = frozenset(("def", "td"))
_ZEROS: tuple[Any, ...] = (0, "", b"", (), frozenset(), floating(0.0, "float"), floating(0.0, "double"))


@lru_cache(maxsize=256)
def types_in(idl: str, layout: str) -> Types:
    """The types of a document."""
    return types_of(read(idl, EXTENSIONS), layout)


def blame(short: str, why: str, then: Any) -> Breach:
    """A breach of the codec."""
    return Breach("codec", IDL + short, why, then=then)


def judged(state: Any, ask: Ask, said: Answer, after: Any) -> Outcome:
    """The answer to one question; `ask.rule` is the short id of what the question is about."""
    if ask.want == "free":
        return Allow(after)
    rule = ask.rule or "ENC-01"
    shown = f"{ask.op} of {ask.octets[:60].hex() or ask.value['value']!r:.120} as {ask.value['idl']!r:.200}"
    if said.bad:
        return blame(rule, f"{said.bad}: {shown}", after)
    types, kind = types_in(ask.value["idl"], state.config.layout), Type(ask.type)
    if ask.op == "encode":
        return _encoded(ask, said, types, kind, after, shown)
    value, _ = decoded(ask.octets)
    try:
        wanted = types.decoded(value, kind)
    except Unfit as unfit:
        if said.error or not unfit.rule:
            return Allow(after, (unfit.rule.value,) if unfit.rule else ())
        return blame(unfit.rule.value.removeprefix(IDL), f"a value is accepted that is none: {unfit}: {shown}", after)
    if said.error:
        return blame(rule, f"a value is refused: {shown}", after)
    try:
        got = untold(said.value, kind, types)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError, Unfit):
        got = Unfit
    if _alike(wanted, got):
        return Allow(after, (IDL + rule, IDL + "ENC-01", *((IDL + "ENC-05",) if rule == "DEF-04" else ())))
    return blame(rule, f"the value is another: {said.value!r:.150}: {shown}", after)


def _alike(wanted: Any, got: Any) -> bool:
    """True when two values are the same, or one has null for a field of a message that was left out and is zero: both
    are told in that way."""
    if not isinstance(wanted, tuple) or not isinstance(got, tuple) or len(wanted) != len(got):
        return bool(wanted == got)
    field = len(wanted) == 2 and isinstance(wanted[0], str)
    return all(
        _alike(one, other) or (field and other is None and one in _ZEROS)
        for one, other in zip(wanted, got, strict=True)
    )


def _encoded(ask: Ask, said: Answer, types: Types, kind: Type, after: Any, shown: str) -> Outcome:
    if said.error or said.octets is None:
        return blame("ENC-01", f"a value is refused: {shown}", after)
    try:
        written, _ = decoded(said.octets)
        got = types.written().decoded(written, kind)
    except (Malformed, Unfit) as wrong:
        return blame("ENC-01", f"it is encoded as {said.octets[:60].hex()}: {wrong}: {shown}", after)
    if got != untold(ask.value["value"], kind, types):
        return blame("ENC-01", f"it is encoded as {said.octets[:60].hex()}: {shown}", after)
    if types.filled(written, kind):
        return blame("ENC-10", f"a gap is not nil: {said.octets[:60].hex()}: {shown}", after)
    return Allow(after, (IDL + "ENC-01", IDL + "ENC-10"))
