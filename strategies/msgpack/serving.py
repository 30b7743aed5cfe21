"""What a server that is made from a document serves, how its functions behave, and what is called.

Source: 004_4ca5b084f7ea0751.txt, services, exceptions, meta service, use without a scope.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.msgpack.format import WIDEST
from specs.msgpack.frames import notification, request
from specs.msgpack.idl.semantics import INTEGERS
from specs.msgpack.idl.wire import LAYOUTS
from specs.msgpack.states import ARGUMENTS, LITERALS, NULLABLE, ORDER, VERSIONS, Config
from specs.plan import Control, Plan, Say, Step
from strategies.common import Op, Program, programs
from strategies.msgpack.documents import Dice
from strategies.msgpack.shapes import Kind, Shapes, too_large

CALLS = {
    "call": 6, "near": 3, "sweep": 4, "short": 2, "echo": 5, "bad value": 4, "assign": 3, "note": 2, "throw": 2,
    "meta": 2, "selector": 3, "arguments": 3, "left out": 3, "slow": 2,
}  # fmt: skip
NAMES = ("get", "Add", "getAttributes", "f", "ff", "set_2_of", "G")
SCOPES = ("storage", "Status", "s", "default_", "storage2")
_ONE = (
    "exception NotFound {\n  1: optional string message\n}\n"
    "exception KeyNotFound < NotFound {\n  2: optional raw key\n}\n"
    "exception Deep < KeyNotFound {\n}\n"
    "exception DiskFullError {\n}\n"
    "exception Gone < NotFound {\n}\n"
)
_OTHER = (
    "exception NotFound {\n  1: optional string message\n}\n"
    "exception KeyNotFound {\n  2: optional raw key\n}\n"
    "exception Deep < NotFound {\n}\n"
    "exception DiskFullError < KeyNotFound {\n}\n"
    "exception Gone < NotFound {\n}\n"
)
EXCEPTIONS = (_ONE, _OTHER)
"""The exceptions of a document, the same names with one base or another."""
THROWN = ("NotFound", "KeyNotFound", "Deep", "DiskFullError", "Gone")
THROWS = ("NotFound, DiskFullError", "DiskFullError, KeyNotFound, NotFound", "NotFound", "KeyNotFound, DiskFullError")
MOST_WRONG = 4
"""How many wrong values of one field are tried, one after the other."""
INTERFACE, SECOND = 7, 5
"""The versions of the interfaces that are used at times; hardly those of a service."""


def shapes_for(config: Config, dice: Dice) -> Shapes:
    """The messages of a document, of what the implementation takes."""
    base = LAYOUTS.get(config.layout, 1)
    extensions = config.extensions
    return Shapes(dice, base=base, defaults="def" in extensions, nullable=NULLABLE in config.taken,
                  aliases="td" in extensions, small=bool(config.size), literals=LITERALS in config.taken)  # fmt: skip


def thrown(name: str) -> dict[str, Any]:
    """The behaviour that throws an exception."""
    return {"do": "throw", "exception": name, "fields": {"message": "it is gone"} if name == "NotFound" else {}}


class World:
    """What one plan serves, drawn from a few numbers: two services in some versions, an application of up to three
    scopes, and a behaviour for each slot. `more` are further functions of every service, `declared` messages."""

    more = ""
    declared = ""

    def __init__(self, config: Config, *numbers: int) -> None:
        self.config = config
        self.dice = dice = Dice(*numbers)
        self.versions: dict[str, dict[int, list[str]]] = {}
        self.behaviours: dict[str, Any] = {}
        self.scopes: dict[str, tuple[str, int]] = {}
        self.interfaces = dice.pick((0, 0, 1, 2)) if "if" in config.extensions else 0
        for name in ("StorageService", "StatusService")[: 1 + dice.roll(2)]:
            self.versions[name] = self._history()
        self.shapes = shapes_for(config, dice)
        self.made = self.shapes.told(tuple(self.shapes.message(dice)), Kind("M"))
        self.anonymous = "nosc" in config.extensions and dice.roll(5) == 4
        self._application()
        self.exceptions = EXCEPTIONS[dice.roll(3) // 2]

    def _history(self) -> dict[int, list[str]]:
        """Functions by version; a function that goes does not come back."""
        dice = self.dice
        number = dice.pick((0, 0, 1, 3, 8, 9))
        gone: set[str] = set()
        found: dict[int, list[str]] = {}
        now = list(NAMES[: 1 + dice.roll(4)])
        for _ in range(1 + dice.roll(4)):
            found[number] = [name for name in now if name not in gone]
            number += dice.pick((1, 1, 2, 9))
            if dice.roll(2) and len(found[max(found)]) > 1:
                gone.add(dice.pick(found[max(found)]))
            more = [name for name in NAMES if name not in now]
            if more and dice.roll(2):
                now.append(more[0])
        return found

    def _application(self) -> None:
        dice, config = self.dice, self.config
        if self.anonymous:
            name = next(iter(self.versions))
            self.application = name
            self.scopes[""] = (name, max(self.versions[name]))
        else:
            self.application = "MyApp"
            names = list(self.versions)
            for n in range(1 + dice.roll(3)):
                service = names[n % len(names)]
                newest = sorted(self.versions[service])
                version = newest[-1] if dice.roll(3) != 2 else newest[dice.roll(len(newest))]
                if VERSIONS not in config.taken:
                    version = next((v for s, v in self.scopes.values() if s == service), version)
                self.scopes[SCOPES[(n + dice.roll(2)) % 5] if n == 0 else SCOPES[n + 1]] = (service, version)
        self.default = dice.roll(len(self.scopes))
        for scope, (service, _) in self.scopes.items():
            for version, functions in self.versions[service].items():
                for function in functions:
                    self.behaviours[f"{scope}/{version}/{function}"] = self.behaviour()
                self.behaviours[f"{scope}/{version}/say"] = {"do": "tag"}
                self.behaviours[f"{scope}/{version}/done"] = {"do": "const", "value": None}
                self.behaviours[f"{scope}/{version}/make"] = self.making(service, version)
                if self.config.echo_form >= 0:
                    self.behaviours[f"{scope}/{version}/echo"] = self.echoing(0)
                    self.behaviours[f"{scope}/{version}/pick"] = self.echoing(dice.roll(3))

    def making(self, service: str, version: int) -> dict[str, Any]:
        """The behaviour that answers with a message; now and then the next older version has it, also where it comes
        from an interface."""
        versions = self.versions[service]
        older = version != min(versions) and (version + len(versions[version])) % 3 == 2
        return {"do": "default"} if older else {"do": "const", "value": self.made}

    def echoing(self, n: int) -> dict[str, Any]:
        """The behaviour that gives back an argument, by its place among those of a function."""
        at = self.config.echo_form + n
        return {"do": "echo", "n": at, "arg": at}

    def behaviour(self) -> dict[str, Any]:
        """Of a function without arguments that answers with a text."""
        choice = self.dice.roll(13)
        if choice >= 9:
            return {"do": "default"}
        if choice == 8:
            return {"do": "fail"}
        if choice == 7:
            return thrown(self.dice.pick(THROWN))
        if choice == 6:
            return {"do": "const", "value": self.dice.pick(("x", "", "日本"))}
        if choice == 5:
            return {"do": "sleep", "ms": 2, "then": {"do": "tag"}}
        return {"do": "tag"}

    def idl(self) -> str:
        """The document."""
        text = self.exceptions + self.shapes.idl() + self.declared
        say, order, null = ["1: int a", "2: string b"], self.dice.roll(2), ""
        pick = "1: string a, 2: string b, 3: string c"
        if ARGUMENTS in self.config.taken:
            default = ' = "d"' if "def" in self.config.extensions and self.dice.roll(2) else ""
            say = ["1: int a", f"3: optional string b{default}"]
            null = "?" if not default and self.dice.roll(2) else ""
            pick = f"1: string a, 2: string b, 3: optional string{null} c{default}"
        if order and ORDER in self.config.taken:
            say.reverse()
        if self.interfaces:
            text += f"interface Echoing: {INTERFACE} {{\n  M echo(1: M m)\n}}\n"
        if self.interfaces > 1:
            text += f"interface Making: {SECOND} {{\n  M make()\n  void done()\n}}\n"
        echo, make = "  M echo(1: M m)\n", "  void done()\n  M make()\n"
        if self.interfaces:
            echo = f"  implements Echoing: {INTERFACE}\n"
        if self.interfaces > 1:
            echo, make = echo + f"  implements Making: {SECOND}\n", ""
        for name, versions in self.versions.items():
            listed = list(versions.items())
            for version, functions in self.dice.shuffled(listed) if self.dice.roll(2) else listed:
                text += f"service {name}: {version} {{\n"
                text += f"{echo}  string say({', '.join(say)})\n  string{null} pick({pick})\n{make}{self.more}"
                thrown = self.dice.pick(THROWS)
                text += "".join(f"  string {each}() throws {thrown}\n" for each in functions) + "}\n"
        if self.anonymous:
            return text
        text += "application MyApp {\n"
        for n, (scope, (service, version)) in enumerate(self.scopes.items()):
            text += f"  {service}: {version} {scope}{' default' if n == self.default else ''}\n"
        return text + "}\n"


class Caller:
    """Collects steps."""

    def __init__(self, world: World, *, hurry: bool) -> None:
        self.world = world
        self.when = "now" if hurry else "turn"
        behaviours = {key: each for key, each in world.behaviours.items() if each["do"] != "default" or len(key) % 2}
        given = {"idl": world.idl(), "application": world.application, "behaviour": behaviours}
        self.steps: list[Step] = [Control(0, "serve", given)]
        self._ids = 0

    def call(self, method: str, *params: Any, style: int = 0, when: str = "") -> None:
        """A request. The first one waits until it is served."""
        self._ids += 1
        when = when or (self.when if self._ids > 1 else "turn")
        frame = request(self._ids, method, *self._placed(params))
        if style:
            frame = replace(frame, wide=("int",))
        self.steps.append(Say(0, frame, (), when, style or None))

    def form(self, function: str, scope: str, version: int) -> str:
        """The name of a function of a version in a scope."""
        return f"{function}:{version}" if self.world.anonymous else f"{function}:{scope}:{version}"

    def reach(self, function: str, scope: str, version: int, *, turned: bool = False, when: str = "") -> None:
        """Call a function without arguments: without a scope in both forms, either of which may be known."""
        if not self.world.anonymous:
            self.call(self.form(function, scope, version), when=when)
            return
        forms = (f"{function}::{version}", f"{function}:{version}")
        for form in forms if turned else forms[::-1]:
            self.call(form, when=when)

    def _placed(self, params: Sequence[Any]) -> tuple[Any, ...]:
        """Arguments where the layout of messages has them."""
        gap = (None,) if params and LAYOUTS.get(self.world.config.layout, 1) == 0 else ()
        return (*gap, *params)

    def slot(self, *numbers: int) -> tuple[str, int, str]:
        """Scope, version and function of some slot."""
        scope = list(self.world.scopes)[numbers[0] % len(self.world.scopes)]
        versions = self.world.versions[self.world.scopes[scope][0]]
        version = list(versions)[numbers[1] % len(versions)]
        functions = versions[version]
        return scope, version, functions[numbers[2] % len(functions)]


def _call(c: Caller, op: Op) -> None:
    scope, version, function = c.slot(*op.args)
    c.reach(function, scope, version, turned=bool(op.args[3] % 2))


def _sweep(c: Caller, op: Op) -> None:
    """Functions of a scope in one version after the other, listed there or not, also in versions that are none."""
    scope, *_ = c.slot(*op.args)
    versions = c.world.versions[c.world.scopes[scope][0]]
    names = sorted({name for listed in versions.values() for name in listed})
    numbers = [*versions, max(versions) + 1, *([min(versions) - 1] if min(versions) else [])]
    pairs = [(name, number) for name in names for number in numbers]
    for n in range(1 + op.args[4] % 12):
        name, number = pairs[(op.args[3] + n) % len(pairs)]
        c.reach(name, scope, number)


def _near(c: Caller, op: Op) -> None:
    """What is nearly there."""
    scope, version, function = c.slot(*op.args)
    which = op.args[3] % 8
    if which in (1, 4) and c.world.interfaces and c.world.config.layout:  # the version of an interface names nothing
        if op.args[4] % 2 and c.world.interfaces > 1:
            c.call(c.form("make", scope, SECOND))
        else:
            c.call(c.form("echo", scope, INTERFACE), tuple(c.world.shapes.message(Dice(*op.args), inside=True)))
        return
    if which == 0:
        version += 1
    elif which == 1:
        version = max(0, version - 1)
    elif which == 2:  # what another version has, if there is something
        versions = c.world.versions[c.world.scopes[scope][0]]
        others = sorted({name for names in versions.values() for name in names} - set(versions[version]))
        function = (others or NAMES)[op.args[4] % len(others or NAMES)]
    elif which == 3:
        scope = SCOPES[op.args[4] % len(SCOPES)]
    elif which == 4:
        function += "x"
    elif which == 5:
        function, scope = scope or "x", function
    elif which == 6:
        version += (10, 100, 1 << 31, 1 << 32)[op.args[4] % 4]
    else:
        function = function[:-1] or "zz"
    c.call(f"{function}:{scope}:{version}")


def _short(c: Caller, op: Op) -> None:
    """A name without its scope, without its version, or without both."""
    scope, version, function = c.slot(*op.args)
    c.call((function, f"{function}:{scope}" if scope else function, f"{function}:{version}")[op.args[3] % 3])


def _assign(c: Caller, op: Op) -> None:
    """A slot gets another behaviour while the server runs, and is called in this version and the newer ones; at times
    before that as well."""
    scope, version, function = c.slot(*op.args)
    if op.args[4] % 2:
        c.call(c.form(function, scope, version))
    behaviour = ({"do": "tag"}, {"do": "default"}, {"do": "const", "value": f"late{op.args[4]}"})[op.args[3] % 3]
    c.steps.append(Control(0, "assign", {"slot": f"{scope}/{version}/{function}", "behaviour": behaviour}))
    for other, functions in c.world.versions[c.world.scopes[scope][0]].items():
        if function in functions and other >= version - 1:
            c._ids += 1
            c.steps.append(Say(0, request(c._ids, c.form(function, scope, other))))


def _note(c: Caller, op: Op) -> None:
    """Notifications, whatever becomes of the function, and a call behind them."""
    scope, version, function = c.slot(*op.args)
    if op.args[3] % 4 == 3:
        function = "nothing"
    for _ in range(1 + op.args[4] % 3):
        c.steps.append(Say(0, notification(c.form(function, scope, version)), (), c.when))
    _call(c, op)


def _throw(c: Caller, op: Op) -> None:
    """One exception, or that and the next ones."""
    scope, version, function = c.slot(*op.args)
    for n in range(1 + op.args[4] % 3):
        behaviour = thrown(THROWN[(op.args[3] + n) % len(THROWN)])
        c.steps.append(Control(0, "assign", {"slot": f"{scope}/{version}/{function}", "behaviour": behaviour}))
        c._ids += 1
        c.steps.append(Say(0, request(c._ids, f"{function}:{scope}:{version}")))


def _meta(c: Caller, op: Op) -> None:
    """The version of one scope, or of all of them."""
    scopes = [*c.world.scopes, "nothing"]
    for n in range(len(scopes) if op.args[1] % 2 else 1):
        c.call("getVersion:_:0", scopes[(op.args[0] + n) % len(scopes)])


def _slow(c: Caller, op: Op) -> None:
    """A function that takes its time before it does something, and at once behind it others, or the same again."""
    scope, version, function = c.slot(*op.args)
    *_, which, b = op.args
    then = (thrown(THROWN[b % len(THROWN)]), {"do": "tag"}, thrown("Deep"), {"do": "const", "value": f"late{b}"})
    behaviour = {"do": "sleep", "ms": (3, 15, 30)[b % 3], "then": then[which % len(then)]}
    c.steps.append(Control(0, "assign", {"slot": f"{scope}/{version}/{function}", "behaviour": behaviour}))
    c.reach(function, scope, version, when="turn")
    for n in range(1 + b % 2):
        other, number, name = c.slot(op.args[0] + n, op.args[1] + b, op.args[2] + 1)
        c.reach(name, other, number, when="now")
    if which % 8 > 3:
        c.reach(function, scope, version, when="now")


_SELECTORS = (
    "", ":", "::", "f:", ":s", ":s:0", "f:s:", "f:s:-1", "f:s:a", "f:a:b:c", "getVersion:_:1",
    "nothing:_:0", "f:s:99999999999999999999", "f: s:0", "f:s :0", "constructor:s:0", "__init__:s:0", "x" * 60_000,
)  # fmt: skip
_SPOILT = ("{}:0", "{}:x", "{}:{}", ":{}", "{}:")
"""What is made of a name that can be called: whoever reads only a part of it calls something."""


def _selector(c: Caller, op: Op) -> None:
    if op.args[3] % 3:
        scope, version, function = c.slot(*op.args)
        form = f"{(function, 'done')[op.args[3] % 2]}:{scope}:{version}"
        c.call(_SPOILT[op.args[4] % len(_SPOILT)].format(form, form))
        return
    method = _SELECTORS[op.args[0] % len(_SELECTORS)]
    if method == "getVersion:_:1" and "meta" not in c.world.config.extensions:
        method = ":"
    c.call(method)


def _arguments(c: Caller, op: Op) -> None:
    """A function with arguments: with all of them, without what is optional, and without what is not."""
    scope, version, _ = c.slot(*op.args)
    if op.args[3] % 8 == 7:  # a function without arguments and without a result
        c.call(c.form("done", scope, version))
        return
    if op.args[4] % 2 and c.world.config.layout and c.world.config.echo_form >= 0:  # one of three comes back
        given = (("x", "y", "z"), ("x", "y"), ("", "y", ""), ("x", "y", "z", "more"), ("x", None, "z"))
        c.call(c.form("pick", scope, version), *given[op.args[3] % 5])
        return
    forms: Sequence[tuple[Any, ...]] = ((5,), (5, 7, "b"), (), (None,), (1 << 40,), (5, None, "b", "more"), (5, 7))
    if ARGUMENTS not in c.world.config.taken:
        forms = ((5, "b"), (5,), (), (None, "b"), (1 << 40, "b"), (5, "b", "more"))
    given = forms[op.args[3] % len(forms)]
    if c.world.config.layout:
        c.call(c.form("say", scope, version), *given)
    else:
        _call(c, op)


# -- messages ----------------------------------------------------------------------------------------------------------


def _echo(c: Caller, op: Op) -> None:
    """A message there and back, perhaps without what may be missing, with more than is known, or in wide forms; or one
    that the server makes."""
    if c.world.config.layout and op.args[3] % 6 == 5:
        scope, version, _ = c.slot(*op.args)
        c.call(c.form("make", scope, version))
        return
    if not c.world.config.layout or c.world.config.echo_form < 0:
        _call(c, op)
        return
    scope, version, _ = c.slot(*op.args)
    a, b = op.args[3:]
    dice = Dice(a, b, op.args[2])
    shapes = c.world.shapes
    out = shapes.message(dice)
    how = a % 6
    if how == 1 or (how == 0 and b % 3):
        out = shapes.cut(out, dice)
    elif how == 2:
        out = shapes.longer(out, dice)
    elif how == 3:
        out = shapes.filled(out, dice)
    c.call(c.form("echo", scope, version), tuple(out), style=WIDEST if how == 4 else 0)


def _left_out(c: Caller, op: Op) -> None:
    """A message there and back without the last of its elements, without the last two and so on, as far as they may be
    missing; each time another default tells itself."""
    shapes = c.world.shapes
    optional = [each for each in shapes.fields if each.mod == "optional"]
    if not c.world.config.layout or c.world.config.echo_form < 0 or not optional:
        _call(c, op)
        return
    scope, version, _ = c.slot(*op.args)
    out = shapes.message(Dice(*op.args[2:]))
    must = max((each.number - shapes.base + 1 for each in shapes.fields if each.mod != "optional"), default=0)
    for end in range(must, len(out))[: 3 + op.args[3] % 6]:
        c.call(c.form("echo", scope, version), tuple(out[:end]))


def _bad_value(c: Caller, op: Op) -> None:
    """A message without what is required, with nil, or with a number that is too large."""
    shapes = c.world.shapes
    if not c.world.config.layout or c.world.config.echo_form < 0 or not shapes.fields:
        _near(c, op)
        return
    scope, version, _ = c.slot(*op.args)
    a, b = op.args[3:]
    dice = Dice(a, b, op.args[2])
    out = shapes.message(dice)
    how = a % 4
    fit = [each for each in shapes.fields if how != 2 or a % 8 < 4 or each.kind.name in INTEGERS] or shapes.fields
    member = fit[b % len(fit)]
    at = member.number - shapes.base
    if how == 0:
        out = out[:at]
    elif how == 1:
        out[at] = shapes.changed(out[at], member.kind, dice, lambda kind: None)
    elif how == 2 and b % 2:  # each of them
        for each in shapes.fields:
            for wrong in islice(shapes.beyond(each.kind, dice), MOST_WRONG):
                place = each.number - shapes.base
                c.call(c.form("echo", scope, version), (*out[:place], wrong, *out[place + 1 :]))
    elif how == 2:
        out[at] = shapes.changed(out[at], member.kind, dice, too_large(dice))
    else:
        out = shapes.shortened(out, dice) if b % 2 else []
    c.call(c.form("echo", scope, version), tuple(out))


_OPS: Mapping[str, Callable[[Caller, Op], None]] = {
    "call": _call, "near": _near, "sweep": _sweep, "short": _short, "echo": _echo, "bad value": _bad_value,
    "assign": _assign, "note": _note, "throw": _throw, "meta": _meta, "selector": _selector, "arguments": _arguments,
    "left out": _left_out, "slow": _slow,
}  # fmt: skip


def calls(*kinds: str, most: int = 14) -> SearchStrategy[Program]:
    """Calls of some kinds, of all when none is named."""
    return programs({kind: CALLS[kind] for kind in kinds} if kinds else CALLS, head=3, most=most)


def interpret(
    program: Program, config: Config, *, hurry: bool = False, more: Mapping[str, Callable[[Caller, Op], None]] = _OPS
) -> Plan:
    """The plan that a program means. `more`: ops that are not among those of this module."""
    caller = Caller(World(config, *program.head), hurry=hurry)
    for op in program.ops:
        if op.kind == "meta" and ("meta" not in config.extensions or LAYOUTS.get(config.layout) == 0):
            _call(caller, op)  # where its argument stands is not said when arrays begin with the id 0; ML-14
        else:
            (more if op.kind in more else _OPS)[op.kind](caller, op)
    caller.steps.append(Control(0, "stop", {}))
    return Plan(tuple(caller.steps))
