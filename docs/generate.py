"""Writes the pages of this folder that are made from the specifications.

    python docs/generate.py            write them
    python docs/generate.py --check    write nothing, name those that are stale and exit with 1 if there are any

Two pages a protocol: requirements-<protocol>.md from its requirements.toml, and states-<protocol>.md from the machines
that its model executes (`specs.protocol.Protocol.machines`).
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT))  # run as a script, Python would look for `specs` in this folder

from specs import protocol, requirement  # noqa: E402 (needs the path above)
from specs.machine import Cell, Machine, Never, Phase, Unreachable  # noqa: E402

COLUMNS: dict[str, Callable[[requirement.Requirement], str]] = {
    "id": lambda r: r.id,
    "statement": lambda r: r.statement,
    "level": lambda r: r.level,
    "basis": lambda r: r.basis,
    "profiles": lambda r: ", ".join(r.profiles),
    "source": lambda r: r.source,
    "mark": lambda r: r.mark,
    "untestable": lambda r: r.untestable,
}


def requirements_page(name: str, registry: requirement.Registry) -> str:
    """The requirements of a protocol as Markdown, one table for each section, in the order of its file."""
    columns = dict(COLUMNS)
    if len({r.roles for r in registry.values()}) > 1:
        columns["roles"] = lambda r: ", ".join(r.roles)
    sections: dict[str, list[requirement.Requirement]] = {}
    for entry in registry.values():
        sections.setdefault(entry.section, []).append(entry)
    levels = Counter(r.level for r in registry.values())
    counts = ", ".join(f"{levels[level]} {level}" for level in requirement.LEVELS if levels[level])
    lines = [
        f"# Requirements: {name}",
        "",
        _notice(f"specs/{name}/requirements.toml"),
        "",
        f"{len(registry)} requirements: {counts}.",
    ]
    for section, entries in sections.items():
        lines += ["", f"## {section}", "", _row(list(columns)), _row(["---"] * len(columns))]
        lines += [_row([_cell(show(entry)) for show in columns.values()]) for entry in entries]
    return "\n".join(lines) + "\n"


def states_page(name: str, machines: Mapping[str, Machine]) -> str:
    """The machines of a protocol as Markdown: the diagram of each, and every cell of its table."""
    lines = [f"# States: {name}", "", _notice(f"specs/{name}"), "", "These tables are what the model executes."]
    for title, machine in machines.items():
        lines += ["", f"## {title}", "", "```mermaid", machine.diagram().strip(), "```", ""]
        lines += [f"- **{phase.name}**: {phase.value}" for phase in machine.phases]
        lines += ["", _row(["action", "by", *(phase.name for phase in machine.phases)])]
        lines += [_row(["---"] * (2 + len(machine.phases)))]
        cells = {(phase, action): cell for phase, action, cell in machine.cells()}
        for action, by in machine.actors.items():
            lines += [_row([_cell(action), by, *(_shown(cells[phase, action], phase) for phase in machine.phases)])]
    return "\n".join(lines) + "\n"


def _shown(cell: Cell, phase: Phase) -> str:
    """A cell of a machine: where it leads, or what forbids it; "." where the phase stays."""
    if isinstance(cell, Never):
        return "never: " + ", ".join(cell.requirements)
    if isinstance(cell, Unreachable):
        return "-"
    targets = cell if isinstance(cell, tuple) else (cell,)
    return " or ".join("." if target is phase else target.name for target in targets)


def pages() -> dict[str, str]:
    """File name -> content of every page that ought to be in this folder."""
    found: dict[str, str] = {}
    for name in protocol.names():
        folder = ROOT / "specs" / name
        registry = requirement.load(folder / "requirements.toml")
        found[f"requirements-{name}.md"] = requirements_page(name, registry)
        machines = protocol.find(name).machines
        if machines:
            found[f"states-{name}.md"] = states_page(name, machines)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages, or compare them. Answers the exit status."""
    parser = argparse.ArgumentParser(description="Write the pages of docs/ that are made from the specifications.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is stale")
    check = parser.parse_args(arguments).check
    stale = {name: content for name, content in pages().items() if _read(DOCS / name) != content}
    for name, content in stale.items():
        if check:
            print(f"docs/{name} is stale: run python docs/generate.py", file=sys.stderr)
        else:
            (DOCS / name).write_text(content, encoding="utf-8", newline="\n")
            print(f"docs/{name} written")
    return 1 if check and stale else 0


def _notice(source: str) -> str:
    return f"Generated from `{source}` by `docs/generate.py`; do not edit this page."


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(text: str) -> str:
    """Text as one table cell: no line breaks, and outside `code` nothing that Markdown would take for markup."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    plain = (re.sub(r"([\\<*])", r"\\\1", part) if not part.startswith("`") else part for part in parts)
    return "".join(plain).replace("|", r"\|")


if __name__ == "__main__":
    sys.exit(main())
