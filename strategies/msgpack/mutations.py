"""One mutation of a legal document, by name, and the requirement that a processor breaks that takes the result.

Source: 004_4ca5b084f7ea0751.txt. Each is applied to the tree of tokens (`documents.Document`) or, where a comment or
the end of the text is meant, to what was printed. What a mutation needs and the document lacks is added to it first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from specs.msgpack.idl.semantics import INTEGERS
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


def _op(*args: int) -> Op:
    return Op("", (*args, *(0,) * (5 - len(args))))


def _named(block: Block, name: str) -> Block:
    block.head[1] = name
    block.name = name
    return block


def _put(document: Document, dice: Dice, block: Block) -> None:
    """Add a definition behind all others, which it may refer to."""
    document.blocks.append(block)


def _message(document: Document, dice: Dice, least: int = 1) -> Block:
    """A message or an exception with at least so many fields."""
    found = [block for block in document.of("message", "exception") if len(block.items) >= least]
    if not found:
        documents.message(document, _op(max(least, 1)))
        return document.blocks[-1]
    return dice.pick(found)  # type: ignore[no-any-return]


def _service(document: Document, dice: Dice, *, functions: int = 1) -> Block:
    found = [b for b in document.of("service") if sum("(" in item for item in b.items) >= functions]
    if not found:
        documents.service(document, _op(functions))
        return document.blocks[-1]
    return dice.pick(found)  # type: ignore[no-any-return]


def _application(document: Document, dice: Dice) -> Block:
    if not document.of("application"):
        documents.application(document, _op())
    return dice.pick(document.of("application"))  # type: ignore[no-any-return]


def _exception(document: Document, fields: int = 1, base: str = "") -> Block:
    """A new exception; its ids are 1, 3, 5 and so on above `base`."""
    name = document.fresh("X")
    block = Block("exception", name, ["exception", name, *(["<", base] if base else []), "{"])
    block.items = [[str(1 + 2 * n), ":", "int", f"x{document.serial}_{n}"] for n in range(fields)]
    block.facts = {"most": 2 * fields - 1, "names": set(), "base": base}
    document.blocks.append(block)
    return block


def _function(block: Block, dice: Dice) -> list[str]:
    return dice.pick([item for item in block.items if "(" in item])  # type: ignore[no-any-return]


def _where(item: Sequence[str]) -> int:
    """Where the type of a field begins."""
    return 3 if item[2] in ("optional", "required") else 2


def _name_at(item: Sequence[str]) -> int:
    return item.index("=") - 1 if "=" in item else len(item) - 1


def _bare(item: list[str], kind: Sequence[str]) -> None:
    """Give a field another type, without a default."""
    name = item[_name_at(item)]
    item[_where(item) :] = [*kind, name]


# -- fields ------------------------------------------------------------------------------------------------------------


def _twice(part: str) -> Change:
    def change(document: Document, dice: Dice) -> None:
        items = _message(document, dice, 2).items
        one, other = dice.shuffled(range(len(items)))[:2]
        if part == "id":
            items[one][0] = items[other][0]
        else:
            items[one][_name_at(items[one])] = items[other][_name_at(items[other])]

    return change


def _field(change: Callable[[list[str], Dice], None]) -> Change:
    def changed(document: Document, dice: Dice) -> None:
        change(dice.pick(_message(document, dice).items), dice)

    return changed


def _two_modifiers(item: list[str], dice: Dice) -> None:
    item[2 : _where(item)] = dice.pick((["optional", "required"], ["required", "optional"], ["optional", "optional"]))


def _late_modifier(item: list[str], dice: Dice) -> None:
    mod = item.pop(2) if _where(item) == 3 else dice.pick(("optional", "required"))
    item.insert(_name_at(item), mod)


def _nullable_twice(item: list[str], dice: Dice) -> None:
    at = _name_at(item)
    item[at:at] = ["?"] if item[at - 1] == "?" else ["?", "?"]


def _mark_first(item: list[str], dice: Dice) -> None:
    item.insert(_where(item), "?")


def _bad_id(item: list[str], dice: Dice) -> None:
    item[:1] = dice.pick((["-", "1"], ["1.5"], ["0x1"], ["x"], ["-", "0"], ["1e3"], ["one"]))


def _no_id(item: list[str], dice: Dice) -> None:
    del item[:2]
    if item[0] in ("optional", "required"):
        del item[0]


def _no_colon(item: list[str], dice: Dice) -> None:
    del item[1]


def _no_type(item: list[str], dice: Dice) -> None:
    del item[2 : _name_at(item)]


def _typed(*kinds: Sequence[str]) -> Change:
    """A field, an argument or a result of a type that is none."""

    def change(document: Document, dice: Dice) -> None:
        kind = list(dice.pick(kinds))
        place = dice.roll(3)
        if place == 0:
            _bare(dice.pick(_message(document, dice).items), kind)
            return
        function = _function(_service(document, dice), dice)
        if place == 1:
            function[: function.index("(") - 1] = kind
        else:
            at = function.index("(") + 1
            stop = function.index(")")
            function[at:stop] = ["1", ":", *kind, "wrong"]

    return change


def _void(document: Document, dice: Dice) -> None:
    kinds = (["void"], ["list", "<", "void", ">"], ["map", "<", "int", ",", "void", ">"], ["void", "?"])
    kind = list(dice.pick(kinds))
    if dice.roll(2) and kind != ["void"]:
        function = _function(_service(document, dice), dice)
        function[: function.index("(") - 1] = kind
    else:
        _bare(dice.pick(_message(document, dice).items), kind)


def _unknown(document: Document, dice: Dice) -> None:
    name = document.fresh("Unknown")
    known = document.of("message", "typedef")
    if known and dice.roll(2):
        name = known[-1].name + dice.pick(("x", "_", "1"))  # nearly one that is there
    elif document.of("service") and dice.roll(3) == 2:
        name = document.of("service")[0].name
    kinds = ([name], ["list", "<", name, ">"], ["map", "<", "int", ",", name, ">"], [name, "?"])
    _typed(*kinds)(document, dice)


def _arguments(document: Document, dice: Dice) -> None:
    documents.message(document, _op(1))
    named = document.blocks[-1].name
    kinds: Sequence[Sequence[str]] = (
        ["list"], ["list", "<", ">"], ["list", "<", "int", ",", "int", ">"], ["map"], ["map", "<", "int", ">"],
        ["map", "<", "int", ",", "int", ",", "int", ">"], ["int", "<", "int", ">"], [named, "<", "int", ">"],
        ["list", "<", "int"], ["map", "<", "int", ",", "list", "<", "int", ">"], ["map", "<", ">"],
        ["string", "<", ">"], ["list", "<", "list", "<", "int", ",", "int", ">", ">"],
    )  # fmt: skip
    _typed(*kinds)(document, dice)


def _bare_containers(document: Document, dice: Dice) -> None:
    _typed(["list"], ["map"], ["list", "<", ">"], ["map", "<", ">"])(document, dice)


def _endless(document: Document, dice: Dice) -> None:
    """Messages that contain themselves."""
    names = [document.fresh("Loop") for _ in range(1 + dice.roll(3))]
    for n, name in enumerate(names):
        following = names[(n + 1) % len(names)]
        kind = [following]
        document.blocks.append(Block("message", name, ["message", name, "{"], [["1", ":", *kind, "next"]]))


# -- exceptions --------------------------------------------------------------------------------------------------------


def _bad_base(document: Document, dice: Dice) -> None:
    documents.message(document, _op(1))
    named = document.blocks[-1].name
    documents.service(document, _op())
    base = dice.pick((document.fresh("Unknown"), named, document.blocks[-1].facts["service"]))
    _exception(document, 1, base)


def _two_bases(document: Document, dice: Dice) -> None:
    one, other = _exception(document, 0), _exception(document, 0)
    _exception(document, 0, one.name).head[4:4] = [",", other.name]


def _base_cycle(document: Document, dice: Dice) -> None:
    count = 1 + dice.roll(4)
    made = [_exception(document, 0) for _ in range(count)]
    for n, block in enumerate(made):
        block.head[2:2] = ["<", made[(n + 1) % count].name]


def _low_id(document: Document, dice: Dice) -> None:
    base = _exception(document, 1 + dice.roll(3))
    child = _exception(document, 1, base.name)
    child.items[0][0] = str(dice.pick((base.facts["most"], 1, 2, base.facts["most"] - 1)))
    if child.items[0][0] == "0" or int(child.items[0][0]) > base.facts["most"]:
        child.items[0][0] = str(base.facts["most"])
    if dice.roll(2):
        child.items.insert(dice.roll(2), [str(base.facts["most"] + 5), ":", "int", "fine"])


def _low_id_far(document: Document, dice: Dice) -> None:
    """The largest id is that of a base behind one without fields."""
    base = _exception(document, 1 + dice.roll(3))
    middle = base
    for _ in range(1 + dice.roll(3)):
        middle = _exception(document, 0, middle.name)
    child = _exception(document, 1, middle.name)
    child.items[0][0] = str(dice.pick((base.facts["most"], 1)))


def _inherited(document: Document, dice: Dice) -> None:
    base = _exception(document, 2)
    middle = _exception(document, 0, base.name) if dice.roll(2) else base
    child = _exception(document, 1, middle.name)
    child.items[0] = ["9", ":", "string", base.items[dice.roll(2)][-1]]


# -- services ----------------------------------------------------------------------------------------------------------


def _service_twice(document: Document, dice: Dice) -> None:
    block = _service(document, dice, functions=0)
    again = Block("service", block.name, [*block.head], [], ["}"], dict(block.facts))
    document.blocks.append(again)


def _bad_version(document: Document, dice: Dice) -> None:
    _service(document, dice, functions=0).head[3:4] = dice.pick((["-", "1"], ["1.0"], ["a"], [], ["0x1"]))


def _no_version(document: Document, dice: Dice) -> None:
    _service(document, dice, functions=0).head[3:4] = []


def _function_twice(document: Document, dice: Dice) -> None:
    block = _service(document, dice)
    function = list(_function(block, dice))
    at = function.index("(")
    if dice.roll(2):
        function[at + 1 : function.index(")")] = ["1", ":", "double", "other"]  # overloading is no way out
    block.items.append(function)


def _args(*forms: Sequence[str]) -> Change:
    def change(document: Document, dice: Dice) -> None:
        function = _function(_service(document, dice), dice)
        at = function.index("(")
        function[at + 1 : function.index(")")] = list(dice.pick(forms))

    return change


_A, _B = ["1", ":", "int", "a1"], ["2", ":", "int", "a2"]


def _throws(*forms: str) -> Change:
    def change(document: Document, dice: Dice) -> None:
        function = _function(_service(document, dice), dice)
        del function[function.index(")") + 1 :]
        form = dice.pick(forms)
        if form == "message":
            documents.message(document, _op(1))
            made = document.blocks.pop()
            document.blocks.insert(0, made)
            function += ["throws", made.name]
        elif form == "second":
            made = _exception(document, 0)
            document.blocks.insert(0, document.blocks.pop())
            function += ["throws", made.name, ",", document.fresh("Unknown")]
        elif form == "empty":
            function += ["throws"]
            for block in document.blocks:  # nothing that could be taken for a name may follow
                if function in block.items:
                    block.items.remove(function)
                    block.items.append(function)
                    break
        elif form == "service":
            function += ["throws", document.of("service")[0].facts["service"]]
        else:
            function += ["throws", document.fresh("Unknown") if form == "unknown" else form]

    return change


def _shape(form: str) -> Change:
    """A function that is none."""

    def change(document: Document, dice: Dice) -> None:
        function = _function(_service(document, dice), dice)
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


# -- applications ------------------------------------------------------------------------------------------------------


def _entry(change: Callable[[list[str], Dice, Document], None]) -> Change:
    def changed(document: Document, dice: Dice) -> None:
        change(dice.pick(_application(document, dice).items), dice, document)

    return changed


def _other_version(item: list[str], dice: Dice, document: Document) -> None:
    taken = {block.facts["version"] for block in document.of("service") if block.facts["service"] == item[0]}
    number = int(item[2])
    found = [n for n in (number + 1, number - 1, number + 2, 0, 99) if n >= 0 and n not in taken]
    item[2] = str(dice.pick(found))


def _other_service(item: list[str], dice: Dice, document: Document) -> None:
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
    block = _application(document, dice)
    other = list(dice.pick(block.items))[:4]
    if len(block.items) > 1 and dice.roll(2):
        block.items[1][3] = block.items[0][3]
    else:
        block.items.append(other)


def _two_defaults(document: Document, dice: Dice) -> None:
    block = _application(document, dice)
    if len(block.items) < 2:
        block.items.append([*block.items[0][:3], "another"])
    for item in block.items if dice.roll(2) else dice.shuffled(block.items)[:2]:
        del item[4:]
        item.append("default")
    if sum(item[-1] == "default" for item in block.items) < 2:
        block.items[0][4:] = block.items[1][4:] = ["default"]


def _meta_scope(document: Document, dice: Dice) -> None:
    item = list(dice.pick(_application(document, dice).items))[:4]
    item[3] = "_"
    _application(document, dice).items.append(item)


def _meta_service(document: Document, dice: Dice) -> None:
    head = ["service", "BuiltInService", ":", str(dice.roll(2)), "{"]
    document.blocks.append(Block("service", head[1], head, [], ["}"], {"service": head[1], "version": 0}))


# -- names and the whole -----------------------------------------------------------------------------------------------


def _name_twice(document: Document, dice: Dice) -> None:
    kinds = [documents.message, documents.exception, documents.message, documents.typedef]
    kinds[dice.roll(4)](document, _op(dice.roll(2)))
    one = document.blocks[-1]
    kinds[dice.roll(3)](document, _op(dice.roll(2)))
    _named(document.blocks[-1], one.name)


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
        documents.message(document, _op(1))
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


# -- extensions --------------------------------------------------------------------------------------------------------


def _default(*pairs: tuple[str, str]) -> Change:
    """A default that its type does not have; `?` in front of the type for one that is nullable."""

    def change(document: Document, dice: Dice) -> None:
        kind, literal = dice.pick(pairs)
        item = ["5000", ":", "optional", *kind.split(), "wrong", "=", *literal.split()]
        if dice.roll(3) == 2:
            function = _function(_service(document, dice), dice)
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
        for_each.append((name, f"- {1 - low}"))
    return for_each


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
    block = _message(document, dice)
    target = dice.pick(([document.fresh("Unknown")], [block.name, ".", "nothing"], [block.name + "x"], []))
    if not target and document.of("typedef"):
        target = [document.of("typedef")[0].name, ".", "field"]
    target = target or [document.fresh("Unknown"), ".", "x"]
    document.blocks.append(Block("typespec", "", ["typespec", "cpp", *target, "a::b"], [], [], {"line": True}))


def _interface(document: Document) -> Block:
    documents.interface(document, _op(0, 1))
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
    service = _service(document, dice, functions=0).facts
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


# -- texts -------------------------------------------------------------------------------------------------------------


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
    "duplicate id": Mutation("FIELD-01", _twice("id")),
    "duplicate name": Mutation("FIELD-02", _twice("name")),
    "two modifiers": Mutation("FIELD-03", _field(_two_modifiers)),
    "late modifier": Mutation("FIELD-03", _field(_late_modifier)),
    "nullable twice": Mutation("FIELD-04", _field(_nullable_twice)),
    "question mark first": Mutation("FIELD-04", _field(_mark_first)),
    "bad id": Mutation("FIELD-06", _field(_bad_id)),
    "no id": Mutation("FIELD-06", _field(_no_id)),
    "no colon": Mutation("INV-11", _field(_no_colon)),
    "no type": Mutation("INV-11", _field(_no_type)),
    "unknown type": Mutation("TYPE-02", _unknown),
    "type arguments": Mutation("TYPE-03", _arguments),
    "container without arguments": Mutation("TYPE-03", _bare_containers),
    "endless message": Mutation("TYPE-07", _endless),
    "void value": Mutation("TYPE-08", _void),
    "bad base": Mutation("EXC-02", _bad_base),
    "two bases": Mutation("EXC-02", _two_bases),
    "id of the base": Mutation("EXC-03", _low_id),
    "id of a far base": Mutation("EXC-05", _low_id_far),
    "base cycle": Mutation("EXC-04", _base_cycle),
    "inherited name": Mutation("EXC-06", _inherited),
    "service twice": Mutation("SVC-02", _service_twice),
    "bad version": Mutation("SVC-03", _bad_version),
    "no version": Mutation("SVC-03", _no_version),
    "function twice": Mutation("SVC-05", _function_twice),
    "argument twice": Mutation("SVC-07", _args(
        [*_A, ",", "1", ":", "int", "a2"], [*_A, ",", "2", ":", "int", "a1"], [*_A, ",", *_B, ",", *_A],
        [*_A, ",", *_B, ",", "3", ":", "int", "a1"])),
    "argument without id": Mutation("SVC-07", _args(["int", "a1"], [*_A, ",", "int", "a2"], ["x", ":", "int", "a1"])),
    "commas": Mutation("SVC-07", _args([*_A, ","], [*_A, ",", ",", *_B], [",", *_A], [*_A, *_B], [","])),
    "throws": Mutation("SVC-09", _throws("unknown", "message", "second", "service", "empty")),
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
    "name twice": Mutation("NAME-01", _name_twice),
    "built-in name": Mutation("NAME-01", _built_in),
    "no name": Mutation("INV-06", _head("no name")),
    "name of digits": Mutation("INV-07", _head("digit")),
    "foreign letters": Mutation("INV-08", _head("foreign")),
    "no opening brace": Mutation("INV-05", _head("no opener")),
    "no closing brace": Mutation("INV-05", _head("no closer")),
    "two closing braces": Mutation("INV-05", _head("two closers")),
    "unknown word": Mutation("INV-10", _head("unknown word")),
    "open comment": Mutation("LEX-04", text=_added("/*", "/* a /* b */", "/* a", "/* /* a */ b", "/* # */ /*")),
    "stray closer": Mutation("LEX-04", text=_added("*/", "/* a */ */", "/* /* a */ */ */")),
    "cut": Mutation("", text=_cut),
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
    "default missing": Mutation("DEF-02", _default(("int", ""), ("string", "{"), ("int", "x")), extension="def"),
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
"""All mutations by name. The rule of one that cuts is found by reading what is left."""
