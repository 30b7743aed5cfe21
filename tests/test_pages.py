"""The pages as files: names, links, escapes, JSON, badges, summary; nothing here needs a browser."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("jinja2", reason="the pages need jinja2 (dependency group `site`)")

from reports import sarif
from reports.site import MANIFEST, badges, plots, sequence, write
from reports.site.book import Book
from reports.site.names import MAX_NAME, file_name
from reports.tables import Change, Report
from tests.sample_report import BUILT, DOCUMENT, HOSTILE, hostile, hostile_document, synthetic

SIDES = (("stomp", "server"), ("echo", "client"))
EMPTY = Report(built=BUILT, suite_version="0.1.0", total_runs=0, incomplete_runs=0)
VOID = {"meta", "link", "input", "br", "img", "hr"}


class Reader(HTMLParser):
    """Elements, links and ids of a page; complains of elements that are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.crossed: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.crossed.append(tag)

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)

    def all(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag in tags]


@cache
def read(path: Path) -> Reader:
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    return reader


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sample")
    write(synthetic(4, 24, 20, SIDES, failing=0.3), out)
    return out


@pytest.fixture(scope="module")
def wild(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wild")
    write(hostile(), out)
    return out


# -- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [*HOSTILE, "con", "CON", "nul.txt", "a.", ".a", "a b", "ä", "İ", "K", "x" * 300])
def test_a_file_name_is_harmless(text):
    name = file_name(text)
    assert re.fullmatch(r"[a-z0-9]+(?:(?:[.-]|--)[a-z0-9]+)*", name)
    assert len(name) <= MAX_NAME
    assert name.partition(".")[0] not in {"con", "prn", "aux", "nul", "com1", "lpt9"}


def test_plain_names_stay_as_they_are():
    assert file_name("stomp-server-coilmq") == "stomp-server-coilmq"
    assert file_name("STOMP-1.2-ENC-02") == "stomp-1.2-enc-02"
    assert file_name("coilmq/stomp/server/1.2") == "coilmq--stomp--server--1.2"


names = st.one_of(
    st.text(st.characters(blacklist_categories=()), max_size=12),
    st.from_regex(r"\A[aA][bB]?[-/]{0,2}[01]{0,3}\Z"),
    st.sampled_from(HOSTILE),
)


@given(st.lists(names, min_size=2, max_size=8, unique=True))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_two_texts_share_a_file(texts):
    made = [file_name(text) for text in texts]
    # Nobody can claim the hashed name of another either.
    made += [file_name(name) for name in made if name not in texts and file_name(name) != name]
    assert len(set(made)) == len(made)


# -- the site ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("site", ["sample", "wild"])
def test_every_link_leads_to_a_file_of_the_site(site, request):
    out = request.getfixturevalue(site)
    listed = set(json.loads((out / MANIFEST).read_text())["files"])
    pages = sorted(out.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        found = read(page)
        assert not found.crossed, page
        assert not found.open, page
        ids = {element["id"] for _, element in found.elements if element.get("id")}
        targets = [element["href"] for element in found.all("a", "link") if element.get("href")]
        assert len(targets) > 8
        for target in targets:
            if target.startswith("data:image/svg+xml,"):
                continue
            path, _, anchor = target.partition("#")
            assert re.fullmatch(r"[a-z0-9./-]*", path), (page, target)
            if not path:
                assert anchor in ids, (page, target)
                continue
            there = (page.parent / path).resolve()
            assert str(there.relative_to(out.resolve())) in listed, (page, target)
            if anchor and there.suffix == ".html":
                assert anchor in {e["id"] for _, e in read(there).elements if e.get("id")}, (page, target)


@pytest.mark.parametrize("site", ["sample", "wild"])
def test_no_page_holds_anything_that_runs_or_loads(site, request):
    scripts = set()
    for page in sorted(request.getfixturevalue(site).rglob("*.html")):
        found = read(page)
        tags = {tag for tag, _ in found.elements}
        assert not tags & {"img", "iframe", "object", "embed", "foreignobject", "base", "video", "audio", "b2"}, page
        for tag, attributes in found.elements:
            assert not {name for name in attributes if name.startswith("on") or name in ("src", "style", "srcdoc")}, (
                page, tag, attributes,
            )  # fmt: skip
        assert [tag for tag, _ in found.elements].count("script") == 2
        text = page.read_text(encoding="utf-8")
        scripts.add(tuple(re.findall(r"<script>(.*?)</script>", text, re.DOTALL)))
        (policy,) = (e["content"] for e in found.all("meta") if e.get("http-equiv") == "Content-Security-Policy")
        assert "default-src 'none'" in str(policy)
        assert "unsafe" not in str(policy)
    assert len(scripts) == 1


def test_every_table_is_told_to_a_screen_reader(sample):
    for page in sorted(sample.rglob("*.html")):
        found = read(page)
        tables = found.all("table")
        assert len(found.all("caption")) == len(tables), page
        assert all(head.get("scope") in ("col", "row") for head in found.all("th")), page
        ids = [element["id"] for _, element in found.elements if element.get("id")]
        assert len(ids) == len(set(ids)), page
        assert len(found.all("h1")) == 1, page
        assert found.all("html")[0]["lang"] == "en"
        assert ("a", {"class": "skip", "href": "#main"}) in found.elements
        for drawing in found.all("svg"):
            assert drawing.get("aria-hidden") == "true" or drawing.get("role") == "img", (page, drawing)


def test_nothing_hostile_is_left_in_any_file(wild):
    forbidden = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200b\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
    for path in sorted(wild.rglob("*")):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            assert not forbidden.search(text), path
            if path.suffix in (".json", ".sarif"):
                json.loads(text)
            if path.suffix in (".svg", ".xml"):
                ET.fromstring(text)
            if path.suffix == ".py":
                ast.parse(text)
            if path.suffix == ".svg":
                assert {e.tag.rpartition("}")[2] for e in ET.fromstring(text).iter()} <= {
                    "svg", "title", "rect", "path", "g", "text",
                }  # fmt: skip
    assert not (wild / "../etc").exists()


def test_a_text_of_a_megabyte_does_not_make_a_page_of_a_megabyte(wild):
    assert max(path.stat().st_size for path in wild.rglob("*.html")) < 1_500_000
    assert max(path.stat().st_size for path in (wild / "failures").glob("*.html")) < 400_000


def test_a_matrix_holds_each_cell(sample):
    report = synthetic(4, 24, 20, SIDES, failing=0.3)
    text = (sample / "matrix/stomp-server.html").read_text(encoding="utf-8")
    for word in ("failed", "warned", "accepted", "passed", "inconclusive"):
        count = sum(c.standing == word and c.slug.startswith("stomp") for c in report.cells)
        assert text.count(f'data-s="{word}"') == count
    told = json.loads((sample / "matrix/stomp-server.json").read_text())
    cell = next(c for c in report.cells if c.slug == "stomp-server-impl2" and c.newest and c.standing == "failed")
    column = next(n for n, c in enumerate(told["columns"]) if c["slug"] == cell.slug and c["newest"])
    assert next(r for r in told["requirements"] if r["id"] == cell.requirement)["standings"][column] == "failed"


def test_the_json_beside_a_page_says_the_same(sample):
    report = synthetic(4, 24, 20, SIDES, failing=0.3)
    failure = report.failures[0]
    told = json.loads((sample / f"failures/{file_name(failure.failure)}.json").read_text())
    assert told["why"] == failure.why
    assert [event["kind"] for event in told["conversation"]] == ["said", "said", "said", "quiet", "closed", "noise"]
    index = json.loads((sample / "index.json").read_text())
    assert len(index["implementations"]) == 8
    for page in sample.rglob("*.html"):
        assert json.loads(page.with_suffix(".json").read_text())["page"] == str(page.relative_to(sample))


def test_the_state_names_what_broke_first():
    change = Change(kind="regression", slug="a", requirement="X-1", level="MUST", before="passed", after="failed",
                    before_run="1", after_run="2", before_version="1", after_version="2", message="no",
                    failure="")  # fmt: skip
    assert Book(EMPTY).status() == ("open", "No runs yet")
    ran = replace(EMPTY, total_runs=2)
    assert Book(ran).status()[0] == "passed"
    assert Book(replace(ran, incomplete_runs=1)).status() == ("open", "No regressions; 1 run did not end")
    assert Book(replace(ran, changes=(change,))).status() == (
        "failed",
        "1 regression in 1 implementation since the run before",
    )


def test_an_empty_report_makes_a_site(tmp_path):
    write(EMPTY, tmp_path)
    assert "No runs yet" in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "No implementation has been judged yet" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_what_the_site_before_had_is_removed_and_nothing_else(tmp_path):
    out, beside = tmp_path / "site", tmp_path / "precious.txt"
    beside.write_text("stay")
    report = synthetic(2, 8, 3)
    write(report, out)
    (out / "mine.txt").write_text("stay")
    gone = out / f"failures/{file_name(report.failures[0].failure)}.html"
    assert gone.exists()
    listing = json.loads((out / MANIFEST).read_text())
    listing["files"] += ["../precious.txt", "/etc/hostname-of-nobody", "nul\0", "failures"]
    (out / MANIFEST).write_text(json.dumps(listing))
    write(replace(report, failures=()), out)
    assert not gone.exists()
    assert not (out / "failures").exists()
    assert (out / "mine.txt").exists()
    assert beside.exists()


def test_the_same_report_makes_the_same_files(tmp_path):
    for name in ("a", "b"):
        write(synthetic(2, 8, 3), tmp_path / name)
    files = [{p.relative_to(tmp_path / name): p.read_bytes() for p in (tmp_path / name).rglob("*") if p.is_file()}
             for name in ("a", "b")]  # fmt: skip
    assert files[0] == files[1]


# -- one failure ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("", "lost"),
        (json.dumps(DOCUMENT)[:200], "torn"),
        ("[1]", "holds no trace"),
        ("[" * 100_000, "torn or no trace"),
        ('{"a":' * 900 + "1" + "}" * 900, None),
        ("{}", "The trace holds no conversation"),
    ],
)
def test_a_trace_that_cannot_be_read_is_said_on_the_page(tmp_path, document, words):
    report = synthetic(1, 8, 2, failing=0.5)
    failure = replace(report.failures[0], document=document)
    write(replace(report, failures=(failure,)), tmp_path)
    text = " ".join(read(tmp_path / f"failures/{file_name(failure.failure)}.html").text)
    assert words is None or words in text
    assert failure.why in text


