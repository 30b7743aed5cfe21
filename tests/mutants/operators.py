"""Faults that nobody thought of: operators change one place of a reference, and the change is hunted in memory.

    python -m tests.mutants.operators pulsar/client impls.references.pulsar.channel impls.references.pulsar.client
    python -m tests.mutants.operators stomp/server impls.references.stomp.session --sample 100 --budget 4 -j 2

What survives is printed with its line. Most of it changes nothing that the text asks for, or a freedom; the rest are
rules that are missing, and belong among the seeded faults. Each change is hunted by a process of its own.
"""

from __future__ import annotations

import argparse
import ast
import importlib.abc
import importlib.util
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HUNG_S, TIMES = 60.0, 3.0
"""A process that has not ended after so many seconds, and so many budgets besides, hangs."""
SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip
"""Comparisons that are off by one."""


@dataclass(frozen=True)
class Site:
    """A place that can be changed: what the operator is called, the line, and the change of the tree."""

    operator: str
    line: int
    change: Callable[[], None]


@dataclass(frozen=True)
class Came:
    """What became of a change. `why`: what fails or is suspected, or why it could not be judged."""

    module: str
    nth: int
    status: str
    why: str

    def __str__(self) -> str:
        site, text = at(self.module, self.nth)
        return f"{self.status:9} {self.module}:{site.line} {site.operator} (#{self.nth})  {text:.100}  {self.why:.100}"


class Found(BaseException):
    """Something fails: that is enough."""


def path_of(module: str) -> Path:
    """The file of a module."""
    return ROOT / f"{module.replace('.', '/')}.py"


def source(module: str) -> str:
    """The text of a module."""
    return path_of(module).read_text("utf-8")


def at(module: str, nth: int) -> tuple[Site, str]:
    """A place of a module, and its line."""
    text = source(module)
    site = sites(ast.parse(text))[nth]
    return site, text.splitlines()[site.line - 1].strip()


def changed(text: str, nth: int) -> ast.Module:
    """A module with its nth place changed."""
    tree = ast.parse(text)
    sites(tree)[nth].change()
    return ast.fix_missing_locations(tree)


def sites(tree: ast.Module) -> list[Site]:
    """Every place of a module, in an order that is the same each time."""
    return [site for node in ast.walk(tree) for find in (_statements, _tests, _operators) for site in find(node)]


def _statements(node: ast.AST) -> Iterator[Site]:
    """A call, an assignment to a part of something, or the end of a loop is left out."""
    for name in ("body", "orelse"):
        block = getattr(node, name, None)
        for nth, item in enumerate(block if isinstance(block, list) else ()):
            call = isinstance(item, ast.Expr) and isinstance(item.value, ast.Call | ast.YieldFrom)
            targets = item.targets if isinstance(item, ast.Assign) else [getattr(item, "target", None)]
            part = isinstance(item, ast.Assign | ast.AugAssign) and isinstance(
                targets[0], ast.Attribute | ast.Subscript
            )
            if call or part or isinstance(item, ast.Delete | ast.Continue | ast.Break):

                def drop(block: Any = block, nth: int = nth) -> None:
                    block[nth] = ast.copy_location(ast.Pass(), block[nth])

                yield Site("is left out", item.lineno, drop)


def _tests(node: ast.AST) -> Iterator[Site]:
    """A condition is turned round, or a filter left out."""
    if isinstance(node, ast.If | ast.While | ast.IfExp):

        def negate() -> None:
            node.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)

        yield Site("is turned round", node.test.lineno, negate)
    if isinstance(node, ast.comprehension):
        for nth, test in enumerate(node.ifs):
            yield Site("filters nothing", test.lineno, lambda nth=nth: node.ifs.pop(nth))  # type: ignore[misc]


