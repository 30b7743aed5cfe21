"""Are the seeded faults of Pulsar found by the suites that users run, and on what are they blamed?

python -m tests.mutants.pulsar_hunt [--budget SECONDS] [--only PATTERN]
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from pkgutil import iter_modules

from impls.drive import Setting
from impls.link import MemoryGround
from suites.hunt import Fault, Hunter
from suites.investigate import Investigator
from tests.mutants.hunting import main, settling
from tests.mutants.pulsar_kit import MUTANTS, PULSAR, Mutant

THEMES = tuple(
    each.name for each in iter_modules([str(Path(__file__).parent)]) if re.match(r"pulsar_(?!kit|hunt)", each.name)
)
for _theme in THEMES:
    importlib.import_module(f"tests.mutants.{_theme}")


def hunter_for(mutant: Mutant, report: Callable[[Fault], None]) -> Hunter:
    """A hunter on a fresh peer of the mutant."""
    ground, role, config = MemoryGround(mutant.make), mutant.role, mutant.config

    return Hunter(
        Setting(PULSAR, config, role, ground),
        {r.id: r for r in PULSAR.requirements.binding(role, mutant.profile) if not r.untestable},
        investigate=Investigator(shrink_s=1.0),
        report=report,
        settle=settling(ground, tell=role == "broker"),
        prefix="m",
    )


if __name__ == "__main__":
    sys.exit(main("pulsar", [m for m in MUTANTS if not m.unseen], hunter_for))
