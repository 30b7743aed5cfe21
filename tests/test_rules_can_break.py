"""No rule only credits: there is a way through the body of each form and each duty to something else than "".

What a body can answer is read off its source: the values that it returns, and those of the plain functions by which it
answers. Whatever cannot be seen through counts as an answer, so that a rule that is named here is hollow for certain.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest

from specs import protocol as protocols
from specs.protocol import find
from specs.rules import Broken
from tests.obligations import exceptions


def own_returns(tree: ast.AST) -> list[ast.expr | None]:
    """What the function of a tree returns, without the functions that stand inside it."""
    found: list[ast.expr | None] = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Return):
            found.append(node.value)
        elif not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            found += own_returns(node)
    return found


KEPT, STOPPED, BROKEN = "credits", "ends the judging", "blames"


def answers(body: Any, seen: frozenset[Any] = frozenset()) -> set[str]:
    """What the paths through `body` may come to. One that calls itself adds nothing by that."""
    if body in seen:
        return set()
    if not isinstance(body, FunctionType):
        return {BROKEN}
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(body))).body
    yields = any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(tree))
    if not isinstance(tree, ast.FunctionDef) or tree.name != body.__name__ or yields:
        return {BROKEN}
    found: set[str] = set() if isinstance(tree.body[-1], ast.Return) else {KEPT}
    return found.union(*(_values(value, body, seen | {body}) for value in own_returns(tree)))


def _values(value: ast.expr | None, body: FunctionType, seen: frozenset[Any]) -> set[str]:
    if value is None or isinstance(value, ast.Constant):
        return {BROKEN if value is not None and value.value else KEPT}
    if isinstance(value, ast.IfExp):
        return _values(value.body, body, seen) | _values(value.orelse, body, seen)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        if body.__globals__.get(value.func.id) is Broken:
            levels = [word.value for word in value.keywords if word.arg == "level"]
            unjudged = any(isinstance(level, ast.Constant) and level.value == "" for level in levels)
            return {STOPPED if unjudged else BROKEN}
        return answers(body.__globals__.get(value.func.id), seen)
    return {BROKEN}


def is_hollow(body: Any) -> bool:
    """True for a body that can credit, and cannot blame."""
    found = answers(body)
    return KEPT in found and BROKEN not in found


def rules(name: str) -> dict[str, Callable[..., Any]]:
    """The bodies of a protocol's forms and duties, by protocol and sentence. Excuses and permissions blame nothing."""
    books = [book for each in find(name).books.values() for book in each]
    return {
        f"{name} {rule.name}": rule.body
        for book in books
        for rule in (*book.rules, *book.duties)
        if not rule.excuses and not rule.permits
    }


@pytest.mark.parametrize("name", protocols.names())
def test_every_rule_can_break(name):
    hollow = {sentence for sentence, body in rules(name).items() if is_hollow(body)}
    listed = {entry for entry in exceptions("hollow_rules") if entry.startswith(f"{name} ")}
    assert sorted(listed - hollow) == [], "tests/exceptions.toml, hollow_rules: no longer needed"
    assert sorted(hollow - listed) == [], "a rule that can only credit: fold it into the one that can break"


def test_exceptions_are_about_protocols_and_have_reasons():
    listed = exceptions("hollow_rules")
    assert {entry.partition(" ")[0] for entry in listed} <= set(protocols.names())
    assert all(len(reason) > 20 for reason in listed.values())


def _nothing(case: Any) -> str:
    return ""


def only_credits(case: Any) -> str:
    """Constants, on every path."""
    if case:
        return ""
    return _nothing(case)


def only_credits_by_falling_through(case: Any) -> None:
    """No return at all; what stands inside is not its own."""

    def inside() -> str:
        return "wrong"

    inside()


def credits_or_stops(case: Any) -> Any:
    """What ends the judging breaks nothing."""
    return Broken("unclear", level="") if case else ""


def only_stops_judging(case: Any) -> Any:
    """It credits nothing either."""
    return Broken("unclear", level="")


def breaks(case: Any) -> str:
    """One path."""
    return "" if case else "wrong"


def breaks_elsewhere(case: Any) -> str:
    """By a function that does."""
    return breaks(case)


def owes(case: Any) -> Any:
    """What yields may owe."""
    yield "wrong"


@pytest.mark.parametrize("body", [only_credits, only_credits_by_falling_through, credits_or_stops])
def test_a_hollow_body_is_seen(body):
    assert is_hollow(body)


@pytest.mark.parametrize("body", [breaks, breaks_elsewhere, owes, only_stops_judging, lambda case: ""])
def test_a_body_that_can_break_or_cannot_be_seen_through_is_not_called_hollow(body):
    assert not is_hollow(body)
