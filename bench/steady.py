"""Does a verdict come and go? A program of the catalogue judged again and again, each time with a seed of its own.

    python -m bench.steady coilmq rabbitmq-process

A baseline is made once, and every run after it must end with 0. For each program it is told how many did, in how many
sets of MUST requirements they failed, and which requirements are not in all of these sets. It takes minutes, so it is
no part of `python -m bench`. `python -m tests.mutants.outside --again N` does the same with seeded faults, without
baselines.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.ontime import ROOT

CATALOG = ROOT / "impls" / "catalog"
LATEST_S = 600.0
LOOK_ON_S = 300
"""How long the run that makes the baseline looks on: on a busy machine a program with many faults would not come to an
end."""


@dataclass
class Steady:
    """What the runs of a program came to. `ended`: exit statuses; `failed`: the MUST requirements that failed, by run;
    `walls`: seconds."""

    name: str
    ended: Counter[int] = field(default_factory=Counter)
    failed: list[frozenset[str]] = field(default_factory=list)
    walls: list[float] = field(default_factory=list)

    def told(self) -> str:
        """One line."""
        always = frozenset.intersection(*self.failed) if self.failed else frozenset()
        varying = sorted(frozenset().union(*self.failed) - always)
        more = f", not in all: {' '.join(varying)}" if varying else ""
        others = ", ".join(f"{count} with {status}" for status, count in self.ended.items() if status)
        return (
            f"{self.name}: {self.ended[0]} of {self.ended.total()} ended with 0"
            f"{f' ({others})' if others else ''}, at most {max(self.walls):.0f} s; "
            f"{len(set(self.failed))} sets of MUST requirements, {len(always)} in all{more}"
        )


def laid_out(name: str, folder: Path) -> Path:
    """The manifest of a program of the catalogue in a folder of its own, without its deviations, beside the files it
    needs."""
    for each in CATALOG.iterdir():
        if each.suffix != ".toml":
            (folder / each.name).symlink_to(each)
    text = (CATALOG / f"{name}.toml").read_text("utf-8")
    manifest = folder / f"{name}.toml"
    manifest.write_text(re.sub(r"(?ms)^\[deviations\]\n.*?(?=^\[|\Z)", "", text), "utf-8")
    return manifest


def run(manifest: Path, budget: str, seed: int, *more: str) -> tuple[int, frozenset[str], float, str]:
    """One run: its exit status, the MUST requirements that failed, its seconds, and what it printed."""
    results = manifest.parent / f"results-{seed}"
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", f"--impl={manifest}", f"--budget={budget}", f"--seed={seed}",
         f"--results={results}", *more],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=LATEST_S,
    )  # fmt: skip
    wall_s, path = time.monotonic() - begun, results / "summary.json"
    if not path.exists():
        raise RuntimeError(f"{manifest.stem} was not judged: {done.stdout[-1500:]}{done.stderr[-500:]}")
    rows = json.loads(path.read_text("utf-8"))["requirements"]
    failed = frozenset(name for name, row in rows.items() if row["verdict"] == "fail" and row["level"] == "MUST")
    return done.returncode, failed, wall_s, done.stdout


def again(manifest: Path, times: int, budget: str, seed: int) -> Steady:
    """Judge it so many times; what a run said that did not end with 0 is printed."""
    found = Steady(manifest.stem)
    for nth in range(1, times + 1):
        status, failed, wall_s, said = run(manifest, budget, seed + nth)
        found.ended[status] += 1
        found.failed.append(failed)
        found.walls.append(wall_s)
        if status:
            print(f"-- {found.name}, seed {seed + nth}: exit status {status}\n{said[-6000:]}", flush=True)
    return found


def baselined(name: str, folder: Path, budget: str, seed: int) -> Path:
    """The manifest of a program of the catalogue, with a baseline made now."""
    manifest = laid_out(name, folder)
    _, failed, wall_s, _ = run(manifest, budget, seed, "--update-baseline", f"--look-on={LOOK_ON_S}")
    print(f"{name}: a baseline with {len(failed)} MUST requirements, {wall_s:.0f} s", flush=True)
    return manifest


def main(arguments: Sequence[str] | None = None) -> int:
    """1 when a run did not end as it must."""
    parser = argparse.ArgumentParser(prog="python -m bench.steady", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="+", help="programs of the catalogue")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--budget", default="quick")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    chosen = parser.parse_args(arguments)
    right = True
    for name in chosen.names:
        with tempfile.TemporaryDirectory() as folder:
            manifest = baselined(name, Path(folder), chosen.budget, chosen.seed)
            found = again(manifest, chosen.times, chosen.budget, chosen.seed)
        print(found.told(), flush=True)
        right = right and found.ended[0] == chosen.times
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
