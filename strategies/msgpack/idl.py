"""What an IDL processor is asked: documents in every layout, documents with one mutation, and what is none at all.

Source: 004_4ca5b084f7ea0751.txt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from hypothesis.strategies import SearchStrategy

from specs.msgpack.idl.compiler.case import extensions_of
from specs.msgpack.idl.semantics import INTEGERS
from specs.msgpack.lines import Ask
from specs.msgpack.states import Config
from specs.plan import Plan, Say, Step
from strategies.common import Op, Program, programs
from strategies.msgpack.documents import TAG, Block, Dice, Document, built
from strategies.msgpack.mutating import an_application
from strategies.msgpack.mutations import MUTATIONS
from strategies.msgpack.printing import printed

EVERYTHING = {"message": 5, "exception": 4, "service": 5, "application": 3, "typedef": 2, "typespec": 1, "interface": 2}
NAMES = tuple(MUTATIONS)


class Script:
    """Collects questions."""

    def __init__(self, config: Config, *, hurry: bool) -> None:
        self.config = config
        self.when = "now" if hurry else "turn"
        self.steps: list[Step] = []

    def ask(self, text: str, want: str = "") -> None:
        """A question about a document; `want` "free" for one to which any answer is right."""
        octets = text.encode("utf-8", "surrogatepass")
        ask = Ask(len(self.steps) + 1, "parse", octets, "idl", self.config.profile, None, want)
        self.steps.append(Say(0, ask, (), self.when))

    def plan(self) -> Plan:
        """All of them."""
        return Plan(tuple(self.steps))


def _text(document: Document, config: Config, style: int, seed: int) -> str:
    return printed(document, style, seed, free=config.one_line)


def documents(*kinds: str, most: int = 6) -> SearchStrategy[Program]:
    """Definitions of some kinds, of all when none is named."""
    weights = {kind: EVERYTHING[kind] for kind in kinds} if kinds else EVERYTHING
    return programs(weights, head=4, most=most)


def legal(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """One document in one or two layouts, asked about once or again."""
    style, seed, shape, other = program.head
    script = Script(config, hurry=hurry)
    shape %= 8
    times = 1 + other % 6 if shape == 1 else 1  # many definitions
    document = built(program.ops * times, extensions_of(config.profile))
    text = _text(document, config, style if style % 3 else 0, seed)
    if shape in (3, 4):
        script.ask(_text(document, config, 0, 0))
    if shape == 2:
        script.ask(
            ("", "\n", " \t\n", "# nothing", "/* nothing */", "// nothing\n", "\r\n", "/* /* */ */\n#")[other % 8]
        )
    if shape == 5:  # what came before must not matter
        before = built(program.ops[: 1 + other % 3], extensions_of(config.profile))
        script.ask(_text(before, config, 0, 0))
    script.ask(text)
    if shape == 6:
        script.ask(f"message {'broken' * (1 + other % 2)} {{\n  1: nothing{TAG} x\n")
        script.ask(text)
    if shape in (4, 7):
        script.ask(text)
    return script.plan()


def commented(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """One document with comments in every second place, and nothing else between its words there, in some layouts."""
    style, seed, *_ = program.head
    script = Script(config, hurry=hurry)
    document = built(program.ops, extensions_of(config.profile))
    for n in range(4):
        script.ask(printed(document, style | 3, seed + n, free=config.one_line, dense=True))
    return script.plan()


def forgetting(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """A document, and then the same one without one of its definitions, which must be known no more. At times the first
    one is refused: for its last words, or for a type that is none."""
    style, seed, which, other = program.head
    script = Script(config, hurry=hurry)
    extensions = extensions_of(config.profile)
    whole, rest = built(program.ops, extensions), built(program.ops, extensions)
    if rest.blocks:
        del rest.blocks[which % len(rest.blocks)]
    text = _text(whole, config, 0, 0)
    spoilt = ("message {\n", f"message broken{TAG} {{\n  1: nothing{TAG} x\n}}\n")[seed % 2]
    script.ask(text + (spoilt if other % 4 in (1, 2) else ""))  # nor is anything known of what was refused
    script.ask(_text(rest, config, style if style % 3 == 1 else 0, other))
    if other % 2:
        script.ask(text)
    return script.plan()


def broken_off(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """A document that breaks off behind each of some words in a row, or goes on there with what is no word; and behind
    each a plain one, in which nothing may be left of it. It goes on behind a typespec: where the type of another
    language ends, of which only a part is there, is not said."""
    style, seed, which, other = program.head
    script = Script(config, hurry=hurry)
    text = _text(built(program.ops, extensions_of(config.profile)), config, 0, seed)
    ends = [each.end() for each in _WORD.finditer(text) if not each.group().startswith("typespec ")] or [0]
    for n in range(min((8, 48, 24)[other % 3], len(ends))):
        script.ask(text[: ends[(which + n) % len(ends)]] + _BROKEN[style % len(_BROKEN)])
        first = (seed + n) % len(_BARE)
        script.ask("".join((*_BARE[first:], *_BARE[:first])))
    return script.plan()


_WORD = re.compile(r"typespec .*|\w+|\S")
_BROKEN = ("", " ;", "\n}\n", " {", " 7 7")
"""What stands where a document breaks off."""
_BARE = (
    f"message M{TAG} {{\n  1: int x\n  2: list<int> y\n}}\n",
    f"exception E{TAG} {{\n  1: int x\n}}\n",
    f"service S{TAG}: 0 {{\n  int f()\n  void g(1: int x)\n  int h()\n}}\n",
)
"""Definitions without anything that may be left out."""


def repeating(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """One document many times: each answer must be that to the first."""
    _, seed, which, _ = program.head
    script = Script(config, hurry=hurry)
    text = _text(built(program.ops, extensions_of(config.profile)), config, 0, seed)
    for _ in range((60, 10, 25, 120)[which % 4]):
        script.ask(text)
    return script.plan()


def shuffled(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """What a processor may refuse: definitions in any order, words of the language as names, and more."""
    style, seed, shape, other = program.head
    script = Script(config, hurry=hurry)
    document = built(program.ops, extensions_of(config.profile))
    dice = Dice(seed, shape, other)
    if shape % 4 == 0:
        document.blocks = document.blocks[::-1]
    elif shape % 4 == 1:
        document.blocks = dice.shuffled(document.blocks)
    else:
        _oddity(document, dice)
    script.ask(_text(document, config, style if style % 3 == 1 else 0, seed))
    return script.plan()


def _oddity(document: Document, dice: Dice) -> None:
    """One thing of which nobody says whether it is legal, and whose tree is beyond doubt."""
    if dice.roll(8) == 7:  # no scope is the default
        for entry in an_application(document, dice).items:
            del entry[4:]
        return
    name = document.fresh("Odd")
    item = dice.pick((
        ["0", ":", "int", "zero"], ["1", ":", "optional", name, "self"], ["1", ":", "list", "<", name, ">", "self"],
        ["1", ":", "list", "<", "int", "?", ">", "x"], ["1", ":", "map", "<", "double", ",", "int", ">", "x"],
        ["1", ":", "int", "service"], ["1", ":", "int", "optional"], ["1", ":", "int", "string"],
        ["1", ":", "int", "list"], ["2147483648", ":", "int", "large"], ["18446744073709551616", ":", "int", "large"],
        ["1", ":", "int", "throws"], ["1", ":", name, "?", "self"], ["1", ":", "int", "message"],
        ["1", ":", "list", "<", "list", "<", "int", ">", "?", ">", "?", "x"],
        ["1", ":", "map", "<", "int", ",", "map", "<", "int", ",", "raw", "?", ">", ">", "x"],
    ))  # fmt: skip
    if dice.roll(3) == 2 and document.of("service"):
        function = [part for part in document.of("service")[0].items if "(" in part]
        if function:
            at = function[0].index("(")
            args = dice.pick((["1", ":", "optional", "int", "a"], ["2", ":", "int", "a"], ["1", ":", "int", "?", "a"]))
            function[0][at + 1 : function[0].index(")")] = args
            return
    document.blocks.append(Block("message", name, ["message", name, "{"], [list(item)]))
    if dice.roll(4) == 3:  # names of types and of services are apart, or are not
        document.blocks.append(Block("service", name, ["service", name, ":", "0", "{"], [["int", "f", "(", ")"]]))


def wrong(program: Program, config: Config, *, hurry: bool = False, only: Sequence[str] = NAMES) -> Plan:
    """One document with one mutation, then with another and so on, alone or beside the legal one."""
    style, seed, which, other = program.head
    script = Script(config, hurry=hurry)
    extensions = extensions_of(config.profile)
    names = [name for name in only if not MUTATIONS[name].extension or MUTATIONS[name].extension in extensions]
    sound = _text(built(program.ops, extensions), config, 0, 0)
    if other % 16 == 5:
        script.ask(sound)
    for turn in range(1 + other % 8):  # counted down, so that a plan for one of them is found by lower numbers
        mutation = MUTATIONS[names[(which + 256 * (seed % 2) - turn) % len(names)]]
        document, dice = built(program.ops, extensions), Dice(seed, other // 4)
        if mutation.tree is not None:
            mutation.tree(document, dice)
        text = _text(document, config, style if style % 3 == 1 else 0, seed)
        if mutation.text is not None:
            text = mutation.text(text, dice)
        script.ask("\n" * (1 + other // 16 if other % 8 == 7 else 0) + text)
    if other % 16 == 6:
        script.ask(sound)
    if other % 16 == 9:
        script.ask(text)
    return script.plan()


def widths() -> SearchStrategy[Program]:
    """Where defaults stand whose type is one of integers."""
    return programs({"field": 2, "argument": 1, "alias": 1}, head=1, most=1)


def bounds(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The ends of every type of integers as defaults, and the numbers behind them; a document where nobody claims to
    know defaults."""
    extensions = extensions_of(config.profile)
    op = program.ops[0] if program.ops else Op("field")  # a shorter program has none
    if "def" not in extensions:
        return legal(Program((*program.head, 0, 0, 0), (Op("message", op.args),)), config, hurry=hurry)
    script = Script(config, hurry=hurry)
    place = op.kind if op.kind != "alias" or "td" in extensions else "field"
    rows = [(name, end, step) for name, ends in INTEGERS.items() for end, step in zip(ends, (-1, 1), strict=True)]
    at = program.head[0] % len(rows)
    for distance in (0, 1):
        for name, end, step in (*rows[at:], *rows[:at]):
            script.ask(_WITH_DEFAULT[place].format(name=name, number=end + distance * step))
    return script.plan()


