"""Mutations of fields, types and exceptions. Source: 004_4ca5b084f7ea0751.txt, message, exception."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from strategies.msgpack import documents
from strategies.msgpack.documents import Block, Dice, Document
from strategies.msgpack.mutating import (
    Change,
    Mutation,
    a_function,
    a_message,
    a_service,
    an_exception,
    mistyped,
    name_at,
    op,
    retyped,
    where,
)


def _twice(part: str) -> Change:
    def change(document: Document, dice: Dice) -> None:
        items = a_message(document, dice, 2).items
        one, other = dice.shuffled(range(len(items)))[:2]
        if part == "id":
            items[one][0] = items[other][0]
        else:
            items[one][name_at(items[one])] = items[other][name_at(items[other])]

    return change


def _field(change: Callable[[list[str], Dice], None]) -> Change:
    def changed(document: Document, dice: Dice) -> None:
        change(dice.pick(a_message(document, dice).items), dice)

    return changed


def _two_modifiers(item: list[str], dice: Dice) -> None:
    item[2 : where(item)] = dice.pick((["optional", "required"], ["required", "optional"], ["optional", "optional"]))


def _late_modifier(item: list[str], dice: Dice) -> None:
    mod = item.pop(2) if where(item) == 3 else dice.pick(("optional", "required"))
    item.insert(name_at(item), mod)


def _nullable_twice(item: list[str], dice: Dice) -> None:
    at = name_at(item)
    item[at:at] = ["?"] if item[at - 1] == "?" else ["?", "?"]


def _mark_first(item: list[str], dice: Dice) -> None:
    item.insert(where(item), "?")


def _mark_last(item: list[str], dice: Dice) -> None:
    item.insert(name_at(item) + 1, "?")


def _bad_id(item: list[str], dice: Dice) -> None:
    item[:1] = dice.pick((["-", "1"], ["1.5"], ["0x1"], ["x"], ["-", "0"], ["1e3"], ["one"], ["1_0"]))


def _foreign_digits(item: list[str], dice: Dice) -> None:
    item[0] = dice.pick(("\uff11", "\u0663", item[0] + "\uff11", "\u0e53", "\u00b2"))


def _no_id(item: list[str], dice: Dice) -> None:
    del item[:2]
    if item[0] in ("optional", "required"):
        del item[0]


def _no_colon(item: list[str], dice: Dice) -> None:
    del item[1]


def _no_type(item: list[str], dice: Dice) -> None:
    del item[2 : name_at(item)]


def _void(document: Document, dice: Dice) -> None:
    kinds = (["void"], ["list", "<", "void", ">"], ["map", "<", "int", ",", "void", ">"], ["void", "?"])
    kind = list(dice.pick(kinds))
    if dice.roll(2) and kind != ["void"]:
        function = a_function(a_service(document, dice), dice)
        function[: function.index("(") - 1] = kind
    else:
        retyped(dice.pick(a_message(document, dice).items), kind)


def _unknown(document: Document, dice: Dice) -> None:
    name = document.fresh("Unknown")
    known = document.of("message", "typedef")
    if known and dice.roll(2):
        name = known[-1].name + dice.pick(("x", "_", "1"))  # nearly one that is there
    elif document.of("service") and dice.roll(3) == 2:
        name = document.of("service")[0].name
    kinds = ([name], ["list", "<", name, ">"], ["map", "<", "int", ",", name, ">"], [name, "?"],
             ["map", "<", name, ",", "int", ">"], ["list", "<", "list", "<", "list", "<", name, ">", ">", ">"],
             ["map", "<", "int", ",", "list", "<", name, ">", ">"])  # fmt: skip
    mistyped(*kinds)(document, dice)


def _arguments(document: Document, dice: Dice) -> None:
    kinds: Sequence[Sequence[str]] = (
        ["list"], ["list", "<", ">"], ["list", "<", "int", ",", "int", ">"], ["map"], ["map", "<", "int", ">"],
        ["map", "<", "int", ",", "int", ",", "int", ">"], ["list", "<", "int"],
        ["map", "<", "int", ",", "list", "<", "int", ">"], ["map", "<", ">"],
        ["list", "<", "list", "<", "int", ",", "int", ">", ">"], ["map", "<", "int", ",", "map", "<", "int", ">", ">"],
    )  # fmt: skip
    mistyped(*kinds)(document, dice)


def _arguments_of_none(document: Document, dice: Dice) -> None:
    documents.message(document, op(1))
    name = document.blocks[-1].name
    mistyped([name, "<", "int", ">"], ["int", "<", "int", ">"], ["string", "<", ">"], [name, "<", ">"])(document, dice)


def _bare_containers(document: Document, dice: Dice) -> None:
    mistyped(["list"], ["map"], ["list", "<", ">"], ["map", "<", ">"])(document, dice)


def _endless(document: Document, dice: Dice) -> None:
    """Messages that contain themselves."""
    names = [document.fresh("Loop") for _ in range(1 + dice.roll(3))]
    for n, name in enumerate(names):
        following = names[(n + 1) % len(names)]
        kind = [following]
        document.blocks.append(Block("message", name, ["message", name, "{"], [["1", ":", *kind, "next"]]))


def _bad_base(document: Document, dice: Dice) -> None:
    documents.message(document, op(1))
    named = document.blocks[-1].name
    documents.service(document, op())
    base = dice.pick((document.fresh("Unknown"), named, document.blocks[-1].facts["service"]))
    an_exception(document, 1, base)


def _two_bases(document: Document, dice: Dice) -> None:
    one, other = an_exception(document, 0), an_exception(document, 0)
    an_exception(document, 0, one.name).head[4:4] = [",", other.name]


def _base_cycle(document: Document, dice: Dice) -> None:
    count = 1 + dice.roll(4)
    made = [an_exception(document, 0) for _ in range(count)]
    for n, block in enumerate(made):
        block.head[2:2] = ["<", made[(n + 1) % count].name]


def _low_id(document: Document, dice: Dice) -> None:
    base = an_exception(document, 1 + dice.roll(3))
    base.items = dice.shuffled(base.items)
    child = an_exception(document, 1, base.name)
    child.items[0][0] = str(dice.pick((base.facts["most"], 1, 2, base.facts["most"] - 1)))
    if child.items[0][0] == "0" or int(child.items[0][0]) > base.facts["most"]:
        child.items[0][0] = str(base.facts["most"])
    if dice.roll(2):
        child.items.insert(dice.roll(2), [str(base.facts["most"] + 5), ":", "int", "fine"])


def _low_id_far(document: Document, dice: Dice) -> None:
    """The largest id is that of a base behind one without fields."""
    base = an_exception(document, 1 + dice.roll(3))
    base.items = dice.shuffled(base.items)
    middle = base
    for _ in range(1 + dice.roll(3)):
        middle = an_exception(document, 0, middle.name)
    child = an_exception(document, 1, middle.name)
    child.items[0][0] = str(dice.pick((base.facts["most"], 1)))


def _inherited(document: Document, dice: Dice) -> None:
    base = an_exception(document, 2)
    middle = an_exception(document, 0, base.name) if dice.roll(2) else base
    child = an_exception(document, 1, middle.name)
    child.items[0] = ["9", ":", "string", base.items[dice.roll(2)][-1]]


MUTATIONS: Mapping[str, Mutation] = {
    "duplicate id": Mutation("FIELD-01", _twice("id")),
    "duplicate name": Mutation("FIELD-02", _twice("name")),
    "two modifiers": Mutation("FIELD-03", _field(_two_modifiers)),
    "late modifier": Mutation("FIELD-03", _field(_late_modifier)),
    "nullable twice": Mutation("FIELD-04", _field(_nullable_twice)),
    "question mark first": Mutation("FIELD-04", _field(_mark_first)),
    "question mark last": Mutation("FIELD-06", _field(_mark_last)),
    "bad id": Mutation("FIELD-06", _field(_bad_id)),
    "digits of another script": Mutation("INV-08", _field(_foreign_digits)),
    "no id": Mutation("FIELD-06", _field(_no_id)),
    "no colon": Mutation("INV-11", _field(_no_colon)),
    "no type": Mutation("INV-11", _field(_no_type)),
    "unknown type": Mutation("TYPE-02", _unknown),
    "type arguments": Mutation("TYPE-03", _arguments),
    "arguments of what takes none": Mutation("TYPE-03", _arguments_of_none),
    "container without arguments": Mutation("TYPE-03", _bare_containers),
    "endless message": Mutation("TYPE-07", _endless),
    "void value": Mutation("TYPE-08", _void),
    "bad base": Mutation("EXC-02", _bad_base),
    "two bases": Mutation("EXC-02", _two_bases),
    "id of the base": Mutation("EXC-03", _low_id),
    "id of a far base": Mutation("EXC-05", _low_id_far),
    "base cycle": Mutation("EXC-04", _base_cycle),
    "inherited name": Mutation("EXC-06", _inherited),
}  # fmt: skip