def test_the_diagram_shows_each_event_once():
    told = sequence.conversation(DOCUMENT)
    drawn = sequence.diagram(told, "one")
    assert [step.told.kind for step in drawn.steps] == ["said", "said", "said", "quiet", "closed", "noise"]
    assert [step.told.deciding for step in drawn.steps] == [False, False, False, True, False, False]
    assert [name for _, name in drawn.lanes] == ["0", "1"]
    first, second = drawn.steps[:2]
    assert (first.x1, first.x2) == (second.x2, second.x1)
    assert first.x2 == drawn.peer
    assert all(a.bottom < b.top for a, b in pairwise(drawn.steps))


def test_a_long_conversation_keeps_its_deciding_event():
    event = {"ms": 1, "conn": 0, "by": "server", "event": "said", "text": "x"}
    told = sequence.conversation({"conversation": [event] * 5000, "deciding": 2500, "impl": {"role": "server"}})
    assert len(told) == sequence.MAX_EVENTS + 2
    assert sum(one.deciding for one in told) == 1
    assert "4919 events left out" in [one.text for one in told]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_trace_is_read_without_complaint(text):
    trace, problem = sequence.read(hostile_document(text))
    assert trace is not None
    assert not problem
    told = sequence.conversation(trace)
    assert all(line.isprintable() for one in told for line in one.lines)
    drawn = sequence.diagram(told, "x")
    assert drawn.width < 1200
    assert sequence.wire(trace)[-1].size == len(text.encode("utf-8", "surrogatepass")[:5000])


