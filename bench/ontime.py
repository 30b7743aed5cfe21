"""Does a run end when it said it would? Faulty programs, each judged by a fresh process; wall time against the promise.

The promise is 1.5 times the budget and 5 s, everything included: starting, hunting, investigating, ending.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.faulty import CHILDREN, SERVERS
from bench.measure import Figure, RunOptions, say

ROOT = Path(__file__).resolve().parent.parent
BUDGET_S = 10.0
TIMES, MORE_S = 1.5, 5.0
PRINTED = 50_000
"""Characters kept of what a run prints: the whole summary, however long its conversations are."""
MANIFESTS = {
    "stomp": '[impl]\nname = "{fault}"\nprotocol = "stomp"\nrole = "server"\nversion = "1"\nprofile = "1.2"\n[start]\n'
    'command = ["{{python}}", "-m", "bench.faulty", "stomp", "{fault}", "{{port}}"]\n'
    'env = {{ PYTHONPATH = "{root}" }}\n',
    "kcl": '[impl]\nname = "{fault}"\nprotocol = "kcl"\nrole = "child"\nversion = "1"\nprofile = "kcl1-seed"\n[start]\n'
    'command = ["{{python}}", "-m", "bench.faulty", "kcl", "{fault}"]\nenv = {{ PYTHONPATH = "{root}" }}\n'
    "[kcl]\nscripted = false\n",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """What a run came to: its seconds on the wall, the requirements that it judged, and how many of them fail. `tail`
    is what it printed last, `failures` are the requirements that fail."""

    wall_s: float
    judged: int
    failing: int
    suspected: int
    status: int
    tail: str
    failures: frozenset[str] = frozenset()


def judge(protocol: str, fault: str, budget_s: float = BUDGET_S) -> Judged:
    """Judge one of the faulty programs in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        manifest = Path(folder) / "it.toml"
        manifest.write_text(MANIFESTS[protocol].format(fault=fault, root=ROOT), encoding="utf-8")
        begun = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "pytest", f"suites/{protocol}", f"--impl={manifest}", f"--budget={budget_s:g}",
             f"--results={folder}/r", "--seed=1", "-q"],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        wall_s = time.monotonic() - begun
        path = Path(folder) / "r" / "summary.json"
        if not path.exists():
            raise RuntimeError(f"{protocol} {fault} was not judged: {done.stdout[-1000:]}{done.stderr[-1000:]}")
        named = json.loads(path.read_text("utf-8"))["requirements"]
        rows = named.values()
    return Judged(
        wall_s,
        sum(row["verdict"] in ("pass", "fail") for row in rows),
        sum(row["verdict"] == "fail" for row in rows),
        sum(row["verdict"] == "inconclusive" and bool(row.get("witness")) for row in rows),
        done.returncode,
        done.stdout[-PRINTED:],
        frozenset(name for name, row in named.items() if row["verdict"] == "fail"),
    )


def run(options: RunOptions) -> list[Figure]:
    """The wall time of each as a part of what was promised."""
    budget_s = 2.0 if options.tiny else BUDGET_S
    cases = [("stomp", fault) for fault in SERVERS] + [("kcl", fault) for fault in CHILDREN]
    parts = []
    for protocol, fault in cases[:1] if options.tiny else cases:
        found = judge(protocol, fault, budget_s)
        parts.append(found.wall_s / (TIMES * budget_s + MORE_S))
        say(
            f"  {protocol} {fault}: {found.wall_s:.1f} s, {found.judged} judged, {found.failing} fail, "
            f"{found.suspected} suspected"
        )
    return [
        Figure("ontime", f"wall / promise, the worst of {len(parts)} faulty programs", (max(parts),), 1, True),
        Figure("ontime", "wall / promise, all of them", tuple(parts), 1, True),
    ]
