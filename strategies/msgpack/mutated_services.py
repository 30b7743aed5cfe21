"""Mutations of services, functions and applications. Source: 004_4ca5b084f7ea0751.txt, services."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from strategies.msgpack import documents
from strategies.msgpack.documents import Block, Dice, Document
from strategies.msgpack.mutating import (
    Change,
    Mutation,
    a_function,
    a_service,
    an_application,
    an_exception,
    op,
)


def _service_twice(document: Document, dice: Dice) -> None:
    block = a_service(document, dice, functions=0)
    again = Block("service", block.name, [*block.head], [], ["}"], dict(block.facts))
    document.blocks.append(again)


def _bad_version(document: Document, dice: Dice) -> None:
    a_service(document, dice, functions=0).head[3:4] = dice.pick((["-", "1"], ["1.0"], ["a"], [], ["0x1"]))


def _no_version(document: Document, dice: Dice) -> None:
    a_service(document, dice, functions=0).head[3:4] = []


def _function_twice(document: Document, dice: Dice) -> None:
    block = a_service(document, dice)
    function = list(a_function(block, dice))
    at = function.index("(")
    if dice.roll(2):
        function[at + 1 : function.index(")")] = ["1", ":", "double", "other"]  # overloading is no way out
    block.items.append(function)


def _args(*forms: Sequence[str]) -> Change:
    def change(document: Document, dice: Dice) -> None:
        function = a_function(a_service(document, dice), dice)
        at = function.index("(")
        function[at + 1 : function.index(")")] = list(dice.pick(forms))

    return change


_A, _B = ["1", ":", "int", "a1"], ["2", ":", "int", "a2"]


def _throws(*forms: str) -> Change:
    def change(document: Document, dice: Dice) -> None:
        function = a_function(a_service(document, dice), dice)
        del function[function.index(")") + 1 :]
        form = dice.pick(forms)
        if form in ("message", "second message"):
            documents.message(document, op(1))
            made = document.blocks.pop()
            document.blocks.insert(0, made)
            first = [an_exception(document, 0).name, ","] if form != "message" else []
            if first:
                document.blocks.insert(0, document.blocks.pop())
            function += ["throws", *first, made.name]
        elif form == "second":
            made = an_exception(document, 0)
            document.blocks.insert(0, document.blocks.pop())
            function += ["throws", made.name, ",", document.fresh("Unknown")]
        elif form == "empty":
            function += ["throws"]
            for block in document.blocks:  # nothing that could be taken for a name may follow
                if function in block.items:
                    block.items.remove(function)
                    block.items.append(function)
                    break
        elif form == "twice":
            for _ in range(2):
                function += ["throws", an_exception(document, 0).name]
                document.blocks.insert(0, document.blocks.pop())
        elif form == "service":
            function += ["throws", document.of("service")[0].facts["service"]]
        else:
            function += ["throws", document.fresh("Unknown") if form == "unknown" else form]

    return change


def _shape(form: str) -> Change:
    """A function that is none."""

    def change(document: Document, dice: Dice) -> None:
        function = a_function(a_service(document, dice), dice)
        at = function.index("(")
        if form == "no type":
            del function[: at - 1]
        elif form == "no parentheses":
            del function[at:]
        elif form == "not closed":
            del function[function.index(")")]
            del function[at + 1 :]
        else:
            del function[at - 1]

    return change


def _entry(change: Callable[[list[str], Dice, Document], None]) -> Change:
    def changed(document: Document, dice: Dice) -> None:
        change(dice.pick(an_application(document, dice).items), dice, document)

    return changed


def _other_version(item: list[str], dice: Dice, document: Document) -> None:
    """A version that the service has not, at times one that another service has."""
    taken = {block.facts["version"] for block in document.of("service") if block.facts["service"] == item[0]}
    number = int(item[2])
    found = [n for n in (number + 1, number - 1, number + 2, 0, 99) if n >= 0 and n not in taken]
    others = [block.facts["version"] for block in document.of("service") if block.facts["version"] not in taken]
    if dice.roll(2) and not others:
        others.append(_another_service(document, number + 1))
    item[2] = str(dice.pick(others if others and dice.roll(3) else found))


def _another_service(document: Document, version: int) -> int:
    """An empty service in front of everything; its version."""
    name = document.fresh("Other")
    block = Block("service", name, ["service", name, ":", str(version), "{"])
    block.facts = {"service": name, "version": version}
    document.blocks.insert(0, block)
    return version


def _other_service(item: list[str], dice: Dice, document: Document) -> None:
    """A name that is none of the document's, or that of an interface, which nobody can be asked to serve."""
    if "if" in document.extensions and dice.roll(2):
        documents.interface(document, op(0, dice.roll(4)))
        made = document.blocks.pop()
        document.blocks.insert(0, made)
        item[0], item[2] = made.facts["service"], str(made.facts["version"])
        return
    item[0] = document.fresh("Unknown") if dice.roll(2) == 0 else item[0] + "x"


