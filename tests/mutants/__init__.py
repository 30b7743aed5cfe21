"""Programs that are wrong in one point, each with the plan that proves it: what the suite must be able to see.

Each protocol has a module that ends in `kit`, with the record of a fault and the list of all; every other module
registers faults when it is imported, which importing this package does. `tests.mutants.hunted` hunts them.
`stomp_link` holds faults of the connection itself, which can be put in front of any server.
"""

from importlib import import_module
from pkgutil import iter_modules

from tests.mutants.kcl_kit import KCL_MUTANTS
from tests.mutants.kit import MUTANTS
from tests.mutants.record import Mutant

__all__ = ["KCL_MUTANTS", "MUTANTS", "Mutant"]

for _module in sorted(module.name for module in iter_modules(__path__)):
    if _module not in ("__main__", "hunted"):
        import_module(f"{__name__}.{_module}")