def _operators(node: ast.AST) -> Iterator[Site]:
    """A comparison or a number is off by one, a truth is the other one, an operand is left out."""
    if isinstance(node, ast.Compare):
        for nth, operator in enumerate(node.ops):
            other = SWAPPED.get(type(operator))
            if other is not None:

                def swap(nth: int = nth, other: type[ast.cmpop] = other) -> None:
                    node.ops[nth] = other()

                yield Site("is off by one", node.lineno, swap)
    if isinstance(node, ast.BoolOp):
        for nth in range(len(node.values)):

            def without(nth: int = nth) -> None:
                kept = [value for place, value in enumerate(node.values) if place != nth]
                node.values = [*kept, kept[0]] if len(kept) == 1 else kept

            yield Site(f"lacks its operand {nth + 1}", node.lineno, without)
    if isinstance(node, ast.Constant) and isinstance(node.value, int):

        def another() -> None:
            node.value = not node.value if isinstance(node.value, bool) else int(node.value) + 1  # type: ignore[arg-type]

        yield Site("is another value", node.lineno, another)


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports a changed module in place of the one that is stored."""

    def __init__(self, module: str, tree: ast.Module) -> None:
        self._module, self._tree = module, tree

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name != self._module:
            return None
        spec = importlib.util.spec_from_loader(name, self, origin=str(path_of(name)))
        assert spec is not None
        spec.has_location = True  # what lies beside it is found by `__file__`
        return spec

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._tree, self._module, "exec"), module.__dict__)


def hunted(module: str, nth: int, role: str, budget_s: float) -> tuple[str, str]:
    """What becomes of a change in this process: killed, suspected, survived, or not judged, and why."""
    sys.meta_path.insert(0, Changed(module, changed(source(module), nth)))
    from impls.launching.manifest import resolve  # noqa: PLC0415 - the reference may be imported with it
    from suites.head import RunOptions  # noqa: PLC0415
    from suites.properties import properties  # noqa: PLC0415
    from suites.schedule import Share  # noqa: PLC0415
    from suites.session import Session  # noqa: PLC0415

    named = [impl for impl in resolve("reference") if f"{impl.protocol}/{impl.role}" == role]
    impl = max(named, key=lambda impl: len(impl.profile))
    with tempfile.TemporaryDirectory() as folder:
        run = Session(impl, RunOptions(budget_s=budget_s, seed=1), Path(folder), "run")
        run.open()
        if run.trouble:
            return "unjudged", run.trouble
        hunter = run.hunter()

        def look(_: Any) -> None:
            if any(fault.verdict == "fail" for fault in hunter.faults.values()):
                raise Found

        try:
            run.hunt([Share(*each) for each in properties(impl.protocol, impl.role)], budget_s, look)
        except Found:
            pass
        finally:
            run.close()
    failing = sorted(name for name, fault in hunter.faults.items() if fault.verdict == "fail")
    return ("killed" if failing else "suspected" if hunter.faults else "survived"), " ".join(failing or hunter.faults)


def outside(module: str, nth: int, role: str, budget_s: float) -> Came:
    """What becomes of a change, in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "tests.mutants.operators",
        role,
        module,
        "--nth",
        str(nth),
        "--budget",
        f"{budget_s:g}",
    ]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=HUNG_S + TIMES * budget_s, check=False
        )
    except subprocess.TimeoutExpired:
        return Came(module, nth, "hung", "")
    if done.returncode:
        return Came(module, nth, "crashed", done.stderr.strip().rpartition("\n")[2])
    return Came(module, nth, *json.loads(done.stdout.splitlines()[-1]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Hunt changes, and print what becomes of those that are not killed."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants.operators", description="Hunt changes of references."
    )
    parser.add_argument("role", metavar="PROTOCOL/ROLE")
    parser.add_argument("modules", nargs="+", metavar="MODULE", help="of impls.references")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="so many of all places, drawn by the seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=float, default=4.0, metavar="SECONDS", help="for each")
    parser.add_argument("--nth", type=int, default=None, metavar="N", help="this place of the module, in this process")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="processes at a time")
    wishes = parser.parse_args(arguments)
    if wishes.nth is not None:
        sys.stdout.write(json.dumps(hunted(wishes.modules[0], wishes.nth, wishes.role, wishes.budget)) + "\n")
        return 0
    places = [(module, nth) for module in wishes.modules for nth in range(len(sites(ast.parse(source(module)))))]
    if wishes.sample:
        places = random.Random(wishes.seed).sample(places, min(wishes.sample, len(places)))
    counts: Counter[str] = Counter()
    with ThreadPoolExecutor(wishes.jobs) as pool:
        for came in pool.map(lambda place: outside(*place, wishes.role, wishes.budget), places):
            counts[came.status] += 1
            if came.status != "killed":
                sys.stdout.write(f"{came}\n")
                sys.stdout.flush()
    sys.stdout.write(f"{len(places)} changes: {', '.join(f'{count} {name}' for name, count in counts.items())}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
