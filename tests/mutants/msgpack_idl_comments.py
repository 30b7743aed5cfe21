"""Processors of the interface language that read comments, or words, wrongly."""

from __future__ import annotations

from impls.references.msgpack.idl_parser import Parser
from impls.references.msgpack.idl_words import INSIDE, Scanner, Word, Wrong
from tests.mutants.faults import on
from tests.mutants.msgpack_idl_parts import (
    PLAIN,
    message,
    mutant,
)

mutant("no-hash-comments", "LEX-01", "# c\n" + PLAIN, accept="LEX-05 LEX-03")(
    "`#` begins no comment.",
    on(Scanner, "line_comment").raises(
        lambda self: Wrong("character", "# has no place", self.here("mark", "#", self.at), "syntax"),
        when=lambda self: self.source[self.at] == "#",
    ),
)
mutant("no-slash-comments", "LEX-01", "// c\n" + PLAIN, accept="LEX-05 LEX-03")(
    "`//` begins no comment.",
    on(Scanner, "line_comment").raises(
        lambda self: Wrong("character", "/ has no place", self.here("mark", "/", self.at), "syntax"),
        when=lambda self: self.source.startswith("//", self.at),
    ),
)


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


mutant("open-comment-at-end", "LEX-04", PLAIN + "/* a\n")(
    "A comment that is never closed ends with the document.",
    on(Scanner, "block_comment").forgives(Wrong, lambda self: setattr(self, "at", len(self.source))),
)


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


@mutant("inner-open-comment", "LEX-04", PLAIN + "/* /* a")
class InnerOpenComment(Scanner):
    """A document may end within a comment that stands in another."""

    def block_comment(self) -> None:
        begun = self.at
        try:
            super().block_comment()
        except Wrong:
            rest = self.source[begun:]
            if rest.count("/*") - rest.count("*/") < 2:
                raise


mutant("strays-skipped", "INV-08", PLAIN.replace("x", "x @"), accept="INV-05")(
    "Characters of no word are passed over.",
    on(Scanner, "word").forgives(
        Wrong, lambda self: self.word(), when=lambda error: error.code == "character" and error.word.text.isascii()
    ),
)
mutant("no-crlf", "LEX-06", PLAIN.replace("\n", "\r\n"), level="SHOULD", accept="LEX-01")(
    "CR LF is no line end.",
    on(Scanner, "newline").raises(
        lambda self: Wrong("character", "CR has no place", self.here("mark", "\r", self.at), "syntax"),
        when=lambda self: self.source[self.at] == "\r",
    ),
)
mutant("empty-document", "LEX-06", "", level="SHOULD")(
    "An empty document is refused.",
    on(Parser, "document").raises(
        lambda self: self.unexpected("a definition"),
        when=lambda self: self.word.kind == "end" and not self.source.strip(),
    ),
)


@mutant("last-line-comment", "LEX-06", PLAIN + "# end", level="SHOULD")
class LastLineComment(Scanner):
    """A line comment at the very end must have a line end."""

    def line_comment(self) -> None:
        super().line_comment()
        if self.at >= len(self.source):
            raise Wrong("open-comment", "no line end", self.here("mark", "#", self.at - 1), "syntax")


mutant("keyword-prefixes", "LEX-07", message("1: optional int optionalfoo"), accept="FIELD-05 EXC-01")(
    "A name that begins with `optional` is taken for it.",
    on(Parser, "name").raises(
        lambda self, what: self.unexpected(what),
        when=lambda self: self.word.text.startswith("optional") and len(self.word.text) > 8,
    ),
)
