"""Words of the MessagePack IDL. Source: 004_4ca5b084f7ea0751.txt, comments and all examples.

Blanks and comments separate tokens and mean nothing else; block comments nest, line comments end with their line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

BUILTINS = frozenset((
    "byte", "short", "int", "long", "ubyte", "ushort", "uint", "ulong", "float", "double", "bool", "raw", "string",
))  # fmt: skip
GENERICS = {"list": 1, "map": 2}
MODIFIERS = ("optional", "required")
CORE_WORDS = frozenset((
    "message", "exception", "service", "application", "optional", "required", "throws", "default", "void",
))  # fmt: skip
EXTENSION_WORDS = frozenset(["typedef", "typespec", "interface", "implements", "true", "false", "null"])
RESERVED = BUILTINS | GENERICS.keys() | CORE_WORDS | EXTENSION_WORDS

_TOKEN = re.compile(
    r"(?P<gap>[ \t\r\n]+|(?:#|//)[^\r\n]*)|(?P<id>[A-Za-z][A-Za-z0-9_]*+(?![^\x00-\x7f]))|(?P<num>[0-9][A-Za-z0-9_.]*)"
    r"|(?P<open>/\*)|(?P<close>\*/)|(?P<punct>[{}()<>:,?=.;-])|(?P<str>\"(?:[^\"\\\r\n]|\\.)*\")"
    r"|(?P<under>_[A-Za-z0-9_]*)|(?P<odd>[\x00\x0b\x0c\ufeff])|(?P<bad>\w+|.)"
)
_COMMENT = re.compile(r"/\*|\*/")
_INT = re.compile(r"0|[1-9][0-9]*")
_FLOAT = re.compile(r"[0-9]+\.[0-9]+(?:[eE][0-9]+)?")


class Token(NamedTuple):
    """`kind`: id, int, zeros (an integer with leading zeros), float, number (none of these), punct, str, under (a name
    that begins with an underscore), odd, bad, stray (a comment is closed that was never opened), open (one is never
    closed), end. `at` is its offset in characters."""

    kind: str
    text: str
    at: int


def tokens(source: str) -> list[Token]:
    """All tokens, the last of kind "end"."""
    found: list[Token] = []
    at, match = 0, _TOKEN.match
    while part := match(source, at):
        kind = part.lastgroup
        if kind == "gap":
            at = part.end()
            continue
        if kind == "open":
            end = _closing(source, part.end())
            if end < 0:
                found.append(Token("open", "/*", at))
                break
            at = end
            continue
        text = part.group()
        if kind == "num":
            kind = (
                "int"
                if _INT.fullmatch(text)
                else "zeros"
                if text.isdigit()
                else "float"
                if _FLOAT.fullmatch(text)
                else "number"
            )
        elif kind == "close":
            kind = "stray"
        found.append(Token(str(kind), text, at))
        at = part.end()
    found += [Token("end", "", len(source))] * 3  # whoever looks ahead need not look where it ends
    return found


def _closing(source: str, at: int) -> int:
    """Where the block comment ends whose contents begin at `at`; -1 when it does not."""
    depth, find = 1, _COMMENT.search
    while part := find(source, at):
        at = part.end()
        depth += 1 if part.group() == "/*" else -1
        if not depth:
            return at
    return -1


def depth_of_comments(source: str) -> int:
    """The deepest nesting of block comments in a text whose comments are balanced."""
    deepest = depth = at = 0
    scan = re.compile(r"(?:#|//)[^\r\n]*|/\*")
    while part := scan.search(source, at):
        at = part.end()
        if part.group() != "/*":
            continue
        depth = 1
        while depth and (inner := _COMMENT.search(source, at)):
            depth += 1 if inner.group() == "/*" else -1
            deepest, at = max(deepest, depth), inner.end()
        deepest = max(deepest, 1)
    return deepest


_BREAK = re.compile(r"\r\n|\n|\r")


class Lines:
    """Where lines begin. CR LF, LF and CR end one."""

    def __init__(self, source: str) -> None:
        self._starts = [0, *(part.end() for part in _BREAK.finditer(source))]
        self._open = source[-1:] not in ("\r", "\n")

    def line(self, at: int) -> int:
        """The line of an offset, from 1."""
        return bisect_right(self._starts, at)

    @property
    def length(self) -> int:
        """How many there are; what follows the last line end counts, be it one that is only added to be read."""
        return len(self._starts) + self._open
