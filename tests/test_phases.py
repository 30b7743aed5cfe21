"""No phase moves outside the machine.

In the source of specs/, whatever is given as `phase=` comes from `Machine.move`, is the phase of another state, or is
chosen by an effect of an action for which the machine offers several: that choice is checked by `Rulebook` at every
step. Who begins a conversation begins with its first phase.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from specs import protocol as protocols
from specs.protocol import find
from tests.obligations import exceptions

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted(path for path in (ROOT / "specs").glob("*/**/*.py"))
Function = ast.FunctionDef
FIRST = "NEW"
"""What a first phase, or a table of them, is called."""


@cache
def choosers() -> frozenset[tuple[str, str]]:
    """Effects, as (file, function), of which the machine lets some action lead to several phases."""
    found = set()
    for name in protocols.names():
        for book in {book for books in find(name).books.values() for book in books}:
            several = {act for _, act, cell in book.machine.cells() if isinstance(cell, tuple)} if book.machine else ()
            for action, effect in book._effects.items():
                if action in several:
                    found.add((str(Path(inspect.getfile(effect)).relative_to(ROOT)), effect.__name__))
    return frozenset(found)


def own_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions inside it."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, Function):
            yield from own_nodes(node)


def bound(function: Function, name: str) -> list[ast.expr]:
    """Every value that a local name is given; none for a parameter."""
    found: list[ast.expr] = []
    for node in own_nodes(function):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
            found += [value for each, value in pairs if isinstance(each, ast.Name) and each.id == name]
    return found


def is_moved(value: ast.expr, function: Function, module: dict[str, Function]) -> bool:
    """True when a value is the machine's, or the phase that some state has."""
    if isinstance(value, ast.IfExp):
        return is_moved(value.body, function, module) and is_moved(value.orelse, function, module)
    if isinstance(value, ast.Attribute):
        return value.attr == "phase"
    if isinstance(value, ast.Name):
        values = bound(function, value.id)
        return bool(values) and all(is_moved(each, function, module) for each in values)
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Attribute):
        return value.func.attr == "move"
    called = module.get(value.func.id) if isinstance(value.func, ast.Name) else None
    returned = [node.value for node in own_nodes(called) if isinstance(node, ast.Return)] if called else []
    return bool(returned) and all(each is not None and is_moved(each, called, module) for each in returned)


def begins(call: ast.Call, value: ast.expr, function: Function) -> bool:
    """True where a state is made new, in the first phase."""
    made = isinstance(call.func, ast.Name) and call.func.id[:1].isupper()
    values = (bound(function, value.id) if isinstance(value, ast.Name) else []) or [value]
    roots = [each.value if isinstance(each, ast.Subscript) else each for each in values]
    return made and bool(roots) and all(isinstance(root, ast.Name) and root.id == FIRST for root in roots)


def by_hand(source: str, file: str = "") -> set[str]:
    """Functions of a module that put a phase of their own choice, as "file: function"."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, Function)]
    module = {function.name: function for function in functions}
    found = set()
    for function in functions:
        if (file, function.name) in choosers():
            continue
        for node in own_nodes(function):
            if isinstance(node, ast.Call):
                values = [word.value for word in node.keywords if word.arg == "phase"]
                if any(not is_moved(v, function, module) and not begins(node, v, function) for v in values):
                    found.add(f"{file}: {function.name}")
            elif isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and function.name != "__init__":
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(isinstance(target, ast.Attribute) and target.attr == "phase" for target in targets):
                    found.add(f"{file}: {function.name}")
    return found


def test_no_phase_moves_outside_the_machine():
    found = {name for path in FILES for name in by_hand(path.read_text("utf-8"), str(path.relative_to(ROOT)))}
    listed = set(exceptions("phases_by_hand"))
    assert sorted(found - listed) == [], "let `Machine.move` say the phase, or the cell of the action"
    assert sorted(listed - found) == [], "tests/exceptions.toml, phases_by_hand: no longer needed"


def test_effects_that_choose_are_known():
    assert len(choosers()) > 5


@pytest.mark.parametrize(
    "body",
    ["return conv._replace(phase=OVER)", "phase = OVER\n    return conv._replace(phase=phase)", "conv.phase = OVER",
     "return Conv(phase=OVER)", "p = M.move(conv.phase, 'a') if conv else OVER\n    return replace(conv, phase=p)",
     "return other(conv, phase=conv and OVER)", "return conv._replace(phase=chosen())",
     "return conv._replace(phase=conv)"],
)  # fmt: skip
def test_a_phase_that_is_put_by_hand_is_seen(body):
    assert by_hand(f"def after(conv):\n    {body}\ndef chosen():\n    return OVER\n") == {": after"}


@pytest.mark.parametrize(
    "body",
    ["return conv._replace(phase=M.move(conv.phase, 'ends'))", "return conv._replace(phase=other.phase)",
     "name, phase = 1, moved(conv)\n    return conv._replace(phase=phase)", "return Conv(phase=NEW['bolt'])",
     "return Conv(phase=NEW)", "return conv._replace(other=OVER)"],
)  # fmt: skip
def test_a_move_is_a_move(body):
    assert by_hand(f"def after(conv):\n    {body}\ndef moved(conv):\n    return M.move(conv.phase, 'a')\n") == set()
