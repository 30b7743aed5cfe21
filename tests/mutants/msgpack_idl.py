"""Processors of the interface language that are wrong in one point."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from impls.msgpack.idl import Idl
from impls.msgpack.idl_checker import RANGES, Checker
from impls.msgpack.idl_parser import CONTAINERS, Kind, Member, Method, Parser, Part
from impls.msgpack.idl_words import INSIDE, Scanner, Word, Wrong
from specs.msgpack.idl.grammar import IDL
from specs.plan import Plan
from strategies.msgpack.idl import Script
from tests.mutants.msgpack_kit import MUTANTS, Mutant, Witness

CLAIMED = "core+def+td+ts+meta+if+nosc"


def asks(*texts: str, want: str = "") -> Witness:
    """Questions about some documents."""

    def witness(config: Any) -> Plan:
        script = Script(config, hurry=False)
        for text in texts:
            script.ask(text, want)
        return script.plan()

    return witness


def idl_of(part: type) -> type[Idl]:
    """A processor made of a faulty part."""
    if issubclass(part, Idl):
        return part
    if issubclass(part, Scanner):
        part = type("FaultyParser", (Parser,), {"scanner_type": part})
    kind = "parser_type" if issubclass(part, Parser) else "checker_type"
    return type("Faulty", (Idl,), {kind: part})


def mutant(name: str, requirement: str, *texts: str, accept: str = "", level: str = "MUST") -> Callable[[type], type]:
    """Register the decorated class as a faulty part of a processor. Its docstring is the sentence that explains it."""

    def register(part: type) -> type:
        made, why = idl_of(part), " ".join((part.__doc__ or "").split())
        witness = asks(*texts, want="line" if requirement == "ERR-01" else "")
        others = tuple(IDL + each for each in accept.split())
        MUTANTS.append(Mutant(name, "idl", IDL + requirement, others, made, witness, level, why))
        return part

    return register


def message(*fields: str, name: str = "M") -> str:
    """A message with one field a line."""
    return f"message {name} {{\n" + "".join(f"  {field}\n" for field in fields) + "}\n"


def service(*functions: str, head: str = "S: 0", after: str = "", before: str = "") -> str:
    """A service with one function a line."""
    return before + f"service {head} {{\n" + "".join(f"  {each}\n" for each in functions) + "}\n" + after


def exception(head: str, *fields: str) -> str:
    """An exception with one field a line."""
    return f"exception {head} {{\n" + "".join(f"  {field}\n" for field in fields) + "}\n"


PLAIN = message("1: int x")
SERVED = service("int f()")


class Lax(Checker):
    """Does not complain of some things."""

    codes: tuple[str, ...] = ()

    def complain(self, code: str, message: str, word: Word) -> None:
        if code not in self.codes:
            super().complain(code, message, word)


def lax(name: str, code: str, requirement: str, text: str, sentence: str, **more: str) -> None:
    """A processor that does not complain of one thing."""
    part = type("LaxPart", (Lax,), {"codes": (code,), "__doc__": sentence, "__module__": __name__})
    mutant(name, requirement, text, **more)(part)


# -- comments ----------------------------------------------------------------------------------------------------------


@mutant("no-hash-comments", "LEX-01", "# c\n" + PLAIN, accept="LEX-05 LEX-03")
class NoHash(Scanner):
    """`#` begins no comment."""

    def line_comment(self) -> None:
        if self.source[self.at] == "#":
            raise Wrong("character", "# has no place", self.here("mark", "#", self.at), "syntax")
        super().line_comment()


@mutant("no-slash-comments", "LEX-01", "// c\n" + PLAIN, accept="LEX-05 LEX-03")
class NoSlashes(Scanner):
    """`//` begins no comment."""

    def line_comment(self) -> None:
        if self.source.startswith("//", self.at):
            raise Wrong("character", "/ has no place", self.here("mark", "/", self.at), "syntax")
        super().line_comment()


@mutant("flat-comments", "LEX-02", "/* a /* b */ c */\n" + PLAIN, accept="LEX-05 LEX-03 LEX-04")
class Flat(Scanner):
    """Comments do not nest."""

    def block_comment(self) -> None:
        end = self.source.find("*/", self.at + 2)
        if end < 0:
            raise Wrong("open-comment", "never closed", self.here("mark", "/*", self.at), "syntax")
        while self.at < end + 2:
            if self.source[self.at] in "\r\n":
                self.newline()
            else:
                self.at += 1


@mutant("two-levels", "LEX-02", "/* /* /* c */ */ */\n" + PLAIN, accept="LEX-05 LEX-03 LEX-04")
class TwoLevels(Scanner):
    """Comments nest two levels deep only."""

    def block_comment(self) -> None:
        start = self.at
        super().block_comment()
        depth = deepest = 0
        for at in range(start, self.at - 1):
            pair = self.source[at : at + 2]
            depth += (pair == "/*") - (pair == "*/")
            deepest = max(deepest, depth)
        if deepest > 2:
            raise Wrong("depth", "comments are nested too deep", self.here("mark", "*/", self.at - 2), "syntax")


@mutant("comment-16-deep", "LEX-02", "/*" * 17 + "*/" * 17 + PLAIN, accept="LEX-05 LEX-03")
class SixteenDeep(Scanner):
    """Comments nest sixteen levels deep only."""

    def block_comment(self) -> None:
        start = self.at
        super().block_comment()
        if self.source.count("/*", start, self.at) > 16 and self.source.count("*/", start, self.at) > 16:
            raise Wrong("depth", "comments are nested too deep", self.here("mark", "*/", self.at - 2), "syntax")


@mutant("closes-in-opener", "LEX-05", "/*/ c */\n" + PLAIN, accept="LEX-02 LEX-03 LEX-04")
class ClosesInOpener(Scanner):
    """The star of an opener may be that of a closer too."""

    def block_comment(self) -> None:
        if self.source.startswith("/*/", self.at):
            self.at += 3
            return
        super().block_comment()


@mutant("hash-in-block", "LEX-03", "/* # */\n" + PLAIN, accept="LEX-05 LEX-02 LEX-01")
class HashInBlock(Scanner):
    """`#` within a block comment hides the rest of its line."""

    def block_comment(self) -> None:
        start = self.at
        super().block_comment()
        line = self.source[start : self.at].rpartition("\n")[2]
        if "#" in line:
            self.line_comment()
            if "*/" not in self.source[self.at :]:
                raise Wrong("open-comment", "never closed", self.here("mark", "/*", start), "syntax")


@mutant("opener-in-line", "LEX-03", "# /*\n" + PLAIN, accept="LEX-01 LEX-05")
class OpenerInLine(Scanner):
    """`/*` within a line comment opens a block comment."""

    def line_comment(self) -> None:
        start = self.at
        super().line_comment()
        if "/*" in self.source[start : self.at]:
            self.at = self.source.index("/*", start)
            self.block_comment()


@mutant("open-comment-at-end", "LEX-04", PLAIN + "/* a\n")
class OpenAtEnd(Scanner):
    """A comment that is never closed ends with the document."""

    def block_comment(self) -> None:
        try:
            super().block_comment()
        except Wrong:
            self.at = len(self.source)


@mutant("inner-closes", "LEX-04", PLAIN + "/* a /* b */\n", accept="LEX-02")
class InnerCloses(Scanner):
    """The end of the document closes whatever comments are still open but one."""

    def block_comment(self) -> None:
        start = self.at
        try:
            super().block_comment()
        except Wrong:
            if "*/" not in self.source[start:]:
                raise
            self.at = len(self.source)


@mutant("stray-closer", "LEX-04", "*/\n" + PLAIN)
class StrayCloser(Scanner):
    """A closer without an opener is skipped."""

    def word(self) -> Word:
        self.blanks()
        while self.source.startswith("*/", self.at):
            self.at += 2
            self.blanks()
        return super().word()


@mutant("comment-joins", "LEX-05", "message/**/M {\n  1: int/**/x\n}\n", accept="LEX-02 LEX-03 LEX-01")
class CommentJoins(Scanner):
    """A comment does not separate words."""

    def run(self, kind: str) -> Word:
        word = super().run(kind)
        if self.source.startswith("/**/", self.at) and self.source[self.at + 4 : self.at + 5] in INSIDE:
            self.at += 4
            rest = super().run(kind)
            return Word(kind, word.text + rest.text, word.line, word.column, word.offset, rest.until)
        return word


@mutant("no-crlf", "LEX-06", PLAIN.replace("\n", "\r\n"), level="SHOULD", accept="LEX-01")
class NoCrlf(Scanner):
    """CR LF is no line end."""

    def newline(self) -> None:
        if self.source[self.at] == "\r":
            raise Wrong("character", "CR has no place", self.here("mark", "\r", self.at), "syntax")
        super().newline()


@mutant("empty-document", "LEX-06", "", level="SHOULD")
class EmptyDocument(Parser):
    """An empty document is refused."""

    def document(self) -> list[Part]:
        if self.word.kind == "end" and not self.source.strip():
            raise self.unexpected("a definition")
        return super().document()


@mutant("last-line-comment", "LEX-06", PLAIN + "# end", level="SHOULD", accept="LEX-01 LEX-03")
class LastLineComment(Scanner):
    """A line comment at the very end must have a line end."""

    def line_comment(self) -> None:
        super().line_comment()
        if self.at >= len(self.source):
            raise Wrong("open-comment", "no line end", self.here("mark", "#", self.at - 1), "syntax")


@mutant("keyword-prefixes", "LEX-07", message("1: optional int optionalfoo"), accept="FIELD-05 EXC-01")
class Prefixes(Parser):
    """A name that begins with `optional` is taken for it."""

    def name(self, what: str) -> Word:
        if self.word.text.startswith("optional") and len(self.word.text) > 8:
            raise self.unexpected(what)
        return super().name(what)


# -- messages ----------------------------------------------------------------------------------------------------------

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


@mutant("default-optional", "FIELD-03", message("1: int x"), accept="SVC-10")
class DefaultOptional(Idl):
    """A field without a modifier is optional."""

    def member(self, member: Member, checker: Checker) -> dict[str, Any]:
        made = super().member(member, checker)
        return made if member.mod else made | {"mod": "optional"}


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


@mutant("ids-of-one-octet", "FIELD-05", message("256: int x"), accept="FIELD-06 EXC-01")
class SmallIds(Checker):
    """Ids have eight bits."""

    def members(self, members: Any, *, argument: bool = False) -> None:
        super().members(members, argument=argument)
        for member in members:
            if member.number > 255:
                self.complain("large", "too large", member.at)


@mutant("ids-wrap", "FIELD-05", message("128: int x"), accept="EXC-01 SVC-07")
class IdsWrap(Idl):
    """Ids beyond 127 are shown as negative."""

    def member(self, member: Member, checker: Checker) -> dict[str, Any]:
        made = super().member(member, checker)
        return made | {"id": made["id"] - 256} if 127 < made["id"] < 256 else made


@mutant("signed-ids", "FIELD-06", message("-1: int x"), accept="SVC-03 APP-01 IF-01")
class SignedIds(Parser):
    """The sign of an id is skipped."""

    def integer(self, what: str) -> int:
        self.maybe("-")
        return super().integer(what)


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


# -- types -------------------------------------------------------------------------------------------------------------

lax("unknown-types", "unknown-type", "TYPE-02", message("1: nothing x"), "Unknown types are taken.", accept="TD-02")


@mutant("unknown-arguments", "TYPE-02", message("1: list<nothing> x"))
class UnknownArguments(Checker):
    """Unknown types are taken as type arguments."""

    def kind(self, kind: Kind, *, result: bool = False) -> None:
        known = len(self.wrong)
        super().kind(kind, result=result)
        if kind.args:
            self.wrong[known:] = [each for each in self.wrong[known:] if each.code != "unknown-type"]


@mutant("services-as-types", "TYPE-02", SERVED + message("1: S x"))
class ServicesAsTypes(Checker):
    """A service is a type."""

    def complain(self, code: str, message: str, word: Word) -> None:
        if code != "unknown-type" or word.text not in {name for name, _ in self.services}:
            super().complain(code, message, word)


@mutant("no-ushort", "TYPE-01", message("1: ushort x"), accept="TYPE-02 TYPE-04 SVC-06 SVC-07 TD-01 DEF-01 TYPE-03")
class NoUshort(Checker):
    """There is no type `ushort`."""

    def kind(self, kind: Kind, *, result: bool = False) -> None:
        super().kind(kind, result=result)
        if kind.name == "ushort":
            self.complain("unknown-type", "ushort is no type", kind.word)


@mutant("raw-is-string", "TYPE-01", message("1: raw x"), accept="SVC-06 TYPE-04 TD-01")
class RawIsString(Idl):
    """`raw` is shown as `string`."""

    def kind(self, kind: Kind, checker: Checker, depth: int = 0) -> dict[str, Any]:
        made = super().kind(kind, checker, depth)
        return made | {"t": "string"} if made["t"] == "raw" else made


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


@mutant("double-closer", "TYPE-04", message("1: list<list<int>> x"), accept="LEX-05 SVC-06 SVC-07 TD-01")
class DoubleCloser(Parser):
    """`>>` is one word."""

    def need(self, text: str) -> Word:
        if text == ">" and self.source.startswith(">>", self.word.offset):
            raise self.unexpected("'>'")
        return super().need(text)


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


@mutant("map-sides", "TYPE-04", message("1: map<int, string> x"), accept="SVC-06 SVC-07 TD-01 TYPE-01 TYPE-05")
class MapSides(Idl):
    """The key and the value of a map change places."""

    def kind(self, kind: Kind, checker: Checker, depth: int = 0) -> dict[str, Any]:
        made = super().kind(kind, checker, depth)
        return made | {"of": made["of"][::-1]} if made["t"] == "map" else made


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


# -- exceptions --------------------------------------------------------------------------------------------------------

BASE = exception("A", "1: int x", "5: int y")
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


@mutant("path-reversed", "EXC-07", BASE + exception("B < A"))
class PathReversed(Idl):
    """The path of an exception begins with itself."""

    def path(self, names: list[str]) -> str:
        return ".".join(names[::-1])


@mutant("path-short", "EXC-07", BASE + exception("B < A") + exception("C < B"))
class PathShort(Idl):
    """The path of an exception is its base and itself alone."""

    def path(self, names: list[str]) -> str:
        return ".".join(names[-2:])


@mutant("path-colons", "EXC-07", BASE + exception("B < A"))
class PathColons(Idl):
    """The parts of a path are joined by colons."""

    def path(self, names: list[str]) -> str:
        return "::".join(names)


# -- services ----------------------------------------------------------------------------------------------------------

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


@mutant("throws-first", "SVC-09", BASE + exception("B") + service("int f() throws A, B"))
class ThrowsFirst(Idl):
    """Only the first exception that is thrown is shown."""

    def method(self, method: Method, checker: Checker) -> dict[str, Any]:
        made = super().method(method, checker)
        return made | {"throws": made["throws"][:1]} if "throws" in made else made


@mutant("one-version", "SVC-02", SERVED + service("int f()", head="S: 1"), accept="SVC-08 SVC-03")
class OneVersion(Checker):
    """A service has one version."""

    def collect(self, part: Part) -> None:
        if part.what == "service" and part.word.text in {name for name, _ in self.services}:
            self.complain("dup-version", "there is one already", part.word)
        super().collect(part)


@mutant("ordered-versions", "SVC-03", service("int f()", head="S: 1") + SERVED, accept="SVC-02 SVC-08")
class OrderedVersions(Checker):
    """Versions must be in order."""

    def collect(self, part: Part) -> None:
        if part.what == "service" and any(n == part.word.text and v > part.version for n, v in self.services):
            self.complain("order", "versions must grow", part.word)
        super().collect(part)


@mutant("large-versions", "SVC-03", service(head="S: 100"), accept="SVC-01 SVC-02 APP-01 SVC-08")
class LargeVersions(Checker):
    """Versions have one digit."""

    def collect(self, part: Part) -> None:
        if part.version > 9:
            self.complain("large", "too large", part.word)
        super().collect(part)


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


@mutant("nullable-results", "SVC-06", service("int? f()"), accept="FIELD-04")
class NullableResults(Idl):
    """Results are never nullable."""

    def method(self, method: Method, checker: Checker) -> dict[str, Any]:
        made = super().method(method, checker)
        made["ret"].pop("null", None)
        return made


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


@mutant("no-commas", "SVC-07", service("int f(1: int a 2: int b)"))
class NoCommas(Parser):
    """The comma between arguments may be left out."""

    def need(self, text: str) -> Word:
        if text == "," and self.word.kind == "number" and self.words[self.at + 1].text == ":":
            return self.word
        return super().need(text)


# -- applications ------------------------------------------------------------------------------------------------------


def application(*entries: str) -> str:
    """An application of S:0 and S:2."""
    body = "".join(f"  {entry}\n" for entry in entries)
    return SERVED + service("int f()", head="S: 2") + f"application App {{\n{body}}}\n"


lax("any-service", "service", "APP-02", application("X:0 a default"), "The service of an entry need not exist.")
lax("scopes-twice", "dup-scope", "APP-03", application("S:0 a", "S:0 a default"), "Scopes may repeat.")
lax("two-defaults", "two-defaults", "APP-04", application("S:0 a default", "S:0 b default"), "Defaults may repeat.")


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


@mutant("implicit-entry", "NOSC-01", application("S:0 a default"))
class ImplicitEntry(Idl):
    """The meta service is shown in every application."""

    def tree(self, part: Part, checker: Checker) -> dict[str, Any]:
        made = super().tree(part, checker)
        if part.what == "application":
            made["entries"].append({"service": "BuiltInService", "version": 0, "scope": "_", "default": False})
        return made


@mutant("scope-missing", "APP-01", application("S:0 default"), accept="INV-26")
class ScopeMissing(Parser):
    """An entry without a scope has the scope `default`."""

    def scope(self) -> Word:
        return self.take() if self.word.text == "default" else super().scope()


# -- names, braces, answers --------------------------------------------------------------------------------------------

lax("names-twice", "dup-name", "NAME-01", PLAIN + PLAIN, "Names may repeat.", accept="FIELD-02 SVC-07")
lax("built-in-names", "built-in", "NAME-01", message(name="string"), "Built-in names are free.", accept="INV-31")


@mutant("kinds-apart", "NAME-01", PLAIN + exception("M"))
class KindsApart(Checker):
    """A message and an exception may have one name."""

    def complain(self, code: str, message: str, word: Word) -> None:
        twins = [part.what for part in self.parts if part.word.text == word.text]
        if code != "dup-name" or len(twins) == len(set(twins)) < 2 or "already" not in message or len(set(twins)) < 2:
            super().complain(code, message, word)


@mutant("brace-at-end", "INV-05", "message M {\n  1: int x\n", accept="LEX-04")
class BraceAtEnd(Parser):
    """The last brace may be missing."""

    def maybe(self, text: str) -> bool:
        return (text == "}" and self.word.kind == "end") or super().maybe(text)


@mutant("extra-braces", "INV-05", PLAIN + "}\n")
class ExtraBraces(Parser):
    """Braces too many are skipped."""

    def document(self) -> list[Part]:
        self.words = [w for n, w in enumerate(self.words) if w.text != "}" or self.words[n - 1].text != "}"]
        return super().document()


@mutant("nameless", "INV-06", "message {\n  1: int x\n}\n")
class Nameless(Parser):
    """A message without a name is taken."""

    def title(self) -> Word:
        if self.word.text == "{":
            return Word("name", "anonymous", self.word.line, self.word.column)
        return super().title()


@mutant("digit-names", "INV-07", message(name="1M"))
class DigitNames(Scanner):
    """A name may begin with a digit."""

    def number(self) -> Word:
        start = self.at
        try:
            return super().number()
        except Wrong:
            self.at = start
            word = self.run("number")
            if word.text[-1:].isdigit() and not any(char.isupper() for char in word.text):
                raise
            return Word("name", word.text, word.line, word.column, word.offset, word.until)


@mutant("unicode-names", "INV-08", message(name="Mé"))
class UnicodeNames(Scanner):
    """Letters of all scripts are letters."""

    def run(self, kind: str) -> Word:
        start = self.at
        while self.at < len(self.source) and (self.source[self.at].isalnum() or self.source[self.at] == "_"):
            self.at += 1
        return self.here(kind, self.source[start : self.at], start)


@mutant("any-case", "INV-10", "Message M {\n}\n")
class AnyCase(Parser):
    """The words that begin definitions may be in any case."""

    def document(self) -> list[Part]:
        self.words = [
            Word(w.kind, w.text.lower(), w.line, w.column, w.offset, w.until)
            if w.text.lower() in ("message", "exception", "service", "application") and self.words[n + 1].kind == "name"
            else w
            for n, w in enumerate(self.words)
        ]
        return super().document()


@mutant("colons-optional", "INV-11", message("1 int x"), accept="FIELD-06 SVC-07")
class ColonsOptional(Parser):
    """The colon behind an id may be missing."""

    def need(self, text: str) -> Word:
        if text == ":" and self.word.kind == "name":
            return self.word
        return super().need(text)


@mutant("untyped-functions", "INV-24", service("f()"))
class Untyped(Parser):
    """A function without a type is void."""

    def method(self) -> Method:
        if self.word.kind == "name" and self.words[self.at + 1].text == "(":
            word = self.word
            self.words.insert(self.at, Word("name", "void", word.line, word.column))
        return super().method()


@mutant("lines-from-zero", "ERR-01", message("1: nothing x"))
class LinesFromZero(Idl):
    """Lines of errors are counted from 0."""

    def report(self, wrong: Wrong) -> dict[str, Any]:
        made = super().report(wrong)
        return made | {"line": made["line"] - 1}


@mutant("lines-of-comments", "ERR-01", "/* a\nb\n */\n" + message("1: nothing x"))
class LinesOfComments(Scanner):
    """Lines within comments are not counted."""

    def block_comment(self) -> None:
        line = self.line
        super().block_comment()
        self.line = line


@mutant("lines-doubled", "ERR-01", message("1: nothing x").replace("\n", "\r\n"))
class LinesDoubled(Scanner):
    """CR LF counts as two lines."""

    def newline(self) -> None:
        if self.source.startswith("\r\n", self.at):
            self.line += 1
        super().newline()


@mutant("last-line", "ERR-01", message("1: nothing x", "2: int y"))
class LastLine(Idl):
    """Every error is in the last line."""

    def parse(self, source: str, profile: str = "core") -> dict[str, Any]:
        made = super().parse(source, profile)
        for each in made.get("errors", ()):
            each["line"] = source.count("\n") + 1
        return made


@mutant("no-lines", "ERR-01", message("1: nothing x"))
class NoLines(Idl):
    """Errors have no lines."""

    def report(self, wrong: Wrong) -> dict[str, Any]:
        return super().report(wrong) | {"line": None}


@mutant("remembers-types", "ERR-02", message("1: N x"), message("1: int x", name="N"), message("1: N x"),
        accept="TYPE-02 ERR-01 NAME-01")  # fmt: skip
class RemembersTypes(Idl):
    """Types of earlier documents are known in later ones."""

    def __init__(self, **switches: Any) -> None:
        super().__init__(**switches)
        self.known: dict[str, Part] = {}

    def parse(self, source: str, profile: str = "core") -> dict[str, Any]:
        known = self.known

        class Remembering(Checker):
            """Knows what was declared before."""

            def run(self) -> list[Wrong]:
                self.types.update({name: part for name, part in known.items() if name not in self.seen})
                for part in self.parts:
                    self.types.pop(part.word.text, None)
                found = super().run()
                known.update(self.types)
                return found

        self.checker_type = Remembering
        return super().parse(source, profile)


@mutant("remembers-names", "ERR-02", PLAIN, PLAIN, accept="NAME-01 TYPE-01 FIELD-06 FIELD-05")
class RemembersNames(Idl):
    """A document that was taken is not taken again."""

    def __init__(self, **switches: Any) -> None:
        super().__init__(**switches)
        self.names: set[str] = set()

    def parse(self, source: str, profile: str = "core") -> dict[str, Any]:
        made = super().parse(source, profile)
        names = {each["name"] for each in made.get("ast", {}).get("definitions", ()) if each["k"] == "message"}
        if names & self.names:
            return {"errors": [{"kind": "semantic", "code": "dup-name", "line": 1, "col": 1, "message": "again"}]}
        self.names |= names
        return made


@mutant("every-fiftieth", "ERR-02", *([PLAIN] * 60), accept="ERR-04 FIELD-05 EXC-01 SVC-01 APP-01 TD-01 TS-01 IF-02")
class EveryFiftieth(Idl):
    """In one answer of fifty the last definition is missing."""

    asked = 0

    def parse(self, source: str, profile: str = "core") -> dict[str, Any]:
        self.asked += 1
        made = super().parse(source, profile)
        if self.asked % 50 == 0 and "ast" in made:
            made["ast"]["definitions"] = made["ast"]["definitions"][:-1]
        return made


@mutant("reversed-tree", "ERR-04", PLAIN + exception("E"), accept="EXC-01 SVC-01")
class ReversedTree(Idl):
    """Definitions are shown in the order of their names, the last first."""

    def parse(self, source: str, profile: str = "core") -> dict[str, Any]:
        made = super().parse(source, profile)
        if "ast" in made:
            made["ast"]["definitions"].reverse()
        return made


@mutant("drops-empty", "FIELD-05", message(), accept="ERR-04 TYPE-05")
class DropsEmpty(Idl):
    """A message without fields is left out."""

    def parse(self, source: str, profile: str = "core") -> dict[str, Any]:
        made = super().parse(source, profile)
        if "ast" in made:
            kept = [each for each in made["ast"]["definitions"] if each["k"] != "message" or each["fields"]]
            made["ast"]["definitions"] = kept
        return made


@mutant("dies-of-depth", "ERR-03", message("1: " + "list<" * 200 + "int" + ">" * 200 + " x"))
class DiesOfDepth(Parser):
    """Great depth exhausts the stack."""

    def kind(self) -> Kind:
        try:
            return super().kind()
        except Wrong as wrong:
            if wrong.code == "depth":
                raise RecursionError("maximum recursion depth exceeded") from None
            raise


# -- extensions --------------------------------------------------------------------------------------------------------

lax(
    "any-default", "default", "DEF-02", message('1: optional int x = "a"'), "Defaults may be anything.", accept="DEF-03"
)


@mutant("container-defaults", "DEF-03", message("1: optional list<int> x = 1"))
class ContainerDefaults(Checker):
    """A container may have a default."""

    def value(self, member: Member, what: str, value: Any) -> None:
        if self.real(member.kind).name not in CONTAINERS:
            super().value(member, what, value)


@mutant("default-widths", "DEF-02", message("1: optional byte x = 128"))
class DefaultWidths(Checker):
    """Every integer fits into every integer type."""

    def value(self, member: Member, what: str, value: Any) -> None:
        if what != "int" or self.real(member.kind).name not in RANGES or value < 0:
            super().value(member, what, value)


@mutant("unsigned-minus", "DEF-02", message("1: optional uint x = -1"))
class UnsignedMinus(Checker):
    """A negative default fits into an unsigned type."""

    def value(self, member: Member, what: str, value: Any) -> None:
        if what != "int" or value >= 0:
            super().value(member, what, value)


@mutant("default-lost", "DEF-01", message("1: optional int x = 0"))
class DefaultLost(Idl):
    """A default that is zero, false or empty is lost."""

    def member(self, member: Member, checker: Checker) -> dict[str, Any]:
        made = super().member(member, checker)
        if not made.get("default", True):
            del made["default"]
        return made


@mutant("default-sign", "DEF-01", message("1: optional int x = -5"))
class DefaultSign(Idl):
    """A default loses its sign."""

    def literal(self, what: str, value: Any) -> Any:
        return super().literal(what, abs(value) if what in ("int", "float") else value)


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


@mutant("typespec-fields", "TS-01", PLAIN + "typespec cpp M.y a::b\n")
class TypespecFields(Checker):
    """The field that a typespec names need not exist."""

    def c_typespec(self, part: Part) -> None:
        part.target = ""
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


@mutant("user-meta", "INV-31", application("S:0 a default", "S:0 _"), level="ASSUMED", accept="APP-01")
class UserMeta(Parser):
    """The scope `_` may be declared."""

    def scope(self) -> Word:
        return self.take() if self.word.text == "_" else super().scope()


@mutant("interfaces-inherit", "INV-30",
        "interface I: 1 {\n  int f()\n}\ninterface J: 1 {\n  implements I: 1\n  int g()\n}\n")  # fmt: skip
class InterfacesInherit(Parser):
    """An interface may implement another."""

    def functions(self, what: str) -> Part:
        part = super().functions("service")
        part.what = what
        return part


@mutant("scope-default", "INV-26", application("S:0 default default"), level="SHOULD", accept="APP-01")
class ScopeDefault(Parser):
    """A scope may be called default."""

    def scope(self) -> Word:
        if self.word.text == "default" and self.words[self.at + 1].text == "default":
            return self.take()
        return super().scope()


@mutant("argument-modifiers", "SVC-10", service("int f(1: optional int a)"), level="ASSUMED")
class ArgumentModifiers(Idl):
    """The modifier of an argument is forgotten."""

    def method(self, method: Method, checker: Checker) -> dict[str, Any]:
        made = super().method(method, checker)
        for each in made["args"]:
            each["mod"] = "required"
        return made


@mutant("version-lost", "SVC-01", service("int f()", head="S: 2"), accept="SVC-02 SVC-08")
class VersionLost(Idl):
    """Every version is shown as 0."""

    def tree(self, part: Part, checker: Checker) -> dict[str, Any]:
        made = super().tree(part, checker)
        return made | {"version": 0} if part.what == "service" else made


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


@mutant("base-lost", "EXC-01", BASE + exception("B < A"))
class BaseLost(Idl):
    """The base of an exception is not shown."""

    def tree(self, part: Part, checker: Checker) -> dict[str, Any]:
        made = super().tree(part, checker)
        if part.what == "exception":
            made["base"] = None
        return made
