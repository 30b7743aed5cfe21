"""The words of an IDL document, as the reference processor reads them: one character after the other.

Source: 004_4ca5b084f7ea0751.txt.
"""

from __future__ import annotations

import string
from dataclasses import dataclass

LETTERS = frozenset(string.ascii_letters)
DIGITS = frozenset(string.digits)
INSIDE = LETTERS | DIGITS | {"_"}
MARKS = frozenset("{}()<>:,?=.-")


class Wrong(Exception):
    """A document that means nothing: what is wrong, where, and of which kind."""

    def __init__(self, code: str, message: str, word: Word, kind: str = "semantic") -> None:
        super().__init__(message)
        self.code, self.message, self.word, self.kind = code, message, word, kind


@dataclass(frozen=True, slots=True)
class Word:
    """`kind` is name, number, text, mark or end. `line` and `column` count from 1; `offset` from 0."""

    kind: str
    text: str
    line: int
    column: int
    offset: int = 0
    until: int = 0


class Scanner:
    """Cuts a document into words. Raises Wrong."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.line = 1
        self.began = 0  # offset at which the line begins
        self.ended_at = self.here("end", "", 0)

    def here(self, kind: str, text: str, offset: int) -> Word:
        return Word(kind, text, self.line, offset - self.began + 1, offset, offset + len(text))

    def words(self) -> list[Word]:
        """Every word, and one that is the end."""
        found = []
        while (word := self.word()).kind != "end":
            found.append(word)
        return [*found, word]

    def newline(self) -> None:
        """One line end at the present place."""
        self.at += 2 if self.source.startswith("\r\n", self.at) else 1
        self.line += 1
        self.began = self.at

    def blanks(self) -> None:
        """Skip what means nothing."""
        source = self.source
        while self.at < len(source):
            char = source[self.at]
            if char in " \t":
                self.at += 1
            elif char in "\r\n":
                self.newline()
            elif char == "#" or source.startswith("//", self.at):
                self.line_comment()
            elif source.startswith("/*", self.at):
                self.block_comment()
            else:
                return

    def line_comment(self) -> None:
        """Skip the rest of the line."""
        while self.at < len(self.source) and self.source[self.at] not in "\r\n":
            self.at += 1

    def block_comment(self) -> None:
        """Skip a comment and the comments within it."""
        source, opened, depth = self.source, self.here("mark", "/*", self.at), 0
        while self.at < len(source):
            if source.startswith("/*", self.at):
                depth += 1
                self.at += 2
            elif source.startswith("*/", self.at):
                depth -= 1
                self.at += 2
                if depth == 0:
                    return
            elif source[self.at] in "\r\n":
                self.newline()
            else:
                self.at += 1
        raise Wrong("open-comment", "this comment is never closed", opened, "syntax")

    def word(self) -> Word:
        """The next word."""
        self.blanks()
        source, start = self.source, self.at
        if start >= len(source):
            return self.here("end", "", start)
        char = source[start]
        if char in LETTERS or char == "_":
            return self.run("name")
        if char in DIGITS:
            return self.number()
        if char == '"':
            return self.text()
        self.at += 1
        word = self.here("mark", char, start)
        if source.startswith("*/", start):
            raise Wrong("stray-comment", "no comment is open here", word, "syntax")
        if char not in MARKS:
            raise Wrong("character", f"{char!r} has no place in a document", word, "syntax")
        return word

    def run(self, kind: str) -> Word:
        """A run of letters, digits and underscores."""
        start = self.at
        while self.at < len(self.source) and self.source[self.at] in INSIDE:
            self.at += 1
        return self.here(kind, self.source[start : self.at], start)

    def number(self) -> Word:
        """An integer, or a fraction; what follows it must be no letter."""
        start = self.at
        word = self.run("number")
        if self.source[self.at : self.at + 1] == "." and self.source[self.at + 1 : self.at + 2] in DIGITS:
            self.at += 1
            self.run("number")
            word = self.here("number", self.source[start : self.at], start)
        if not word.text.replace(".", "", 1).isdigit():
            raise Wrong("number", f"{word.text[:40]} is no number and no name", word, "syntax")
        return word

    def text(self) -> Word:
        """A text in double quotes, without escapes."""
        start, end = self.at, self.source.find('"', self.at + 1)
        word = self.here("text", self.source[start : end + 1], start)
        if end < 0 or "\n" in word.text:
            raise Wrong("text", "this text has no end", word, "syntax")
        self.at = end + 1
        return word
