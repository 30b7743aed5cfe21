"""The score of the seeded faults as a page of docs/.

python -m tests.mutants --budget 10 --out score.json
python -m tests.mutants.page score.json > docs/seeded-faults.md

Scores of several protocols, each with `--protocol`, make one page: give all the files.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.mutants.every import ALL, key_of

HEAD = """# Seeded faults

What is a green worth? Each row below is a requirement, and each of its faults is one of our references with a single
fault that breaks it (`tests/mutants`). All of them were hunted for {budget:.0f} seconds each, with the properties that
a run uses, and without the stored conversations that a run plays first. *Named* is a fault that was reported under a
requirement that it breaks before anything else was, *later* one that was reported so behind another name, *other* one
that was reported under other names only, *missed* one of which nothing was reported. The time is the median until the
report, on a machine with two cores that was busy with other work as well.

`python -m tests.mutants --only STOMP-1.2-ACK-03` hunts those of one requirement, `wireproof --explain ID` lists them.
"""


def joined(scores: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Several scores as one. Raises ValueError where the faults had not the same time."""
    if len({score["budget_s"] for score in scores}) != 1:
        raise ValueError("scores of different budgets make no page")
    return {"budget_s": scores[0]["budget_s"], "rows": [row for score in scores for row in score["rows"]]}


def page(score: Mapping[str, Any]) -> str:
    """The page: a table of protocols and roles, and one of requirements for each protocol."""
    of = {key_of(mutant): mutant for mutant in ALL}
    rows = [row for row in score["rows"] if row["mutant"] in of]
    roles: dict[str, list[Any]] = defaultdict(list)
    requirements: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        mutant = of[row["mutant"]]
        roles[f"{mutant.protocol}, {mutant.role}"].append(row)
        requirements[mutant.protocol][row["requirement"]].append(row)
    lines = [HEAD.format(budget=score["budget_s"]), *_table("protocol and role", roles)]
    lines += [*_table("", {"**all**": rows})[2:]]
    for protocol, found in requirements.items():
        lines += ["", f"## {protocol}", "", *_table("requirement", found)]
    missed = [row for row in rows if row["status"] in ("survived", "wrong")]
    lines += ["", "## Not named", "", "| fault | requirement | reported instead |", "|---|---|---|"]
    lines += [f"| {r['mutant']} | {r['requirement']} | {', '.join(r['others']) or 'nothing'} |" for r in missed]
    return "\n".join(lines) + "\n"


def _table(first: str, groups: Mapping[str, Sequence[Any]]) -> list[str]:
    lines = [f"| {first} | faults | named | later | other | missed | median s |", "|---|---|---|---|---|---|---|"]
    for name, rows in groups.items():
        count = Counter(row["status"] for row in rows)
        figures = [len(rows), count["killed"], count["late"], count["wrong"], count["survived"] + count["broken"]]
        median = statistics.median(row["seconds"] for row in rows)
        lines.append(f"| {name} | {' | '.join(map(str, figures))} | {median:.1f} |")
    return lines


if __name__ == "__main__":
    sys.stdout.write(page(joined([json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:]])))
