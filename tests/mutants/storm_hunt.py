"""Are the faults seeded into Storm's references found by the suites that users run, how soon, on what are they blamed?

    python -m tests.mutants.storm_hunt [--budget 30] [--only 'spout-*'] [--out score.json]

See `tests.mutants.hunted`, which does the work; one after the other in this process.
"""

from __future__ import annotations

import argparse
import json
import sys
from fnmatch import fnmatchcase
from pathlib import Path

from tests.mutants.hunted import BUDGET_S, score_one, summary, table
from tests.mutants.storm_list import STORM_MUTANTS


def main() -> int:
    """The exit status is 1 when a mutant survives or is blamed wrongly."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.storm_hunt")
    parser.add_argument("--budget", type=float, default=BUDGET_S, metavar="SECONDS", help="for each mutant")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="names of mutants, or ids of requirements")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out", type=Path, default=Path("results/mutants-storm.json"), help="where the score is stored"
    )
    wishes = parser.parse_args()
    rows = []
    for mutant in STORM_MUTANTS:
        if fnmatchcase(mutant.name, wishes.only) or fnmatchcase(mutant.requirement, wishes.only):
            row = score_one(mutant, wishes.budget, wishes.seed)  # type: ignore[arg-type]
            rows.append(row)
            if not row.fine:
                sys.stderr.write(f"{mutant.name}: {row.status} ({', '.join(row.others)}) {row.why:.200}\n")
    found = summary(rows, wishes.budget)
    wishes.out.parent.mkdir(parents=True, exist_ok=True)
    wishes.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(table(found) + "\n")
    return 0 if all(row.fine for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