# -- plots, badges, summary -------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6))
def test_the_axis_reaches_the_largest_value(most):
    ticks = plots.steps(most)
    assert ticks[0] == 0
    assert ticks[-1] >= most
    assert 2 <= len(ticks) <= 8
    assert len({b - a for a, b in pairwise(ticks)}) == 1


@given(st.lists(st.integers(0, 10**5), min_size=1, max_size=6))
def test_the_parts_of_a_bar_fill_it_and_none_vanishes(counts):
    parts = plots.shares(counts)
    if any(counts):
        assert abs(sum(width for _, width in parts) - 100) < 0.1
    assert all((width > 0) == (count > 0) for (_, width), count in zip(parts, counts, strict=True))


def test_blocks_of_a_day_stand_on_each_other():
    report = synthetic(1, 24, 20, failing=0.4)
    days = Book(report).days["stomp-server-impl0"]
    assert [day.day for day in days] == sorted(day.day for day in days)
    plot = plots.history(days)
    for bar in plot.bars:
        edge = plot.base
        for block in bar.blocks:
            assert abs(block.y + block.height - edge) < 0.11
            edge = block.y
        assert edge >= 29
    assert plot.labels[-1][1] == days[-1].day
    assert sum(bool(bar.version) for bar in plot.bars) == 1


