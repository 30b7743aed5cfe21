"""Are the seeded faults found by the suites that users run, how soon, and on what are they blamed?

Each mutant is hunted in process with the properties of its protocol's suites, taken from the suites themselves, in
turns that grow, both lock-step and pipelined, until a fault is reported that names a requirement it may be blamed for.
The score by requirement is printed and stored:

    python -m tests.mutants                                    # all of them, exit status 1 if one survives
    python -m tests.mutants --budget 10 -j 1 --only 'tx-*' --out score.json
    python -m tests.mutants --protocol echo,other --every 7    # every seventh of those of some protocols

Nothing here knows a protocol. A module beside this one whose name ends in `kit` has a list whose name ends in MUTANTS,
which the other modules fill when they are imported. What a mutant may have besides: `protocol` and `role`, `facts` that
it declares, a `config` if nothing has to be found out, and `dies` if whoever raises is to be told of and started again.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import count
from pathlib import Path
from typing import Any

from impls.driver.drive import Recording, Setting, drive
from impls.driver.link import MemoryTransport
from specs.protocol import find
from specs.protocol import names as protocols
from suites.deadline import Deadline, TimeUp, of_budget
from suites.hunt import Fault, Hunter
from suites.investigate import Investigator
from suites.pursuit import Pursuit
from tests.mutants.every import ALL, key_of
from tests.properties import properties

BUDGET_S = 30.0
"""Seconds after which a mutant counts as not found."""
SLICE_S, GROWTH = 0.04, 1.6
"""What each property of weight 1 gets in the first turn, and how much more in each that follows."""
SHRINK_S = 2.0
"""Seconds given to the shrinking of one fault."""
STATUSES = ("killed", "late", "wrong", "survived", "broken")
"""The first fault reported was a right one; one came after another that was not; only others came; none came; the
server itself raised an exception, which no server on the other side of a wire can do."""


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one mutant. `seconds` are on the wall and `cpu_s` of the processor, until the right fault was
    reported or the budget was spent; `others` are the requirements blamed besides. `steps` is the length of the
    shortest plan, `witness` the number of client frames in the mutant's own. `unseen` says why it is known not to be
    judged as it should be, if it is."""

    mutant: str
    requirement: str
    status: str
    seconds: float
    cpu_s: float
    blamed: str = ""
    level: str = ""
    others: tuple[str, ...] = ()
    found_by: str = ""
    turn: int = 0
    steps: int = 0
    witness: int = 0
    plans: int = 0
    why: str = ""
    unseen: str = ""

    @property
    def fine(self) -> bool:
        """True when the score need not be ashamed of it."""
        return self.status == "killed" or bool(self.unseen)


class _Found(BaseException):  # not an Exception: Hypothesis would take it for a failing example
    """The right fault was reported."""


def hunter_for(mutant: Any, report: Callable[[Fault], None], seed: int = 0, deadline: Deadline | None = None) -> Hunter:
    """A hunter on a fresh program of the mutant, which was asked before what the text leaves to it. Investigations too
    are over by the deadline."""
    transport = MemoryTransport(mutant.make)
    protocol, role = find(mutant.protocol), mutant.role
    config = getattr(mutant, "config", None) or _found_out(mutant, transport)
    binding = {r.id: r for r in protocol.requirements.binding(role, mutant.profile) if not r.untestable}
    return Hunter(
        Setting(protocol, config, role, transport),
        binding,
        investigate=Investigator(shrink_s=SHRINK_S),
        run_seed=seed,
        report=report,
        settle=_settling(transport) if getattr(mutant, "dies", False) else _nothing,
        deadline=deadline,
        prefix="m",
    )


def facts_of(mutant: Any) -> dict[str, Any]:
    """What the manifest of a mutant would say."""
    facts = {name: fact.default for name, fact in find(mutant.protocol).facts.items()}
    return (
        facts | {name: True for name in ("scripted", "decodes") if name in facts} | dict(getattr(mutant, "facts", {}))
    )


def _found_out(mutant: Any, transport: MemoryTransport) -> Any:
    """The config of a mutant whose protocol is asked what it leaves open."""
    protocol, role, facts = find(mutant.protocol), mutant.role, facts_of(mutant)
    serial = count()

    def configure(learnt: Mapping[str, Any]) -> Any:
        return protocol.configure(role, mutant.profile, facts, learnt)

    def play(plan: Any, config: Any) -> tuple[Any, Any]:
        recording = drive(plan, Setting(protocol, config, role, transport), f"ask{next(serial)}-")
        return tuple(recording.events), recording.judgement

    discover = importlib.import_module(f"strategies.{protocol.name}").discover
    return configure(discover(play, configure))


