"""Processors of the interface language that take what is nearly the language, or confuse what is alike."""

from __future__ import annotations

import unicodedata
from typing import Any

from impls.references.msgpack.idl import Idl
from impls.references.msgpack.idl_checker import Checker
from impls.references.msgpack.idl_parser import Member, Method, Mount, Parser, Part
from impls.references.msgpack.idl_words import Scanner, Word, Wrong
from tests.mutants.faults import on
from tests.mutants.msgpack_idl_parts import BASE, SERVED, exception, message, mutant, service

TWO_APPLICATIONS = SERVED + "".join(f"application {name} {{\n  S: 0 a default\n}}\n" for name in ("A", "B"))

mutant("digits-of-any-script", "INV-08", message("\uff11: int x"), accept="FIELD-06")(
    "The digits of every script are digits.",
    on(Idl, "parse").takes(source=lambda source: "".join(str(unicodedata.digit(each, each)) for each in source)),
)

# -- words that are missing, or there too often ------------------------------------------------------------------------


@mutant("equals-optional", "DEF-01", message("1: optional int x 5"), accept="FIELD-06 SVC-07 INV-11 INV-24")
class EqualsOptional(Parser):
    """A default needs no sign in front of it."""

    def maybe(self, text: str) -> bool:
        bare = text == "=" and self.word.kind in ("number", "text") and self.words[self.at + 1].text != ":"
        return bare or super().maybe(text)


@mutant("base-without-sign", "INV-05", BASE + exception("B A"), accept="EXC-02 INV-11")
class BaseWithoutSign(Parser):
    """A base needs no sign in front of it."""

    def p_exception(self) -> Part:
        part = Part("exception", self.title())
        if self.maybe("<") or self.word.kind == "name":
            part.base = self.name("an exception")
        part.members = self.body()
        return part


@mutant(
    "entries-without-colon", "APP-01", SERVED + "application A {\n  S 0 a default\n}\n", accept="INV-05"
)  # fmt: skip
class EntriesWithoutColon(Parser):
    """In an entry the colon may be missing."""

    def p_application(self) -> Part:
        part = Part("application", self.name("a name"))
        self.need("{")
        while not self.maybe("}"):
            word = self.name("a service")
            self.maybe(":")
            version = self.integer("a version")
            part.mounts.append(Mount(word, version, self.scope(), self.maybe("default")))
        return part


@mutant("mark-behind-name", "INV-11", message("1: int x ?"), accept="FIELD-04 FIELD-06 SVC-07")
class MarkBehindName(Parser):
    """A question mark may stand behind the name."""

    def member(self) -> Member:
        found = super().member()
        found.kind.nullable = self.maybe("?") or found.kind.nullable
        return found


@mutant("modifiers-any-case", "TYPE-02", message("1: Optional int x"), accept="FIELD-03 FIELD-06 INV-11 SVC-07")
class ModifiersAnyCase(Parser):
    """Modifiers may be in any case."""

    def member(self) -> Member:
        at = min(self.at + 2, len(self.words) - 1)
        word = self.words[at]
        if word.text.lower() in ("optional", "required"):
            self.words[at] = Word("name", word.text.lower(), word.line, word.column, word.offset, word.until)
        return super().member()


mutant("void-arguments", "SVC-07", service("int f(void)"))(
    "A function without arguments may say void.",
    on(Parser, "need").after(
        lambda self: self.take(),
        when=lambda self, text: text == "(" and self.word.text == "void" and self.words[self.at + 1].text == ")",
    ),
)


@mutant("underscores-in-numbers", "FIELD-06", message("1_0: int x"), accept="SVC-03 SVC-01 SVC-07")
class UnderscoresInNumbers(Scanner):
    """Digits may be grouped by underscores."""

    def number(self) -> Word:
        start = self.at
        word = self.run("number")
        digits = word.text.replace("_", "")
        if digits != word.text and digits.isdigit():
            return Word("number", digits, word.line, word.column, word.offset, word.until)
        self.at = start
        return super().number()


