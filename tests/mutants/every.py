"""All seeded faults of all protocols, and in which module each one stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import tests.mutants
from tests.mutants.record import Mutant

ASIDE = frozenset({"__main__", "deck", "every", "hunted", "outside", "page", "served", "varying"})
"""The modules of the package that use faults; all others make them."""


def key_of(mutant: Any) -> str:
    """A name that no other mutant has."""
    return f"{mutant.protocol}-{mutant.role}-{mutant.name}"


def _by_module() -> Mapping[str, tuple[Mutant, ...]]:
    """The faults that came with each module; what two modules share stands with the first."""
    names = [found.name for found in iter_modules(tests.mutants.__path__) if found.name not in ASIDE]
    kits = [vars(import_module(f"tests.mutants.{name}")) for name in names if name.endswith("kit")]
    lists = [found for kit in kits for name, found in kit.items() if name.endswith("MUTANTS")]
    seen: dict[int, int] = {}
    by_module: dict[str, tuple[Mutant, ...]] = {}
    for name in sorted(names):
        import_module(f"tests.mutants.{name}")
        by_module[name] = tuple(mutant for each in lists for mutant in each[seen.get(id(each), 0) :])
        seen |= {id(each): len(each) for each in lists}
    return by_module


BY_MODULE = _by_module()
ALL: Sequence[Mutant] = tuple(mutant for found in BY_MODULE.values() for mutant in found)


def of_protocol(name: str) -> Sequence[Mutant]:
    """Those of one protocol."""
    return tuple(mutant for mutant in ALL if mutant.protocol == name)


MODULE: Mapping[str, str] = {key_of(mutant): name for name, found in BY_MODULE.items() for mutant in found}
"""The module of each fault, by its key: a program that is one fault imports nothing else."""
