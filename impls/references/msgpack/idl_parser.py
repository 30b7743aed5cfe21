"""The reference's parser of the IDL: words in, a tree of plain objects out.

Source: 004_4ca5b084f7ea0751.txt.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from impls.references.msgpack.idl_words import Scanner, Word, Wrong

PLAIN = (
    "byte", "short", "int", "long", "ubyte", "ushort", "uint", "ulong", "float", "double", "bool", "raw", "string",
)  # fmt: skip
CONTAINERS = {"list": 1, "map": 2}
KEYWORDS = frozenset((
    *PLAIN, *CONTAINERS, "message", "exception", "service", "application", "optional", "required", "throws", "default",
    "void", "typedef", "typespec", "interface", "implements", "true", "false", "null",
))  # fmt: skip


@dataclass(slots=True)
class Kind:
    """A type."""

    word: Word
    args: list[Kind] = field(default_factory=list)
    nullable: bool = False

    @property
    def name(self) -> str:
        return self.word.text


@dataclass(slots=True)
class Member:
    """A field or an argument. `value` is a literal as (kind, value)."""

    number: int
    word: Word
    kind: Kind
    mod: str
    value: tuple[str, Any] | None
    at: Word


@dataclass(slots=True)
class Method:
    """A function."""

    word: Word
    result: Kind
    members: list[Member]
    throws: list[Word]


@dataclass(slots=True)
class Mount:
    """An entry of an application."""

    service: Word
    version: int | None
    scope: Word
    default: bool


@dataclass(slots=True)
class Part:
    """A definition of any kind; only what belongs to the kind is filled in."""

    what: str
    word: Word
    members: list[Member] = field(default_factory=list)
    base: Word | None = None
    version: int = 0
    methods: list[Method] = field(default_factory=list)
    uses: list[tuple[Word, int]] = field(default_factory=list)
    mounts: list[Mount] = field(default_factory=list)
    kind: Kind | None = None
    language: str = ""
    target: str = ""
    foreign: str = ""


class Parser:
    """`choices` is anything with the attributes of `idl.IdlSwitches`. Raises Wrong."""

    scanner_type = Scanner

    def __init__(self, source: str, choices: Any) -> None:
        self.source = source
        self.choices = choices
        self.words = self.scanner_type(source).words()
        self.used: set[str] = set()
        self.at = 0

    @property
    def word(self) -> Word:
        return self.words[self.at]

    def take(self) -> Word:
        word = self.words[self.at]
        if word.kind != "end":
            self.at += 1
        return word

    def maybe(self, text: str) -> bool:
        if self.word.text == text and self.word.kind != "text":
            self.at += 1
            return True
        return False

    def need(self, text: str) -> Word:
        if self.word.text != text or self.word.kind == "text":
            raise self.unexpected(f"{text!r}")
        return self.take()

    def unexpected(self, wanted: str) -> Wrong:
        found = self.word.text or "the end of the document"
        return Wrong("syntax", f"{wanted} is wanted here, not {found:.40}", self.word, "syntax")

    def name(self, what: str) -> Word:
        word = self.word
        if word.kind != "name" or word.text.startswith("_"):
            raise self.unexpected(what)
        if word.text in KEYWORDS and self.choices.reserved == "refuse" and word.text != "message":
            raise Wrong("reserved", f"{word.text} is a word of the language", word, "syntax")
        return self.take()

    def integer(self, what: str) -> int:
        word = self.word
        if word.kind != "number" or not word.text.isdigit() or (len(word.text) > 1 and word.text[0] == "0"):
            raise self.unexpected(what)
        if len(word.text) > 20:
            raise Wrong("large", f"{word.text[:30]} is too large", word, "syntax")
        return int(self.take().text)

    def end_of_item(self) -> None:
        """Whatever ends with its line, for those to whom lines mean something."""
        before, after = self.words[self.at - 1], self.word
        if self.choices.eol == "newline" and after.kind != "end" and after.text != "}" and before.line == after.line:
            raise self.unexpected("a line end")

    # Definitions

    def document(self) -> list[Part]:
        found: list[Part] = []
        if self.word.kind == "end" and not self.choices.recommended:
            raise self.unexpected("a definition")
        while self.word.kind != "end":
            word = self.take()
            parse = getattr(self, f"p_{word.text}", None) if word.kind == "name" else None
            if parse is None:
                self.at -= 1
                raise self.unexpected("a definition")
            found.append(parse())
        return found

    def p_message(self) -> Part:
        part = Part("message", self.title())
        part.members = self.body()
        return part

    def p_exception(self) -> Part:
        part = Part("exception", self.title())
        if self.maybe("<"):
            part.base = self.name("an exception")
        part.members = self.body()
        return part

    def title(self) -> Word:
        """The name of a type; that it is not one of the language is seen to later."""
        if self.word.text in PLAIN or self.word.text in CONTAINERS or self.word.text == "void":
            return self.take()
        return self.name("a name")

    def body(self) -> list[Member]:
        self.need("{")
        found = []
        while not self.maybe("}"):
            found.append(self.member())
            self.end_of_item()
        return found

    def member(self) -> Member:
        at = self.word
        number = self.integer("an id")
        self.need(":")
        mod = self.take().text if self.word.text in ("optional", "required") else ""
        kind = self.kind()
        word = self.name("a name")
        value = None
        if self.maybe("="):
            self.used.add("def")
            value = self.literal()
        return Member(number, word, kind, mod, value, at)

    def literal(self) -> tuple[str, Any]:
        negative = self.maybe("-")
        word = self.take()
        if word.kind == "number":
            if word.text.isdigit():
                # what has more digits than this is out of the range of every type, and Python reads no more of them
                number = int(word.text.lstrip("0")[:4000] or "0")
                return "int", -number if negative else number
            return "float", -float(word.text) if negative else float(word.text)
        if not negative and word.kind == "text":
            return "text", word.text[1:-1]
        if not negative and word.text in ("true", "false", "null"):
            return ("null", None) if word.text == "null" else ("bool", word.text == "true")
        self.at -= 1
        raise self.unexpected("a literal")

    def p_service(self) -> Part:
        return self.functions("service")

    def p_interface(self) -> Part:
        self.used.add("if")
        return self.functions("interface")

    def functions(self, what: str) -> Part:
        part = Part(what, self.name("a name"))
        if self.word.text != "{" or self.choices.no_version == "refuse":
            self.need(":")
            part.version = self.integer("a version")
        self.need("{")
        while not self.maybe("}"):
            if what == "service" and self.word.text == "implements" and not part.methods:
                self.used.add("if")
                self.take()
                word = self.name("an interface")
                self.need(":")
                part.uses.append((word, self.integer("a version")))
            else:
                part.methods.append(self.method())
            self.end_of_item()
        return part

    def method(self) -> Method:
        result = self.kind()
        word = self.name("a name")
        self.need("(")
        members = []
        if not self.maybe(")"):
            members.append(self.member())
            while not self.maybe(")"):
                self.need(",")
                members.append(self.member())
        throws = []
        if self.maybe("throws"):
            throws.append(self.name("an exception"))
            while self.maybe(","):
                throws.append(self.name("an exception"))
        return Method(word, result, members, throws)

    def p_application(self) -> Part:
        part = Part("application", self.name("a name"))
        self.need("{")
        while not self.maybe("}"):
            service = self.name("a service")
            version = None
            if self.choices.no_version == "refuse" or self.word.text == ":":
                self.need(":")
                version = self.integer("a version")
            part.mounts.append(Mount(service, version, self.scope(), self.maybe("default")))
            self.end_of_item()
        return part

    def scope(self) -> Word:
        word = self.take()
        if word.text == "default" and (self.word.text != "default" or self.choices.recommended):
            raise Wrong("scope", "a scope is wanted before default", word, "syntax")
        if word.kind != "name" or (word.text.startswith("_") and (self.choices.recommended or word.text != "_")):
            raise Wrong("scope", "this is no scope", word, "syntax")
        return word

    def p_typedef(self) -> Part:
        self.used.add("td")
        kind = self.kind()
        return Part("typedef", self.title(), kind=kind)

    def p_typespec(self) -> Part:
        self.used.add("ts")
        language = self.name("a language").text
        part = Part("typespec", self.name("a type"), language=language)
        if self.maybe("."):
            part.target = self.name("a field").text
        first = self.word
        if first.kind == "end":
            raise self.unexpected("a type of the language")
        while self.word.kind != "end" and self.word.line == first.line:
            last = self.take()
        part.foreign = self.source[first.offset : last.until]
        return part

    # Types

    def kind(self) -> Kind:
        """A type; containers within containers are kept on a list, not on the stack."""
        open_: list[Kind] = []
        while True:
            word = self.take()
            if word.kind != "name" or (word.text in KEYWORDS and word.text not in (*PLAIN, *CONTAINERS, "void")):
                self.at -= word.kind != "end"
                raise self.unexpected("a type")
            kind = Kind(word)
            if word.text in CONTAINERS:
                self.need("<")
                open_.append(kind)
                if len(open_) > self.choices.max_depth:
                    raise Wrong("depth", "types are nested too deep", word)
                continue
            kind.nullable = self.maybe("?")
            while open_:
                around = open_[-1]
                around.args.append(kind)
                if len(around.args) < CONTAINERS[around.name]:
                    self.need(",")
                    break
                self.need(">")
                kind = open_.pop()
                kind.nullable = self.maybe("?")
            else:
                return kind
