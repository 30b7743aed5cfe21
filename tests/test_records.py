"""Records: what is written can be read, whatever happens to the file in between."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from records.reader import Records, files, gather, read, unfinished
from records.rows import (
    SCHEMA,
    CoverageRow,
    EndRow,
    FaultRow,
    PropertyRow,
    RecordError,
    RequirementRow,
    RunRow,
    TroubleRow,
)
from records.writer import FIELD_LIMIT, ITEM_LIMIT, Writer, clipped, new_run
from tests.rows import rows

ROOT = Path(__file__).resolve().parent.parent


# --- writing and reading ----------------------------------------------------------------------------------------------


def whole_run(folder: Path, worker: str = "main", run: str = "r1", status: str = "complete") -> Path:
    """A small run of one worker."""
    with Writer(folder, run, worker) as writer:
        writer.write(RunRow(at="2025-01-01T00:00:00Z", impl="x"))
        writer.write(RequirementRow(id="A"))
        writer.write(CoverageRow(property="p", requirement="A", exercised=2, judged=1))
        writer.write(FaultRow(requirement="A", why="\x1b[31m\ud800<b>"))
        writer.write(EndRow(status=status))
        return writer.path


def test_the_writer_names_numbers_and_ends(tmp_path: Path) -> None:
    path = whole_run(tmp_path, "gw0")
    assert path == tmp_path / "records" / "r1-gw0.jsonl"
    found = read(tmp_path)
    assert [(row.run, row.worker, row.n) for row in found.rows] == [("r1", "gw0", n) for n in range(1, 6)]
    assert isinstance(found.rows[-1], EndRow)
    assert found.rows[-1].rows == 4
    assert found.complete("r1")
    assert not found.aside
    assert not found.torn
    assert read(path) == read(tmp_path / "records") == found


def test_a_file_that_exists_is_continued_on_a_new_line(tmp_path: Path) -> None:
    path = whole_run(tmp_path)
    with path.open("ab") as file:
        file.write(b'{"kind":"fau')
    with Writer(tmp_path, "r1") as writer:
        assert writer.write(EndRow()).n == 7
    found = read(tmp_path)
    assert [row.n for row in found.rows] == [1, 2, 3, 4, 5, 7]
    assert [aside.line for aside in found.aside] == [6]
    assert not found.complete("r1")  # a row was lost, and the numbers tell


def test_after_a_failed_write_the_next_row_has_its_own_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    with Writer(tmp_path, "r1") as writer:
        calls = []

        def full(fd: int, data: bytes) -> int:
            calls.append(data)
            if len(calls) == 2:
                raise OSError(28, "No space left on device")
            return real(fd, data[:9])

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(OSError, match="space"):
            writer.write(EndRow())
        monkeypatch.setattr(os, "write", real)
        writer.write(EndRow())
    found = read(tmp_path)
    assert len(found.rows) == len(found.aside) == 1


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a b", "é", "x" * 101, "a\n"])
def test_a_name_must_be_a_file_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecordError, match="part of a file's name"):
        Writer(tmp_path, name)
    with pytest.raises(RecordError, match="part of a file's name"):
        Writer(tmp_path, "r", name)


def test_run_ids_are_fresh_and_name_files(tmp_path: Path) -> None:
    assert new_run() != new_run()
    Writer(tmp_path, new_run()).close()


def test_a_closed_writer_says_so(tmp_path: Path) -> None:
    writer = Writer(tmp_path, "r")
    writer.close()
    writer.close()
    with pytest.raises(RecordError, match="closed"):
        writer.write(EndRow())


def test_a_row_that_cannot_be_written_leaves_the_file_whole(tmp_path: Path) -> None:
    with Writer(tmp_path, "r") as writer:
        with pytest.raises(RecordError):
            writer.write(EndRow(seconds=float("inf")))
        writer.write(EndRow())
    found = read(tmp_path)
    assert len(found.rows) == 1


def test_threads_share_a_writer(tmp_path: Path) -> None:
    with Writer(tmp_path, "r") as writer:

        def work() -> None:
            for _ in range(50):
                writer.write(TroubleRow(where="x" * 500))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        writer.write(EndRow())
    found = read(tmp_path)
    assert found.complete("r")
    assert len(found.rows) == 201


def test_long_text_and_long_lists_are_cut(tmp_path: Path) -> None:
    row = FaultRow(
        requirement="A", why="y" * 10**6, also=("z" * 10**5,) * 1000, extra={"e": "e" * 10**5, "l": ["x" * 10**5]}
    )
    with Writer(tmp_path, "r") as writer:
        written = writer.write(row)
    assert len(written.why) <= FIELD_LIMIT
    assert written.why.endswith("]")
    assert len(written.also) == ITEM_LIMIT
    assert written.also[-1] == "... [+801]"
    assert (tmp_path / "records" / "r-main.jsonl").stat().st_size < (ITEM_LIMIT + 4) * FIELD_LIMIT
    assert read(tmp_path).rows == (written,)
    assert clipped(written) == written


def test_every_torn_tail_is_noticed_and_loses_one_row_at_most(tmp_path: Path) -> None:
    data = whole_run(tmp_path / "whole").read_bytes()
    rows_there = read(tmp_path / "whole").rows
    torn = tmp_path / "torn.jsonl"
    for size in range(len(data) + 1):
        torn.write_bytes(data[:size])
        found = read(torn)
        ended = data[:size].count(b"\n")
        assert not found.aside
        assert found.rows[:ended] == rows_there[:ended]
        assert found.rows == rows_there[: len(found.rows)]
        assert len(found.rows) <= ended + 1
        begun = size > 0 and data[size - 1 : size] != b"\n"
        assert bool(found.torn) == (begun and len(found.rows) == ended)
        assert found.complete("r1") == (len(found.rows) == len(rows_there))


def test_a_killed_run_keeps_what_it_had(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from records.writer import Writer; from records.rows import *\n"
        "w = Writer(Path(sys.argv[1]), 'r')\n"
        "w.write(RunRow(impl='x'))\n"
        "print('begun', flush=True)\n"
        "while True: w.write(TroubleRow(where='y' * 3000))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    found = read(tmp_path)
    assert isinstance(found.rows[0], RunRow)
    assert not found.aside
    assert unfinished(found.rows) == {"main": "stopped without its end row"}


def test_foreign_lines_are_set_aside_with_reasons(tmp_path: Path) -> None:
    path = whole_run(tmp_path)
    good = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(
        b"\xff\xfe\n"
        + good[0]
        + b"\x1b]0;x\x07\n\n"
        + good[1]
        + b'{"kind":"new"}\n'
        + b"x" * (5 << 20)
        + b"\n"
        + good[2].replace(b"\n", b"\r\n")
        + good[3]
        + good[4]
    )
    found = read(tmp_path)
    assert len(found.rows) == 5
    assert [aside.line for aside in found.aside] == [1, 3, 6, 7]
    for aside in found.aside:
        assert aside.reason
        assert (aside.reason + aside.text).isprintable()
    assert "longer than" in found.aside[3].reason
    assert found.complete("r1")


def test_a_long_line_without_end_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"x" * (5 << 20))
    assert [aside.line for aside in read(path).aside] == [1]


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no such file"):
        read(tmp_path / "nothing")
    assert read(tmp_path) == Records()
    assert read(tmp_path).latest() == ()
    assert not read(tmp_path).complete("r")
    assert gather([tmp_path / "gone.jsonl"]).aside[0].reason.startswith("cannot be read")
    (tmp_path / "a.jsonl").touch()
    (tmp_path / "b.txt").touch()
    assert files(tmp_path) == [tmp_path / "a.jsonl"]


def test_a_file_read_twice_is_one(tmp_path: Path) -> None:
    path = whole_run(tmp_path)
    assert gather([path, path]).rows == read(path).rows


def test_equal_rows_of_one_run_are_two(tmp_path: Path) -> None:
    with Writer(tmp_path, "r") as writer:
        for _ in range(2):
            writer.write(PropertyRow(property="p", plans=3))
    assert len(read(tmp_path).rows) == 2


def test_runs_come_oldest_first(tmp_path: Path) -> None:
    for run, at in (("b", "2025-01-01"), ("a", "2025-01-02"), ("c", "2024-12-31")):
        with Writer(tmp_path, run) as writer:
            writer.write(RunRow(at=at))
    found = read(tmp_path)
    assert found.runs == ("c", "b", "a")
    assert {row.run for row in found.latest()} == {"a"}


# --- completeness -----------------------------------------------------------------------------------------------------


def test_a_run_is_complete_only_when_every_worker_ended(tmp_path: Path) -> None:
    whole_run(tmp_path, "gw0")
    second = whole_run(tmp_path, "gw1")
    assert read(tmp_path).complete("r1")
    second.write_bytes(b"".join(second.read_bytes().splitlines(keepends=True)[:-1]))
    assert unfinished(read(tmp_path).rows) == {"gw1": "stopped without its end row"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda rows: rows[:-1], "without its end"),
        (lambda rows: rows[:1] + rows[2:], "lacks 1 of 5 rows"),
        (lambda rows: [*rows, replace(rows[1], n=6)], "went on after its end"),
        (lambda rows: [*rows[:-1], replace(rows[-1], status="interrupted")], "interrupted"),
        (lambda rows: [*rows[:-1], replace(rows[-1], status="")], "without a status"),
        (lambda rows: [replace(rows[0], workers=("main", "gw7")), *rows[1:]], "wrote nothing"),
    ],
)
def test_what_makes_a_run_incomplete(tmp_path: Path, change: object, says: str) -> None:
    whole_run(tmp_path)
    there = list(read(tmp_path).rows)
    assert unfinished(there) == {}
    (reason,) = unfinished(change(there)).values()  # type: ignore[operator]
    assert says in reason


@settings(max_examples=50)
@given(st.data())
def test_workers_may_be_interleaved_in_any_way(data: st.DataObject) -> None:
    by_worker = [
        [
            replace(row, run="r", worker=f"gw{w}", n=n, schema=SCHEMA)
            for n, row in enumerate(
                [*data.draw(st.lists(rows(kinds=("coverage", "fault", "trouble")), max_size=3)), EndRow()], 1
            )
        ]
        for w in range(data.draw(st.integers(1, 3)))
    ]
    together = [row for mine in by_worker for row in mine]
    shuffled = data.draw(st.permutations(together + data.draw(st.lists(st.sampled_from(together), max_size=3))))
    assert unfinished(shuffled) == {}
    lost = data.draw(st.sampled_from(together))
    assert set(unfinished([row for row in shuffled if row != lost])) in ({lost.worker}, set())
    # The one worker that vanishes without a trace is the one that nobody announced.
    if len([row for row in together if row.worker == lost.worker]) > 1:
        assert set(unfinished([row for row in shuffled if row != lost])) == {lost.worker}