_WITH_DEFAULT = {
    "field": f"message M{TAG} {{{{\n  1: optional {{name}} x = {{number}}\n}}}}\n",
    "argument": f"service S{TAG}: 0 {{{{\n  int f(1: {{name}} x = {{number}})\n}}}}\n",
    "alias": f"typedef {{name}} T{TAG}\nmessage M{TAG} {{{{\n  1: optional T{TAG} x = {{number}}\n}}}}\n",
}


def alikes() -> SearchStrategy[Program]:
    """A program is its head."""
    return programs({"none": 1}, head=1, most=0, least=0)


def alike(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Documents of what is easily taken for the same, or for something that a document may not have."""
    extensions, script = extensions_of(config.profile), Script(config, hurry=hurry)
    rows = [text for name, text in _ALIKE if not name or name in extensions]
    at = program.head[0] % len(rows)
    for text in (*rows[at:], *rows[:at]):
        script.ask(text)
    return script.plan()


_ALIKE = (
    ("", f"service S{TAG}1: 1 {{\n  int f()\n}}\nservice S{TAG}: 11 {{\n  int f()\n}}\n"),
    ("", f"service S{TAG}: 1 {{\n  int f()\n}}\nservice S{TAG}: 11 {{\n  int g()\n  int f()\n}}\n"),
    ("", f"message M{TAG} {{\n  1: int a\n  33: int b\n  65: int c\n  64: int d\n  128: int e\n  257: int f\n}}\n"),
    ("", f"message M{TAG}a {{\n  1: int f\n}}\nmessage M{TAG}A {{\n  1: M{TAG}a f\n}}\n"),
    ("", f"message M{TAG} {{\n  1: int f\n  2: int F\n  3: int f_\n  4: int f1\n  5: int f11\n  11: int f111\n}}\n"),
    ("", f"exception E{TAG} {{\n  5: int a\n  2: int b\n}}\nexception F{TAG} < E{TAG} {{\n  6: int c\n}}\n"),
    ("", f"service S{TAG}: 0 {{\n  int f()\n}}\nservice S{TAG}: 1 {{\n  int f()\n  int F(1: int a)\n}}\n"),
    ("td", f"typedef int T{TAG}\nmessage M{TAG} {{\n  1: T{TAG}? a\n  2: T{TAG} b\n  3: list<T{TAG}> c\n}}\n"),
    ("if", (f"interface I{TAG}: 0 {{\n  int a()\n}}\nservice S{TAG}: 0 {{\n  implements I{TAG}: 0\n  int b()\n}}\n"
            f"service S{TAG}: 1 {{\n  implements I{TAG}: 0\n  int b()\n  int c()\n}}\n")),
)  # fmt: skip
"""Such documents, and the extension that each needs."""


def lines(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """A plain document with one fault whose line is asked for, below other lines of all kinds."""
    style, seed, which, other = program.head
    script = Script(config, hurry=hurry)
    above = "".join(_ABOVE[op.args[0] % len(_ABOVE)].replace("N", f"Above{TAG}{n}") for n, op in enumerate(program.ops))
    faults = _BELOW if which % 2 else _BELOW[:3]
    text = above + faults[which // 2 % len(faults)].replace("N", f"Below{TAG}")
    text += "".join(_ABOVE[n % len(_ABOVE)].replace("N", f"End{TAG}") for n in ((other,) if other % 3 == 1 else ()))
    script.ask(text.replace("\n", "\r\n") if style % 4 == 3 else text, "line")
    if seed % 4 == 3:
        script.ask("\n" * (1 + seed // 8) + text, "line")
    return script.plan()


_ABOVE = (
    "message N {\n  1: int x\n  2: string y\n}\n", "\n", "\n\n\n", "# a\n", "/* a\n b\n\n*/\n", "message N {\n}\n",
    "/* a */\n", "// a\n\n", "exception N {\n  1: int x\n}\n", "   \n", "/*\n*/ ", "/* a\n/* b\n c\n*/ d\n*/\n",
)  # fmt: skip
_BELOW = (
    "message N {\n  1: int x\n  2: nothing y\n  3: int z\n}\n", "message N {\n  1: int x\n  2: int y\n  2: int z\n}\n",
    "message N {\n  1: int x\n  2: int x\n}\n",
    "exception N {\n  4: int x\n}\nexception M < N {\n  5: int y\n  3: int z\n}\n",
    "service N: 0 {\n  int f()\n  int f()\n}\n", "service N: 0 {\n  int f() throws nothing\n  int g()\n}\n",
    "message N {\n  1: int x\n}\n\nmessage N {\n  1: int y\n}\n", "service N: 0 {\n  int f(1: int a, 1: int b)\n}\n",
    "service N: 0 {\n}\napplication A {\n  N: 0 a default\n  N: 7 b\n}\n",
)  # fmt: skip


def mutating(*names: str) -> Callable[..., Plan]:
    """The interpretation of mutations limited to some."""
    unknown = [name for name in names if name not in MUTATIONS]
    if unknown:
        raise LookupError(f"no mutation is called {unknown[0]!r}")
    return partial(wrong, only=names)


# -- hostile -----------------------------------------------------------------------------------------------------------

_PLAIN = f"message M{TAG} {{\n  1: int x\n}}\n"


def _depth(n: int) -> int:
    """Levels that end whoever calls itself for each, while work that grows with their square still takes seconds."""
    return (40, 100, 1000, 4000, 10_000)[n % 5]


def _deep_types(a: int, b: int) -> str:
    return f"message D{TAG} {{\n  1: {'list<' * _depth(a)}int{'>' * (_depth(a) if b % 2 else 0)} x\n}}\n"


def _deep_comments(a: int, b: int) -> str:
    return "/*" * _depth(a) + "*/" * (_depth(a) if b % 2 else 0) + _PLAIN


def _long_name(a: int, b: int) -> str:
    return f"message {'x' * (100, 10_000, 1 << 16)[a % 3]} {{\n  1: int x\n}}\n"


def _many_fields(a: int, b: int) -> str:
    count = (100, 2000, 5000)[a % 3 if b % 4 == 3 else 0]
    return f"message F{TAG} {{\n" + "".join(f"  {n}: int x{n}\n" for n in range(1, count + 1)) + "}\n"


def _garbage(a: int, b: int) -> str:
    dice = Dice(a + 1, b)
    alphabet = (
        "message ", "{", "}", "1", ":", " ", "int", " x", "\n", "/*", "*/", "#", "<", ">", "?", ",", "(", ")", "é", '"',
        "\0", "\ufeff", "list", "map", "throws", "=", "-", "\\", "service ", "application ", "exception ", "\r",
    )  # fmt: skip
    return "".join(dice.pick(alphabet) for _ in range(a % 60))


def _huge_number(a: int, b: int) -> str:
    number = "9" * (10, 20, 40, 5000)[a % 4]
    forms = (f"message H{TAG} {{\n  {number}: int x\n}}\n", f"service H{TAG}: {number} {{\n}}\n")
    return forms[b % 2]


_HOSTILE: Mapping[str, Callable[[int, int], str]] = {
    "deep types": _deep_types, "deep comments": _deep_comments, "long name": _long_name, "many fields": _many_fields,
    "garbage": _garbage, "huge number": _huge_number,
}  # fmt: skip


def hostilities() -> SearchStrategy[Program]:
    """What is hard to bear."""
    return programs({"garbage": 6, **{name: 1 for name in _HOSTILE if name != "garbage"}}, head=1, most=3)


def hostile(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Any answer is right to each, and a legal document is read behind them."""
    script = Script(config, hurry=hurry)
    for op in program.ops:
        *_, a, b = op.args
        script.ask(_HOSTILE[op.kind](a, b), "free")
    script.ask(_PLAIN)
    return script.plan()


__all__ = ["NAMES", "Op", "documents", "hostile", "hostilities", "legal", "mutating", "shuffled", "wrong"]
