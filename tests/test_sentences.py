"""Every field of a state says what it is: in the docstring of its class, or in one of its own."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ("NamedTuple", "dataclass", "dataclasses.dataclass")
PLAIN = frozenset({"state", "config", "conn", "number", "by", "phase", "name", "text", "why", "event", "frame"})
"""Names that say themselves, wherever they stand."""


def undescribed(path: Path) -> list[str]:
    """ "Class.field" for every field that no sentence names."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.ClassDef) or not _is_record(node):
            continue
        said = ast.get_docstring(node) or ""
        named = set(re.findall(r"`([a-z_0-9]+)", said))
        words = set(re.findall(r"[a-z_0-9]+", said.lower()))
        for field, after in zip(node.body, [*node.body[1:], None], strict=True):
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                continue
            own = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            name = field.target.id
            if not own and name not in named | PLAIN and name.lower() not in words and not name.startswith("_"):
                found.append(f"{node.name}.{name}")
    return found


def _is_record(node: ast.ClassDef) -> bool:
    bases = {ast.unparse(base) for base in node.bases}
    marks = {ast.unparse(mark).partition("(")[0] for mark in node.decorator_list}
    return bool((bases | marks) & set(RECORDS))


FILES = sorted((ROOT / "specs").glob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_field_of_the_specifications_has_a_sentence(path):
    assert undescribed(path) == []
