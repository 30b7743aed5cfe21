"""From the text of an IDL document to its tree: recursive descent, but for types, whose depth is the author's.

Source: 004_4ca5b084f7ea0751.txt. The grammar needs no separators: a field begins with its number, a function with a
type, an entry with a name, and names behind `throws` are joined by commas.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NoReturn

from specs.msgpack.idl.clauses import Clause
from specs.msgpack.idl.tokens import BUILTINS, GENERICS, MODIFIERS, RESERVED, Token, tokens
from specs.msgpack.idl.tree import (
    Application,
    Definition,
    Entry,
    Fault,
    Field,
    Function,
    Literal,
    Message,
    Parsed,
    Service,
    Type,
    Typedef,
    Typespec,
)

IDL = "MPIDL-"
FIELD = "the name of a field"
OPENERS = ("message", "exception", "service", "application", "interface")
MAX_DEPTH = 64
"""Type arguments within type arguments that are followed; a deeper document is not judged."""
LARGEST = 10**30
"""Longer numbers are not turned into integers."""


class _Stop(Exception):
    """The first fault."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.why)
        self.fault = fault


class TooDeep(Exception):
    """Nested deeper than MAX_DEPTH."""


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self.all = tokens(source)
        self.pos = 0
        self.freedoms: list[str] = []
        self.extensions: set[str] = set()
        if any(token.kind == "odd" or token.text == ";" for token in self.all):
            self.freedoms.append("odd characters")
            self.all = [token for token in self.all if token.kind != "odd" and token.text != ";"]

    # -- tokens --------------------------------------------------------------------------------------------------------

    def fail(self, rule: Clause, why: str, token: Token | None = None, level: str | None = None) -> NoReturn:
        """The document ends here."""
        at = self.all[self.pos] if token is None else token
        if at.kind in ("open", "stray"):
            rule, why = (
                Clause.COMMENTS_BALANCE,
                "a comment is not closed" if at.kind == "open" else "a comment is closed, but not open",
            )
        elif at.kind == "bad":
            rule, why = Clause.CHARACTERS, f"no word of the language: {at.text[:20]!r}"
        raise _Stop(Fault(why.split(":")[0], rule, ((at.at, at.at + len(at.text)),), why, syntax=True, level=level))

    def name(self, rule: Clause, what: str) -> Token:
        """An identifier."""
        token = self.all[self.pos]
        if token.kind == "under":
            self.freedoms.append("a name that begins with an underscore")
        elif token.kind != "id":
            self.fail(Clause.NAME_BEGINS_WITH_A_LETTER if token.kind == "number" else rule, f"{what} is missing")
        elif token.text in RESERVED and (token.text != "message" or what != FIELD):  # which the source itself uses
            self.freedoms.append("a word of the language as a name")
        self.pos += 1
        return token

    def word(self, text: str) -> bool:
        """Take `text` if it comes next."""
        token = self.all[self.pos]
        if token.text == text and token.kind in ("id", "punct"):
            self.pos += 1
            return True
        return False

    def expect(self, text: str, rule: Clause) -> Token:
        """Take `text`."""
        token = self.all[self.pos]
        if not self.word(text):
            self.fail(rule, f"{text} is missing")
        return token

    def number(self, rule: Clause, what: str) -> int:
        """A decimal integer."""
        token = self.all[self.pos]
        if token.kind == "zeros":
            self.freedoms.append("leading zeros")
        elif token.kind != "int":
            self.fail(rule, f"{what} is no decimal integer")
        self.pos += 1
        return int(token.text) if len(token.text) < 30 else LARGEST

    # -- definitions ---------------------------------------------------------------------------------------------------

    def document(self) -> list[Definition]:
        found: list[Definition] = []
        while self.all[self.pos].kind != "end":
            token = self.all[self.pos]
            kind = token.text if token.kind == "id" else ""
            if kind in ("message", "exception"):
                found.append(self.message(kind))
            elif kind in ("service", "interface"):
                found.append(self.service(kind))
            elif kind == "application":
                found.append(self.application())
            elif kind == "typedef":
                found.append(self.typedef())
            elif kind == "typespec":
                found.append(self.typespec())
            else:
                self.fail(
                    Clause.BRACES if token.text == "}" else Clause.DEFINITION_WORD,
                    f"no definition begins so: {token.text[:20]!r}",
                )
        return found

    def message(self, kind: str) -> Message:
        at = self.all[self.pos].at
        self.pos += 1
        name = self.declared()
        base = ""
        if kind == "exception" and self.word("<"):
            base = self.name(Clause.BASE_IS_AN_EXCEPTION, "the base").text
            if self.all[self.pos].text == ",":
                self.fail(Clause.BASE_IS_AN_EXCEPTION, "there is more than one base")
        head = self.expect("{", Clause.BRACES).at
        fields: list[Field] = []
        while not self.word("}"):
            fields.append(self.field(Clause.FIELD_BEGINS_WITH_ID, Clause.FIELD_FORM))
        return Message(kind, name, tuple(fields), base, at, head)

    def declared(self) -> str:
        """The name of a definition; those of built-in types are judged with the meanings."""
        token = self.name(Clause.DEFINITION_HAS_A_NAME, "the name")
        if token.text in BUILTINS or token.text in GENERICS or token.text == "void":
            self.freedoms.pop()
        return token.text

    def field(self, rule: Clause, item: Clause) -> Field:
        token = self.all[self.pos]
        if token.kind == "end" or token.text == "{" or token.text in OPENERS or token.text in ("typedef", "typespec"):
            self.fail(Clause.BRACES, "a brace is missing")
        number = self.number(rule, "the id")
        self.expect(":", item)
        mod = ""
        if self.all[self.pos].text in MODIFIERS:
            mod = self.all[self.pos].text
            self.pos += 1
            if self.all[self.pos].text in MODIFIERS:
                self.fail(Clause.ONE_MODIFIER, "there are two modifiers")
        kind = self.type(item)
        named = self.all[self.pos]
        if named.text in MODIFIERS and self.all[self.pos + 1].kind == "id":
            self.fail(Clause.ONE_MODIFIER, "the modifier stands behind the type")
        if named.text == "?":
            self.fail(Clause.NULLABLE_ONCE, "nullable twice")
        name = self.name(item, FIELD).text
        default = None
        if self.word("="):
            self.extensions.add("def")
            default = self.literal()
        return Field(number, name, mod, kind, default, token.at, named.at, self.all[self.pos - 1].at)

    def literal(self) -> Literal:
        token = self.all[self.pos]
        self.pos += 1
        minus = token.text == "-"
        if minus:
            if self.all[self.pos].at > token.at + 1:
                self.freedoms.append("a gap behind a minus")
            token = self.all[self.pos]
            self.pos += 1
        if token.kind in ("int", "zeros"):
            value = int(token.text) if len(token.text) < 30 else LARGEST
            return Literal("int", -value if minus else value, token.at)
        if token.kind == "float":
            if minus:
                self.freedoms.append("a fraction below zero")
            return Literal("float", -float(token.text) if minus else float(token.text), token.at)
        if not minus and token.kind == "str":
            if "\\" in token.text:
                self.freedoms.append("escapes in a text")
            return Literal("str", token.text[1:-1], token.at)
        if not minus and token.text in ("true", "false"):
            return Literal("bool", token.text == "true", token.at)
        if not minus and token.text == "null":
            return Literal("null", None, token.at)
        self.pos -= 1
        return self.fail(
            Clause.LITERAL_IS_OF_THE_TYPE if token.kind in ("id", "punct", "end") else Clause.LITERAL,
            "the literal is missing",
            token,
        )

    def service(self, kind: str) -> Service:
        at = self.all[self.pos].at
        self.pos += 1
        if kind == "interface":
            self.extensions.add("if")
        name = self.name(Clause.DEFINITION_HAS_A_NAME, "the name").text
        version = 0
        if self.all[self.pos].text == "{":
            self.freedoms.append("a service without a version")
        else:
            self.expect(":", Clause.SERVICE_FORM)
            version = self.number(Clause.VERSION_IS_A_NUMBER, "the version")
        head = self.expect("{", Clause.BRACES).at
        functions: list[Function] = []
        implements: list[tuple[str, int, int]] = []
        late = False
        while not self.word("}"):
            token = self.all[self.pos]
            if (
                token.text == "implements"
                and self.all[self.pos + 1].kind == "id"
                and self.all[self.pos + 2].text != "("
            ):
                if kind == "interface":
                    self.fail(Clause.INTERFACE_IMPLEMENTS_NONE, "an interface implements another")
                self.extensions.add("if")
                late = late or bool(functions)
                self.pos += 1
                other = self.name(Clause.INTERFACE_IS_DECLARED, "the interface")
                self.expect(":", Clause.INTERFACE_IS_DECLARED)
                implements.append((other.text, self.number(Clause.INTERFACE_IS_DECLARED, "the version"), other.at))
            else:
                functions.append(self.function())
        if late:
            self.freedoms.append("implements behind a function")
        return Service(kind, name, version, tuple(functions), tuple(implements), late, at, head)

    def function(self) -> Function:
        token = self.all[self.pos]
        begins = token.text in OPENERS and self.all[self.pos + 1].kind == "id" and self.all[self.pos + 2].text in "{<:"
        if token.kind == "end" or token.text == "{" or begins:
            self.fail(Clause.BRACES, "a brace is missing")
        ret = self.type(Clause.FUNCTION_FORM)
        named = self.all[self.pos]
        name = self.name(Clause.FUNCTION_FORM, "the name of a function or its type").text
        self.expect("(", Clause.FUNCTION_FORM)
        args: list[Field] = []
        if not self.word(")"):
            while True:
                args.append(self.field(Clause.ARGUMENTS, Clause.ARGUMENTS))
                if self.word(")"):
                    break
                self.expect(",", Clause.ARGUMENTS if self.all[self.pos].kind == "int" else Clause.FUNCTION_FORM)
        throws: list[tuple[str, int]] = []
        if self.word("throws"):
            while True:
                thrown = self.all[self.pos]
                throws.append((self.name(Clause.THROWN_IS_AN_EXCEPTION, "the exception").text, thrown.at))
                if not self.word(","):
                    break
            if len(throws) > 1:
                self.freedoms.append("several exceptions behind throws")
        return Function(name, ret, tuple(args), tuple(throws), token.at, named.at, self.all[self.pos - 1].at)

    def application(self) -> Application:
        at = self.all[self.pos].at
        self.pos += 1
        name = self.name(Clause.DEFINITION_HAS_A_NAME, "the name").text
        head = self.expect("{", Clause.BRACES).at
        entries: list[Entry] = []
        while not self.word("}"):
            entries.append(self.entry())
        return Application(name, tuple(entries), at, head)

    def entry(self) -> Entry:
        token = self.all[self.pos]
        begins = token.text in (*OPENERS, "typedef", "typespec") and self.all[self.pos + 1].kind == "id"
        if token.kind == "end" or token.text == "{" or begins:
            self.fail(Clause.BRACES, "a brace is missing")
        service = self.name(Clause.ENTRY_FORM, "the service").text
        version: int | None = None
        if self.word(":"):
            version = self.number(Clause.ENTRY_FORM, "the version")
        else:
            self.freedoms.append("an entry without a version")
        scope = self.all[self.pos]
        if scope.text == "default" and self.all[self.pos + 1].text != "default":
            self.fail(Clause.ENTRY_FORM, "the scope is missing, or called default", level="SHOULD")
        known = len(self.freedoms)
        scope = self.name(Clause.ENTRY_FORM, "the scope")
        if scope.text in ("_", "default"):
            del self.freedoms[known:]  # judged with the meanings
        default = self.word("default")
        return Entry(service, version, scope.text, default, token.at, self.all[self.pos - 1].at)

    def typedef(self) -> Typedef:
        at = self.all[self.pos].at
        self.pos += 1
        self.extensions.add("td")
        kind = self.type(Clause.ALIAS)
        head = self.all[self.pos].at
        return Typedef(self.declared(), kind, at, head)

    def typespec(self) -> Typespec:
        at = self.all[self.pos].at
        self.pos += 1
        self.extensions.add("ts")
        language = self.name(Clause.TARGET_EXISTS, "the language").text
        target = self.name(Clause.TARGET_EXISTS, "the target").text
        end, field = self.all[self.pos - 1].at + len(target), ""
        if self.word("."):
            token = self.name(Clause.TARGET_EXISTS, "the field")
            field = token.text
            if token.at > end + 1:
                self.freedoms.append("a gap at the dot of a typespec")
        first = self.all[self.pos]
        rest = self.source[first.at :].splitlines()[:1]
        until = first.at + len(rest[0]) if rest else first.at
        head = first.at
        found = []
        while (token := self.all[self.pos]).kind not in ("end", "open", "stray") and token.at < until:
            found.append(token.text)
            self.pos += 1
        if not found:
            self.fail(
                Clause.TARGET_EXISTS, "the foreign type is missing", level="SHOULD"
            )  # the rest of a line may be empty; ML-12
        if "\n" in self.source[at:head]:
            self.freedoms.append("a typespec over several lines")
        if not _written_out(self.all[self.pos - len(found) : self.pos]):
            self.freedoms.append("a foreign type of another form")
        return Typespec(language, target, field, "".join(found), at, head)

    # -- types ---------------------------------------------------------------------------------------------------------

    def type(self, rule: Clause) -> Type:
        """A type: a loop with a stack of its own, so that depth costs no recursion."""
        stack: list[tuple[Token, list[Type]]] = []
        while True:
            token = self.all[self.pos]
            if token.kind not in ("id", "under"):
                if stack:
                    self.fail(Clause.TYPE_ARGUMENTS, "a type argument is missing")
                self.fail(Clause.NULLABLE_ONCE if token.text == "?" else rule, "the type is missing")
            if token.kind == "under":
                self.freedoms.append("a name that begins with an underscore")
            self.pos += 1
            if token.text in GENERICS:
                if not self.word("<"):
                    self.fail(Clause.TYPE_ARGUMENTS, f"{token.text} has no type arguments", token)
                if len(stack) >= MAX_DEPTH:
                    raise TooDeep
                stack.append((token, []))
                continue
            if self.all[self.pos].text == "<":
                self.fail(Clause.TYPE_ARGUMENTS, f"{token.text[:20]!r} takes no type arguments", token)
            found = self._suffixed(token, ())
            while stack:
                opened, args = stack[-1]
                args.append(found)
                if self.word(","):
                    if len(args) >= GENERICS[opened.text]:
                        level = "SHOULD" if opened.text == "list" else None  # the text does it itself; ML-01
                        self.fail(Clause.TYPE_ARGUMENTS, f"{opened.text} has too many type arguments", opened, level)
                    break
                if not self.word(">"):
                    self.fail(Clause.TYPE_ARGUMENTS, "> is missing")
                if len(args) < GENERICS[opened.text]:
                    self.fail(Clause.TYPE_ARGUMENTS, f"{opened.text} has too few type arguments", opened)
                stack.pop()
                found = self._suffixed(opened, tuple(args))
            else:
                return found

    def _suffixed(self, token: Token, of: tuple[Type, ...]) -> Type:
        null = self.word("?")
        if null and self.all[self.pos].text == "?":
            self.fail(Clause.NULLABLE_ONCE, "nullable twice")
        return Type(token.text, of, null, token.at, self.all[self.pos - 1].at)


def _written_out(foreign: Sequence[Token]) -> bool:
    """True for names, joined by `::`, with arguments in angle brackets: what every reader takes for a foreign type."""
    text = re.sub("n(::n)+", "n", "".join("n" if token.kind == "id" else token.text for token in foreign))
    while (shorter := re.sub("n<[na](,[na])*>", "a", text)) != text:
        text = shorter
    return text in ("n", "a")


def parse(source: str) -> Parsed:
    """What a document says, as far as it keeps to the grammar. Never raises."""
    parser = _Parser(source)
    try:
        definitions = parser.document()
    except _Stop as stop:
        return Parsed((), stop.fault, tuple(parser.freedoms), frozenset(parser.extensions))
    except TooDeep:
        return Parsed((), None, ("great depth",), frozenset(parser.extensions), deep=True)
    return Parsed(tuple(definitions), None, tuple(parser.freedoms), frozenset(parser.extensions))