def _no_scope(item: list[str], dice: Dice, document: Document) -> None:
    del item[3:]


def _early_default(item: list[str], dice: Dice, document: Document) -> None:
    item[3:] = ["default", item[3]]


def _scope_default(item: list[str], dice: Dice, document: Document) -> None:
    item[3:] = ["default", "default"]


def _entry_version(item: list[str], dice: Dice, document: Document) -> None:
    item[2:3] = dice.pick(([], ["-", "1"], ["1.0"], ["v1"]))


def _two_scopes(document: Document, dice: Dice) -> None:
    block = an_application(document, dice)
    other = list(dice.pick(block.items))[:4]
    if dice.roll(2):  # one scope for two services
        documents.service(document, op())
        made = document.blocks.pop()
        document.blocks.insert(document.blocks.index(block), made)
        other[0], other[2] = made.facts["service"], str(made.facts["version"])
    if dice.roll(2):  # others stand between them
        block.items += [[*block.items[0][:3], document.fresh("between")] for _ in range(1 + dice.roll(2))]
    block.items.append(other)


def _two_defaults(document: Document, dice: Dice) -> None:
    block = an_application(document, dice)
    if len(block.items) < 2:
        block.items.append([*block.items[0][:3], "another"])
    for item in block.items if dice.roll(2) else dice.shuffled(block.items)[:2]:
        del item[4:]
        item.append("default")
    if sum(item[-1] == "default" for item in block.items) < 2:
        block.items[0][4:] = block.items[1][4:] = ["default"]
    if dice.roll(3) == 2:  # only the first and the last of three
        block.items[1:] = [[*block.items[1][:3], "between"], block.items[1]]
        for item, default in zip(block.items, (True, False, True), strict=True):
            item[4:] = ["default"] * default


MUTATIONS: Mapping[str, Mutation] = {
    "service twice": Mutation("SVC-02", _service_twice),
    "bad version": Mutation("SVC-03", _bad_version),
    "no version": Mutation("SVC-03", _no_version),
    "function twice": Mutation("SVC-05", _function_twice),
    "argument twice": Mutation("SVC-07", _args(
        [*_A, ",", "1", ":", "int", "a2"], [*_A, ",", "2", ":", "int", "a1"], [*_A, ",", *_B, ",", *_A],
        [*_A, ",", *_B, ",", "3", ":", "int", "a1"], [*_A, ",", *_B, ",", "1", ":", "int", "a3"],
        [*_A, ",", *_B, ",", "2", ":", "string", "a3"])),
    "argument without id": Mutation("SVC-07", _args(["int", "a1"], [*_A, ",", "int", "a2"], ["x", ":", "int", "a1"])),
    "commas": Mutation("SVC-07", _args([*_A, ","], [*_A, ",", ",", *_B], [",", *_A], [*_A, *_B], [","], ["void"])),
    "throws": Mutation("SVC-09", _throws("unknown", "message", "second", "second message", "service", "empty")),
    "throws twice": Mutation("INV-24", _throws("twice")),
    "function without type": Mutation("INV-24", _shape("no type")),
    "function without parentheses": Mutation("INV-24", _shape("no parentheses")),
    "function without name": Mutation("INV-24", _shape("no name")),
    "function not closed": Mutation("SVC-07", _shape("not closed")),
    "entry without scope": Mutation("APP-01", _entry(_no_scope)),
    "entry with early default": Mutation("APP-01", _entry(_early_default)),
    "entry without version": Mutation("APP-01", _entry(_entry_version)),
    "entry of another version": Mutation("APP-02", _entry(_other_version)),
    "entry of another service": Mutation("APP-02", _entry(_other_service)),
    "scope twice": Mutation("APP-03", _two_scopes),
    "two defaults": Mutation("APP-04", _two_defaults),
    "scope called default": Mutation("INV-26", _entry(_scope_default)),
}  # fmt: skip