def _settling(transport: MemoryTransport) -> Callable[[Recording], str]:
    """What a hunter does after each plan: whoever raised is made anew, and its death told."""

    def settle(recording: Recording) -> str:
        died, transport.crash = transport.crash, ""
        if died:
            transport.restart()
        return f"it {died} in this conversation" if died else ""

    return settle


def _nothing(recording: Recording) -> str:
    return ""


@dataclass(slots=True)
class _Chase:
    """One mutant being hunted."""

    mutant: Any
    seen: list[Fault] = field(default_factory=list)
    right: Fault | None = None

    def report(self, fault: Fault) -> None:
        if fault.requirement in self.mutant.blames:
            self.right = fault
            raise _Found
        self.seen.append(fault)


def score_one(mutant: Any, budget_s: float = BUDGET_S, seed: int = 0, slice_s: float = SLICE_S) -> Row:
    """Hunt one mutant until it is reported as it should be, or for `budget_s` seconds."""
    chase, begun, worked = _Chase(mutant), time.monotonic(), time.process_time()
    turn, broken, pursuits = 0, "", list[Pursuit]()
    try:
        hunter = hunter_for(mutant, chase.report, seed, of_budget(budget_s, 0.0))
        cases = properties(mutant.protocol, mutant.role)
        pursuits += [hunter.pursuit(prop, weight) for prop, weight in cases]  # kept: each turn draws other programs
        hunter.open()
        while time.monotonic() - begun < budget_s:
            for pursuit in pursuits:
                left = budget_s - (time.monotonic() - begun)
                if left <= 0:
                    break
                hunter.pursue(pursuit, min(left, slice_s * GROWTH**turn * pursuit.weight))
                hunter.finish()
            turn += 1
    except (_Found, TimeUp):
        pass
    except Exception as error:  # noqa: BLE001 - whatever a faulty server raises
        broken = f"{type(error).__name__}: {error}"
    seconds, cpu_s = time.monotonic() - begun, time.process_time() - worked
    others = tuple(dict.fromkeys(fault.requirement for fault in chase.seen if fault.verdict == "fail"))
    right = chase.right
    status = ("late" if others else "killed") if right is not None else "wrong" if others else "survived"
    shown = right if right is not None else next(iter(chase.seen), None)
    row = Row(
        key_of(mutant),
        mutant.requirement,
        "broken" if broken else status,
        round(seconds, 3),
        round(cpu_s, 3),
        others=others,
        turn=turn,
        witness=int(mutant.history),
        plans=sum(pursuit.tally.plans for pursuit in pursuits),
        why=broken,
        unseen=mutant.unseen,
    )
    if shown is None or broken:
        return row
    return replace(
        row,
        blamed=shown.requirement,
        level=shown.level,
        found_by=shown.property,
        steps=len(shown.plan.steps),
        why=shown.why[:300],
    )


def score_parallel(
    mutants: Sequence[Any],
    budget_s: float = BUDGET_S,
    seed: int = 0,
    jobs: int = 2,
    progress: Callable[[Row], None] = lambda row: None,
) -> list[Row]:
    """What becomes of each mutant, in several processes; rows in the order of `mutants`."""
    if jobs <= 1:
        rows = {}
        for mutant in mutants:
            rows[key_of(mutant)] = score_one(mutant, budget_s, seed)
            progress(rows[key_of(mutant)])
        return [rows[key_of(mutant)] for mutant in mutants]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        waiting = {pool.submit(_by_name, key_of(mutant), budget_s, seed): key_of(mutant) for mutant in mutants}
        rows = {}
        for done in as_completed(waiting):
            row = done.result()
            rows[waiting[done]] = row
            progress(row)
    return [rows[key_of(mutant)] for mutant in mutants]


def _by_name(name: str, budget_s: float, seed: int) -> Row:
    return score_one(next(mutant for mutant in ALL if key_of(mutant) == name), budget_s, seed)


def names(pattern: str) -> list[str]:
    """The seeded faults whose name, requirement or protocol matches: see campaigns/scoring.py."""
    return [
        key_of(m) for m in ALL if any(fnmatchcase(n, pattern) for n in (m.name, key_of(m), m.requirement, m.protocol))
    ]


def scored(name: str, budget_s: float, seed: int) -> tuple[Row, str, str, str]:
    """What becomes of one fault, with its protocol, role and profile: see campaigns/scoring.py."""
    mutant = next(mutant for mutant in ALL if key_of(mutant) == name)
    return score_one(mutant, budget_s, seed % 2**31), mutant.protocol, mutant.role, mutant.profile


