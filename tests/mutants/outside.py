"""Are the seeded faults found by the command that users run, in real time, on programs of their own?

    python -m tests.mutants.outside --protocol storm,kcl --sample 40 --budget 10 --out outside.json
    python -m tests.mutants.outside --only 'nack-*' --again 10

Each mutant is a process (see `tests.mutants.served`) that a fresh `pytest --impl=` judges within the budget. What came
of it is told line by line: `killed` (a requirement that it breaks fails), `suspected` (one is inconclusive and shows a
conversation), `wrong` (only others fail), `survived`; and whether the run kept to 1.5 times its budget and 5 s. With
`--again` each is judged so many times, with another seed each time, and must fail the same requirements as a MUST.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tests.mutants.every import ALL, MODULE, key_of
from tests.mutants.served import PORTS, SERVE

ROOT = Path(__file__).resolve().parents[2]
TIMES, MORE_S = 1.5, 5.0
"""What a run may take: so many budgets and so many seconds."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run said of one mutant, and what it took in seconds on the wall. `demands`: what fails as a MUST."""

    mutant: str
    requirement: str
    status: str
    seconds: float
    late: bool
    exit: int
    failing: tuple[str, ...] = ()
    demands: tuple[str, ...] = ()
    suspected: tuple[str, ...] = ()
    judged: int = 0

    def __str__(self) -> str:
        told = f"{self.status:9} {self.seconds:5.1f} s {'LATE ' if self.late else ''}exit {self.exit}"
        others = f"failing {' '.join(self.failing) or '-'}; suspected {' '.join(self.suspected) or '-'}"
        return f"{told} {self.judged:3} judged  {self.mutant} ({self.requirement}): {others}"


def facts_of(mutant: Any) -> Mapping[str, Any]:
    """What its manifest declares: what the reference's does for that role, and what the mutant adds."""
    kept: dict[str, Any] = {}
    for path in (ROOT / "impls/references" / mutant.protocol).glob("*.toml"):
        found = tomllib.loads(path.read_text("utf-8"))
        if found["impl"].get("role") == mutant.role:
            kept = dict(found.get(mutant.protocol, {}))
    return kept | dict(mutant.facts)


def manifest(mutant: Any) -> str:
    """A manifest that starts it."""
    command = ["{python}", "-m", "tests.mutants.served", MODULE[key_of(mutant)], key_of(mutant)]
    command += ["{port}"] if (mutant.protocol, mutant.role) in PORTS else []
    facts = "\n".join(f"{name} = {json.dumps(value)}" for name, value in facts_of(mutant).items())
    return (
        f'[impl]\nname = "mutant"\nprotocol = "{mutant.protocol}"\nrole = "{mutant.role}"\nversion = "1"\n'
        f'profile = "{mutant.profile}"\n[start]\ncommand = {json.dumps(command)}\nready_s = 30\n'
        f'env = {{ PYTHONPATH = "{ROOT}" }}\n[{mutant.protocol}]\n{facts}\n'
    )


def judge(mutant: Any, budget_s: float, seed: int) -> Verdict:
    """Judge one mutant in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutant.toml"
        path.write_text(manifest(mutant), encoding="utf-8")
        begun = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "pytest", f"suites/{mutant.protocol}", f"--impl={path}", f"--budget={budget_s:g}",
             f"--results={folder}/results", f"--seed={seed}", "-q"],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        seconds = time.monotonic() - begun
        summary = Path(folder) / "results" / "summary.json"
        if not summary.exists():
            raise RuntimeError(f"{key_of(mutant)} was not judged: {done.stdout[-1000:]}{done.stderr[-1000:]}")
        rows = json.loads(summary.read_text("utf-8"))["requirements"]
    failing = tuple(name for name, row in rows.items() if row["verdict"] == "fail")
    demands = tuple(name for name in failing if rows[name]["failed_as"] == "MUST")
    suspected = tuple(n for n, row in rows.items() if row["verdict"] == "inconclusive" and row.get("witness"))
    return Verdict(
        key_of(mutant),
        mutant.requirement,
        status_of(mutant.blames, failing, suspected),
        round(seconds, 1),
        seconds > TIMES * budget_s + MORE_S,
        done.returncode,
        failing,
        demands,
        suspected,
        sum(row["verdict"] in ("pass", "fail") for row in rows.values()),
    )


def status_of(blames: frozenset[str], failing: Sequence[str], suspected: Sequence[str]) -> str:
    """How a mutant with these requirements to blame came off."""
    if blames & set(failing):
        return "killed"
    if blames & set(suspected):
        return "suspected"
    return "wrong" if failing or suspected else "survived"


def chosen(wishes: argparse.Namespace) -> list[Any]:
    """The mutants that were asked for: all, or as many as `--sample` says, drawn by the seed."""
    protocols, roles = wishes.protocol.split(","), wishes.role.split(",")
    found = [
        mutant
        for mutant in ALL
        if (mutant.protocol, mutant.role) in SERVE
        and (not wishes.protocol or mutant.protocol in protocols)
        and (not wishes.role or mutant.role in roles)
        and any(
            fnmatchcase(name, pattern)
            for name in (key_of(mutant), mutant.name, mutant.requirement)
            for pattern in wishes.only.split(",")
        )
    ]
    return random.Random(wishes.seed).sample(found, min(wishes.sample or len(found), len(found)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge mutants; the exit status is 1 when one is not killed, not in the same way each time, or a run was late."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.outside", description="Judge seeded faults outside.")
    parser.add_argument("--protocol", default="", metavar="NAMES", help="only mutants of these, joined by commas")
    parser.add_argument("--role", default="", metavar="NAMES", help="only mutants of these roles, joined by commas")
    parser.add_argument(
        "--only", default="*", metavar="PATTERNS", help="names, or ids of requirements; joined by commas"
    )
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="so many of them, drawn by the seed")
    parser.add_argument("--budget", type=float, default=10.0, metavar="SECONDS", help="of each run")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", type=int, default=1, metavar="N", help="runs of each, each with a seed of its own")
    parser.add_argument("--out", type=Path, default=None, help="where the verdicts are stored, as JSON")
    wishes = parser.parse_args(arguments)
    verdicts = []
    with ThreadPoolExecutor(wishes.jobs) as pool:
        runs = [(mutant, wishes.seed + nth) for mutant in chosen(wishes) for nth in range(wishes.again)]
        for verdict in pool.map(lambda run: judge(run[0], wishes.budget, run[1]), runs):
            verdicts.append(verdict)
            print(verdict, flush=True)
    if wishes.out:
        wishes.out.write_text(json.dumps([asdict(verdict) for verdict in verdicts], indent=1), encoding="utf-8")
    counts = Counter(verdict.status for verdict in verdicts)
    late = sum(verdict.late for verdict in verdicts)
    print(f"{len(verdicts)} mutants: " + ", ".join(f"{n} {name}" for name, n in counts.items()) + f"; {late} late")
    sets: dict[str, set[tuple[str, ...]]] = {}
    for verdict in verdicts:
        sets.setdefault(verdict.mutant, set()).add(verdict.demands)
    differ = [mutant for mutant, found in sets.items() if len(found) > 1]
    if wishes.again > 1:
        print(f"not the same demands each time: {' '.join(differ) or 'none'}")
    return int(bool(late) or bool(differ) or counts["killed"] < len(verdicts))


if __name__ == "__main__":
    sys.exit(main())
