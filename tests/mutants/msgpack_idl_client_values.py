"""Clients made from a document that write arguments or read results wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from impls.references.msgpack.idl_client import Made, MadeCaller
from impls.references.msgpack.idl_parser import Kind, Member, Method
from impls.references.msgpack.idl_values import Misfit, Shapes
from impls.references.msgpack.octets import Pairs, Unpacker
from specs.msgpack.values import Map, double
from tests.mutants.faults import on
from tests.mutants.msgpack_idl_client_parts import FULL, GET, To, calls, mutant

MADE = (5, None, "s", 6, True)


def made(*elements: Any, wide: bool = False) -> Any:
    """A message as a result."""
    return calls(To("make", result=elements, wide=wide))


ECHO = calls(To("echo", (FULL,), 1))
LEFT = calls(To("echo", ({"x": 5},), 1))
ECHO_N = calls(To("echoN", ({"x": 1, "l": ["a", "b"]},), 1))
NAMES = calls(To("name", ("x", "y"), 1))

# -- results -----------------------------------------------------------------------------------------------------------

mutant("false-is-nothing", "ENC-01", calls(To("flag", result=False)))(
    "A result of false is taken for none.", on(MadeCaller, "success").takes(result=lambda result: result or None)
)


@mutant("results-of-8192", "ENC-01", calls(To("get", result="x" * 8193)), accept="KLI-01 ENC-11")
class ResultsOf8192(Unpacker):
    """Of a text or a raw the first 8192 octets are read."""

    def text(self, data: bytes) -> Any:
        return super().text(data[:8192])

    def binary(self, data: bytes) -> Any:
        return super().binary(data[:8192])


@mutant("missing-is-zero", "ENC-03", made())
class MissingIsZero(Shapes):
    """A required field that is missing is zero."""

    def member(self, elements: Any, member: Member) -> Any:
        if self.place(member) >= len(elements):
            return self.default(member) if member.mod == "optional" else self.zero(self.real(member.kind))
        return super().member(elements, member)


@mutant("inner-missing-is-zero", "ENC-03", calls(To("hold", result=((1,),), version=2)))
class InnerMissingIsZero(Shapes):
    """A required field of a message in a message is zero where it is missing."""

    depth = 0

    def members(self, elements: Any, members: Any) -> dict[str, Any]:
        self.depth += 1
        try:
            return super().members(elements, members)
        finally:
            self.depth -= 1

    def member(self, elements: Any, member: Member) -> Any:
        if self.depth > 1 and self.place(member) >= len(elements) and member.mod != "optional":
            return self.zero(self.real(member.kind))
        return super().member(elements, member)


@mutant("nil-is-zero", "ENC-04", calls(To("number", result=None)))
class NilIsZero(Shapes):
    """nil is zero for what is not nullable."""

    def nothing(self, kind: Kind) -> Any:
        return None if kind.nullable else self.zero(kind)


mutant("null-refused", "ENC-04", made(5, None, None, 6, True), accept="ENC-01 ENC-05 DEF-06")(
    "nil is refused for what is nullable as well.", on(Shapes, "nothing").raises(lambda: Misfit("nil"))
)
mutant("nil-fails", "ENC-04", calls(To("perhaps", result=None)), accept="ENC-01")(
    "A call whose result is nil fails.",
    on(MadeCaller, "success").instead(
        lambda: {"error": "no result"}, when=lambda self, result: result is None and self.function.result.nullable
    ),
)


@mutant("optional-required", "ENC-05", made(5), accept="ENC-01 DEF-04")
class OptionalRequired(Shapes):
    """A field that is optional must be there."""

    def member(self, elements: Any, member: Member) -> Any:
        if self.place(member) >= len(elements):
            raise Misfit("missing")
        return super().member(elements, member)


class Defaults(Shapes):
    """What is wrong is what was left out of a result."""

    def member(self, elements: Any, member: Member) -> Any:
        if self.place(member) >= len(elements) and member.mod == "optional":
            return self.instead(member)
        return super().member(elements, member)

    def instead(self, member: Member) -> Any:
        """What it is taken for."""
        return self.default(member)


@mutant("literal-forgotten", "DEF-04", made(5), accept="ENC-01 ENC-05")
class LiteralForgotten(Defaults):
    """A literal that is declared is forgotten."""

    def instead(self, member: Member) -> Any:
        return self.zero(self.real(member.kind))


@mutant("null-is-empty", "DEF-06", made(5), accept="ENC-01 ENC-05 ENC-04")
class NullIsEmpty(Defaults):
    """What is nullable and was left out is not null, but empty."""

    def instead(self, member: Member) -> Any:
        kind = self.real(member.kind)
        plain = kind.nullable and member.value is None and kind.name not in self.parts
        return self.zero(Kind(kind.word, kind.args)) if plain else self.default(member)


@mutant("zero-is-null", "DEF-07", made(5, None, "s", 6), accept="ENC-01 ENC-05")
class ZeroIsNull(Defaults):
    """What is not nullable and was left out is one."""

    def instead(self, member: Member) -> Any:
        kind = self.real(member.kind)
        one = {"bool": True, "string": "1", "raw": b"1", "double": 1.0, "float": 1.0, "list": [], "map": Pairs()}
        plain = not kind.nullable and member.value is None and kind.name not in self.parts
        return one.get(kind.name, 1) if plain else self.default(member)


@mutant("more-refused", "ENC-06", made(*MADE, "more"), accept="ENC-01 ENC-10")
class MoreRefused(Shapes):
    """Elements behind the known ones are refused."""

    def members(self, elements: Any, members: Any) -> dict[str, Any]:
        if members and len(elements) > max(self.place(member) + 1 for member in members):
            raise Misfit("too many")
        return super().members(elements, members)


@mutant("short-of-one-more", "ENC-07", calls(To("tight", result=1 << 15, version=2)))
class ShortOfOneMore(Shapes):
    """A short may be 32768."""

    def integer(self, value: Any, name: str) -> int:
        return value if name == "short" and value == 1 << 15 else super().integer(value, name)


@mutant("keys-of-any-width", "ENC-07", calls(To("keys", result=Map(((200, 1),)), version=2)))
class KeysOfAnyWidth(Shapes):
    """The keys of a map are not compared with the width of their type."""

    def read(self, value: Any, kind: Kind) -> Any:
        if kind.name != "map" or not isinstance(value, Pairs):
            return super().read(value, kind)
        keys = [key if type(key) is int else self.read(key, kind.args[0]) for key, _ in value]
        return Pairs(zip(keys, (self.read(part, kind.args[1]) for _, part in value), strict=True))


@mutant("numbers-wrap", "ENC-07", calls(To("number", result=1 << 31)))
class NumbersWrap(Shapes):
    """A number beyond the width of its type is cut."""

    def integer(self, value: Any, name: str) -> int:
        if type(value) is int and name != "long":
            bits = {"byte": 8, "short": 16, "int": 32}.get(name.removeprefix("u"), 64)
            value %= 1 << bits
            if not name.startswith("u") and value >= 1 << (bits - 1):
                value -= 1 << bits
        return super().integer(value, name)


@mutant("wide-refused", "ENC-08", made(*MADE, wide=True), accept="ENC-01")
class WideRefused(Unpacker):
    """An integer of eight octets that would fit in one is read as another."""

    def number(self, value: float) -> Any:
        data, at = self._data, self._at
        small = type(value) is int and 1 < value < 128 and at >= 9 and data[at - 9] in (0xCF, 0xD3)
        return value + 1 if small and value != 0 else value


@mutant("gaps-refused", "ENC-10", made(5, "junk", "s", 6, True), accept="ENC-01 ENC-06")
class GapsRefused(Shapes):
    """What stands in the place of no field must be nil."""

    def members(self, elements: Any, members: Any) -> dict[str, Any]:
        places = {self.place(member) for member in members}
        if any(n not in places and n < max(places, default=0) and each is not None for n, each in enumerate(elements)):
            raise Misfit("a gap that is none")
        return super().members(elements, members)


def _cut(found: Any) -> Any:
    return int(found) if isinstance(found, float) and abs(found) < 1e9 else found


mutant("fractions-lost", "ENC-01", calls(To("get", (1.5,), double(1.5), scope="status", version=3)), accept="ENC-12")(
    "A fraction is cut off from results.",
    on(Shapes, "read").gives(_cut),
)
mutant("texts-trimmed", "ENC-01", calls(To("get", result=" a ")), accept="ENC-11 ENC-08 ENC-05 ENC-06 ENC-10")(
    "A text that is a result is not longer than 16 signs, and has no blanks around it.",
    on(Shapes, "read").gives(lambda found: found.strip()[:16] if isinstance(found, str) else found),
)


@mutant(
    "nil-as-before",
    "ENC-01",
    calls(To("perhaps"), To("perhaps", result=None)),
    accept="ENC-04",
)
class NilAsBefore(MadeCaller):
    """Where a function is called twice in a row and is nil the second time, its first result is reported."""

    before: tuple[Any, Any] = (None, None)

    def success(self, result: Any) -> dict[str, Any]:
        function, former = self.before
        result = former if result is None and function is self.function else result
        self.before = self.function, result
        return super().success(result)


@mutant("results-kept", "ENC-01", calls(To("get"), To("perhaps", result=None)), accept="ENC-04")
class ResultsKept(MadeCaller):
    """Where the result is nil, that of the call before is reported again, if it is of the same type."""

    former: Any = None

    def success(self, result: Any) -> dict[str, Any]:
        same = result is None and isinstance(self.former, str) and self.function.result.name == "string"
        self.former = self.former if same else result
        return super().success(self.former)


# -- arguments ---------------------------------------------------------------------------------------------------------


mutant("other-layout", "ENC-02", ECHO, accept="ENC-01 ENC-12", level="ASSUMED")(
    "Messages are written with one element more in front than they are read with.",
    on(Shapes, "write").gives(
        lambda self, kind, found: [None, *found] if found is not None and self.real(kind).name in self.parts else found
    ),
)


@mutant("gaps-zero", "ENC-10", ECHO, accept="ENC-01")
class GapsZero(Shapes):
    """A gap is written as 0."""

    def write(self, value: Any, kind: Kind) -> Any:
        found, real = super().write(value, kind), self.real(kind)
        if found is None or real.name not in self.parts:
            return found
        known = {self.place(member) for member in self.parts[real.name].members}
        return [0 if each is None and at not in known else each for at, each in enumerate(found)]


@mutant("squeezed", "ENC-01", ECHO, accept="ENC-10 ENC-11 ENC-02 DEF-04 DEF-06 DEF-07")
class Squeezed(Shapes):
    """Messages are written without their gaps."""

    def write(self, value: Any, kind: Kind) -> Any:
        found, real = super().write(value, kind), self.real(kind)
        if found is None or real.name not in self.parts:
            return found
        known = {self.place(member) for member in self.parts[real.name].members}
        return [each for at, each in enumerate(found) if at in known]


mutant("lists-as-maps", "ENC-11", ECHO_N, accept="ENC-01")(
    "A list is written as a map from places to elements.",
    on(Shapes, "write").gives(
        lambda self, kind, found: Pairs(enumerate(found))
        if self.real(kind).name == "list" and found is not None else found
    ),
)  # fmt: skip
mutant("booleans-as-numbers", "ENC-11", ECHO, accept="ENC-01")(
    "Booleans are written as 0 and 1.",
    on(Shapes, "write").gives(lambda found: int(found) if isinstance(found, bool) else found),
)
mutant("texts-as-bin", "ENC-11", NAMES, accept="ENC-12")(
    "A text is written as a bin.",
    on(Shapes, "write").gives(lambda found: found.encode() if isinstance(found, str) else found),
)
mutant("floats-as-texts", "ENC-01", calls(To("get", (1.5,), double(1.5), scope="status", version=3)), accept="ENC-12")(
    "A fraction is written as a text.",
    on(Shapes, "write").gives(lambda found: str(found) if isinstance(found, float) else found),
)
mutant("sorted-by-name", "ENC-12", NAMES, accept="ENC-11 ENC-01")(
    "Arguments stand in the order of their names, from the last to the first.",
    on(MadeCaller, "params_of").gives(lambda found: found[::-1]),
)


@mutant("arguments-stay", "ENC-12", calls(To("add", ("a", "b"), error="no"), GET), accept="ENC-01 ENC-11")
class ArgumentsStay(MadeCaller):
    """Behind a failure the arguments of the call that failed stand behind those of the next one."""

    behind: Sequence[Any] = ()

    def params_of(self, made: Made, function: Method, told: Sequence[Any]) -> list[Any]:
        out = super().params_of(made, function, told)
        self.behind, behind = out, self.behind
        return [*out, *behind[len(out) :]]

    def success(self, result: Any) -> dict[str, Any]:
        self.behind = ()
        return super().success(result)


mutant("as-a-list", "ENC-12", NAMES, accept="ENC-11")(
    "Several arguments stand in an array of their own.",
    on(MadeCaller, "params_of").gives(lambda found: [found] if len(found) > 1 else found),
)


@mutant("in-order-of-text", "ENC-12", calls(To("say", (5, "b"), 1), idl=(
    "service S: 0 {\n  int say(2: string b, 1: int a)\n}\napplication App {\n  S: 0 storage default\n}\n"
)), accept="ENC-11 ENC-10")  # fmt: skip
class InOrderOfText(MadeCaller):
    """Arguments stand in the order in which they are declared."""

    def params_of(self, made: Made, function: Any, told: Any) -> list[Any]:
        order = sorted(function.members, key=lambda member: member.number)
        found = {self.place(made, member): self.argument(made, member, part)
                 for member, part in zip(order, told, strict=False)}  # fmt: skip
        return [found[place] for member in function.members if (place := self.place(made, member)) in found]


mutant("all-arguments", "ENC-05", calls(To("some", (5,), 1)), accept="KLI-01 KLI-03")(
    "A call without all of its arguments is refused.",
    on(MadeCaller, "params_of").raises(
        lambda: Misfit("too few"), when=lambda function, told: len(told) < len(function.members)
    ),
)


class Leaving(Shapes):
    """What was left out of an argument is sent as something else."""

    def untell(self, told: Any, kind: Kind) -> Any:
        found = super().untell(told, kind)
        part = self.parts.get(self.real(kind).name)
        if part is None or not isinstance(told, dict) or "$raw" in told:
            return found
        left = [m for m in part.members if m.word.text not in told and m.mod == "optional"]
        return found | {m.word.text: self.instead(m) for m in left}

    def instead(self, member: Member) -> Any:
        """What it is sent as."""
        return self.default(member)

    def is_default(self, value: Any, member: Member) -> bool:
        return False


@mutant("literal-not-sent", "DEF-04", LEFT, accept="ENC-01 ENC-05")
class LiteralNotSent(Leaving):
    """What was left out is sent as zero, whatever its literal is."""

    def instead(self, member: Member) -> Any:
        return self.zero(self.real(member.kind))


@mutant("empty-for-null", "DEF-06", LEFT, accept="ENC-01 ENC-04")
class EmptyForNull(Leaving):
    """What is nullable and was left out is sent as empty."""

    def instead(self, member: Member) -> Any:
        kind = self.real(member.kind)
        plain = kind.nullable and member.value is None and kind.name not in self.parts
        return self.zero(Kind(kind.word, kind.args)) if plain else self.default(member)


@mutant("one-for-zero", "DEF-07", LEFT, accept="ENC-01")
class OneForZero(Leaving):
    """A boolean or a number that was left out is sent as true or 1."""

    def instead(self, member: Member) -> Any:
        kind = self.real(member.kind)
        found = self.default(member)
        plain = not kind.nullable and member.value is None and type(found) in (bool, int)
        return type(found)(1) if plain else found
