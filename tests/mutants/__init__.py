"""Servers that are wrong in one point, each with the plan that proves it: what the suite must be able to see.

Every module `stomp_<theme>` or `kcl_<theme>` registers its faults when it is imported; `MUTANTS` has all those of STOMP
servers, `KCL_MUTANTS` those of KCL children and hosts. `link` holds faults
of the connection itself, which can be put in front of any server.
"""

from importlib import import_module
from pkgutil import iter_modules

from tests.mutants.kcl_kit import KCL_MUTANTS, KclMutant
from tests.mutants.kit import MUTANTS, Mutant

__all__ = ["KCL_MUTANTS", "MUTANTS", "KclMutant", "Mutant"]

for _module in sorted(module.name for module in iter_modules(__path__)):
    if _module.startswith(("stomp_", "kcl_")):
        import_module(f"{__name__}.{_module}")