def by_requirement(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The score of each requirement: how many of its mutants were killed, and how long that took at most."""
    grouped: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row.requirement].append(row)
    names = [name for protocol in protocols() for name in find(protocol).requirements]
    order = {name: at for at, name in enumerate(names)}
    return [
        {
            "requirement": name,
            "killed": sum(row.status == "killed" for row in of),
            "total": len(of),
            "median_s": round(statistics.median(row.seconds for row in of), 3),
            "worst_s": max(row.seconds for row in of),
            "steps": max(row.steps for row in of),
        }
        for name, of in sorted(grouped.items(), key=lambda item: order.get(item[0], len(order)))
    ]


def summary(rows: Sequence[Row], budget_s: float = BUDGET_S) -> dict[str, Any]:
    """Everything in figures, as it is stored."""
    seconds = [row.seconds for row in rows]
    return {
        "budget_s": budget_s,
        "mutants": len(rows),
        **{status: sum(row.status == status for row in rows) for status in STATUSES},
        "unseen": sum(bool(row.unseen) for row in rows),
        "median_s": round(statistics.median(seconds), 3) if seconds else 0.0,
        "worst_s": max(seconds, default=0.0),
        "median_cpu_s": round(statistics.median(row.cpu_s for row in rows), 3) if rows else 0.0,
        "requirements": by_requirement(rows),
        "rows": [asdict(row) for row in rows],
    }


def table(found: Mapping[str, Any]) -> str:
    """The score for people."""
    lines = [f"{'requirement':<26}{'killed':>8}{'median s':>10}{'worst s':>9}{'steps':>7}"]
    for line in found["requirements"]:
        killed = f"{line['killed']}/{line['total']}"
        lines.append(
            f"{line['requirement']:<26}{killed:>8}{line['median_s']:>10.2f}{line['worst_s']:>9.2f}{line['steps']:>7}"
        )
    bad = [row for row in found["rows"] if row["status"] != "killed"]
    if bad:
        lines += ["", "not killed, or blamed on something else first:"]
    for row in bad:
        note = f"; known: {row['unseen']}" if row["unseen"] else ""
        others = row["why"] if row["status"] == "broken" else f"blamed {', '.join(row['others']) or 'nothing'}"
        lines.append(f"  {row['status']:<9}{row['mutant']:<34}{row['requirement']:<24} {others}{note}")
    lines.append(
        f"\n{found['killed']} of {found['mutants']} mutants killed ({found['late']} late, {found['wrong']} wrong, "
        f"{found['survived']} survived, {found['broken']} broken; {found['unseen']} known as unseen); "
        f"until reported: median {found['median_s']:.2f} s, worst {found['worst_s']:.2f} s"
    )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Score the mutants; the exit status is 1 when one survives or is blamed wrongly."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="Score the suites by seeded faults.")
    parser.add_argument("--budget", type=float, default=BUDGET_S, metavar="SECONDS", help="for each mutant")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="processes")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="names of mutants, or ids of requirements")
    parser.add_argument("--protocol", default="", metavar="NAMES", help="only mutants of these, joined by commas")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of those, every nth")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/mutants.json"), help="where the score is stored")
    parser.add_argument("--floor", type=float, default=100.0, metavar="PERCENT", help="share that must be found")
    wishes = parser.parse_args(arguments)
    chosen = [
        m
        for m in ALL
        if any(fnmatchcase(name, wishes.only) for name in (m.name, key_of(m), m.requirement))
        and (not wishes.protocol or m.protocol in wishes.protocol.split(","))
    ][:: wishes.every]
    if not chosen:
        parser.error(f"no mutant is called {wishes.only!r}")
    done = 0

    def progress(row: Row) -> None:
        nonlocal done
        done += 1
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K  {done}/{len(chosen)} {row.mutant}: {row.status}, {row.seconds:.1f} s")
            sys.stderr.flush()
        elif not row.fine:
            sys.stderr.write(f"{done}/{len(chosen)} {row.mutant}: {row.status}, {row.seconds:.1f} s\n")

    rows = score_parallel(chosen, wishes.budget, wishes.seed, wishes.jobs, progress)
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    found = summary(rows, wishes.budget)
    wishes.out.parent.mkdir(parents=True, exist_ok=True)
    wishes.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(table(found) + f"\nstored in {wishes.out}\n")
    if wishes.floor >= 100:
        return 0 if all(row.fine for row in rows) else 1
    return 0 if sum(row.fine or row.status == "late" for row in rows) >= wishes.floor / 100 * len(rows) else 1