@mutant("throws-again", "INV-24", BASE + exception("B") + service("int f() throws A throws B"), accept="SVC-09")
class ThrowsAgain(Parser):
    """`throws` may be said again."""

    def method(self) -> Method:
        found = super().method()
        while self.maybe("throws"):
            found.throws.append(self.name("an exception"))
        return found


# -- what is alike elsewhere -------------------------------------------------------------------------------------------


@mutant("scopes-of-all", "APP-01", TWO_APPLICATIONS, accept="APP-03 APP-05")
class ScopesOfAll(Checker):
    """A scope of one application is not there for another."""

    def c_application(self, part: Part) -> None:
        super().c_application(part)
        known = self.__dict__.setdefault("known", set())
        for mount in part.mounts:
            if mount.scope.text in known:
                self.complain("dup-scope", "this scope is there already", mount.scope)
        known |= {mount.scope.text for mount in part.mounts}


@mutant("one-default-of-all", "APP-01", TWO_APPLICATIONS, accept="APP-04 APP-05")
class OneDefaultOfAll(Checker):
    """One application of a document has a default."""

    def c_application(self, part: Part) -> None:
        super().c_application(part)
        defaults = self.__dict__.get("defaults", 0) + sum(mount.default for mount in part.mounts)
        self.__dict__["defaults"] = defaults
        if defaults > 1:
            self.complain("two-defaults", "there is a default already", part.word)


@mutant("siblings-share", "EXC-03", BASE + exception("B < A", "6: int z") + exception("C < A", "6: int z"),
        accept="EXC-01")  # fmt: skip
class SiblingsShare(Checker):
    """An id of an exception is taken for all that have the same base."""

    def c_exception(self, part: Part) -> None:
        super().c_exception(part)
        taken = self.__dict__.setdefault(f"of {part.base.text}", set()) if part.base else set()
        for member in part.members:
            if member.number in taken:
                self.complain("base-id", "this id is taken", member.at)
            taken.add(member.number)


@mutant("defaults-stick", "DEF-01", message("1: optional int x = 5", "2: optional int y"))
class DefaultsStick(Parser):
    """A default is that of the next field of its type as well."""

    before: Member | None = None

    def member(self) -> Member:
        found, before = super().member(), self.before
        if found.value is None and before and before.value and found.mod and before.kind.name == found.kind.name:
            found.value = before.value
        self.before = found
        return found


mutant("sixteen-fields", "FIELD-05", message(*(f"{n}: int x{n}" for n in range(1, 18))), accept="FIELD-06 TYPE-01")(
    "A message has no more than sixteen fields.",
    on(Checker, "c_message").after(
        lambda self, part: self.complain("many", "there are too many fields", part.word),
        when=lambda part: len(part.members) > 16,
    ),
)


@mutant("sixteen-definitions", "FIELD-05", "".join(message(name=f"M{n}") for n in range(17)),
        accept="ERR-04 SVC-01 EXC-01 APP-01 TD-01 TS-01 IF-02 LEX-01 LEX-02 LEX-03 LEX-05 LEX-06")  # fmt: skip
class SixteenDefinitions(Idl):
    """What stands behind the sixteenth definition is not shown."""

    def parse(self, source: str, profile: str = "core") -> dict[str, Any]:
        found = super().parse(source, profile)
        if "ast" in found:
            del found["ast"]["definitions"][16:]
        return found


mutant("names-of-64", "LEX-07", message("1: int " + "x" * 65), accept="FIELD-05 FIELD-02 FIELD-03 SVC-07 SVC-04")(
    "Of a name the first 64 characters count.",
    on(Scanner, "run").gives(
        lambda found: Word(found.kind, found.text[:64], found.line, found.column, found.offset, found.until)
    ),
)


@mutant("short-comments", "LEX-01", "# " + "x" * 300 + "\n" + message("1: int x"), accept="LEX-06")
class ShortComments(Scanner):
    """A line comment has no more than 256 characters."""

    def line_comment(self) -> None:
        start = self.at
        super().line_comment()
        if self.at - start > 256:
            raise Wrong("comment", "this comment is too long", self.here("mark", "#", start), "syntax")
