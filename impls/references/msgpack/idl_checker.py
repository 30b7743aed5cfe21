"""What the reference processor finds wrong in a document that is well-formed. Source: 004_4ca5b084f7ea0751.txt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from impls.references.msgpack.idl_parser import CONTAINERS, PLAIN, Kind, Member, Method, Part
from impls.references.msgpack.idl_words import Word, Wrong

BITS = {"byte": 8, "short": 16, "int": 32, "long": 64}
RANGES = {name: (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for name, bits in BITS.items()} | {
    f"u{name}": (0, 2**bits - 1) for name, bits in BITS.items()
}


class Checker:
    """Looks at one definition after the other. `wrong` collects what it finds; `choices` as for the parser."""

    def __init__(self, parts: Sequence[Part], choices: Any) -> None:
        self.parts, self.choices = parts, choices
        self.wrong: list[Wrong] = []
        self.types: dict[str, Part] = {}
        self.seen: set[str] = set()
        self.services: dict[tuple[str, int], Part] = {}
        self.interfaces: dict[tuple[str, int], Part] = {}
        self.met: set[tuple[str, str, int]] = set()

    def complain(self, code: str, message: str, word: Word) -> None:
        self.wrong.append(Wrong(code, message, word))

    def run(self) -> list[Wrong]:
        """Everything that is wrong, in the order of the document."""
        for part in self.parts:
            self.collect(part)
        self.circles()
        for part in self.parts:
            getattr(self, f"c_{part.what}")(part)
        if self.choices.recommended:
            self.endless()
        return sorted(self.wrong, key=lambda wrong: wrong.word.offset)

    def collect(self, part: Part) -> None:
        """Learn names."""
        name = part.word.text
        if part.what in ("message", "exception", "typedef"):
            if name in PLAIN or name in CONTAINERS or name == "void":
                self.complain("built-in", f"{name} is a type of the language", part.word)
            elif name in self.types:
                self.complain("dup-name", f"{name} is declared already", part.word)
            self.types.setdefault(name, part)
        elif part.what in ("service", "interface"):
            known = self.services if part.what == "service" else self.interfaces
            if (name, part.version) in known:
                self.complain("dup-version", f"{name}:{part.version} is declared already", part.word)
            known.setdefault((name, part.version), part)
            if name == "BuiltInService" and self.choices.recommended:
                self.complain("built-in", "this service is there already", part.word)

    # Types

    def later(self, name: str, word: Word, code: str = "unknown") -> None:
        """A name that is used before it is declared."""
        if name not in self.seen and self.choices.forward_refs == "refuse":
            self.complain(code, f"{name} is not declared before", word)

    def kind(self, kind: Kind, *, result: bool = False) -> None:
        """Is this a type, in this place?"""
        todo = [(kind, result)]
        while todo:
            one, whole = todo.pop()
            for n, arg in enumerate(one.args):
                todo.append((arg, False))
                self.argument(one, n, arg)
            if one.name == "void":
                if not whole or one.nullable:
                    self.complain("void", "void is no type of a value", one.word)
            elif one.name not in PLAIN and one.name not in CONTAINERS:
                found = self.types.get(one.name)
                if found is None:
                    self.complain("unknown-type", f"{one.name} is no type", one.word)
                elif found.what == "exception" and self.choices.exception_types == "refuse":
                    self.complain("exception-type", f"{one.name} is an exception", one.word)
                else:
                    self.later(one.name, one.word, "unknown-type")

    def argument(self, around: Kind, n: int, arg: Kind) -> None:
        real = self.real(arg)
        if (arg.nullable or real.nullable) and self.choices.nullable_arguments == "refuse":
            self.complain("nullable", "a type argument is never nullable", arg.word)
        plain = real.name in RANGES or real.name in ("string", "raw")
        if around.name == "map" and n == 0 and not plain and self.choices.keys == "plain":
            self.complain("key", f"{real.name} is no type of a key", arg.word)

    def real(self, kind: Kind) -> Kind:
        """The type behind an alias, and behind that one; nullable if any of them is."""
        nullable, steps = kind.nullable, 0
        while (part := self.types.get(kind.name)) and part.kind is not None and steps <= len(self.types):
            kind, steps = part.kind, steps + 1
            nullable = nullable or kind.nullable
        return Kind(kind.word, kind.args, nullable)

    def circles(self) -> None:
        """Aliases that lead back to themselves."""
        aliases = {name: part for name, part in self.types.items() if part.what == "typedef"}
        for name, part in aliases.items():
            reached, todo = set[str](), [name]
            while todo:
                for other in names_in(aliases[todo.pop()].kind):
                    if other in aliases and other not in reached:
                        reached.add(other)
                        todo.append(other)
            if name in reached:
                self.complain("circle", f"{name} stands for itself", part.word)
                part.kind = None
                part.what = "circle"

    def c_circle(self, part: Part) -> None:
        """Nothing more to say."""

    def endless(self) -> None:
        """Messages that can never be complete."""
        needs = {
            name: [m.kind.name for m in part.members if m.mod != "optional" and not self.real(m.kind).nullable]
            for name, part in self.types.items()
            if part.what in ("message", "exception")
        }
        needs = {name: [self.real(Kind(part_word(self.types, n))).name if n in self.types else n for n in of]
                 for name, of in needs.items()}  # fmt: skip
        for name in needs:
            reached, todo = set[str](), [name]
            while todo:
                for other in needs.get(todo.pop(), ()):
                    if other in needs and other not in reached:
                        reached.add(other)
                        todo.append(other)
            if name in reached:
                self.complain("endless", f"{name} contains itself", self.types[name].word)

    # Members

    def members(self, members: Sequence[Member], *, argument: bool = False) -> None:
        numbers: set[int] = set()
        names: set[str] = set()
        for member in members:
            if member.number in numbers:
                self.complain("dup-id", f"the id {member.number} is used twice", member.at)
            if member.word.text in names:
                self.complain("dup-name", f"the name {member.word.text} is used twice", member.word)
            numbers.add(member.number)
            names.add(member.word.text)
            if member.number == 0 and self.choices.id_zero == "refuse":
                self.complain("id-zero", "ids begin with 1", member.at)
            if member.number >= 1 << 15 and self.choices.long_ids == "refuse":
                self.complain("id-long", "ids end with 32767", member.at)
            if (
                argument
                and (member.mod or self.real(member.kind).nullable)
                and self.choices.argument_modifiers == "refuse"
            ):
                self.complain("modifier", "an argument has no modifier", member.word)
            self.kind(member.kind)
            if member.value is not None:
                self.value(member, *member.value)
        if argument and numbers != set(range(1, len(numbers) + 1)) and self.choices.argument_modifiers == "refuse":
            self.complain("gap", "arguments are numbered from 1", members[0].at if members else self.parts[0].word)

    def value(self, member: Member, what: str, value: Any) -> None:
        """A literal must match its type."""
        kind = self.real(member.kind)
        fits = {"bool": ("bool",), "string": ("text",), "raw": ("text",), "float": ("float", "int"),
                "double": ("float", "int")}.get(kind.name, ())  # fmt: skip
        if kind.name in CONTAINERS:
            self.complain("default", "a container has no default", member.word)
        elif what == "null":
            if not kind.nullable:
                self.complain("default", f"{member.word.text} is not nullable", member.word)
        elif kind.name in RANGES:
            low, high = RANGES[kind.name]
            if what != "int" or not low <= value <= high:
                self.complain("default", f"this is no {kind.name}", member.word)
        elif what not in fits:
            self.complain("default", f"this is no {kind.name}", member.word)

    # Definitions

    def c_message(self, part: Part) -> None:
        if self.choices.self_reference == "accept":
            self.seen.add(part.word.text)
        self.members(part.members)
        self.seen.add(part.word.text)

    def c_exception(self, part: Part) -> None:
        self.c_message(part)
        chain: list[Part] = []
        at = part
        while at.base is not None:
            found = self.types.get(at.base.text)
            if found is None or found.what != "exception":
                if at is part:
                    self.complain("base", f"{at.base.text} is no exception", at.base)
                return
            if found is part:
                self.complain("base-circle", f"{part.word.text} is a base of itself", part.base or part.word)
                return
            if found in chain:
                return
            chain.append(found)
            at = found
        if part.base is not None:
            self.later(part.base.text, part.base, "base")
        taken = [member.number for each in chain for member in each.members]
        names = {member.word.text for each in chain for member in each.members}
        for member in part.members:
            if taken and member.number <= max(taken):
                self.complain("base-id", f"the ids up to {max(taken)} belong to the base", member.at)
            if member.word.text in names and self.choices.recommended:
                self.complain("base-name", f"{member.word.text} belongs to the base", member.word)

    def c_typedef(self, part: Part) -> None:
        assert part.kind is not None
        self.kind(part.kind)
        self.seen.add(part.word.text)

    def c_typespec(self, part: Part) -> None:
        name = part.word.text
        found = self.types.get(name)
        if name in PLAIN and not part.target and self.choices.keys == "any":
            return
        if found is None:
            self.complain("target", f"{name} is no type", part.word)
        elif part.target and not any(member.word.text == part.target for member in found.members):
            self.complain("target", f"{name} has no field {part.target}", part.word)
        else:
            self.later(name, part.word, "target")

    def c_interface(self, part: Part) -> None:
        self.methods(part, ())
        self.met.add(("interface", part.word.text, part.version))

    def c_service(self, part: Part) -> None:
        taken: list[str] = []
        for word, version in part.uses:
            found = self.interfaces.get((word.text, version))
            if found is None:
                self.complain("interface", f"{word.text}:{version} is no interface", word)
                continue
            if ("interface", word.text, version) not in self.met and self.choices.forward_refs == "refuse":
                self.complain("interface", f"{word.text}:{version} is not declared before", word)
            for method in found.methods:
                if method.word.text in taken and self.choices.recommended:
                    self.complain("clash", f"{method.word.text} comes from two interfaces", word)
                taken.append(method.word.text)
        self.methods(part, taken)
        if self.choices.changed == "refuse" and not self.wrong:
            self.changes(part)
        self.met.add(("service", part.word.text, part.version))

    def changes(self, part: Part) -> None:
        """Functions that are another's in some version of the service."""
        for (name, _), other in self.services.items():
            known = {method.word.text: self.sent(method) for method in other.methods if name == part.word.text}
            for method in part.methods:
                if known.get(method.word.text, self.sent(method)) != self.sent(method):
                    self.complain("changed", f"{method.word.text} is another in version {other.version}", method.word)

    def sent(self, method: Method) -> list[Any]:
        """The result and the arguments of a function, to be compared."""
        args = [(each.number, each.word.text, each.mod, self.spelt(each.kind), each.value) for each in method.members]
        return [self.spelt(method.result), *args]

    def spelt(self, kind: Kind) -> tuple[Any, ...]:
        """A type without its place."""
        kind = self.real(kind)
        return kind.name, kind.nullable, [self.spelt(part) for part in kind.args]

    def methods(self, part: Part, taken: Iterable[str]) -> None:
        names, inherited = set[str](), set(taken)
        for method in part.methods:
            name = method.word.text
            if name in names:
                self.complain("dup-function", f"{name} is declared already", method.word)
            elif name in inherited and self.choices.recommended:
                self.complain("clash", f"{name} is a function of an interface", method.word)
            names.add(name)
            self.method(method)

    def method(self, method: Method) -> None:
        self.kind(method.result, result=True)
        self.members(method.members, argument=True)
        for word in method.throws:
            found = self.types.get(word.text)
            if found is None or found.what != "exception":
                self.complain("throws", f"{word.text} is no exception", word)
            else:
                self.later(word.text, word, "throws")

    def c_application(self, part: Part) -> None:
        scopes: set[str] = set()
        defaults = 0
        for mount in part.mounts:
            name = mount.service.text
            versions = [version for known, version in self.services if known == name]
            version = mount.version if mount.version is not None else max(versions, default=-1)
            mount.version = version
            if version not in versions:
                self.complain("service", f"{name}:{version} is no service", mount.service)
            elif ("service", name, version) not in self.met and self.choices.forward_refs == "refuse":
                self.complain("service", f"{name}:{version} is not declared before", mount.service)
            if mount.scope.text in scopes:
                self.complain("dup-scope", f"{mount.scope.text} is there already", mount.scope)
            scopes.add(mount.scope.text)
            defaults += mount.default
            if mount.default and defaults > 1:
                self.complain("two-defaults", "one scope is the default already", mount.scope)
        if not defaults and self.choices.missing_default == "reject":
            self.complain("no-default", "no scope is the default", part.word)


def part_word(types: dict[str, Part], name: str) -> Word:
    """A word that says a name."""
    word = types[name].word
    return Word(word.kind, name, word.line, word.column)


def names_in(kind: Kind | None) -> Iterable[str]:
    """All names in a type."""
    todo = [kind] if kind is not None else []
    while todo:
        one = todo.pop()
        yield one.name
        todo += one.args
