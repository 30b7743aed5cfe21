"""Rows read back from disk, whatever a killed run, a full disk or a stranger left there.

Nothing in a file of records stops the reading: a torn last line is noticed, a line that is no row is set aside with
the reason. Whether a run is complete is answered from its rows alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from records.rows import EndRow, RecordError, Row, RunRow, from_json
from records.text import octets, printable

MAX_LINE: Final = 4 << 20
"""Octets of a line that may still be a row."""


@dataclass(frozen=True, slots=True)
class Aside:
    """A line that is no row: where it stands, why it was set aside, and its beginning as printable text."""

    file: str
    line: int
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Records:
    """Distinct rows in the order in which they were read, lines set aside, and files whose last line is torn."""

    rows: tuple[Row, ...] = ()
    aside: tuple[Aside, ...] = ()
    torn: tuple[str, ...] = ()

    @property
    def runs(self) -> tuple[str, ...]:
        """Run ids, oldest first: by the time in their run row, then by id."""
        began = {row.run: "" for row in self.rows}
        for row in self.rows:
            if isinstance(row, RunRow) and row.at:
                began[row.run] = min(began[row.run] or row.at, row.at)
        return tuple(sorted(began, key=lambda run: (began[run], run)))

    def of(self, run: str) -> tuple[Row, ...]:
        """The rows of one run."""
        return tuple(row for row in self.rows if row.run == run)

    def latest(self) -> tuple[Row, ...]:
        """The rows of the newest run; none when there is no run."""
        runs = self.runs
        return self.of(runs[-1]) if runs else ()

    def complete(self, run: str) -> bool:
        """True when every worker of `run` came to its end and no row before that is missing."""
        rows = self.of(run)
        return bool(rows) and not unfinished(rows)


@dataclass(frozen=True, slots=True)
class Places:
    """The places (`n`) of one worker's rows: how many different ones above 0, and the last."""

    count: int = 0
    last: int = 0


def unfinished(rows: Iterable[Row], places: Mapping[str, Places] | None = None) -> dict[str, str]:
    """Workers of one run that did not come to a good end, each with the reason; empty when all did.

    `places` replaces the counting when `rows` are not all rows of the run: some were added up elsewhere.
    """
    by_worker: dict[str, list[Row]] = {}
    for row in rows:
        by_worker.setdefault(row.worker, []).append(row)
    for worker in places or ():
        by_worker.setdefault(worker, [])
    for row in [row for mine in by_worker.values() for row in mine if isinstance(row, RunRow)]:
        for worker in row.workers:
            by_worker.setdefault(worker, [])
    found = {}
    for worker in sorted(by_worker):
        mine = by_worker[worker]
        counted = (places or {}).get(worker) or _places(mine)
        reason = _unfinished([row for row in mine if isinstance(row, EndRow)], counted, bool(mine))
        if reason:
            found[worker] = reason
    return found


def _places(rows: list[Row]) -> Places:
    different = {row.n for row in rows} - {0}
    return Places(len(different), max(different, default=0))


def _unfinished(ends: list[EndRow], places: Places, wrote: bool) -> str:
    if not wrote and not places.count:
        return "was started and wrote nothing"
    if not ends:
        return "stopped without its end row"
    end = max(ends, key=lambda row: (row.n, row.status))
    if places.last > end.n:
        return "went on after its end row and did not end again"
    if end.n and places.count != end.n:
        return f"lacks {end.n - places.count} of {end.n} rows"
    return "" if end.status == "complete" else end.status or "ended without a status"


def read(path: Path) -> Records:
    """The records in a file, in a folder of results, or in its folder `records`.

    Raises RecordError when there is neither a file nor a folder at `path`.
    """
    return gather(files(path))


def files(path: Path) -> list[Path]:
    """The files of records at `path`, in the order of their names. Raises RecordError when nothing is there."""
    path = Path(path)
    if path.is_dir():
        inner = path / "records"
        return sorted((inner if inner.is_dir() else path).glob("*.jsonl"))
    if not path.exists():
        raise RecordError(f"{path}: no such file or folder; give a folder that --results named")
    return [path]


def gather(paths: Iterable[Path]) -> Records:
    """The records in these files. A file that cannot be opened is set aside whole."""
    rows: dict[Row, None] = {}
    aside: list[Aside] = []
    torn: list[str] = []
    for path in paths:
        try:
            with path.open("rb") as file:
                _take(file, str(path), rows, aside, torn)
        except OSError as error:
            aside.append(Aside(str(path), 0, f"cannot be read: {error.strerror or error}", ""))
    return Records(tuple(rows), tuple(aside), tuple(torn))


def _take(file: BinaryIO, name: str, rows: dict[Row, None], aside: list[Aside], torn: list[str]) -> None:
    for number, line in enumerate(_lines(file), 1):
        ended = line.endswith(b"\n")
        text = line.rstrip(b"\r\n")
        if not text and ended:
            continue
        if len(text) > MAX_LINE:
            aside.append(Aside(name, number, f"longer than {MAX_LINE} octets", octets(text, 120)))
            continue
        try:
            row = from_json(text.decode("utf-8"))
        except (RecordError, UnicodeDecodeError) as error:
            if ended:
                aside.append(Aside(name, number, printable(str(error)), octets(text, 120)))
            else:
                torn.append(name)
        else:
            # A last row that lacks only its line end is whole: what follows a JSON object cannot change it.
            rows.setdefault(row)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines of the file; of one that is too long only the beginning is kept, more than MAX_LINE octets of it."""
    while line := file.readline(MAX_LINE + 2):
        if not line.endswith(b"\n"):
            while (rest := file.readline(1 << 20)) and not rest.endswith(b"\n"):
                pass
            if rest:
                line += b"\n"
        yield line
