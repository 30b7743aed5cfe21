"""The requirements of a protocol as a list for a terminal: what --list-requirements prints."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from records.rows import RequirementRow
from records.text import printable


def render(rows: Iterable[RequirementRow], width: int = 100) -> str:
    """One paragraph for each requirement, under its section, in the order given; and how many there are."""
    width = max(60, width)
    shown: list[str] = []
    section = None
    rows = list(rows)
    for row in rows:
        if row.section != section:
            section = row.section
            shown += [*([""] if shown else []), printable(section or "(no section)", width)]
        notes = [row.level, "" if row.basis == "text" else row.basis, "" if row.applies == "judged" else row.applies]
        shown.append(f"  {printable(row.id, 80)}  {', '.join(printable(note, 40) for note in notes if note)}")
        for text in (row.statement, f"untestable: {row.untestable}" if row.untestable else ""):
            shown += textwrap.wrap(
                printable(text, 2000), width, initial_indent="      ", subsequent_indent="      ",
                break_on_hyphens=False,
            )  # fmt: skip
    untestable = sum(bool(row.untestable) for row in rows)
    count = f"{len(rows)} requirement{'' if len(rows) == 1 else 's'}"
    shown += [*([""] if shown else []), f"{count}, {untestable} of them untestable"]
    return "\n".join(shown) + "\n"
