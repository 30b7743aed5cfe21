"""Records: what is written can be read, whatever happens to the file in between."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from records.reader import Records, files, gather, read, unfinished
from records.rows import (
    COLUMNS,
    KINDS,
    SCHEMA,
    CoverageRow,
    EndRow,
    FaultRow,
    PropertyRow,
    RecordError,
    RequirementRow,
    Row,
    RunRow,
    TroubleRow,
    from_json,
    to_json,
)
from records.text import ascii_only, octets, printable, shortened
from records.writer import FIELD_LIMIT, ITEM_LIMIT, Writer, clipped, new_run

ROOT = Path(__file__).resolve().parent.parent
TRAPS = [
    "",
    "\x1b[2J\x1b]0;pwned\x07",
    "\u202eevil\u2066",
    "<script>alert(1)</script>",
    '"}\n{"kind":"end"}',
    "\ud800",
    "a|b`c`",
    "\x00\x9b31m",
    "\u2028\u2029\x85\r\n",
    "e" + "\u0301" * 40,
    "𝕏é漢",
    "\ufffe\U000e0001",
]
hostile = st.one_of(st.sampled_from(TRAPS), st.text(st.characters(), max_size=12))
names = st.text("abcXYZ019._", min_size=1, max_size=8).filter(lambda name: name[0] != ".")
numbers = st.integers(-(2**63), 2**63 - 1)
VALUES = {
    str: hostile,
    int: numbers,
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    tuple: st.lists(hostile, max_size=3).map(tuple),
}
json_values = st.recursive(
    st.none() | st.booleans() | numbers | hostile,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(hostile, inner, max_size=2),
    max_leaves=4,
)


@st.composite
def rows(draw: st.DrawFn, kinds: tuple[str, ...] = tuple(KINDS)) -> Row:
    """Any row of these kinds, any value that its columns can hold."""
    kind = draw(st.sampled_from(kinds))
    values = {"run": draw(names), "worker": draw(names)}
    for name, column in COLUMNS[kind].items():
        if name in values:
            continue
        value = VALUES[column.type]
        if column.required:
            value = value.filter(bool)
        elif column.nullable:
            value = st.none() | value
        values[name] = draw(value)
    extra = draw(st.dictionaries(st.text(max_size=4).map("x".__add__), json_values, max_size=2))
    return KINDS[kind](extra={k: v for k, v in extra.items() if k not in COLUMNS[kind]}, **values)


# --- one row ----------------------------------------------------------------------------------------------------------


@given(rows())
def test_a_row_survives_its_line(row: Row) -> None:
    line = to_json(row)
    assert line.isascii()
    assert line.isprintable()
    again = from_json(line)
    assert again == row
    assert type(again) is type(row)
    assert hash(again) == hash(row)


def test_a_column_has_one_type_in_all_kinds() -> None:
    types: dict[str, type] = {}
    for columns in COLUMNS.values():
        for column in columns.values():
            assert types.setdefault(column.name, column.type) is column.type
            assert column.type in (str, int, float, bool, tuple)


def test_columns_are_the_fields() -> None:
    for kind, row in KINDS.items():
        assert set(COLUMNS[kind]) | {"extra"} == {field.name for field in fields(row)}
        assert row.kind == kind


@pytest.mark.parametrize("kind", KINDS)
def test_an_older_row_gets_defaults(kind: str) -> None:
    required = {name: "x" for name, column in COLUMNS[kind].items() if column.required}
    row = from_json(json.dumps({"kind": kind, "schema": 0, "run": "r", "worker": "w", **required}))
    assert row == KINDS[kind](run="r", worker="w", schema=0, **required)


def test_a_null_is_a_missing_value() -> None:
    row = from_json('{"kind":"fault","run":"r","worker":"w","requirement":"X","level":null,"also":null}')
    assert row == FaultRow(run="r", worker="w", requirement="X")


def test_fields_of_a_newer_schema_are_kept() -> None:
    line = '{"kind":"end","run":"r","worker":"w","schema":9,"mood":{"good":[1]}}'
    row = from_json(line)
    assert row.extra == {"mood": {"good": [1]}}
    assert row.schema == 9
    assert json.loads(to_json(row))["mood"] == {"good": [1]}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "not JSON"),
        ("[]", "not a JSON object"),
        ("nul", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"kind":"end"', "not JSON"),
        ('{"kind":"coverage","exercised":NaN}', "not JSON"),
        ('{"run":"r"}', "unknown kind"),
        ('{"kind":["end"]}', "unknown kind"),
        ('{"kind":"end","run":"r"}', "worker is missing"),
        ('{"kind":"end","run":"","worker":"w"}', "run is missing"),
        ('{"kind":"fault","run":"r","worker":"w"}', "requirement is missing"),
        ('{"kind":"end","run":"r","worker":"w","n":true}', "n must be int"),
        ('{"kind":"end","run":"r","worker":"w","n":1.0}', "n must be int"),
        ('{"kind":"end","run":"r","worker":"w","n":9223372036854775808}', "n must be int"),
        ('{"kind":"end","run":"r","worker":"w","n":' + "9" * 5000 + "}", "not JSON"),
        ('{"kind":"end","run":"r","worker":"w","seconds":1e999}', "seconds must be float"),
        ('{"kind":"end","run":"r","worker":"w","seconds":' + "9" * 400 + "}", "seconds must be float"),
        ('{"kind":"end","run":"r","worker":"w","status":5}', "status must be str"),
        ('{"kind":"fault","run":"r","worker":"w","requirement":"X","also":"Y"}', "also must be a list of text"),
        ('{"kind":"fault","run":"r","worker":"w","requirement":"X","also":[1]}', "also must be a list of text"),
        ('{"kind":"fault","run":"r","worker":"w","requirement":"X","steady":1}', "steady must be bool"),
    ],
)
def test_what_is_no_row_is_refused_by_file_line_and_field(line: str, says: str) -> None:
    with pytest.raises(RecordError, match=says) as error:
        from_json(line, "some\x1bfile", 7)
    assert str(error.value).startswith("some\\x1bfile:7: ")
    assert str(error.value).isprintable()


def test_a_value_that_no_column_holds_is_never_written() -> None:
    for row in (
        EndRow(run="r", worker="w", seconds=float("nan")),
        EndRow(run="r", worker="w", plans=2**63),
        EndRow(run="r", worker="w", at=5),  # type: ignore[arg-type]
        EndRow(run="r", worker="w", extra={"x": object()}),
        EndRow(run="r", worker="w", extra={"x": float("inf")}),
    ):
        with pytest.raises(RecordError):
            to_json(row)


@given(st.binary(max_size=200))
def test_no_line_does_anything_but_parse_or_be_refused(data: bytes) -> None:
    with pytest.raises(RecordError, match=r"^f:1: "):
        from_json(data.decode("latin-1"), "f", 1)  # octets drawn blindly are never a whole row


# --- text -------------------------------------------------------------------------------------------------------------


@given(st.text(st.characters(), max_size=60) | hostile, st.integers(0, 80))
def test_printable_is_one_harmless_line(text: str, limit: int) -> None:
    shown = printable(text, limit)
    assert shown.isprintable()
    assert len(shown) <= limit
    assert printable(shown, limit) == shown
    shown.encode("utf-8")
    assert ascii_only(text).isascii()


def test_printable_leaves_people_their_scripts() -> None:
    assert printable("Grüße, 漢字, ελληνικά, e\u0301") == "Grüße, 漢字, ελληνικά, e\u0301"


@pytest.mark.parametrize(
    "char", "\0\a\x1b\x7f\x85\x9b\u061c\u200b\u200e\u2028\u202a\u202e\u2066\u2069\ufeff\ud800\ufffe"
)
def test_printable_escapes(char: str) -> None:
    shown = printable(f"a{char}b")
    assert shown.isascii()
    assert shown.startswith("a\\")
    assert shown.endswith("b")


def test_marks_do_not_pile_up() -> None:
    assert printable("e" + "\u0301" * 5) == "e\u0301\u0301\\u0301\\u0301\\u0301"


def test_long_text_says_how_much_is_missing() -> None:
    assert shortened("x" * 100, 20) == "xxxxxxxxxx... [+90]"
    assert printable("x" * 10**6, 30).endswith("]")
    assert len(printable("\x1b" * 10**6, 30)) <= 30


@given(st.binary(max_size=40))
def test_octets_can_be_told_apart(data: bytes) -> None:
    shown = octets(data)
    assert shown.isascii()
    assert shown.isprintable()
    # \0 is a NUL of its own, whatever digit follows: told to Python as \x00, doubled backslashes passed over
    back = re.sub(r"\\(.)", lambda match: "\\x00" if match[1] == "0" else match[0], shown)
    assert back.encode("ascii").decode("unicode_escape").encode("latin-1") == data


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
