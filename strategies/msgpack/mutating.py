"""What the mutations of documents are made with: something of each kind to be changed, added when there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from strategies.common import Op
from strategies.msgpack import documents
from strategies.msgpack.documents import Block, Dice, Document

Change = Callable[[Document, Dice], None]


@dataclass(frozen=True, slots=True)
class Mutation:
    """`rule` is the short id of what is broken; `extension` what must be claimed for it. `text` changes the printed
    document, `tree` the unprinted one."""

    rule: str
    tree: Change | None = None
    text: Callable[[str, Dice], str] | None = None
    extension: str = ""


def op(*args: int) -> Op:
    """An op without a kind."""
    return Op("", (*args, *(0,) * (5 - len(args))))


def named(block: Block, name: str) -> Block:
    """Give a definition another name."""
    block.head[1] = name
    block.name = name
    return block


def a_message(document: Document, dice: Dice, least: int = 1) -> Block:
    """A message or an exception with at least so many fields."""
    found = [block for block in document.of("message", "exception") if len(block.items) >= least]
    if not found:
        documents.message(document, op(max(least, 1)))
        return document.blocks[-1]
    return dice.pick(found)  # type: ignore[no-any-return]


def a_service(document: Document, dice: Dice, *, functions: int = 1) -> Block:
    """A service with at least so many functions; where they are what is meant, it may be an interface in use."""
    uses = [item for block in document.of("service") for item in block.items if item[0] == "implements"]
    used = {(item[1], int(item[3])) for item in uses}
    interfaces = [block for block in document.of("interface") if functions and _version(block) in used]
    found = document.of("service") + interfaces
    found = [block for block in found if sum("(" in item for item in block.items) >= functions]
    if not found:
        documents.service(document, op(functions))
        return document.blocks[-1]
    return dice.pick(found)  # type: ignore[no-any-return]


def _version(block: Block) -> tuple[str, int]:
    """Name and version of a service or an interface."""
    return block.facts["service"], block.facts["version"]


def an_application(document: Document, dice: Dice) -> Block:
    """An application."""
    if not document.of("application"):
        documents.application(document, op())
    return dice.pick(document.of("application"))  # type: ignore[no-any-return]


def an_exception(document: Document, fields: int = 1, base: str = "") -> Block:
    """A new exception; its ids are 1, 3, 5 and so on above `base`."""
    name = document.fresh("X")
    block = Block("exception", name, ["exception", name, *(["<", base] if base else []), "{"])
    block.items = [[str(1 + 2 * n), ":", "int", f"x{document.serial}_{n}"] for n in range(fields)]
    block.facts = {"most": 2 * fields - 1, "names": set(), "base": base}
    document.blocks.append(block)
    return block


def a_function(block: Block, dice: Dice) -> list[str]:
    """One of the functions of a service."""
    return dice.pick([item for item in block.items if "(" in item])  # type: ignore[no-any-return]


def where(item: Sequence[str]) -> int:
    """Where the type of a field begins."""
    return 3 if item[2] in ("optional", "required") else 2


def name_at(item: Sequence[str]) -> int:
    """Where the name of a field stands."""
    return item.index("=") - 1 if "=" in item else len(item) - 1


def retyped(item: list[str], kind: Sequence[str]) -> None:
    """Give a field another type, without a default."""
    name = item[name_at(item)]
    item[where(item) :] = [*kind, name]


def mistyped(*kinds: Sequence[str]) -> Change:
    """A field, an argument or a result of a type that is none."""

    def change(document: Document, dice: Dice) -> None:
        kind = list(dice.pick(kinds))
        place = dice.roll(3)
        if place == 0:
            retyped(dice.pick(a_message(document, dice).items), kind)
            return
        function = a_function(a_service(document, dice), dice)
        if place == 1:
            function[: function.index("(") - 1] = kind
        else:
            at = function.index("(") + 1
            stop = function.index(")")
            function[at:stop] = ["1", ":", *kind, "wrong"]

    return change
