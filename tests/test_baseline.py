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
    TroubleRow,
)
from reports import baseline
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
    failing = {"A-01": ("other", "", ()), "B\n\"'": ("why \x1b[31m\n\"x\" \\ '''", "traces/b.json", ())}
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
    assert baseline.update(MANIFEST, {"A-01": ("", "", ()), "A-02": ("", "", ())}, today=TODAY) == MANIFEST
    assert baseline.update(MANIFEST, {"A-01": ("", "", ())}, today=TODAY, unsettled={"A-02", "C-01"}) == MANIFEST


def test_an_entry_accepts_the_sorts_of_failure_that_it_was_written_for() -> None:
    old = '[deviations]\n"A-01" = { reason = "r", issue = "i", fingerprints = ["A-01 one"] }\n'
    same = baseline.update(old, {"A-01": ("x", "", ("A-01 one",))}, today=TODAY)
    assert same == old
    wider = tomllib.loads(baseline.update(old, {"A-01": ("x", "", ("A-01 two",))}, today=TODAY))
    assert wider["deviations"]["A-01"] == {"reason": "r", "issue": "i", "fingerprints": ["A-01 one", "A-01 two"]}
    made = tomllib.loads(baseline.update("", {"A-01": ("x", "", ("A-01 one",))}, today=TODAY))
    assert made["deviations"]["A-01"]["fingerprints"] == ["A-01 one"]


def test_a_new_sort_of_failure_is_no_known_deviation() -> None:
    rows = [judged("A-01"), FaultRow(requirement="A-01", why="bad", fingerprint="A-01 two")]
    known = {"A-01": Known("r", fingerprints=("A-01 one",))}
    assert summed(*rows, deviations=known).standing("failed")[0].id == "A-01"
    known = {"A-01": Known("r", fingerprints=("A-01 one", "A-01 two"))}
    assert summed(*rows, deviations=known).standing("accepted")[0].id == "A-01"


def test_a_table_is_made_when_there_is_none() -> None:
    added = '"A-01" = { reason = "fails", issue = "not reported yet", expires = 2025-02-28 }'
    for before, gap in (("", ""), ("x = 1", "\n\n"), ("x = 1\n", "\n")):
        text = baseline.update(before, {"A-01": (" ", "", ())}, today=date(2024, 2, 29))
        assert text == f"{before}{gap}[deviations]\n{added}\n"
    crlf = baseline.update("x = 1\r\n[deviations]\r\n", {"A-01": ("", "", ())}, today=date(2024, 2, 29))
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
    after = tomllib.loads(baseline.update(text, {"A-01": ("x", "", ()), "C-01": ("new", "", ())}, today=TODAY))
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
        baseline.update(text, {"A-01": ("", "", ())}, today=TODAY)


def test_an_updated_baseline_makes_the_next_run_pass() -> None:
    rows = [FaultRow(requirement="A-01", why="bad"), judged("A-02"), judged("B-01", judged=0)]
    known = {"A-02": Known(), "B-01": Known()}
    assert summed(*rows, ids=IDS, deviations=known).exit_code == 1
    text = '[deviations]\n"A-02" = { reason = "x" }\n"B-01" = { reason = "y" }\n'
    after = tomllib.loads(baseline.refreshed(text, summed(*rows, ids=IDS, deviations=known), TODAY))["deviations"]
    assert set(after) == {"A-01", "B-01"}
    entries = {name: Known(entry["reason"], expires=entry.get("expires")) for name, entry in after.items()}
    assert summed(*rows, ids=IDS, deviations=entries).exit_code == 0


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
    st.dictionaries(keys, st.tuples(hostile, hostile, st.tuples(hostile)), max_size=3),
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
        assert entry == known[name] if name in known else entry["reason"].isprintable()
