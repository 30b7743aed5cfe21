"""What the executors do to the rows of a run, without Spark around it: it is what the plain reader and summary do.

Runs are drawn, spoilt and shuffled: files in any order, rows twice, torn tails, clocks that jump, both schema versions.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import fields
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

import pyarrow as pa

from records.reader import gather
from records.rows import RecordError, RunRow, from_json
from reports.spark import folding, reading
from reports.spark.rows import Verdict
from reports.summary import baseline, fold
from tests import runs
from tests.runs import Shape

SHAPES = st.builds(
    Shape,
    number=st.integers(0, 2**31),
    day=st.integers(-400, 400),
    schema=st.sampled_from((1, 2)),
    workers=st.integers(1, 3),
    requirements=st.integers(1, 6),
    properties=st.integers(0, 3),
    seed=st.integers(0, 2**31),
    partial=st.booleans(),
    strict=st.booleans(),
    status=st.sampled_from(("complete", "complete", "interrupted", "")),
    end=st.sampled_from((True, True, False)),
    spoken=st.sampled_from((True, True, True, False)),
)


@st.composite
def files(draw):
    """The files of one run as octets, spoilt or not, in any order."""
    shape = draw(SHAPES)
    made = []
    for lines in runs.run(shape).values():
        again = draw(st.lists(st.sampled_from(lines), max_size=3)) if lines else []
        chosen = draw(st.permutations(lines + again)) if len(lines) < 40 else lines + again
        data = "".join(f"{line}\n" for line in chosen).encode("ascii")
        made.append(data[: draw(st.integers(len(data) // 2, len(data)))] if draw(st.booleans()) else data)
    if draw(st.booleans()):
        made.append(made[0])
    if draw(st.booleans()) and shape.spoken and made[0]:
        jumped = json.loads(runs.run(shape)["main"][0]) | {"n": 9000, "at": "1999-01-01T00:00:00+00:00"}
        made.append(json.dumps(jumped).encode("ascii") + b"\n")
    return draw(st.permutations(made))


def folded(contents, chance):
    """What the executors make of these files, as the arrays of one run, and how many lines they set aside."""
    read = [row for rows in reading._files(pa.array(contents, pa.binary())).to_pylist() for row in rows]
    rows = [row for row in read if row["reason"] is None]
    columns = [[row[name] for row in rows] for name in ("run", "worker", "n", "text")]
    table = pa.table([[*column, None] for column in columns], names=[str(n) for n in range(len(columns))])
    order = chance.sample(range(len(rows) + 1), len(rows) + 1)
    shuffled = [column.combine_chunks() for column in table.take(order).columns]
    shuffled[0] = pa.array(["" if not rows else rows[0]["run"]] * (len(rows) + 1))
    found = folding._fold(*shuffled, pa.nulls(len(rows) + 1, pa.string())).as_py()
    return [[tuple(row.values()) for row in found[name]] for name in folding.PARTS], len(read) - len(rows)


@settings(deadline=None)
@given(files(), st.randoms(use_true_random=False))
def test_the_executors_fold_as_the_plain_summary_does(tmp_path_factory, contents, chance):
    folder = tmp_path_factory.mktemp("files")
    paths = []
    for number, content in enumerate(contents):
        paths.append(folder / f"{number}.jsonl")
        paths[-1].write_bytes(content)
    plain = gather(paths)
    found, aside = folded(contents, chance)
    assert aside == len(plain.aside) + len(plain.torn)
    if not plain.rows:
        assert not any(found)
        return
    told = [row for row in plain.rows if isinstance(row, RunRow)]
    day = date.fromisoformat(min(row.at for row in told)[:10]) if told else date.today()  # noqa: DTZ011
    summary = fold(plain.rows, baseline(plain.rows), any(row.strict for row in told), day)
    expected = [[folding._plain(row) for row in part] for part in folding.made(plain.rows[0].run, summary)]
    assert [sorted(part, key=repr) for part in found] == [sorted(part, key=repr) for part in expected]


PLAIN = {
    "kind": "coverage", "run": "r", "worker": "w", "n": 7, "schema": 2, "property": "stomp/test_a.py::b[x]",
    "requirement": "STOMP-1.2-A-01", "exercised": 0, "judged": 12,
}  # fmt: skip
"""A coverage row in our writer's form."""
ODD = st.one_of(
    st.text(st.sampled_from('ab "\\{}:,é\u2028\n\x7f~!#[]0'), max_size=6),
    st.integers(-2, 10),
    st.integers(10**14, 2**65),
    st.floats(0, 3),
    st.booleans(),
    st.none(),
)


@settings(deadline=None)
@given(st.sampled_from([name for name in PLAIN if name != "kind"]), ODD, st.booleans(), st.integers(0, 2))
def test_a_coverage_row_taken_apart_by_pattern_is_what_the_reader_reads(name, odd, ascii_only, cut):
    line = json.dumps(PLAIN | {name: odd}, separators=(",", ":"), ensure_ascii=ascii_only)
    line = line[: len(line) - cut]
    found = re.fullmatch(reading.COVERAGE, line)
    if not found:
        return
    row = from_json(line)
    assert (row.run, row.worker, row.n, row.property, row.requirement, row.exercised, row.judged) == tuple(
        int(text) if place in (2, 5, 6) else text for place, text in enumerate(found.groups())
    )


def test_the_pattern_knows_what_our_writer_writes():
    lines = [line for made in runs.run(Shape(workers=2)).values() for line in made]
    of_coverage = [line for line in lines if json.loads(line)["kind"] == "coverage"]
    assert of_coverage
    assert all(re.fullmatch(reading.COVERAGE, line) for line in of_coverage)
    assert not any(re.fullmatch(reading.COVERAGE, line) for line in lines if line not in of_coverage)


@pytest.mark.parametrize("octets", [b"\xff\xfe", b"[1]", b'{"kind":"run"}', b"{" * 100_000])
def test_what_is_no_row_is_set_aside_with_the_readers_reason(octets):
    reason = reading._row(octets, ended=True)["reason"]
    with pytest.raises((RecordError, UnicodeDecodeError)) as error:
        from_json(octets.decode("utf-8"))
    assert str(error.value)[:60] in reason or "can't decode" in reason


def test_counts_that_lie_are_cut_to_what_a_column_holds():
    requirement = runs.run(Shape(number=1))["main"]
    listed = next(json.loads(line) for line in requirement if json.loads(line)["kind"] == "requirement")
    lying = [
        json.dumps(PLAIN | {"run": listed["run"], "n": n, "requirement": listed["id"], "judged": 2**62})
        for n in range(5000, 5004)
    ]
    content = "".join(f"{line}\n" for line in [*requirement, *lying]).encode("ascii")
    found, aside = folded([content], random.Random(1))
    assert not aside
    names = [field.name for field in fields(Verdict)]
    verdicts = [dict(zip(names, row, strict=True)) for row in found[list(folding.PARTS).index("verdicts")]]
    assert [row["judged"] for row in verdicts if row["requirement"] == listed["id"]] == [folding.LONGEST]
