"""Rows on their way to disk: appended one by one, so that a killed run keeps what it had."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from records.rows import COLUMNS, EndRow, RecordError, Row, to_json
from records.text import shortened

FIELD_LIMIT: Final = 8192
"""Characters of one text field; a peer must not fill the disk through what it says."""
ITEM_LIMIT: Final = 200
"""Items of one list field."""
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
AnyRow = TypeVar("AnyRow", bound=Row)


def new_run() -> str:
    """A fresh run id: the time in UTC, so that ids sort by age, and four random octets."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"


class Writer:
    """Appends rows to `results`/records/<run>-<worker>.jsonl, each in one write of its own.

    A kill leaves at most one torn line, at the end. A file that exists is continued, on a line of its own. Raises
    RecordError for a name that is no file name, OSError when the disk refuses. May be used from several threads.
    """

    def __init__(self, results: Path, run: str, worker: str = "main") -> None:
        for name in (run, worker):
            if not _NAME.fullmatch(name):
                raise RecordError(f"{name!r} cannot be part of a file's name; use letters, digits, dot, dash")
        folder = Path(results) / "records"
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{run}-{worker}.jsonl"
        self.run = run
        self.worker = worker
        self._lock = Lock()
        self._lines, self._torn = _state(self.path)
        self._fd: int | None = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def write(self, row: AnyRow) -> AnyRow:
        """Append `row` and answer it as it was written: with run, worker and place, long text cut.

        Raises RecordError (and writes nothing) when a value does not fit its column.
        """
        with self._lock:
            if self._fd is None:
                raise RecordError(f"{self.path.name} is closed")
            row = replace(clipped(row), run=self.run, worker=self.worker, n=self._lines + 1)
            if isinstance(row, EndRow):
                row = replace(row, rows=self._lines)
            line = to_json(row).encode("ascii") + b"\n"
            if self._torn:
                line = b"\n" + line
            self._torn = True  # until the whole line is out; a write that fails half-way leaves it so
            self._lines += 1
            while line:
                line = line[os.write(self._fd, line) :]
            self._torn = False
            return row

    def close(self) -> None:
        """Close the file; twice is fine. Writes no EndRow: only the caller knows how the run ended."""
        with self._lock:
            if self._fd is not None:
                os.close(self._fd)
                self._fd = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def clipped(row: AnyRow) -> AnyRow:
    """The row with every text cut to FIELD_LIMIT characters and every list to ITEM_LIMIT items, saying so."""
    changes: dict[str, Any] = {}
    for name, column in COLUMNS[row.kind].items():
        value = getattr(row, name)
        if column.type is str and isinstance(value, str) and len(value) > FIELD_LIMIT:
            changes[name] = shortened(value, FIELD_LIMIT)
        elif column.type is tuple and isinstance(value, (tuple, list)):
            items = tuple(shortened(item, FIELD_LIMIT) if isinstance(item, str) else item for item in value)
            if len(items) > ITEM_LIMIT:
                items = (*items[: ITEM_LIMIT - 1], f"... [+{len(items) - ITEM_LIMIT + 1}]")
            if items != value:
                changes[name] = items
    if row.extra:
        changes["extra"] = {name: _clipped_extra(value) for name, value in row.extra.items()}
    return replace(row, **changes) if changes else row


def _clipped_extra(value: object) -> object:
    if isinstance(value, str):
        return shortened(value, FIELD_LIMIT)
    if isinstance(value, (list, tuple, Mapping)):
        try:
            text = json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise RecordError(f"extra field: {error}") from None
        return value if len(text) <= FIELD_LIMIT else shortened(text, FIELD_LIMIT)
    return value


def _state(path: Path) -> tuple[int, bool]:
    """How many lines the file has, and whether the last one lacks its end."""
    lines, last = 0, b"\n"
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                lines += block.count(b"\n")
                last = block[-1:]
    except FileNotFoundError:
        return 0, False
    torn = last != b"\n"
    return lines + torn, torn
