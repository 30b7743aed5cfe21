"""The properties of the suites that users run: the rows of the suites themselves."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pkgutil import iter_modules
from typing import Any

from suites.hunt import Property

DISCIPLINES = ("lock-step", "pipelined")


@dataclass(slots=True)
class Case:
    """A property of the suites, its weight and the disciplines it is played in."""

    prop: Property
    weight: float
    disciplines: Sequence[str] = DISCIPLINES


def properties(protocol: str, role: str) -> list[tuple[Property, float]]:
    """Every property for a role in each discipline, and its weight: those of most weight first."""
    cases = [case for module in _modules(protocol, role) for case in _cases(module)]
    cases.sort(key=lambda case: -case.weight)
    return [
        (_played(case.prop, how), case.weight)
        for how in DISCIPLINES
        for case in cases
        if how in case.disciplines and (how == "lock-step" or case.prop.hurry)
    ]


def _played(prop: Property, how: str) -> Property:
    hurry = how == "pipelined" and prop.hurry
    return replace(prop, name=f"{prop.name} {how}", hurry=hurry, key=key_of(prop.name, hurry=hurry))


def key_of(label: str, *, hurry: bool) -> str:
    """What a property is called wherever it is played: its module, its test, its label if there are several."""
    return f"{label} {DISCIPLINES[hurry]}"


def _modules(protocol: str, role: str) -> Iterator[Any]:
    package = importlib.import_module(f"suites.{protocol}")
    for found in iter_modules(package.__path__):
        if found.name.startswith("test_"):
            module = importlib.import_module(f"suites.{protocol}.{found.name}")
            if role in getattr(module, "ROLES", (role,)):
                yield module


def _cases(module: Any) -> Iterator[Case]:
    """The rows of a suite (see suites/table.py)."""
    disciplines = getattr(module, "DISCIPLINES", DISCIPLINES)
    for name, test in vars(module).items():
        for row in getattr(test, "rows", ()) if name.startswith("test_") else ():
            label = f"{module.__name__.rpartition('.')[2]}::{name} {row.label}".rstrip()
            prop = Property(
                label, row.programs, row.interpret, hurry=not row.always_calm, avoids=row.avoids, deals=row.deals,
                heavy=row.heavy,
            )  # fmt: skip
            yield Case(prop, row.weight, disciplines)
