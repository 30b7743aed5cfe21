"""Documents as text: any layout that means the same.

Source: 004_4ca5b084f7ea0751.txt, comments. Nothing but blanks, line ends and comments is chosen here; style 0 is the
plain form.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from strategies.msgpack.documents import Dice, Document

BODIES = (
    "", " x ", " # ", " // ", " it's ", ' " ', " } ", "{ 1: int x }", "*", " message ", "日本語", "/", "**",
    " 2: int y ", "\\", "* /", " ; ", "x" * 300, " \U0001f600 ",
)  # fmt: skip
_TRAPS = ("/**/", "/**/", "/**/", "/***/", "/* * */", "/*/ */", "/* /*/ */ */", "/* *//* */", "/** x **/", "/* /**/ */")
"""Block comments whose ends are easily missed."""
LINE_BODIES = (*BODIES, " /* ", " */ ", "/*", " /* */ ", "/")


def _block_comment(dice: Dice, newlines: bool, *, dense: bool = False) -> str:
    depth = 1 + dice.pick((0, 0, 0, 1) if dense else (0, 0, 0, 1, 1, 2, 3, 12, 39))
    if dice.roll(2) if dense else depth == 1 and dice.roll(3) == 2:
        return str(dice.pick(_TRAPS))
    text = ""
    for _ in range(depth):
        before, after = ("\n" if newlines and dice.roll(4) == 3 else str(dice.pick(BODIES)) for _ in range(2))
        inner = _apart(_apart(before, text), after)
        text = _apart(_apart("/*", inner), "*/")
    return text


def _apart(one: str, other: str) -> str:
    """Both, without making an opener or a closer where they meet."""
    return one + (" " if one[-1:] in ("*", "/") and other[:1] in ("*", "/") else "") + other


def _is_word(token: str) -> bool:
    return bool(token) and (token[0].isalnum() or token[0] in '_"-')


class Layout:
    """How a document is printed. `style` bits: 1 comments, 2 no unneeded blanks, 4 CR LF, 8 no final line end, 16
    blanks of all kinds, 32 line breaks anywhere (or nowhere) where that has no meaning. 0 is the plain form. `dense`:
    a comment in every second place where one may stand."""

    def __init__(self, style: int, seed: int, *, free: bool, dense: bool = False) -> None:
        self.style, self.dense = style if free else style & ~32, dense
        self.dice = Dice(seed % 255 + 1, style)
        self.free = free and bool(style & 32)

    def gap(self, before: str, after: str, *, line: bool = False) -> str:
        """What stands between two tokens; nothing at the dot of a typespec, where no text shows a blank (ML-12)."""
        dice = self.dice
        if "." in (before, after):
            return ""
        needed = _is_word(before) and _is_word(after)
        text = " " if needed or not self.style & 2 else ""
        if before == "/" or after == "/":
            text = " "
        if not self.style & 2 and (after in (",", ">", "<", "?", ":", "(", ")") or before in ("<", "(")):
            text = ""
        if self.style & 16 and dice.roll(4) == 0:
            text += str(dice.pick((" ", "\t", "  ", "\t ")))
        if self.free and not line and dice.roll(6) == 0:
            text += str(dice.pick(("\n", "\n\n", " \n\t")))
        if self.style & 1 and dice.roll(2 if self.dense else 7) == 0:
            if self.free and not line and dice.roll(9 if self.dense else 3) == 0:
                text += str(dice.pick(("#", "//"))) + str(dice.pick(LINE_BODIES)) + "\n"
            else:
                text = ("" if self.style & 2 and before[-1:] != "/" else text or " ") + _block_comment(
                    dice, self.free and not line, dense=self.dense
                )
        return text

    def tokens(self, given: Sequence[str], *, line: bool = False) -> str:
        """One item."""
        text = given[0] if given else ""
        for before, after in pairwise(given):
            text += self.gap(before, after, line=line) + after
        return text

    def end(self, *, line: bool = False) -> str:
        """What stands behind an item."""
        dice, text = self.dice, ""
        if self.style & 1 and dice.roll(3) == 0:
            text += " " if line or dice.roll(3) else ""
            text += str(dice.pick(("#", "//"))) + str(dice.pick(LINE_BODIES)) + "\n"
        elif not self.free or line or dice.roll(2):
            text += "\n"
        else:
            text += " "
        if self.style & 1 and dice.roll(6) == 0:
            text += _block_comment(dice, not self.free) + "\n"
        if self.style & 16 and dice.roll(3) == 0:
            text += "\n" * dice.roll(3) + " " * dice.roll(5)
        return text


def printed(document: Document, style: int = 0, seed: int = 0, *, free: bool = False, dense: bool = False) -> str:
    """The text of a document; `free`: line breaks have no meaning, but for typespecs, which end with their line."""
    layout = Layout(style, seed, free=free, dense=dense)
    text = layout.end() if style & 1 else ""
    for block in document.blocks:
        line = bool(block.facts.get("line"))
        if line and text and text[-1] != "\n":
            text += "\n"
        text += layout.tokens(block.head, line=line) + layout.end(line=line)
        for item in block.items:
            text += ("" if style & 2 else "  ") + layout.tokens(item) + layout.end()
        if block.tail:
            text += layout.tokens(block.tail) + layout.end()
    if style & 4:
        text = text.replace("\n", "\r\n")
    if style & 8:
        text = text.rstrip("\r\n")
    return text
