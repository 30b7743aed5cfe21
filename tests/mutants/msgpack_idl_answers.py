"""Processors of the interface language that are wrong about names and braces, or in their answers."""

from __future__ import annotations

from typing import Any

from impls.references.msgpack.idl import Idl
from impls.references.msgpack.idl_checker import Checker
from impls.references.msgpack.idl_parser import Kind, Method, Parser, Part
from impls.references.msgpack.idl_words import Scanner, Word, Wrong
from tests.mutants.faults import on
from tests.mutants.msgpack_idl_parts import (
    PLAIN,
    exception,
    lax,
    message,
    mutant,
    service,
)

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


mutant("nameless", "INV-06", "message {\n  1: int x\n}\n")(
    "A message without a name is taken.",
    on(Parser, "title").instead(
        lambda self: Word("name", "anonymous", self.word.line, self.word.column),
        when=lambda self: self.word.text == "{",
    ),
)


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


mutant("colons-optional", "INV-11", message("1 int x"), accept="FIELD-06 SVC-07")(
    "The colon behind an id may be missing.",
    on(Parser, "need").instead(
        lambda self: self.word, when=lambda self, text: text == ":" and self.word.kind == "name"
    ),
)


@mutant("untyped-functions", "INV-24", service("f()"))
class Untyped(Parser):
    """A function without a type is void."""

    def method(self) -> Method:
        if self.word.kind == "name" and self.words[self.at + 1].text == "(":
            word = self.word
            self.words.insert(self.at, Word("name", "void", word.line, word.column))
        return super().method()


mutant("lines-from-zero", "ERR-01", message("1: nothing x"))(
    "Lines of errors are counted from 0.", on(Idl, "report").gives(lambda found: found | {"line": found["line"] - 1})
)


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


mutant("no-lines", "ERR-01", message("1: nothing x"))(
    "Errors have no lines.", on(Idl, "report").gives(lambda found: found | {"line": None})
)


@mutant("remembers-types", "ERR-02", message("1: N x"), message("1: int x", name="N"), message("1: N x"),
        accept="TYPE-02 ERR-01 NAME-01")  # fmt: skip
class RemembersTypes(Idl):
    """Types of earlier documents are known in later ones."""

    def __init__(self, **switches: Any) -> None:
        super().__init__(**switches)
        self.known: dict[str, Part] = {}

    def remembering(self) -> type[Checker]:
        """What knows the types of earlier documents."""
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

        return Remembering

    def parse(self, source: str, profile: str = "core") -> dict[str, Any]:
        self.checker_type = self.remembering()
        return super().parse(source, profile)


@mutant("remembers-what-was-refused", "ERR-02", message("1: int x", name="N") + message("1: nothing x"),
        message("1: N x"), accept="TYPE-02 ERR-01 NAME-01 SVC-09 EXC-02 TS-01")  # fmt: skip
class RemembersWhatWasRefused(RemembersTypes):
    """Types of a document that was refused are known until one is taken."""

    def remembering(self) -> type[Checker]:
        known = self.known

        class Remembering(Checker):
            """Knows the bare names of what was declared in what was refused."""

            def run(self) -> list[Wrong]:
                own = {part.word.text for part in self.parts}
                self.types.update({name: part for name, part in known.items() if name not in own})
                self.seen |= known.keys() - own
                found = super().run()
                known.update({n: Part("exception" if p.what == "exception" else "message", p.word)
                              for n, p in self.types.items()})  # fmt: skip
                return found

        return Remembering

    def parse(self, source: str, profile: str = "core") -> dict[str, Any]:
        made = super().parse(source, profile)
        if "ast" in made:
            self.known.clear()
        return made


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


mutant("reversed-tree", "ERR-04", PLAIN + exception("E"), accept="EXC-01 SVC-01")(
    "Definitions are shown in the order of their names, the last first.",
    on(Idl, "parse").after(lambda found: found["ast"]["definitions"].reverse(), when=lambda found: "ast" in found),
)


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
