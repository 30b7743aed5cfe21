"""One row: what it becomes on a line, what is refused, and text that harms nobody."""

from __future__ import annotations

import json
import re
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.rows import (
    COLUMNS,
    KINDS,
    EndRow,
    FaultRow,
    RecordError,
    Row,
    from_json,
    to_json,
)
from records.text import ascii_only, octets, printable, shortened
from tests.rows import hostile, rows


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
