"""Codecs that read the messages of a document wrongly in one point."""

from __future__ import annotations

from typing import Any

from impls.references.msgpack.codec import Refusal
from impls.references.msgpack.idl_codec import IdlCodec
from impls.references.msgpack.idl_values import Misfit, Shapes
from impls.references.msgpack.octets import Pairs
from specs.msgpack.format import WIDEST, styled
from specs.msgpack.idl.semantics import INTEGERS
from specs.msgpack.lines import Ask
from specs.plan import Plan, Say
from strategies.common import Op, Program
from strategies.msgpack import typed
from tests.mutants import msgpack_idl_server_values as server
from tests.mutants.msgpack_idl_server_parts import DOCUMENT as WHOLE
from tests.mutants.msgpack_kit import Witness, idl_ids, registering

DOCUMENT = WHOLE.partition("service")[0]


def reads(value: Any, rule: str, name: str = "M", style: int = 0) -> Witness:
    """A question about one message."""

    def witness(config: Any) -> Plan:
        ask = Ask(1, "decode", styled(value, style), "idl", name, {"idl": DOCUMENT}, "value", rule)
        return Plan((Say(0, ask),))

    return witness


def register(part: type, requirement: str, witness: Witness, accept: str = "") -> None:
    """A faulty part of a codec."""
    made = part if issubclass(part, IdlCodec) else type("Faulty", (IdlCodec,), {"shapes_type": part})
    registering("codec", lambda _: made, idl_ids)(f"typed-{part.__name__}", requirement, witness, accept)(part)


class WideRefused(IdlCodec):
    """In a message an integer of eight octets that would fit into fewer is refused."""

    def decode(self, octets: bytes, **switches: Any) -> Any:
        if switches and (b"\xcf\0\0\0\0\0\0\0" in octets or b"\xd3\0\0\0\0\0\0\0" in octets):
            raise Refusal("wide")
        return super().decode(octets, **switches)


class ZeroLost(Shapes):
    """A number is one more than it is."""

    def integer(self, value: Any, name: str) -> int:
        return super().integer(value, name) + (name == "int" and 0 < super().integer(value, name) < 100)


class ListAsItIs(Shapes):
    """The numbers in a list are not looked at."""

    def read(self, value: Any, kind: Any) -> Any:
        real = self.real(kind)
        within = real.name == "list" and isinstance(value, list) and real.args[0].name in INTEGERS
        return value if within else super().read(value, kind)


class ValuesAsTheyAre(Shapes):
    """The numbers in a map are not looked at."""

    def read(self, value: Any, kind: Any) -> Any:
        real = self.real(kind)
        if real.name == "map" and isinstance(value, Pairs) and real.args[1].name in INTEGERS:
            return Pairs((self.read(key, real.args[0]), number) for key, number in value)
        return super().read(value, kind)


def widths(config: Any) -> Plan:
    """The ends of every type of integers, wherever they may stand."""
    return typed.interpret(Program((0, 0, 0), (Op("widths", (0, 0)),)), config)


class Careful(Shapes):
    """Refuses to write a number that its type does not hold."""

    def write(self, value: Any, kind: Any) -> Any:
        name = self.real(kind).name
        return super().write(self.integer(value, name) if type(value) is int and name in INTEGERS else value, kind)


class HalfStays(IdlCodec):
    """What was written of a message before it was refused stands before the next one."""

    shapes_type = Careful
    half = b""

    def typed(self, idl: str, said: dict[str, Any]) -> dict[str, Any]:
        half, self.half = self.half, b""
        try:
            found = super().typed(idl, said)
        except Misfit:
            self.half = b"\x94\xa3aaa" if said["op"] == "encode" else half
            raise
        return {"hex": half.hex() + found["hex"]} if "hex" in found else found


def refused(config: Any) -> Plan:
    """A message that is refused when it is encoded, and one behind it."""
    return typed.interpret(Program((0, 0, 0), (Op("refused", (0, 0, 0, 0, 0)),)), config)


FULL = server.FULL
register(HalfStays, "ENC-01", refused)
register(ZeroLost, "ENC-01", reads(FULL, "ENC-01"), "ENC-05 ENC-06 ENC-08 ENC-10 ENC-04 DEF-04")
register(server.MissingIsZero, "ENC-03", reads((), "ENC-03"))
register(server.NilIsZero, "ENC-04", reads((None, None, "s"), "ENC-04"))
register(server.OptionalRequired, "ENC-05", reads((5,), "ENC-05"), "DEF-04 ENC-01")
register(server.DefaultForgotten, "DEF-04", reads((5,), "DEF-04"), "ENC-05 ENC-01")
register(server.MoreRefused, "ENC-06", reads((*FULL, "more"), "ENC-06"), "ENC-10 ENC-01")
register(server.NumbersWrap, "ENC-07", reads((200, ()), "ENC-07", "N"))
register(WideRefused, "ENC-08", reads(FULL, "ENC-08", style=WIDEST), "ENC-01")
register(server.GapsRefused, "ENC-10", reads((5, "junk", "s", 6, True), "ENC-10"), "ENC-06 ENC-01")
register(ListAsItIs, "ENC-07", widths, "ENC-01")
register(ValuesAsTheyAre, "ENC-07", widths, "ENC-01")
