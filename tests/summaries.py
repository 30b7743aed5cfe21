"""Summaries made by hand and by chance, and text that means harm."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from records.rows import (
    CoverageRow,
    EndRow,
    RequirementRow,
    Row,
    RunRow,
)
from reports.summary import Summary, fold

TODAY = date(2025, 6, 1)


IDS = ("A-01", "A-02", "B-01")


TRAPS = [
    "\x1b[2J\x1b]0;pwned\x07",
    "\u202eevil\u2066",
    "<script>alert(1)</script>",
    "]]></x>&amp;&#0;",
    '"}\n{"a":1}',
    "\ud800",
    "a|b`c`\n\n# h",
    "\x00\x9b31m\ufffe",
    "'''\"\"\"\\",
    "# coding: utf-7",
    "$(reboot)`x`",
    "--impl",
    "x" * 9000,
    "![x](http://x)<!--",
    "\u2028\u2029\x85\r",
    "e" + "\u0301" * 40,
]


hostile = st.one_of(st.sampled_from(TRAPS), st.text(st.characters(), max_size=12))


@dataclass(frozen=True)
class Known:
    """A baseline entry as a manifest holds it."""

    reason: str = "we know"
    issue: str = "https://example.org/1"
    expires: date | None = None
    fingerprints: tuple[str, ...] = ()
    sometimes: bool = False


def told(*rows: Row, end: bool = True, ids: tuple[str, ...] = ("A-01",), **run: Any) -> list[Row]:
    """Rows of one worker, numbered, with a run row, a list of requirements, and an end unless it was killed."""
    start: list[Row] = [RunRow(impl="x", protocol="stomp", role="server", **run)]
    given_ids = {row.id for row in rows if isinstance(row, RequirementRow)}
    start += [RequirementRow(id=i, section=i[0], statement=f"must {i}") for i in ids if i not in given_ids]
    every = [*start, *rows, *([EndRow()] if end else [])]
    return [replace(row, run="r", worker="main", n=n) for n, row in enumerate(every, 1)]


def judged(requirement: str = "A-01", exercised: int = 3, judged: int = 2) -> CoverageRow:
    return CoverageRow(property="p", requirement=requirement, exercised=exercised, judged=judged)


def summed(*rows: Row, deviations: dict[str, Any] | None = None, strict: bool = False, **rest: Any) -> Summary:
    return fold(told(*rows, **rest), deviations or {}, strict, TODAY)


def harmless(text: str, *, lines: bool = True) -> None:
    """Printable lines and nothing else; and it can be written to a file."""
    for line in text.split("\n") if lines else [text]:
        assert line.isprintable(), repr(line)
    text.encode("utf-8")


def saved(folder: Path, trace: dict[str, Any]) -> Path:
    (folder / "traces").mkdir(exist_ok=True)
    (folder / "traces" / "x.json").write_text(json.dumps(trace))
    return folder


TRACE: dict[str, Any] = {
    "schema": 1,
    "suite_version": "0.1.0",
    "requirement": "A-01",
    "level": "MUST",
    "why": "two RECEIPTs",
    "impl": {"name": "x", "version": "1", "protocol": "stomp", "role": "server", "profile": "1.2"},
    "deciding": 2,
    "conversation": [
        {"ms": 0.4, "conn": 0, "by": "client", "event": "said", "text": "SEND receipt:1\\n\\nhi\\0"},
        {"ms": 0.9, "conn": 0, "by": "server", "event": "said", "text": "RECEIPT receipt-id:1"},
        {"ms": 1.0, "conn": 0, "by": "server", "event": "said", "text": "RECEIPT receipt-id:1"},
        {"ms": 501, "conn": 0, "event": "quiet", "ms_quiet": 500},
        {"ms": 502, "conn": 0, "by": "server", "event": "closed", "text": "eof"},
    ],
    "wire": [{"ms": 0.4, "conn": 0, "dir": "sent", "hex": "53454e4400"}, {"ms": 0.9, "conn": 0, "dir": "closed-by-us"}],
    "script": [
        {"do": "send", "conn": 0, "parts": [{"hex": b"SUB\n".hex()}]},
        {
            "do": "send",
            "conn": 0,
            "parts": [{"hex": b"ACK ".hex()}, {"match": "id:(\\w+)", "nth": 1}, {"hex": b"\n".hex()}],
            "cuts": [2],
        },
        {"do": "wait", "ms": 20},
        {"do": "close", "conn": 0},
    ],
}
