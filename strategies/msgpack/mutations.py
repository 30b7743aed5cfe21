"""One mutation of a legal document, by name, and the requirement that a processor breaks that takes the result.

Source: 004_4ca5b084f7ea0751.txt. Each is applied to the tree of tokens (`documents.Document`) or, where a comment or
the end of the text is meant, to what was printed. What a mutation needs and the document lacks is added to it first.
Here are those of names and of the whole; the others are beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from specs.msgpack.idl.tokens import RESERVED
from strategies.msgpack import documents, mutated_extensions, mutated_services, mutated_types
from strategies.msgpack.documents import Block, Dice, Document
from strategies.msgpack.mutating import (
    Change,
    Mutation,
    a_message,
    a_service,
    an_application,
    an_exception,
    named,
    op,
)


def _name_twice(document: Document, dice: Dice) -> None:
    kinds = [documents.message, documents.exception, documents.message, documents.typedef]
    kinds[dice.roll(4)](document, op(dice.roll(2)))
    one = document.blocks[-1]
    kinds[dice.roll(3)](document, op(dice.roll(2)))
    named(document.blocks[-1], one.name)


def _built_in(document: Document, dice: Dice) -> None:
    name = dice.pick((*documents.SCALARS, "list", "map", "void"))
    if "td" in document.extensions and dice.roll(3) == 2:
        document.blocks.append(Block("typedef", name, ["typedef", "int", name], [], []))
        return
    kind = dice.pick(("message", "exception"))
    document.blocks.append(Block(kind, name, [kind, name, "{"]))


def _any(document: Document, dice: Dice, *kinds: str) -> Block:
    found = document.of(*kinds) if kinds else [block for block in document.blocks if block.tail]
    if not found:
        documents.message(document, op(1))
        found = [document.blocks[-1]]
    return dice.pick(found)  # type: ignore[no-any-return]


_BODIED = ("message", "exception", "service", "application")


def _head(form: str) -> Change:
    def change(document: Document, dice: Dice) -> None:
        block = _any(document, dice, *_BODIED)
        if form == "no name":
            del block.head[1]
        elif form == "digit":
            block.head[1] = dice.pick(("1", "9x", "1_")) + block.head[1]
        elif form == "foreign":
            block.head[1] = block.head[1] + dice.pick(("é", "日本", "ß"))
        elif form == "no opener":
            block.head.pop()
        elif form == "no closer":
            block.tail.pop()
        elif form == "two closers":
            block.tail.append("}")
        else:
            word = block.head[0]
            block.head[0] = dice.pick((word.capitalize(), word.upper(), word + "s", word[:-1], "struct", "x"))

    return change


def _stray(document: Document, dice: Dice) -> None:
    """A character of no word, behind a field, a function or an entry."""
    if not any(block.items for block in document.blocks):
        documents.message(document, op(1))
    block = dice.pick([block for block in document.blocks if block.items])
    dice.pick(block.items).append(dice.pick("@%!&|^~`[]"))


def _word(change: Callable[[list[str], Dice], None]) -> Change:
    """Words of a definition are treated in some way. What that makes of the document is found by reading it."""

    def changed(document: Document, dice: Dice) -> None:
        block = dice.pick((a_message, a_service, an_application, _derived, _whichever))(document, dice)
        change(dice.pick([part for part in (block.head, *block.items, block.tail) if part]), dice)

    return changed


def _derived(document: Document, dice: Dice) -> Block:
    """An exception with a base."""
    return an_exception(document, 1, an_exception(document, 0).name)


def _whichever(document: Document, dice: Dice) -> Block:
    """Any definition, also one without a body."""
    return _any(document, dice, *sorted({block.kind for block in document.blocks}))


def _place(part: list[str], dice: Dice) -> int:
    """Where one word stands, half of the time a mark."""
    marks = [n for n, word in enumerate(part) if not word[0].isalnum()]
    return int(dice.pick(marks)) if marks and dice.roll(2) else dice.roll(len(part))


def _dropped(part: list[str], dice: Dice) -> None:
    del part[_place(part, dice)]


def _doubled(part: list[str], dice: Dice) -> None:
    at = _place(part, dice)
    part.insert(at, part[at])


def _swapped(part: list[str], dice: Dice) -> None:
    at = _place(part, dice)
    part[at - 1], part[at] = part[at], part[at - 1]


def _recased(part: list[str], dice: Dice) -> None:
    """A word of the language in other letters."""
    found = [n for n, word in enumerate(part) if word in RESERVED]
    if found:
        n = dice.pick(found)
        part[n] = part[n].upper() if dice.roll(2) else part[n].capitalize()


def _glued(part: list[str], dice: Dice) -> None:
    """Two words without the blank that keeps them apart; a number ends by itself."""
    pairs = [n for n in range(1, len(part)) if part[n - 1][0].isalpha() and part[n][0].isalnum()]
    if pairs:
        last = dice.pick(pairs)
        part[last - 1 : last + 1] = [part[last - 1] + part[last]]


def _added(*endings: str) -> Callable[[str, Dice], str]:
    def change(text: str, dice: Dice) -> str:
        end = str(dice.pick(endings))
        if dice.roll(2) and not text.rstrip().endswith("*/"):
            return text.rstrip("\r\n") + "\n" + end + "\n"
        return f"{end}\n{text}" if end == "*/" else text + "\n" + end

    return change


def _cut(text: str, dice: Dice) -> str:
    return text[: dice.roll(max(1, len(text)))]


MUTATIONS: Mapping[str, Mutation] = {
    **mutated_types.MUTATIONS,
    **mutated_services.MUTATIONS,
    "name twice": Mutation("NAME-01", _name_twice),
    "built-in name": Mutation("NAME-01", _built_in),
    "no name": Mutation("INV-06", _head("no name")),
    "name of digits": Mutation("INV-07", _head("digit")),
    "foreign letters": Mutation("INV-08", _head("foreign")),
    "stray character": Mutation("INV-08", _stray),
    "no opening brace": Mutation("INV-05", _head("no opener")),
    "no closing brace": Mutation("INV-05", _head("no closer")),
    "two closing braces": Mutation("INV-05", _head("two closers")),
    "unknown word": Mutation("INV-10", _head("unknown word")),
    "open comment": Mutation("LEX-04", text=_added(
        "/*", "/* a /* b */", "/* a", "/* /* a */ b", "/* # */ /*", "/* /* a", "/* /* /* a */")),
    "stray closer": Mutation("LEX-04", text=_added("*/", "/* a */ */", "/* /* a */ */ */")),
    "cut": Mutation("", text=_cut),
    "word dropped": Mutation("", _word(_dropped)),
    "word doubled": Mutation("", _word(_doubled)),
    "words swapped": Mutation("", _word(_swapped)),
    "words glued": Mutation("", _word(_glued)),
    "word in other letters": Mutation("", _word(_recased)),
    **mutated_extensions.MUTATIONS,
}  # fmt: skip
"""All mutations by name. The rule of one that cuts is found by reading what is left."""
