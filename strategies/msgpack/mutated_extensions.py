"""Mutations of what the extensions add: defaults, aliases, foreign types, interfaces, the meta service.

Source: 004_4ca5b084f7ea0751.txt, the sections on extensions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specs.msgpack.idl.semantics import INTEGERS
from strategies.msgpack import documents
from strategies.msgpack.documents import Block, Dice, Document
from strategies.msgpack.mutating import (
    Change,
    Mutation,
    a_function,
    a_message,
    a_service,
    an_application,
    op,
)


def _default(*pairs: tuple[str, str]) -> Change:
    """A default that its type does not have; `?` in front of the type for one that is nullable."""

    def change(document: Document, dice: Dice) -> None:
        kind, literal = dice.pick(pairs)
        if "td" in document.extensions and dice.roll(3) == 2:
            name = document.fresh("T")
            document.blocks.append(Block("typedef", name, ["typedef", *kind.split(), name], [], [], {"type": [kind]}))
            kind = name
        item = ["5000", ":", "optional", *kind.split(), "wrong", "=", *literal.split()]
        if dice.roll(3) == 2:
            function = a_function(a_service(document, dice), dice)
            at = function.index("(")
            function[at + 1 : function.index(")")] = ["1", ":", *item[3:]]
        else:
            name = document.fresh("D")
            document.blocks.append(Block("message", name, ["message", name, "{"], [item]))

    return change


_WIDTHS = {name: (low, high) for name, (low, high) in INTEGERS.items()}


def _beyond() -> Sequence[tuple[str, str]]:
    for_each = []
    for name, (low, high) in _WIDTHS.items():
        for_each.append((name, str(high + 1)))
        for_each.append((name, str(low - 1)))
    return for_each


def _no_sign(document: Document, dice: Dice) -> None:
    """A literal without the sign in front of it."""
    _default(("int", "7"), ("string", '"a"'), ("bool", "true"))(document, dice)
    for block in document.blocks:
        for item in block.items:
            if "wrong" in item:
                item.remove("=")


def _alias_cycle(document: Document, dice: Dice) -> None:
    names = [document.fresh("C") for _ in range(1 + dice.roll(4))]
    for n, name in enumerate(names):
        kind = [names[(n + 1) % len(names)]]
        if dice.roll(3) == 2:
            kind = ["list", "<", *kind, ">"]
        document.blocks.append(Block("typedef", name, ["typedef", *kind, name], [], [], {"type": ["int"]}))


def _alias_unknown(document: Document, dice: Dice) -> None:
    name = document.fresh("T")
    kind = dice.pick(([document.fresh("Unknown")], ["list", "<", document.fresh("Unknown"), ">"]))
    document.blocks.append(Block("typedef", name, ["typedef", *kind, name], [], [], {"type": ["int"]}))


def _alias_void(document: Document, dice: Dice) -> None:
    name = document.fresh("T")
    document.blocks.append(Block("typedef", name, ["typedef", "void", name], [], [], {"type": ["int"]}))


def _bad_target(document: Document, dice: Dice) -> None:
    block = a_message(document, dice)
    target = dice.pick(([document.fresh("Unknown")], [block.name, ".", "nothing"], [block.name + "x"], []))
    if not target and document.of("typedef"):
        target = [document.of("typedef")[0].name, ".", "field"]
    target = target or [document.fresh("Unknown"), ".", "x"]
    if target[-1] == "nothing" and dice.roll(2):  # what another message has
        other = document.fresh("M")
        document.blocks.append(Block("message", other, ["message", other, "{"], [["1", ":", "int", "elsewhere"]]))
        target[-1] = "elsewhere"
    document.blocks.append(Block("typespec", "", ["typespec", "cpp", *target, "a::b"], [], [], {"line": True}))


def _interface(document: Document) -> Block:
    documents.interface(document, op(0, 1))
    block = document.blocks[-1]
    block.items.append(["int", f"f{document.serial}", "(", ")"])
    return block


def _implementing(document: Document, *given: Sequence[str]) -> Block:
    name = document.fresh("S")
    block = Block("service", name, ["service", name, ":", "0", "{"], [list(item) for item in given])
    block.facts = {"service": name, "version": 0}
    document.blocks.append(block)
    return block


def _no_interface(document: Document, dice: Dice) -> None:
    name = _interface(document).facts["service"]
    service = a_service(document, dice, functions=0).facts
    form = dice.pick(
        ((document.fresh("Unknown"), "1"), (name, "2"), (name, "0"), (service["service"], str(service["version"])))
    )
    _implementing(document, ["implements", form[0], ":", form[1]])


def _clash(document: Document, dice: Dice) -> None:
    one = _interface(document)
    called = one.items[-1][1]
    use = ["implements", one.name, ":", "1"]
    if dice.roll(2):
        _implementing(document, use, ["int", called, "(", ")"])
        return
    other = _interface(document)
    other.items = [["string", called, "(", ")"]]
    _implementing(document, use, ["implements", other.name, ":", "1"])


def _interface_implements(document: Document, dice: Dice) -> None:
    one = _interface(document)
    _interface(document).items.insert(0, ["implements", one.name, ":", "1"])


def _meta_scope(document: Document, dice: Dice) -> None:
    item = list(dice.pick(an_application(document, dice).items))[:4]
    item[3] = "_"
    an_application(document, dice).items.append(item)


def _meta_service(document: Document, dice: Dice) -> None:
    head = ["service", "BuiltInService", ":", str(dice.roll(2)), "{"]
    document.blocks.append(Block("service", head[1], head, [], ["}"], {"service": head[1], "version": 0}))


MUTATIONS: Mapping[str, Mutation] = {
    "default of another type": Mutation("DEF-02", _default(
        ("int", '"1"'), ("bool", "1"), ("bool", "0"), ("int", "true"), ("string", "1"), ("string", "false"),
        ("string", "1.5"), ("ulong", '""'), ("bool", '"true"'), ("double", '"1"'), ("double", "true"), ("bool", "1.5")),
        extension="def"),
    "default out of range": Mutation("DEF-02", _default(*_beyond()), extension="def"),
    "default null": Mutation("DEF-02", _default(
        ("int", "null"), ("string", "null"), ("raw", "null"), ("bool", "null"), ("double", "null")), extension="def"),
    "default of a container": Mutation("DEF-03", _default(
        ("list < int >", "null"), ("map < int , int >", "0"), ("list < int >", "1"), ("list < string >", '""')),
        extension="def"),
    "default missing": Mutation("DEF-02", _default(
        ("int", ""), ("string", "{"), ("int", "x"), ("bool", "- true")), extension="def"),
    "default without sign": Mutation("", _no_sign, extension="def"),
    "alias cycle": Mutation("TD-02", _alias_cycle, extension="td"),
    "alias of nothing": Mutation("TYPE-02", _alias_unknown, extension="td"),
    "alias of void": Mutation("TYPE-08", _alias_void, extension="td"),
    "typespec of nothing": Mutation("TS-01", _bad_target, extension="ts"),
    "no interface": Mutation("IF-01", _no_interface, extension="if"),
    "interface clash": Mutation("IF-04", _clash, extension="if"),
    "interface implements": Mutation("INV-30", _interface_implements, extension="if"),
    "scope _": Mutation("INV-31", _meta_scope, extension="meta"),
    "service BuiltInService": Mutation("INV-31", _meta_service, extension="meta"),
}  # fmt: skip
