"""Processors of the interface language that are wrong about messages and their types."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from impls.references.msgpack.idl import Idl
from impls.references.msgpack.idl_checker import Checker
from impls.references.msgpack.idl_parser import CONTAINERS, Kind, Member, Parser, Part
from impls.references.msgpack.idl_words import Scanner, Word, Wrong
from tests.mutants.faults import on
from tests.mutants.msgpack_idl_parts import (
    PLAIN,
    SERVED,
    lax,
    message,
    mutant,
)

# -- messages ---------------------------------------------------------------------------------------------------------

lax("duplicate-ids", "dup-id", "FIELD-01", message("1: int x", "1: int y"), "Ids may repeat.", accept="SVC-07")


@mutant("duplicate-names", "FIELD-02", message("1: int x", "2: int x"))
class DuplicateNames(Checker):
    """Names of fields may repeat."""

    def members(self, members: Any, *, argument: bool = False) -> None:
        known = len(self.wrong)
        super().members(members, argument=argument)
        if not argument:
            self.wrong[known:] = [each for each in self.wrong[known:] if each.code != "dup-name"]


@mutant("far-duplicates", "FIELD-01", message("1: int x", "2: int y", "1: int z"))
class FarDuplicates(Checker):
    """Only neighbours are compared for the same id."""

    def members(self, members: Any, *, argument: bool = False) -> None:
        known = len(self.wrong)
        super().members(members, argument=argument)
        near = {other.at for one, other in pairwise(members) if one.number == other.number}
        if not argument:
            self.wrong[known:] = [w for w in self.wrong[known:] if w.code != "dup-id" or w.word in near]


mutant("default-optional", "FIELD-03", message("1: int x"), accept="SVC-10")(
    "A field without a modifier is optional.",
    on(Idl, "member").gives(lambda member, found: found if member.mod else found | {"mod": "optional"}),
)


@mutant("two-modifiers", "FIELD-03", message("1: optional required int x"))
class TwoModifiers(Parser):
    """The first of two modifiers is forgotten."""

    def member(self) -> Member:
        if self.at + 3 < len(self.words) and self.words[self.at + 2].text in ("optional", "required"):
            mods = [word.text for word in self.words[self.at + 2 : self.at + 4]]
            if mods[1] in ("optional", "required"):
                del self.words[self.at + 2]
        return super().member()


@mutant("question-marks", "FIELD-04", message("1: int?? x"))
class QuestionMarks(Parser):
    """Any number of question marks is one."""

    def kind(self) -> Kind:
        kind = super().kind()
        while kind.nullable and self.maybe("?"):
            pass
        return kind


@mutant("never-nullable", "FIELD-04", message("1: optional int? x"), accept="SVC-06 TYPE-04")
class NeverNullable(Idl):
    """An optional field is not shown as nullable."""

    def member(self, member: Member, checker: Checker) -> dict[str, Any]:
        made = super().member(member, checker)
        if member.mod == "optional":
            made["type"] = {name: value for name, value in made["type"].items() if name != "null"}
        return made


@mutant("ordered-ids", "FIELD-05", message("2: int x", "1: int y"), accept="EXC-01")
class OrderedIds(Checker):
    """Ids must be in order."""

    def members(self, members: Any, *, argument: bool = False) -> None:
        super().members(members, argument=argument)
        for one, other in pairwise(members):
            if other.number < one.number:
                self.complain("order", "ids must grow", other.at)


@mutant("no-gaps", "FIELD-05", message("1: int x", "3: int y"), accept="EXC-01 EXC-03")
class NoGaps(Checker):
    """Ids must follow each other."""

    def c_message(self, part: Part) -> None:
        super().c_message(part)
        numbers = sorted(member.number for member in part.members)
        for one, other in pairwise(numbers):
            if part.what == "message" and other > one + 1:
                self.complain("gap", "an id is missing", part.word)


@mutant("ids-of-one-octet", "FIELD-05", message("256: int x"), accept="FIELD-06 EXC-01 EXC-03")
class SmallIds(Checker):
    """Ids have eight bits."""

    def members(self, members: Any, *, argument: bool = False) -> None:
        super().members(members, argument=argument)
        for member in members:
            if member.number > 255:
                self.complain("large", "too large", member.at)


mutant("ids-wrap", "FIELD-05", message("128: int x"), accept="EXC-01 SVC-07")(
    "Ids beyond 127 are shown as negative.",
    on(Idl, "member").gives(lambda found: found | {"id": found["id"] - 256} if 127 < found["id"] < 256 else found),
)
mutant("signed-ids", "FIELD-06", message("-1: int x"), accept="SVC-03 APP-01 IF-01")(
    "The sign of an id is skipped.", on(Parser, "integer").before(lambda self: self.maybe("-"))
)


@mutant("hex-ids", "FIELD-06", message("0x1: int x"), accept="SVC-03")
class HexIds(Scanner):
    """Hexadecimal integers are integers."""

    def number(self) -> Word:
        start = self.at
        if self.source[start : start + 2] == "0x":
            word = self.run("number")
            return Word("number", str(int(word.text, 16)), word.line, word.column, word.offset, word.until)
        return super().number()


@mutant("ids-by-place", "FIELD-06", message("int x"), accept="SVC-07")
class IdsByPlace(Parser):
    """An id that is missing is that of the place."""

    def body(self) -> list[Member]:
        self.place = 0
        return super().body()

    def integer(self, what: str) -> int:
        if what == "an id" and self.word.kind == "name" and self.words[self.at + 1].kind == "name":
            self.words.insert(self.at, Word("mark", ":", self.word.line, self.word.column, self.word.offset))
            self.place = getattr(self, "place", 0) + 1000
            return self.place
        return super().integer(what)


# -- types ------------------------------------------------------------------------------------------------------------

lax("unknown-types", "unknown-type", "TYPE-02", message("1: nothing x"), "Unknown types are taken.", accept="TD-02")


@mutant("unknown-arguments", "TYPE-02", message("1: list<nothing> x"))
class UnknownArguments(Checker):
    """Unknown types are taken as type arguments."""

    def kind(self, kind: Kind, *, result: bool = False) -> None:
        known = len(self.wrong)
        super().kind(kind, result=result)
        if kind.args:
            self.wrong[known:] = [each for each in self.wrong[known:] if each.code != "unknown-type"]


mutant("services-as-types", "TYPE-02", SERVED + message("1: S x"))(
    "A service is a type.",
    on(Checker, "complain").skips(
        when=lambda self, code, word: code == "unknown-type" and word.text in {name for name, _ in self.services}
    ),
)
mutant("no-ushort", "TYPE-01", message("1: ushort x"), accept="TYPE-02 TYPE-04 SVC-06 SVC-07 TD-01 DEF-01 TYPE-03")(
    "There is no type `ushort`.",
    on(Checker, "kind").after(
        lambda self, kind: self.complain("unknown-type", "ushort is no type", kind.word),
        when=lambda kind: kind.name == "ushort",
    ),
)
mutant("raw-is-string", "TYPE-01", message("1: raw x"), accept="SVC-06 TYPE-04 TD-01")(
    "`raw` is shown as `string`.",
    on(Idl, "kind").gives(lambda found: found | {"t": "string"} if found["t"] == "raw" else found),
)


@mutant("map-of-three", "TYPE-03", message("1: map<int, int, int> x"))
class MapOfThree(Parser):
    """A third type argument of a map is skipped."""

    def need(self, text: str) -> Word:
        if text == ">" and self.word.text == "," and self.words[self.at + 2].text == ">":
            self.at += 2
        return super().need(text)


@mutant("list-of-two", "TYPE-03", message("1: list<int, int> x"), level="SHOULD")
class ListOfTwo(Parser):
    """A second type argument of a list is skipped, as an example of the text has one."""

    def need(self, text: str) -> Word:
        begun = [word.text for word in self.words[self.at - 3 : self.at - 1]]
        if text == ">" and self.word.text == "," and self.words[self.at + 2].text == ">" and begun == ["list", "<"]:
            self.at += 2
        return super().need(text)


@mutant("bare-list", "TYPE-03", message("1: list x"))
class BareList(Parser):
    """A list without type argument is one of raw."""

    def need(self, text: str) -> Word:
        if text == "<" and self.words[self.at - 1].text == "list" and self.word.kind == "name":
            word = self.word
            self.words[self.at : self.at] = [Word("mark", "<", word.line, 0), Word("name", "raw", word.line, 0),
                                             Word("mark", ">", word.line, 0)]  # fmt: skip
        return super().need(text)


@mutant("arguments-of-all", "TYPE-03", message("1: int<int> x"))
class ArgumentsOfAll(Parser):
    """Type arguments of what takes none are skipped."""

    def take(self) -> Word:
        word = super().take()
        if word.kind == "name" and word.text not in CONTAINERS and self.word.text == "<":
            end = self.at + 2
            if self.words[end].text == ">" and self.words[self.at - 2].text not in ("exception", "list"):
                self.at = end + 1
        return word


mutant("double-closer", "TYPE-04", message("1: list<list<int>> x"), accept="LEX-05 SVC-06 SVC-07 TD-01")(
    "`>>` is one word.",
    on(Parser, "need").raises(
        lambda self: self.unexpected("'>'"),
        when=lambda self, text: text == ">" and self.source.startswith(">>", self.word.offset),
    ),
)


@mutant(
    "eight-levels", "TYPE-04", message("1: " + "list<" * 9 + "int" + ">" * 9 + " x"), accept="SVC-06 SVC-07 FIELD-05"
)
class EightLevels(Parser):
    """Types nest eight levels deep only."""

    def kind(self) -> Kind:
        kind = super().kind()
        depth, at = 0, kind
        while at.args:
            depth, at = depth + 1, at.args[-1]
        if depth > 8:
            raise Wrong("depth", "too deep", kind.word, "syntax")
        return kind


mutant("map-sides", "TYPE-04", message("1: map<int, string> x"), accept="SVC-06 SVC-07 TD-01 TYPE-01 TYPE-05")(
    "The key and the value of a map change places.",
    on(Idl, "kind").gives(lambda found: found | {"of": found["of"][::-1]} if found["t"] == "map" else found),
)


@mutant("no-messages-in-lists", "TYPE-05", PLAIN + message("1: M x", name="N"), accept="TYPE-04 SVC-06 SVC-07 TD-01")
class NoMessages(Checker):
    """Messages are no types of fields."""

    def members(self, members: Any, *, argument: bool = False) -> None:
        super().members(members, argument=argument)
        for member in members:
            found = self.types.get(member.kind.name)
            if found is not None and found.what == "message" and not argument:
                self.complain("type", "a message", member.word)


lax("endless", "endless", "TYPE-07", message("1: M x"), "Messages contain themselves.", level="SHOULD")
lax("void-fields", "void", "TYPE-08", message("1: void x"), "void is a type like others.")
