"""All that is known of one requirement: what `pytest --explain ID` prints.

The statement and its source; the rules that can blame it, with file and line; the freedoms near it; which properties
judged it in the last run here; the seeded faults that break it; and what real implementations did.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import importlib.util
import inspect
import re
import textwrap
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from records import reader
from records.rows import CoverageRow
from records.text import printable
from specs.protocol import Protocol, find, names
from specs.requirement import Requirement
from specs.rules import Rule, Rulebook

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 110
MOST = 12
"""Lines of a list that are shown."""


def explain(name: str, results: Path) -> str:
    """The page of the requirement called `name`. Raises LookupError naming the nearest ids when there is none."""
    protocol, requirement = _found(name)
    parts = (
        _head(requirement),
        _section("rules", _rules(protocol, requirement.id)),
        _section("freedoms", _freedoms(protocol, requirement.id)),
        _section("judged here", _judged(requirement.id, results)),
        _section("seeded faults", _mutants(requirement.id)),
        _section("real implementations", _real(requirement.id)),
    )
    return "\n".join(line for part in parts for line in part) + "\n"


def _found(name: str) -> tuple[Protocol, Requirement]:
    ids: list[str] = []
    for known in names():
        try:
            protocol = find(known)
        except LookupError:
            continue  # its library is not installed: its requirements cannot be meant
        if name in protocol.requirements:
            return protocol, protocol.requirements[name]
        ids += protocol.requirements
    near = difflib.get_close_matches(name, ids, 3, 0.5)
    raise LookupError(
        f"no requirement is called {printable(name, 60)!r}" + (f"; near: {', '.join(near)}" if near else "")
    )


def _head(requirement: Requirement) -> Iterator[str]:
    yield f"{requirement.id}  {requirement.level}, section {requirement.section}"
    yield from _prose(requirement.statement)
    yield from _prose(f"source: {requirement.source}")
    yield from _prose(f"binds: {', '.join(requirement.roles)}; profiles: {', '.join(requirement.profiles)}")
    if requirement.untestable:
        yield from _prose(f"no conversation can show it: {requirement.untestable}")


def _section(title: str, lines: Iterator[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield ""
        yield title
        yield from found


def _prose(text: str, indent: str = "  ") -> list[str]:
    clean = printable(" ".join(text.split()), 2000)
    return textwrap.wrap(clean, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


# -- rules -------------------------------------------------------------------------------------------------------------


def _books(protocol: Protocol) -> Iterator[Rulebook]:
    seen: set[int] = set()
    for books in protocol.books.values():
        for book in books:
            if id(book) not in seen:
                seen.add(id(book))
                yield book


def _rules(protocol: Protocol, name: str) -> Iterator[str]:
    bodies: dict[Callable[..., Any], str] = {}
    for book in _books(protocol):
        for rule in (*book.rules, *book.duties):
            if name in (*rule.requirements, *rule.also):
                bodies.setdefault(rule.body, f"{_kind(rule)} on {', '.join(sorted(rule.on))}")
            for causes in (rule.causes, rule.shows):
                for cause in causes.ranked if causes is not None else ():
                    if name in (*cause.requirements, *cause.also):
                        bodies.setdefault(cause.evidence, f"cause of: {causes.name}" if causes is not None else "")
    for body, what in bodies.items():
        yield f"  {body.__name__.replace('_', ' ').strip()}  ({what})"
        yield f"      {place(body)}"
        yield from _prose(inspect.getdoc(body) or "", "      ")
    for title, machine in protocol.machines.items():
        for by in sorted(set(machine.actors.values())):
            for phase, action, cell in machine.forbids(by):
                if name in cell.requirements:
                    yield f"  never: {by} {action} in {phase.name} ({title})"
    for where in places(protocol.name).get(name, ()):
        yield f"      {where}"
    for feature in protocol.features:
        if feature.requirement == name:
            yield from _prose(f"way of writing that must not matter: {feature.name} ({feature.why})")
    if protocol.crash == name:
        yield "  blamed when the implementation dies or can no longer hold the simplest session"


def _kind(rule: Rule) -> str:
    return "permission" if rule.permits else rule.obligation


def place(body: Callable[..., Any]) -> str:
    """File and line of a rule, relative to the checkout."""
    code = inspect.unwrap(body).__code__
    path = Path(code.co_filename)
    shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name
    return f"{shown}:{code.co_firstlineno}"


def places(protocol: str) -> dict[str, list[str]]:
    """Every full id that stands as a text in a protocol's specification, outside docstrings, and where: "file:line"."""
    ids, found = set(find(protocol).requirements), dict[str, list[str]]()
    for path in sorted((ROOT / "specs" / protocol).rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        prose = {id(node.body[0].value) for node in ast.walk(tree) if _documented(node)}  # type: ignore[attr-defined]
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
                for word in node.value.split():
                    if word in ids:
                        found.setdefault(word, []).append(f"{path.relative_to(ROOT)}:{node.lineno}")
    return found


def _documented(node: ast.AST) -> bool:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    return isinstance(node, kinds) and bool(node.body) and isinstance(node.body[0], ast.Expr)


def _freedoms(protocol: Protocol, name: str) -> Iterator[str]:
    for book in _books(protocol):
        for rule in book.rules:
            if name in rule.requirements:
                for freedom in rule.freed_by:
                    yield f"  {freedom.id}  {freedom.name}  {place(freedom.body)}"
    short = "-".join(name.split("-")[-2:])
    for point in re.split(r"\n(?=- \*\*|\n)", _readings(protocol)):
        if re.search(rf"(?<![\w-]){re.escape(short)}(?![\w-])", point) and point.strip().startswith("- **"):
            yield from _prose(point.strip()[2:])


def _readings(protocol: Protocol) -> str:
    """What docs/ambiguities.md says of a protocol, behind a comment that names it: rows of several protocols end in the
    same words."""
    text = (ROOT / "docs" / "ambiguities.md").read_text("utf-8")
    _, *marked = re.split(r"<!-- protocol: (\w+) -->", text)
    return "".join(said for name, said in zip(marked[::2], marked[1::2], strict=True) if name == protocol.name)


# -- what was seen -----------------------------------------------------------------------------------------------------


def _judged(name: str, results: Path) -> Iterator[str]:
    counts: Counter[str] = Counter()
    for row in reader.read(results).rows if results.is_dir() else ():
        if isinstance(row, CoverageRow) and row.requirement == name:
            counts[row.property] += row.judged
    if not counts:
        yield f"  in no run kept in {printable(results.name, 60)}; --requirement={name} plays for it alone"
    for prop, count in counts.most_common(MOST):
        yield f"  {count:>7}  {printable(prop, 90)}"


def _mutants(name: str) -> Iterator[str]:
    hunted = _optional("tests.mutants.hunted")
    if hunted is None:
        yield "  they come with the project's own tests, which are not here"
        return
    found = [mutant for mutant in hunted.ALL if name == mutant.requirement]
    for mutant in found[:MOST]:
        yield from _prose(f"{mutant.role} {mutant.name}: {mutant.why}")
    if len(found) > MOST:
        yield f"  ... and {len(found) - MOST} more"
    if not found:
        yield "  none breaks it under its own id"


def _optional(name: str) -> ModuleType | None:
    """A module of the project's own tests, None where the tests are not there."""
    if importlib.util.find_spec(name.partition(".")[0]) is None:
        return None
    return importlib.import_module(name)


def _real(name: str) -> Iterator[str]:
    for path in sorted((ROOT / "impls" / "catalog").glob("*.toml")):
        entry = tomllib.loads(path.read_text("utf-8")).get("deviations", {}).get(name)
        if entry:
            yield from _prose(f"{path.stem}: {entry['reason']}")
    server = ""
    for number, line in enumerate((ROOT / "docs" / "findings.md").read_text("utf-8").splitlines(), 1):
        if line.startswith("## "):
            server = line[3:]
        elif line.startswith("### ") and name in line:
            yield from _prose(f"{server}: {line[4:]} (docs/findings.md:{number})")
