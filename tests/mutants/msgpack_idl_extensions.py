"""Processors of the interface language that are wrong about its extensions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from impls.references.msgpack.idl import Idl
from impls.references.msgpack.idl_checker import RANGES, Checker
from impls.references.msgpack.idl_parser import CONTAINERS, Kind, Method, Parser, Part
from tests.mutants.faults import on, without
from tests.mutants.msgpack_idl_parts import (
    BASE,
    PLAIN,
    SERVED,
    application,
    exception,
    lax,
    message,
    mutant,
    service,
)

lax(
    "any-default", "default", "DEF-02", message('1: optional int x = "a"'), "Defaults may be anything.", accept="DEF-03"
)
mutant("container-defaults", "DEF-03", message("1: optional list<int> x = 1"))(
    "A container may have a default.",
    on(Checker, "value").skips(when=lambda self, member: self.real(member.kind).name in CONTAINERS),
)
mutant("default-widths", "DEF-02", message("1: optional byte x = 128"))(
    "Every integer fits into every integer type.",
    on(Checker, "value").skips(
        when=lambda self, member, what, value: what == "int" and self.real(member.kind).name in RANGES and value >= 0
    ),
)
mutant("unsigned-minus", "DEF-02", message("1: optional uint x = -1"))(
    "A negative default fits into an unsigned type.",
    on(Checker, "value").skips(when=lambda what, value: what == "int" and value < 0),
)
mutant("default-trimmed", "DEF-01", message('1: optional string x = " x "'))(
    "Blanks at the ends of a text are lost.",
    on(Idl, "literal").gives(lambda found: found.strip() if isinstance(found, str) else found),
)
mutant("default-lost", "DEF-01", message("1: optional int x = 0"))(
    "A default that is zero, false or empty is lost.",
    on(Idl, "member").gives(lambda found: without(found, "default") if not found.get("default", True) else found),
)
mutant("default-sign", "DEF-01", message("1: optional int x = -5"))(
    "A default loses its sign.",
    on(Idl, "literal").takes(value=lambda what, value: abs(value) if what in ("int", "float") else value),
)


@mutant("alias-shown", "TD-01", "typedef int T\n" + message("1: T x"), accept="TYPE-04 SVC-06")
class AliasShown(Idl):
    """An alias is shown as a type of its own."""

    def kind(self, kind: Kind, checker: Checker, depth: int = 0) -> dict[str, Any]:
        part = checker.types.get(kind.name)
        if part is not None and part.what == "typedef":
            return {"t": "ref", "name": kind.name} | ({"null": True} if kind.nullable else {})
        return super().kind(kind, checker, depth)


@mutant("alias-nullable", "FIELD-04", "typedef int? T\n" + message("1: T x"), accept="TD-01 SVC-06 TYPE-04")
class AliasNullable(Idl):
    """That an alias is nullable is forgotten where it is used."""

    def kind(self, kind: Kind, checker: Checker, depth: int = 0) -> dict[str, Any]:
        made = super().kind(kind, checker, depth)
        part = checker.types.get(kind.name)
        if part is not None and part.kind is not None and not kind.nullable:
            made.pop("null", None)
        return made


lax("alias-circles", "circle", "TD-02", "typedef T T\n", "Aliases may be circular.")
lax("typespec-targets", "target", "TS-01", "typespec cpp X a::b\n", "Targets of typespecs need not exist.")
lax("any-interface", "interface", "IF-01", service("implements I:1"), "Interfaces need not exist.")
lax("clashes", "clash", "IF-04", service("implements I:1", "int f()", before="interface I: 1 {\n  int f()\n}\n"),
    "Functions of interfaces may be declared again.", level="SHOULD")  # fmt: skip
mutant("typespec-fields", "TS-01", PLAIN + "typespec cpp M.y a::b\n")(
    "The field that a typespec names need not exist.",
    on(Checker, "c_typespec").before(lambda part: setattr(part, "target", "")),
)


@mutant("typespec-fields-of-all", "TS-01", PLAIN + message("1: int y", name="N") + "typespec cpp M.y a::b\n")
class TypespecFieldsOfAll(Checker):
    """The field that a typespec names may be one of any message."""

    def c_typespec(self, part: Part) -> None:
        if any(member.word.text == part.target for known in self.types.values() for member in known.members):
            part = replace(part, target="")
        super().c_typespec(part)


@mutant("foreign-cut", "TS-01", PLAIN + "typespec cpp M a::b<c,d>\n")
class ForeignCut(Idl):
    """A foreign type ends at its first bracket."""

    def tree(self, part: Part, checker: Checker) -> dict[str, Any]:
        made = super().tree(part, checker)
        return made | {"foreign": made["foreign"].partition("<")[0]} if part.what == "typespec" else made


@mutant("own-first", "IF-02", service("implements I:1", "int g()", before="interface I: 1 {\n  int f()\n}\n"))
class OwnFirst(Idl):
    """The functions of a service come before those of its interfaces."""

    def tree(self, part: Part, checker: Checker) -> dict[str, Any]:
        made = super().tree(part, checker)
        if part.what == "service" and part.uses:
            own = len(part.methods)
            functions = made["functions"]
            made["functions"] = functions[len(functions) - own :] + functions[: len(functions) - own]
        return made


@mutant("first-interface", "IF-02", "interface I: 1 {\n  int f()\n}\ninterface J: 1 {\n  int h()\n}\n"
        + service("implements I:1", "implements J:1"))  # fmt: skip
class FirstInterface(Idl):
    """Only the first interface is written out."""

    def tree(self, part: Part, checker: Checker) -> dict[str, Any]:
        uses, part.uses = part.uses, part.uses[:1]
        made = super().tree(part, checker)
        part.uses = uses
        return made


mutant("user-meta", "INV-31", application("S:0 a default", "S:0 _"), level="ASSUMED", accept="APP-01")(
    "The scope `_` may be declared.",
    on(Parser, "scope").instead(lambda self: self.take(), when=lambda self: self.word.text == "_"),
)


@mutant("interfaces-inherit", "INV-30",
        "interface I: 1 {\n  int f()\n}\ninterface J: 1 {\n  implements I: 1\n  int g()\n}\n")  # fmt: skip
class InterfacesInherit(Parser):
    """An interface may implement another."""

    def functions(self, what: str) -> Part:
        part = super().functions("service")
        part.what = what
        return part


mutant("scope-default", "INV-26", application("S:0 default default"), level="SHOULD", accept="APP-01")(
    "A scope may be called default.",
    on(Parser, "scope").instead(
        lambda self: self.take(),
        when=lambda self: self.word.text == "default" and self.words[self.at + 1].text == "default",
    ),
)


@mutant("argument-modifiers", "SVC-10", service("int f(1: optional int a)"), level="ASSUMED")
class ArgumentModifiers(Idl):
    """The modifier of an argument is forgotten."""

    def method(self, method: Method, checker: Checker) -> dict[str, Any]:
        made = super().method(method, checker)
        for each in made["args"]:
            each["mod"] = "required"
        return made


mutant("version-lost", "SVC-01", service("int f()", head="S: 2"), accept="SVC-02 SVC-08")(
    "Every version is shown as 0.",
    on(Idl, "tree").gives(lambda part, found: found | {"version": 0} if part.what == "service" else found),
)


@mutant("listed-again", "SVC-08", SERVED + service("int f()", head="S: 1"), accept="SVC-02 SVC-05")
class ListedAgain(Checker):
    """A function belongs to one version of a service."""

    def c_service(self, part: Part) -> None:
        super().c_service(part)
        for (name, version), other in self.services.items():
            if name == part.word.text and version != part.version and ("service", name, version) in self.met:
                for method in part.methods:
                    if method.word.text in {each.word.text for each in other.methods}:
                        self.complain("dup-function", "another version has it", method.word)


mutant("base-lost", "EXC-01", BASE + exception("B < A"))(
    "The base of an exception is not shown.",
    on(Idl, "tree").gives(lambda part, found: {**found, "base": None} if part.what == "exception" else found),
)


@mutant("interface-throws", "SVC-09", PLAIN + service("void f() throws M", head="I: 0").replace("service", "interface")
        + service("implements I: 0"))  # fmt: skip
class InterfaceThrows(Checker):
    """Nobody looks at what the functions of an interface throw."""

    def c_interface(self, part: Part) -> None:
        known = len(self.wrong)
        super().c_interface(part)
        self.wrong[known:] = [each for each in self.wrong[known:] if each.code != "throws"]
