"""What a client that is made from a document is told to call, and how it is answered.

Source: 004_4ca5b084f7ea0751.txt, client side, exceptions, message, meta service, use without a scope.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.msgpack.bundle import versions_told
from specs.msgpack.format import WIDEST
from specs.msgpack.frames import encode, response
from specs.msgpack.idl.semantics import INTEGERS
from specs.msgpack.states import ARGUMENTS, NULLABLE, Config
from specs.plan import Control, Plan, Ref, Say, Step, Wait
from strategies.common import Op, Program, programs
from strategies.msgpack import needed
from strategies.msgpack.calls import ERRORS
from strategies.msgpack.documents import Dice
from strategies.msgpack.needed import Swept
from strategies.msgpack.older import older
from strategies.msgpack.serving import World
from strategies.msgpack.shapes import PLAIN, Kind, bound, too_large
from strategies.msgpack.writer import pieces

CALLS = {
    "call": 5, "versions": 5, "error": 4, "throw": 5, "arguments": 5, "echo": 5, "result": 5, "bad result": 4,
    "left out": 3, "nothing": 3, "meta": 1, "same": 4,
}  # fmt: skip
PATHS = (
    "NotFound", "NotFound.KeyNotFound", "NotFound.KeyNotFound.Deep", "DiskFullError", "NotFound.Gone",
    "NotFound.KeyNotFound.Lost", "NotFound.KeyNotFound.Deep.Deeper.Deepest", "DiskFullError.Quota.Soft",
    "NotFoundX", "NotFound.KeyNotFoundX", "NotFound.KeyNotFoundX.Deep", "DiskFullErrorX.Soft", "NotFound.Key",
    "Unheard", "Unheard.Of", "DiskFull", "NotFound.Deep",
)  # fmt: skip
"""Of exceptions that the document has, that belong below one of them, and that only look as if they did."""


class Calling(World):
    """What one plan calls. Functions that may have no result are there in every service, and `same`, which takes and
    gives a value of one type. A quarter of the documents have no point that may be refused. `kinds` are those of what
    is called: where all types are gone through, there is a function for each."""

    more = "  string? perhaps()\n  list<int?>? numbers()\n"

    def __init__(self, config: Config, *numbers: int, kinds: Set[str] = frozenset()) -> None:
        config = replace(config, taken=frozenset()) if numbers[-1] % 4 == 3 else config
        if NULLABLE not in config.taken:
            self.more = self.more.replace("int?>", "int>")
        self.same = Dice(numbers[-1] // 4, *numbers).pick(PLAIN)
        self.more += f"  {self.same} same(1: {self.same} a)\n"
        self.which = numbers[-1] // 4
        self.more += needed.WIDTHS if "widths" in kinds else ""
        if "missing" in kinds:
            self.declared = needed.musts(self.which, defaults="def" in config.extensions)
            self.more += needed.MUSTS
        super().__init__(config, *numbers)

    def slots(self) -> list[tuple[str, int]]:
        """Every version of every scope that a client certainly knows: no newer one than the application names."""
        return [
            (scope, version)
            for scope, (service, declared) in self.scopes.items()
            for version in self.versions[service]
            if version <= declared
        ]


class Teller:
    """Collects steps. `wire`: 1 cuts answers, 2 writes some of them in the widest form."""

    def __init__(self, world: Calling, *, wire: int) -> None:
        self.world, self.wire = world, wire
        self.features: set[str] = set()
        self.steps: list[Step] = [Control(0, "connect", {"idl": world.idl(), "app": world.application})]
        self._versions = versions_told({scope: version for scope, (_, version) in world.scopes.items()})
        self._curious()
        self._calls = 0

    def _curious(self) -> None:
        """A client that asks for versions by itself is told them (ML-32)."""
        if self.world.config.curious:
            self.steps.append(self._versions)

    def call(self, place: tuple[str, int], function: str, args: Sequence[Any] = ()) -> None:
        """Tell the client to call."""
        scope, version = place
        given = {"app": self.world.application, "scope": scope, "version": version, "fn": function}
        self.steps.append(Control(0, "call", {**given, "args": list(args)}))
        self._curious()
        self._calls += 1

    def answer(self, error: Any, result: Any, *, wide: bool = False, style: int = 0) -> None:
        """Answer the call that it was told last."""
        result = older(result) if self.world.config.old_raw else result
        frame, cuts = response(Ref("call", self._calls - 1), error, result), tuple[int, ...]()
        wide = wide and not self.world.config.old_raw
        if wide:
            frame = replace(frame, wide=("int",))
        if self.wire & 1 and style % 8 != 1:
            cuts = pieces(style, len(encode(response(0, error, result), WIDEST if wide else None)))
            self.features.add("cuts")
        self.steps += [Say(0, frame, cuts, style=WIDEST if wide else None), Wait(0)]

    def place(self, *numbers: int) -> tuple[str, int]:
        """Scope and version that some numbers choose."""
        slots = self.world.slots()
        return slots[(numbers[0] * 7 + numbers[1]) % len(slots)]

    def function(self, place: tuple[str, int], number: int) -> str:
        """A function without arguments that answers with a text."""
        names = self.world.versions[self.world.scopes[place[0]][0]][place[1]]
        return names[number % len(names)]

    def plan(self) -> Plan:
        """All of it, with a proper end."""
        return Plan((*self.steps, Wait(0), Control(0, "disconnect", {}), Wait(0)), frozenset(self.features))


def _call(t: Teller, op: Op) -> None:
    place = t.place(*op.args)
    name = t.function(place, op.args[2])
    t.call(place, name)
    long = "x" * (40, 9000, 9000 if t.world.config.size else 70_000)[op.args[3] // 4 % 3]
    t.answer(None, ("{}/{}/{}".format(*place, name), "", "é", long)[op.args[3] % 4], style=op.args[4])


def _versions(t: Teller, op: Op) -> None:
    """Versions and scopes by turns, back and forth."""
    slots = t.world.slots()
    for n in range(2 + op.args[0] % 5):
        place = slots[(op.args[1] + n * (1 + op.args[3] % 3)) % len(slots)]
        name = t.function(place, op.args[2])
        inherited = t.world.interfaces and op.args[4] % 3 == 2 and n % 2
        t.call(place, ("done" if t.world.interfaces > 1 else "perhaps") if inherited else name)
        t.answer(None, None if inherited else "{}/{}/{}".format(*place, name))


def _error(t: Teller, op: Op) -> None:
    """A failure, whatever the function gives back, also one that is easily taken for none."""
    place = t.place(*op.args)
    name = (t.function(place, op.args[2]), "done", "perhaps", "make")[op.args[3] % 4]
    args: Sequence[Any] = ()
    if op.args[3] // 4 % 2:
        name, args = (("say", (5, "b")), ("pick", ("x", "y", "z")))[op.args[2] % 2]
    t.call(place, name, args)
    beside = "data" if op.args[4] // len(ERRORS) % 3 == 2 else None  # an error says that there is no result
    t.answer(ERRORS[op.args[4] % len(ERRORS)], beside, style=op.args[2])
    if args:  # of which nothing is left for the next call
        _call(t, op)
    elif name != "make":  # nor of the error: the same function of the same version answers as well as before
        t.call(place, name)
        t.answer(None, None if name in ("done", "perhaps") else "{}/{}/{}".format(*place, name))


def _throw(t: Teller, op: Op) -> None:
    """An exception, known or not."""
    place = t.place(*op.args)
    path = PATHS[op.args[3] % len(PATHS)]
    t.call(place, t.function(place, op.args[2]))
    t.answer(path if t.world.config.exceptions == "code" else (path,), None, style=op.args[4])


def _arguments(t: Teller, op: Op) -> None:
    """Functions with several arguments: all of them, or without the last, where that is optional."""
    place, left = t.place(*op.args), ARGUMENTS in t.world.config.taken
    number = (5, -1, 0, 1 << 31 - 1, -(1 << 31))[op.args[2] % 5]
    forms: list[tuple[str, Sequence[Any]]] = [
        ("say", (number, ("b", "", "é" * 20)[op.args[4] % 3])),
        ("pick", ("x", "y", "z")),
        ("pick", ("", "x" * (300, 9000, 20_000)[op.args[2] % 3], ("x", "")[op.args[4] // 3 % 2])),
    ]
    forms += [("say", (number,)), ("pick", ("x", "y"))] if left else []
    t.call(place, *forms[op.args[3] % len(forms)])
    t.answer(None, "done", style=op.args[4])


def _echo(t: Teller, op: Op) -> None:
    """A message as an argument, perhaps without some of its optional fields, and back."""
    place, shapes = t.place(*op.args), t.world.shapes
    dice = Dice(*op.args[2:])
    out = shapes.message(dice)
    told = shapes.told(tuple(out), Kind("M"))
    if op.args[2] % 2:
        for each in shapes.fields:
            if each.mod == "optional" and each.kind.name != "N" and dice.roll(2):
                del told[each.name]
    t.call(place, "echo", [told])
    t.answer(None, tuple(out), style=op.args[4])


def _result(t: Teller, op: Op) -> None:
    """A message as a result: complete, short, with more than is known, or in wide forms."""
    place, shapes = t.place(*op.args), t.world.shapes
    dice, how = Dice(*op.args[2:]), op.args[3] % 6
    out = shapes.message(dice)
    if how == 1:
        out = shapes.cut(out, dice)
    elif how == 2:
        out = shapes.longer(out, dice)
    elif how == 3:
        out = shapes.filled(out, dice)
    t.call(place, "make")
    t.answer(None, tuple(out), wide=how in (4, 5), style=op.args[4])


def _same(t: Teller, op: Op) -> None:
    """A value that is no message, as an argument and as a result; at times a result that is none of its type."""
    place, shapes, kind = t.place(*op.args), t.world.shapes, t.world.same
    dice = Dice(*op.args[2:])
    for _ in range(1 + op.args[3] % 3):
        value = shapes.value(kind, dice)
        t.call(place, "same", [shapes.told(value, kind)])
        other = shapes.value(kind, dice)
        if op.args[2] % 4 == 3:
            other = shapes.changed(other, kind, dice, too_large(dice))
        t.answer(None, other, style=op.args[4])


def _left_out(t: Teller, op: Op) -> None:
    """Results from which more and more is left out, as far as it may be: each time another default tells itself."""
    place, shapes = t.place(*op.args), t.world.shapes
    out = shapes.message(Dice(*op.args[2:]))
    must = max((each.number - shapes.base + 1 for each in shapes.fields if each.mod != "optional"), default=0)
    for end in range(must, len(out) + 1)[: 2 + op.args[3] % 5]:
        t.call(place, "make")
        t.answer(None, tuple(out[:end]))


def _bad_result(t: Teller, op: Op) -> None:
    """A message without what is required, with nil, or with a number that is too large; and a good one behind it."""
    place, shapes = t.place(*op.args), t.world.shapes
    dice, how = Dice(*op.args[2:]), op.args[3] % 4
    out = shapes.message(dice)
    fields = [each for each in shapes.fields if how != 2 or each.kind.name in INTEGERS] or shapes.fields
    if fields:
        member = fields[op.args[4] % len(fields)]
        at = member.number - shapes.base
        if how == 0:
            out = shapes.shortened(out, dice) if op.args[2] % 2 else out[:at]
        elif how == 1:
            out[at] = shapes.changed(out[at], member.kind, dice, lambda kind: None)
        elif how == 2 and member.kind.name in INTEGERS:
            low, high = INTEGERS[member.kind.name]
            out[at] = bound((high + 1, low - 1, high, low)[op.args[2] % 4])
        else:
            out[at] = shapes.changed(out[at], member.kind, dice, too_large(dice))
    t.call(place, "make")
    t.answer(None, tuple(out))
    _call(t, op)


def _nothing(t: Teller, op: Op) -> None:
    """Results of nil: of a function without one, and of one that may have none, at times behind another of it."""
    place = t.place(*op.args)
    name = ("done", "perhaps", "numbers", t.function(place, op.args[2]))[op.args[3] % 4]
    result: Any = None
    if name == "perhaps" and op.args[4] % 3 == 2:
        result = "some"
    if name == "numbers" and op.args[4] % 2:
        result = (1, None, 3) if "int?>" in t.world.more and op.args[4] % 4 == 3 else (1, 2, 3)
    if op.args[3] // 4 % 2 and name in ("perhaps", "numbers"):
        t.call(place, name)
        t.answer(None, "before" if name == "perhaps" else (4, 5))
    t.call(place, name)
    t.answer(None, result)


def _swept(t: Teller, op: Op, rows: Sequence[Swept]) -> None:
    """All of some rows."""
    place = t.place(*op.args)
    for row in rows:
        t.call(place, row.function, [] if row.kind is None else [t.world.shapes.told(row.argument, row.kind)])
        t.answer(None, row.result)


def _widths(t: Teller, op: Op) -> None:
    """The ends of every type of integers, and the numbers behind them."""
    _swept(t, op, needed.widths(op.args[3]))


def _missing(t: Teller, op: Op) -> None:
    """Messages with a field of each type, and without it."""
    _swept(t, op, needed.missing(t.world.which, op.args[3], t.world.shapes.base))


def _many(t: Teller, op: Op) -> None:
    """So many calls that ids need more octets than one, in which half of them are without a sign."""
    place = t.place(*op.args)
    name = t.function(place, op.args[2])
    for n in range(1 + 45 * (op.args[3] % 7)):
        t.call(place, name)
        t.answer(None, f"{n}")


def _meta(t: Teller, op: Op) -> None:
    """Which version is served is asked of the service that every application has."""
    if "meta" not in t.world.config.extensions or t.world.anonymous:
        _call(t, op)
        return
    scopes = list(t.world.scopes)
    t.call(("_", 0), "getVersion", [scopes[op.args[0] % len(scopes)]])
    t.answer(None, op.args[1] % 4)


_OPS: Mapping[str, Callable[[Teller, Op], None]] = {
    "call": _call, "versions": _versions, "error": _error, "throw": _throw, "arguments": _arguments, "echo": _echo,
    "result": _result, "left out": _left_out, "bad result": _bad_result, "nothing": _nothing, "meta": _meta,
    "many": _many, "same": _same,
    "widths": _widths, "missing": _missing,
}  # fmt: skip
SHAPED = frozenset(("echo", "result", "left out", "bad result", "missing"))
"""What takes messages, which are judged in the layouts that are known."""


def calls(*kinds: str, most: int = 10) -> SearchStrategy[Program]:
    """Calls of some kinds, of all when none is named."""
    return programs({kind: CALLS.get(kind, 1) for kind in kinds} if kinds else CALLS, head=4, most=most)


def interpret(program: Program, config: Config, *, hurry: bool = False, wires: Sequence[int] = (0, 0, 1)) -> Plan:
    """The plan that a program means. A client does one thing after the other, so that nothing is hurried."""
    head = program.head
    kinds = {op.kind for op in program.ops}
    teller = Teller(Calling(config, *head[1:], kinds=kinds), wire=wires[head[0] % len(wires)])
    for op in program.ops:
        _OPS["call" if op.kind in SHAPED and not config.layout else op.kind](teller, op)
    return teller.plan()
