"""The properties of the suites that users run, taken from the suites themselves."""

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
        (replace(case.prop, name=f"{case.prop.name} {how}", hurry=how == "pipelined" and case.prop.hurry), case.weight)
        for how in DISCIPLINES
        for case in cases
        if how in case.disciplines and (how == "lock-step" or case.prop.hurry)
    ]


def _modules(protocol: str, role: str) -> Iterator[Any]:
    package = importlib.import_module(f"suites.{protocol}")
    for found in iter_modules(package.__path__):
        if found.name.startswith("test_"):
            module = importlib.import_module(f"suites.{protocol}.{found.name}")
            if role in getattr(module, "ROLES", (role,)):
                yield module


def _cases(module: Any) -> Iterator[Case]:
    """The suites' functions called as pytest would call them, with a `hunt` that takes down what it is given."""
    for name, function in vars(module).items():
        if not name.startswith("test_") or not callable(function):
            continue
        weight, variants = 1.0, [{}]
        for mark in getattr(function, "pytestmark", ()):
            if mark.name == "weight":
                weight = mark.args[0]
            elif mark.name == "parametrize":
                variants = [{mark.args[0]: value} for value in mark.args[1]]
        for variant in variants:
            taken: list[Property] = []
            label = " ".join([f"{module.__name__.rpartition('.')[2]}::{name}", *map(str, variant.values())])

            def hunt(
                programs: Any,
                interpret: Any,
                *,
                avoids: bool = False,
                always_calm: bool = False,
                label: str = label,
                taken: list[Property] = taken,
            ) -> None:
                taken.append(Property(label, programs, interpret, hurry=not always_calm, avoids=avoids))

            function(hunt, **variant)
            disciplines = getattr(module, "DISCIPLINES", DISCIPLINES)
            yield from (Case(prop, weight, disciplines) for prop in taken)
