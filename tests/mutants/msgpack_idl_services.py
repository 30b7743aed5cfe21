"""Processors of the interface language that are wrong about exceptions, services and applications."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from impls.references.msgpack.idl import Idl
from impls.references.msgpack.idl_checker import Checker
from impls.references.msgpack.idl_parser import Method, Parser, Part
from impls.references.msgpack.idl_words import Word
from tests.mutants.faults import on
from tests.mutants.msgpack_idl_parts import (
    BASE,
    PLAIN,
    SERVED,
    application,
    exception,
    lax,
    mutant,
    service,
)

# -- exceptions -------------------------------------------------------------------------------------------------------

lax("any-base", "base", "EXC-02", exception("B < A", "1: int z"), "A base need not exist.")
lax("base-ids", "base-id", "EXC-03", BASE + exception("B < A", "5: int z"), "Ids of a base are free.", accept="EXC-05")


@mutant("message-base", "EXC-02", PLAIN + exception("B < M"))
class MessageBase(Checker):
    """A message is a base of an exception."""

    def complain(self, code: str, message: str, word: Word) -> None:
        found = self.types.get(word.text)
        if code != "base" or found is None or found.what != "message":
            super().complain(code, message, word)


@mutant("base-id-equal", "EXC-03", BASE + exception("B < A", "5: int z"), accept="EXC-05")
class BaseIdEqual(Checker):
    """The largest id of the base itself is free."""

    def c_exception(self, part: Part) -> None:
        known = len(self.wrong)
        super().c_exception(part)
        base = self.types.get(part.base.text) if part.base else None
        most = max((member.number for member in base.members), default=-1) if base else -1
        equal = {member.at for member in part.members if member.number == most}
        self.wrong[known:] = [w for w in self.wrong[known:] if w.code != "base-id" or w.word not in equal]


@mutant("base-id-used", "EXC-03", BASE + exception("B < A", "3: int z"), accept="EXC-05")
class BaseIdUsed(Checker):
    """Only ids that the base uses are refused."""

    def c_exception(self, part: Part) -> None:
        known = len(self.wrong)
        super().c_exception(part)
        used, at = set[int](), part
        for _ in range(50):
            found = self.types.get(at.base.text) if at.base else None
            if found is None:
                break
            at = found
            used |= {member.number for member in at.members}
        clash = {member.at for member in part.members if member.number in used}
        self.wrong[known:] = [w for w in self.wrong[known:] if w.code != "base-id" or w.word in clash]


@mutant("near-base", "EXC-05", BASE + exception("B < A") + exception("C < B", "1: int z"))
class NearBase(Checker):
    """Only the ids of the next base count."""

    def c_exception(self, part: Part) -> None:
        known = len(self.wrong)
        super().c_exception(part)
        base = self.types.get(part.base.text) if part.base else None
        if base is not None and not base.members:
            self.wrong[known:] = [w for w in self.wrong[known:] if w.code != "base-id"]


lax("base-circles", "base-circle", "EXC-04", exception("A < B") + exception("B < A"), "Bases may be circular.",
    accept="EXC-02")  # fmt: skip
lax("base-names", "base-name", "EXC-06", BASE + exception("B < A", "9: int x"), "Names of a base are used again.",
    level="SHOULD")  # fmt: skip
mutant("path-reversed", "EXC-07", BASE + exception("B < A"))(
    "The path of an exception begins with itself.", on(Idl, "path").instead(lambda names: ".".join(names[::-1]))
)
mutant("path-short", "EXC-07", BASE + exception("B < A") + exception("C < B"))(
    "The path of an exception is its base and itself alone.",
    on(Idl, "path").instead(lambda names: ".".join(names[-2:])),
)
mutant("path-long", "EXC-07", exception("A") + exception("B < A") + exception("C < B") + exception("D < C"))(
    "Of a path of four and more the second is missing.",
    on(Idl, "path").takes(names=lambda names: [names[0], *names[2:]] if len(names) > 3 else names),
)
mutant("path-colons", "EXC-07", BASE + exception("B < A"))(
    "The parts of a path are joined by colons.", on(Idl, "path").gives(lambda found: found.replace(".", "::"))
)


# -- services ---------------------------------------------------------------------------------------------------------

lax("service-twice", "dup-version", "SVC-02", SERVED + SERVED, "A version may be declared twice.")
lax("function-twice", "dup-function", "SVC-05", service("int f()", "int f()"), "Functions may repeat.")
lax("throws-anything", "throws", "SVC-09", service("int f() throws X"), "Exceptions need not be declared.",
    level="SHOULD")  # fmt: skip


@mutant("throws-messages", "SVC-09", PLAIN + service("int f() throws M"))
class ThrowsMessages(Checker):
    """Messages may be thrown."""

    def complain(self, code: str, message: str, word: Word) -> None:
        found = self.types.get(word.text)
        if code != "throws" or found is None or found.what != "message":
            super().complain(code, message, word)


mutant("throws-first", "SVC-09", BASE + exception("B") + service("int f() throws A, B"))(
    "Only the first exception that is thrown is shown.",
    on(Idl, "method").gives(lambda found: found | {"throws": found["throws"][:1]} if "throws" in found else found),
)
mutant("one-version", "SVC-02", SERVED + service("int f()", head="S: 1"), accept="SVC-08 SVC-03")(
    "A service has one version.",
    on(Checker, "collect").before(
        lambda self, part: self.complain("dup-version", "there is one already", part.word),
        when=lambda self, part: part.what == "service" and part.word.text in {name for name, _ in self.services},
    ),
)


@mutant("ordered-versions", "SVC-03", service("int f()", head="S: 1") + SERVED, accept="SVC-02 SVC-08")
class OrderedVersions(Checker):
    """Versions must be in order."""

    def collect(self, part: Part) -> None:
        if part.what == "service" and any(n == part.word.text and v > part.version for n, v in self.services):
            self.complain("order", "versions must grow", part.word)
        super().collect(part)


@mutant("name-and-version-run-together", "SVC-03", service("int f()", head="S1: 1") + service("int f()", head="S: 11"),
        accept="SVC-02 SVC-05")  # fmt: skip
class NameAndVersionRunTogether(Checker):
    """Services are kept by their name with the version behind it."""

    def c_service(self, part: Part) -> None:
        super().c_service(part)
        mine = f"{part.word.text}{part.version}"
        if any(f"{name}{version}" == mine and name != part.word.text for name, version in self.services):
            self.complain("dup-version", "it is there already", part.word)


mutant("large-versions", "SVC-03", service(head="S: 100"), accept="SVC-01 SVC-02 APP-01 SVC-08")(
    "Versions have one digit.",
    on(Checker, "collect").before(
        lambda self, part: self.complain("large", "too large", part.word), when=lambda part: part.version > 9
    ),
)


@mutant("inherited-functions", "SVC-04", SERVED + service("int g()", head="S: 1"), accept="SVC-08 SVC-02 IF-02")
class InheritedFunctions(Idl):
    """A version also has the functions of the one before."""

    def tree(self, part: Part, checker: Checker) -> dict[str, Any]:
        made = super().tree(part, checker)
        older = checker.services.get((part.word.text, part.version - 1))
        if part.what == "service" and older is not None:
            names = {each["name"] for each in made["functions"]}
            made["functions"] += [self.method(m, checker) for m in older.methods if m.word.text not in names]
        return made


@mutant("functions-of-all", "SVC-05", SERVED + service("int f()", head="T: 0"), accept="SVC-08")
class FunctionsOfAll(Checker):
    """Functions of different services must have different names."""

    def c_service(self, part: Part) -> None:
        super().c_service(part)
        for other in self.services.values():
            if other.word.text != part.word.text:
                for method in part.methods:
                    if method.word.text in {each.word.text for each in other.methods}:
                        self.complain("dup-function", "another service has it", method.word)


mutant("nullable-results", "SVC-06", service("int? f()"), accept="FIELD-04")(
    "Results are never nullable.", on(Idl, "method").after(lambda found: found["ret"].pop("null", None))
)


@mutant("argument-ids", "SVC-07", service("int f(1: int a, 1: int b)"))
class ArgumentIds(Checker):
    """Ids of arguments may repeat."""

    def members(self, members: Any, *, argument: bool = False) -> None:
        known = len(self.wrong)
        super().members(members, argument=argument)
        if argument:
            self.wrong[known:] = [each for each in self.wrong[known:] if each.code != "dup-id"]


@mutant("trailing-commas", "SVC-07", service("int f(1: int a,)"))
class TrailingCommas(Parser):
    """A comma may stand behind the last argument."""

    def need(self, text: str) -> Word:
        word = super().need(text)
        if text == "," and self.word.text == ")":
            self.words[self.at - 1 : self.at] = []
            self.at -= 1
            self.words.insert(self.at, Word("mark", "", word.line, 0))
            raise _Done
        return word

    def method(self) -> Method:
        at, words = self.at, list(self.words)
        try:
            return super().method()
        except _Done:
            self.at = at
            for n in range(at, len(words)):
                if words[n].text == "," and words[n + 1].text == ")":
                    del words[n]
                    break
            self.words = words
            return super().method()


class _Done(Exception):
    """Start again without the comma."""


mutant("no-commas", "SVC-07", service("int f(1: int a 2: int b)"))(
    "The comma between arguments may be left out.",
    on(Parser, "need").instead(
        lambda self: self.word,
        when=lambda self, text: text == "," and self.word.kind == "number" and self.words[self.at + 1].text == ":",
    ),
)


# -- applications -----------------------------------------------------------------------------------------------------


lax("any-service", "service", "APP-02", application("X:0 a default"), "The service of an entry need not exist.")
lax("scopes-twice", "dup-scope", "APP-03", application("S:0 a", "S:0 a default"), "Scopes may repeat.")
lax("two-defaults", "two-defaults", "APP-04", application("S:0 a default", "S:0 b default"), "Defaults may repeat.")


@mutant(
    "defaults-apart", "APP-04", application("S:0 a default", "S:0 b", "S:0 c default"), accept="APP-01 APP-03 APP-05"
)
class DefaultsApart(Checker):
    """A second default is seen only where it stands right behind the first one."""

    def c_application(self, part: Part) -> None:
        known = len(self.wrong)
        super().c_application(part)
        seen = {one.scope for one, other in zip(part.mounts[1:], part.mounts, strict=False) if other.default}
        self.wrong[known:] = [w for w in self.wrong[known:] if w.code != "two-defaults" or w.word in seen]


@mutant("scopes-apart", "APP-03", application("S:0 a default", "S:0 b", "S:0 a"))
class ScopesApart(Checker):
    """A scope that is there already is seen only where it stands right behind the other."""

    def c_application(self, part: Part) -> None:
        known = len(self.wrong)
        super().c_application(part)
        beside = [one.scope for one, other in pairwise(part.mounts[::-1]) if one.scope.text == other.scope.text]
        self.wrong[known:] = [each for each in self.wrong[known:] if each.code != "dup-scope" or each.word in beside]


@mutant("any-version", "APP-02", application("S:1 a default"))
class AnyVersion(Checker):
    """Any version up to the newest is taken for declared."""

    def c_application(self, part: Part) -> None:
        known = len(self.wrong)
        super().c_application(part)
        fine = {
            mount.service for mount in part.mounts for name, version in self.services
            if name == mount.service.text and mount.version is not None and mount.version <= version
        }  # fmt: skip
        self.wrong[known:] = [w for w in self.wrong[known:] if w.code != "service" or w.word not in fine]


@mutant("version-of-any-service", "APP-02", "service O: 1 {\n}\n" + application("S:1 a default"))
class VersionOfAnyService(Checker):
    """A version that any service has is taken for one of the service at hand."""

    def c_application(self, part: Part) -> None:
        known, versions = len(self.wrong), {version for _, version in self.services}
        super().c_application(part)
        names = {name for name, _ in self.services}
        fine = {mount.service for mount in part.mounts if mount.service.text in names and mount.version in versions}
        self.wrong[known:] = [w for w in self.wrong[known:] if w.code != "service" or w.word not in fine]


@mutant("one-scope-each", "APP-05", application("S:0 a", "S:0 b default"), accept="APP-01")
class OneScopeEach(Checker):
    """A service has one scope in an application."""

    def c_application(self, part: Part) -> None:
        super().c_application(part)
        seen = set()
        for mount in part.mounts:
            if mount.service.text in seen:
                self.complain("twice", "this service is there already", mount.service)
            seen.add(mount.service.text)


@mutant("first-is-default", "APP-04", application("S:0 a", "S:0 b default"), accept="APP-01 APP-05")
class FirstIsDefault(Idl):
    """The first scope is shown as the default."""

    def tree(self, part: Part, checker: Checker) -> dict[str, Any]:
        made = super().tree(part, checker)
        if part.what == "application":
            made["entries"] = [each | {"default": n == 0} for n, each in enumerate(made["entries"])]
        return made


mutant("implicit-entry", "NOSC-01", application("S:0 a default"))(
    "The meta service is shown in every application.",
    on(Idl, "tree").after(
        lambda found: found["entries"].append(
            {"service": "BuiltInService", "version": 0, "scope": "_", "default": False}
        ),
        when=lambda part: part.what == "application",
    ),
)
mutant("scope-missing", "APP-01", application("S:0"), accept="APP-04")(
    "The last entry of an application may be without a scope.",
    on(Parser, "scope").instead(
        lambda self: Word("name", "nameless", self.word.line, self.word.column), when=lambda self: self.word.text == "}"
    ),
)