def test_all_together_carries_on_who_did_not_run():
    one, two = (
        [replace(day, slug=slug, failed=n) for day in Book(synthetic(1, 8, days)).days["stomp-server-impl0"]]
        for slug, days, n in (("a", 3, 2), ("b", 1, 5))
    )
    two = [replace(day, day=one[0].day) for day in two]
    assert [row[1] for row in plots.together([one, two])] == [7, 7, 7]


def test_a_badge_says_how_it_stands(sample):
    told = json.loads((sample / "badges/stomp-server-impl0.json").read_text())
    assert told["schemaVersion"] == 1
    assert re.fullmatch(r"\d+ of \d+ fail", told["message"])
    assert told["label"] == "stomp 1.2"
    drawn = ET.fromstring((sample / "badges/stomp-server-impl0.svg").read_text())
    assert drawn.get("aria-label") == f"{told['label']}: {told['message']}"


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"complete": False}, "incomplete run"), ({"verdict": "error"}, "error"), ({"verdict": "pass"}, "passes 8 of 8")],
)
def test_a_badge_of_a_run_that_shows_no_failure(changed, message):
    report = synthetic(1, 8, 2, failing=0)
    report = replace(report, cells=tuple(replace(c, standing="passed") for c in report.cells),
                     runs=tuple(replace(run, **changed) for run in report.runs))  # fmt: skip
    (found,) = Book(report).implementations.values()
    assert badges.badge(found).message == message


def test_the_summary_is_markdown_that_nobody_can_break(wild, sample):
    assert "| impl0 | 3.0 | stomp server 1.2 | fail |" in (sample / "summary.md").read_text()
    text = (wild / "summary.md").read_text()
    assert "<" not in text
    assert "`" not in text
    assert "](" not in text
    assert all(line.count("|") in (0, 10) for line in text.splitlines() if line.startswith("|"))


def test_the_exports_of_a_run_agree_with_its_page(sample):
    report = synthetic(4, 24, 20, SIDES, failing=0.3)
    slug = "stomp-server-impl1"
    cells = [c for c in report.cells if c.slug == slug and c.newest]
    (run,) = json.loads((sample / f"implementations/{slug}.sarif").read_text())["runs"]
    shown = sorted(c.requirement for c in cells if c.standing in ("failed", "warned", "accepted"))
    assert sorted(found["ruleId"] for found in run["results"]) == shown
    suite = ET.fromstring((sample / f"implementations/{slug}.junit.xml").read_text())[0]
    assert int(suite.get("failures")) == sum(c.standing == "failed" for c in cells)
    assert sarif.SCHEMA_URI.endswith("sarif-2.1.0.json")
    assert unquote(run["automationDetails"]["id"]) == "wireproof/stomp/server/1.2/impl1/"


# -- contrast ---------------------------------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


STYLE = (Path(__file__).parents[1] / "reports/site/assets/site.css").read_text(encoding="utf-8")
COLOURS = {name: pair for name, *pair in re.findall(r"--([a-z-]+): light-dark\((#\w{6}), (#\w{6})\)", STYLE)}


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize(
    ("ink", "paper"),
    [(ink, paper) for ink in ("ink", "soft", "link") for paper in ("page", "card", "sunk")]
    + [("ink", f"{word}-bg") for word in ("passed", "failed", "open", "warned")]
    + [(word, paper) for word in ("passed", "failed", "warned", "accepted", "open") for paper in (f"{word}-bg", "card")]
    + [("soft", "failed-bg"), ("link", "failed-bg"), ("soft", "passed-bg"), ("soft", "open-bg"), ("soft", "warned-bg")],
)
def test_text_has_the_contrast_of_wcag_aa(ink, paper, theme):
    assert contrast(COLOURS[ink][theme], COLOURS[paper][theme]) >= 4.5


@pytest.mark.parametrize("colour", [badges._OTHER, *badges._COLOURS.values(), "#2b3138"])
def test_white_on_a_badge_has_the_contrast_of_wcag_aa(colour):
    assert contrast("#ffffff", colour) >= 4.5
