"""The baseline in a manifest: read, rewritten, and in force."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.rows import (
    FaultRow,
    ReplayRow,
    RoundRow,
    TroubleRow,
)
from reports import baseline
from reports.summary import Failing
from tests.summaries import IDS, TODAY, Known, hostile, judged, summed

MANIFEST = """\
# my server
[impl]
name = "x" # [deviations]
notes = '''
[deviations]
"A-01" = 1
'''

[deviations] # what we know
# the disk
"A-01" = { reason = "slow [disk] # really", issue = "u", expires = 2027-06-01 }  # keep me

"A-02" = { reason = "gone", issue = "v" }
# the end

[stomp]
login = "guest"
"""


def test_the_table_is_rewritten_and_nothing_else() -> None:
    failing = {"A-01": Failing("other", "", ()), "B\n\"'": Failing("why \x1b[31m\n\"x\" \\ '''", "traces/b.json", ())}
    text = baseline.update(MANIFEST, failing, today=TODAY)
    assert text == MANIFEST.replace(
        '"A-02" = { reason = "gone", issue = "v" }\n',
        "",
    ).replace(
        "# keep me\n",
        '# keep me\n"B\\U0000000a\\"\'" = { reason = "why \\\\x1b[31m\\\\n\\"x\\" \\\\ \'\'\'", '
        'issue = "not reported yet", expires = 2026-06-01, trace = "traces/b.json" }\n',
    )


def test_a_run_without_news_leaves_the_file_alone() -> None:
    assert (
        baseline.update(MANIFEST, {"A-01": Failing("", "", ()), "A-02": Failing("", "", ())}, today=TODAY) == MANIFEST
    )
    assert baseline.update(MANIFEST, {"A-01": Failing("", "", ())}, today=TODAY, unsettled={"A-02", "C-01"}) == MANIFEST


def test_an_entry_accepts_the_sorts_of_failure_that_it_was_written_for() -> None:
    old = '[deviations]\n"A-01" = { reason = "r", issue = "i", fingerprints = ["A-01 one"] }\n'
    same = baseline.update(old, {"A-01": Failing("x", "", ("A-01 one",))}, today=TODAY)
    assert same == old
    wider = tomllib.loads(baseline.update(old, {"A-01": Failing("x", "", ("A-01 two",))}, today=TODAY))
    assert wider["deviations"]["A-01"] == {"reason": "r", "issue": "i", "fingerprints": ["A-01 one", "A-01 two"]}
    made = tomllib.loads(baseline.update("", {"A-01": Failing("x", "", ("A-01 one",))}, today=TODAY))
    assert made["deviations"]["A-01"]["fingerprints"] == ["A-01 one"]


def test_a_new_sort_of_failure_is_no_known_deviation() -> None:
    rows = [judged("A-01"), FaultRow(requirement="A-01", why="bad", fingerprint="A-01 two")]
    known = {"A-01": Known("r", fingerprints=("A-01 one",))}
    assert summed(*rows, deviations=known).standing("failed")[0].id == "A-01"
    known = {"A-01": Known("r", fingerprints=("A-01 one", "A-01 two"))}
    assert summed(*rows, deviations=known).standing("accepted")[0].id == "A-01"


def test_whatever_is_done_where_nothing_may_be_done_is_one_sort_of_failure() -> None:
    known = {"A-01": Known("r", fingerprints=("A-01 RECEIPT in FAILED", "A-01 said in time"))}
    for kind, standing in [
        ("RECEIPT in FAILED", "accepted"), ("MESSAGE in FAILED", "accepted"), ("hangs up in FAILED", "accepted"),
        ("MESSAGE in CLOSED", "failed"), ("whatever", "failed"), ("asked in time", "failed"),
    ]:  # fmt: skip
        (found,) = summed(FaultRow(requirement="A-01", fingerprint=f"A-01 {kind}"), deviations=known).results
        assert found.standing == standing, kind


def test_a_table_is_made_when_there_is_none() -> None:
    added = '"A-01" = { reason = "fails", issue = "not reported yet", expires = 2025-02-28 }'
    for before, gap in (("", ""), ("x = 1", "\n\n"), ("x = 1\n", "\n")):
        text = baseline.update(before, {"A-01": Failing(" ", "", ())}, today=date(2024, 2, 29))
        assert text == f"{before}{gap}[deviations]\n{added}\n"
    crlf = baseline.update("x = 1\r\n[deviations]\r\n", {"A-01": Failing("", "", ())}, today=date(2024, 2, 29))
    assert crlf == f"x = 1\r\n[deviations]\r\n{added}\r\n"


@pytest.mark.parametrize(
    "text",
    [
        '[deviations."A-01"]\nreason = "r"\nissue = "i"\n# c\n[deviations."A-02"]\nreason = "s"\n[end]\n',
        'deviations = { A-01 = { reason = "r" }, A-02 = { reason = "s" } }\n[end]\nx = 1\n',
        'deviations.A-01.reason = "r"\ndeviations.A-02 = { reason = "s", expires = 2030-01-01 }\n[end]\n',
        '[deviations]\nA-01.reason = "r"\nA-02.reason = """\n[x]\n"A-01" = 1\n"""\n[end]',
        "[deviations]\nA-01 = { reason = \"\\\"]\" }\n[ \"deviations\" . \"A-02\" ]\nreason = '''a'''''\n",
    ],
)
def test_every_way_to_write_the_table_is_understood(text: str) -> None:
    before = tomllib.loads(text)
    after = tomllib.loads(
        baseline.update(text, {"A-01": Failing("x", "", ()), "C-01": Failing("new", "", ())}, today=TODAY)
    )
    assert set(after["deviations"]) == {"A-01", "C-01"}
    assert after["deviations"]["A-01"] == before["deviations"]["A-01"]
    assert {**after, "deviations": 0} == {**before, "deviations": 0}


def test_a_baseline_is_refused_after_half_a_run() -> None:
    with pytest.raises(baseline.BaselineError, match="partial or incomplete"):
        baseline.update(MANIFEST, {}, today=TODAY, partial=True)
    for rest in ({"partial": True}, {"end": False}):
        with pytest.raises(baseline.BaselineError, match="partial or incomplete"):
            baseline.refreshed(MANIFEST, summed(judged(), **rest), TODAY)
    with pytest.raises(baseline.BaselineError, match="tester's own"):
        baseline.refreshed(MANIFEST, summed(judged(), TroubleRow(message="x")), TODAY)


@pytest.mark.parametrize("text", ["[deviations", "deviations = 3", "x = " + "[" * 5000, "[[deviations]]\nx = 1\n"])
def test_a_manifest_that_cannot_be_updated_is_left_alone(text: str) -> None:
    with pytest.raises(baseline.BaselineError):
        baseline.update(text, {"A-01": Failing("", "", ())}, today=TODAY)


def renewed(text: str, *rows: Any, **rest: Any) -> dict[str, Any]:
    """The entries after a run over `rows` that was to make a baseline."""
    return tomllib.loads(baseline.refreshed(text, summed(*rows, **rest), TODAY)).get("deviations", {})


def test_an_updated_baseline_makes_the_next_run_pass() -> None:
    rows = [FaultRow(requirement="A-01", why="bad"), judged("A-02"), judged("B-01", judged=0)]
    known = {"A-02": Known(), "B-01": Known()}
    assert summed(*rows, ids=IDS, deviations=known).exit_code == 1
    text = '[deviations]\n"A-02" = { reason = "x" }\n"B-01" = { reason = "y" }\n'
    after = renewed(text, *rows, RoundRow(round=1), ids=IDS, deviations=known)
    assert set(after) == {"A-01", "B-01"}
    entries = {name: Known(entry["reason"], expires=entry.get("expires")) for name, entry in after.items()}
    assert summed(*rows, ids=IDS, deviations=entries).exit_code == 0


OLD = '[deviations]\n"A-01" = { reason = "x", issue = "y" }\n'
LOOKED_ON = RoundRow(round=1, plans=9)


@pytest.mark.parametrize(
    ("rows", "known", "stays"),
    [
        ((), Known(), True),  # the run did not look on, so it cannot tell
        ((LOOKED_ON,), Known(), False),
        ((LOOKED_ON,), Known(sometimes=True), True),
        ((LOOKED_ON, ReplayRow(requirement="A-01", tried=9)), Known(), True),
        ((LOOKED_ON, ReplayRow(requirement="A-01", tried=10)), Known(), False),
        ((LOOKED_ON, ReplayRow(requirement="A-01", tried=10, shown=1)), Known(), True),
    ],
)
def test_an_entry_that_was_not_seen_goes_only_when_that_says_something(rows: Any, known: Known, stays: bool) -> None:
    assert bool(renewed(OLD, judged(), *rows, deviations={"A-01": known})) == stays


@pytest.mark.parametrize(("steady", "plays", "sometimes"), [
    (True, [], False),
    (False, [], True),
    (True, [("one", 3, 3), ("one", 3, 2)], True),
    (False, [("one", 3, 3), ("one", 3, 3)], False),
    (True, [("one", 3, 0), ("two", 3, 3)], False),
])  # fmt: skip
def test_what_does_not_show_each_time_is_found_out_and_marked(steady: bool, plays: Any, sometimes: bool) -> None:
    rows: list[Any] = [FaultRow(requirement="A-01", fingerprint="A-01 one", steady=steady)]
    rows += [ReplayRow(requirement="A-01", fingerprint=f"A-01 {kind}", tried=n, shown=k) for kind, n, k in plays]
    assert renewed("", *rows)["A-01"].get("sometimes", False) == sometimes
    kept = renewed(OLD, *rows, deviations={"A-01": Known()})["A-01"]
    assert (kept["reason"], kept.get("sometimes", False)) == ("x", sometimes)
    assert kept["fingerprints"] == ["A-01 one"], "an old entry is renewed"


def test_what_is_suspected_of_breaking_a_must_is_accepted_too_since_another_run_may_settle_it() -> None:
    seen = FaultRow(requirement="A-01", verdict="inconclusive", why="odd", fingerprint="A-01 one", unsettled="no time")
    (entry,) = renewed("", seen).values()
    assert entry["sometimes"]
    assert entry["reason"].startswith("suspected, not settled")
    assert summed(seen, deviations={"A-01": Known(fingerprints=("A-01 one",))}).exit_code == 1, "nothing was judged"
    sure = FaultRow(requirement="A-01", why="odd", fingerprint="A-01 one")
    assert summed(sure, deviations={"A-01": Known(fingerprints=("A-01 one",))}).exit_code == 0
    assert renewed("", FaultRow(requirement="A-01", verdict="inconclusive", level="SHOULD", fingerprint="f")) == {}


def test_what_only_the_same_deed_breaks_needs_no_entry() -> None:
    fault = FaultRow(requirement="A-01", also=("A-02",), fingerprint="A-01 one")
    assert set(renewed("", fault, ids=IDS)) == {"A-01"}
    known = {"A-01": Known(fingerprints=("A-01 one",))}
    assert summed(fault, ids=IDS, deviations=known).exit_code == 0


def test_a_recommendation_with_the_same_consequence_changes_nothing_of_what_is_accepted() -> None:
    must = FaultRow(requirement="A-01", also=("B-01",), fingerprint="A-01 one")
    should = FaultRow(requirement="A-02", also=("B-01",), fingerprint="A-02 one", level="SHOULD")
    found = summed(must, should, ids=IDS, deviations={"A-01": Known(fingerprints=("A-01 one",))})
    assert [(each.id, each.standing, each.failed_as) for each in found.results] == [
        ("A-01", "accepted", "MUST"), ("A-02", "warned", "SHOULD"), ("B-01", "accepted", "MUST")
    ]  # fmt: skip


def test_a_recommendation_missed_in_another_way_is_no_news_where_the_must_is_accepted() -> None:
    known = {"A-01": Known(fingerprints=("A-01 one",))}
    must, should = (
        FaultRow(requirement="A-01", fingerprint="A-01 one"),
        FaultRow(requirement="A-01", fingerprint="A-01 two", level="SHOULD"),
    )
    assert summed(must, should, deviations=known).exit_code == 0
    worse = FaultRow(requirement="A-01", fingerprint="A-01 two", why="the new one")
    summary = summed(must, worse, deviations=known)
    assert summary.exit_code == 1
    assert summary.standing("failed")[0].message == "the new one"


keys = st.sampled_from(["A-01", 'q"k', "a.b", "é", "x y"]) | hostile.filter(lambda t: "\ud800" not in t and t)


@given(
    st.lists(
        st.sampled_from(
            [
                "# c [deviations]\n",
                "\n",
                'a = "#"\n',
                "b = [\n 1, # ]\n 2 ]\n",
                "c = '''\n[x]\n'''\n",
                'd = """\\"""\n"[q]""""\n',
                "e = { f = '}' }\n",
            ]
        ),
        max_size=4,
        unique=True,
    ),
    st.dictionaries(keys, hostile, max_size=3),
    st.dictionaries(keys, st.builds(Failing, hostile, hostile, st.tuples(hostile)), max_size=3),
    st.booleans(),
)
def test_any_baseline_survives_hostile_text(lines: list[str], old: Any, failing: Any, tail: bool) -> None:
    old = {name: reason.encode("utf-8", "replace").decode() for name, reason in old.items()}
    failing = {name: seen for name, seen in failing.items() if not re.search("[\ud800-\udfff]", name)}
    entries = "".join(f"{json.dumps(n)} = {{ reason = {json.dumps(r)} }}\n" for n, r in old.items())
    table = f"[deviations]\n{entries}" if old else ""
    text = "".join(lines) + table.replace("\x7f", "\\u007f") + ("[z]\n" + "".join(lines) if tail else "")
    try:
        before = tomllib.loads(text)
    except ValueError:  # JSON writes astral characters as surrogates, which TOML refuses
        return
    after = tomllib.loads(baseline.update(text, failing, today=TODAY))
    found = after.pop("deviations", {})
    known = before.pop("deviations", {})
    assert after == before
    assert set(found) == set(failing)
    for name, entry in found.items():
        assert all(text.isprintable() for text in entry.pop("fingerprints", ()))
        if name in known:
            entry.pop("sometimes", None)
        assert entry == known[name] if name in known else entry["reason"].isprintable()
