"""The pages in a real browser: only what is ours runs, nothing is fetched, and filters, sorting and copying work.

Needs Playwright and a Chromium on the PATH; see tests/browsing.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="the pages need jinja2 (dependency group `site`)")

from reports.site import write
from reports.site.names import file_name
from tests.browsing import DESK, PHONE
from tests.sample_report import hostile, synthetic

REPORT = synthetic(4, 24, 20, (("stomp", "server"), ("echo", "client")), failing=0.25)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sample")
    write(REPORT, out)
    return out


@pytest.fixture(scope="module")
def wild(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wild")
    write(hostile(), out)
    return out


def pages(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.html"))


# -- hostile ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_no_text_of_an_implementation_does_anything(look, wild, viewport):
    """Every page on a phone, where a text is the first to be too wide; on a desk one of each kind."""
    eye = look(wild, viewport)
    for path in pages(wild) if viewport == PHONE else some(wild):
        page = eye.open(path)
        assert page.evaluate("typeof window.owned") == "undefined", path
        assert eye.overflow() <= 0, path
        assert page.locator("main h1").count() == 1, path
        assert eye.bad == [], path


def test_hostile_text_is_shown_as_text(look, wild):
    page = look(wild).open("quarantine.html")
    shown = page.locator("tbody").inner_text()
    assert "<script>window.owned=1;alert(1)</script>" in shown
    assert "{{ 7*7 }}" in shown
    assert "\\u202ereversed" in shown
    assert "\\x1b[31mred" in shown
    assert "lone\\ud800surrogate" in shown
    page.locator("th button", has_text="Reason").click()
    assert page.locator("th[aria-sort=ascending]").count() == 1
    assert page.evaluate("typeof window.owned") == "undefined"


def test_the_matrix_takes_a_hostile_address(look, wild):
    eye = look(wild)
    path = next(name for name in pages(wild) if name.startswith("matrix/"))
    page = eye.open(path, "#section=%3Cscript%3E&level=x&q=%22%3E%3Cimg+src%3Dx%3E&only=toString")
    assert page.locator("#matrix-count").inner_text().startswith("0 of")
    assert page.evaluate("typeof window.owned") == "undefined"


# -- every page -------------------------------------------------------------------------------------------------------


def some(folder: Path) -> list[str]:
    """One page of each kind, and all that are alone."""
    kinds = {path.partition("/")[0]: path for path in pages(folder)}
    return sorted(kinds.values())


@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_kind_of_page_fits_and_is_quiet(look, sample, viewport, scheme):
    eye = look(sample, viewport, color_scheme=scheme)
    assert len(some(sample)) == 15
    for path in some(sample):
        page = eye.open(path)
        assert eye.overflow() <= 0, path
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == {"light": "rgb(247, 247, 245)", "dark": "rgb(18, 21, 25)"}[scheme]


def test_pages_work_without_scripts(look, sample):
    eye = look(sample, java_script_enabled=False)
    page = eye.open("matrix/stomp-server.html")
    assert page.locator("tbody tr:visible").count() == 24
    assert page.locator("#matrix-filters").is_hidden()
    assert page.locator("#theme").is_hidden()
    assert page.locator("th.old:visible").count() == 0
    page.locator("#older").check()
    assert page.locator("th.old:visible").count() == 4
    page = eye.open("coverage.html")
    assert page.locator("tbody tr:visible").count() == 48


def test_the_theme_is_chosen_and_kept(look, sample):
    page = look(sample, color_scheme="light").open("index.html")
    page.locator("#theme").click()
    assert page.locator("#theme").get_attribute("aria-pressed") == "true"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 21, 25)"
    page.goto((sample / "runs.html").as_uri())
    # a browser hands what was stored to the process of another page a moment later
    page.wait_for_function("localStorage.getItem('wireproof-theme') === 'dark'")
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 21, 25)"
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(247, 247, 245)"


def test_the_first_key_leads_to_the_content_and_focus_is_seen(look, sample):
    page = look(sample).open("index.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").bounding_box()["y"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert style == "solid"


# -- matrix -----------------------------------------------------------------------------------------------------------

CELLS = [cell for cell in REPORT.cells if cell.slug.startswith("stomp-")]
NEWEST = [cell for cell in CELLS if cell.newest]
FAILS = ("failed", "warned", "accepted")


def ids(page: Any) -> list[str]:
    return page.locator("#matrix tbody tr:visible th").all_inner_texts()


def standing_in(words: tuple[str, ...], cells: list[Any] = NEWEST) -> list[str]:
    return list(dict.fromkeys(r.id for r in REPORT.requirements for c in cells
                              if c.requirement == r.id and c.standing in words))  # fmt: skip


def test_the_matrix_is_filtered(look, sample):
    page = look(sample).open("matrix/stomp-server.html")
    form, count = page.locator("#matrix-filters"), page.locator("#matrix-count")
    known = [r for r in REPORT.requirements if r.protocol == "stomp"]
    assert count.get_attribute("aria-live") == "polite"
    assert count.inner_text() == "24 of 24 requirements, 4 of 8 columns"

    form.locator("[name=level]").select_option(label="SHOULD")
    assert ids(page) == [r.id for r in known if r.level == "SHOULD"]
    form.locator("[type=reset]").click()
    page.locator("#matrix-count").filter(has_text="24 of 24").wait_for()  # without eval, which the page forbids

    form.locator("[name=section]").select_option(label="Section B")
    assert ids(page) == [r.id for r in known if r.section == "Section B"]
    form.locator("[name=section]").select_option("")

    form.locator("[name=standing]").select_option("inconclusive")
    assert ids(page) == standing_in(("inconclusive",))
    form.locator("[name=standing]").select_option("")

    form.locator("[name=only]").select_option("failing")
    assert ids(page) == standing_in(FAILS)
    form.locator("[name=only]").select_option("differences")
    both = set(standing_in(FAILS)) & set(standing_in(("passed",)))
    assert set(ids(page)) == both
    assert count.inner_text() == f"{len(both)} of 24 requirements, 4 of 8 columns"

    form.locator("[name=impl]").fill("impl1")
    assert page.locator("th[data-impl]:visible").all_inner_texts()[0].startswith("impl1")
    assert ids(page) == []
    form.locator("[name=only]").select_option("failing")
    assert ids(page) == standing_in(FAILS, [c for c in NEWEST if c.slug.endswith("impl1")])
    form.locator("[name=impl]").fill("")
    form.locator("[name=only]").select_option("")

    form.locator("[name=q]").fill("HOLDS rule 7")
    wanted = [r.id for r in known if "7" in r.id + r.statement]
    assert ids(page) == wanted
    assert 2 < len(wanted) < 9


def test_older_versions_are_shown_when_asked(look, sample):
    page = look(sample).open("matrix/stomp-server.html")
    page.locator("#older").check()
    assert page.locator("th[data-impl]:visible").count() == 8
    page.locator("[name=only]").select_option("failing")
    assert ids(page) == standing_in(FAILS, CELLS)


def test_a_filter_is_part_of_the_address(look, sample):
    eye = look(sample)
    page = eye.open("matrix/stomp-server.html")
    page.locator("[name=only]").select_option("failing")
    assert page.evaluate("location.hash") == "#only=failing"
    there = page.url
    page.goto("about:blank")
    page.goto(there)
    assert ids(page) == standing_in(FAILS)
    assert page.locator("[name=only]").input_value() == "failing"
    eye.bad.clear()  # about:blank is our own request


def test_the_matrix_is_sorted(look, sample):
    page = look(sample).open("matrix/stomp-server.html")
    head = page.locator("#matrix thead th", has_text="Requirement")
    start = ids(page)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert ids(page) == sorted(start)
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert ids(page) == sorted(start, reverse=True)
    failing = page.locator("#matrix thead th", has_text="Failing")
    failing.locator("button").click()
    assert head.get_attribute("aria-sort") is None
    numbers = [int(text) for text in page.locator("#matrix tbody td.r").all_inner_texts()]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] > numbers[-1]


def test_a_failing_cell_leads_to_its_conversation(look, sample):
    page = look(sample).open("matrix/stomp-server.html")
    page.locator("td.failed:visible a").first.click()
    assert "/failures/" in page.url
    assert page.locator("svg.seq[role=img]").count() == 1
    assert "answers" not in page.locator("h1").inner_text()


# -- the others -------------------------------------------------------------------------------------------------------


def test_a_simple_table_is_filtered_and_sorted(look, sample):
    page = look(sample).open("coverage.html")
    output = page.locator(".filters output")
    assert output.inner_text() == "48 rows"
    page.locator(".filters input").fill("section b  stomp")
    wanted = [r.id for r in REPORT.requirements if r.section == "Section B" and r.protocol == "stomp"]
    assert output.inner_text() == f"{len(wanted)} of 48 rows"
    assert sorted(page.locator("tbody tr:visible th").all_inner_texts()) == wanted
    page.locator("th button", has_text="Exercised").click()
    counts = [
        int(text.replace("\u202f", "")) for text in page.locator("tbody tr:visible td:nth-child(5)").all_inner_texts()
    ]
    assert counts == sorted(counts, reverse=True)


def test_the_command_is_copied(look, sample):
    failure = REPORT.failures[0]
    eye = look(sample)
    page = eye.open(f"failures/{file_name(failure.failure)}.html")
    page.locator("button[data-copy]").click()
    page.locator("button[data-copy]", has_text="Copied").wait_for()
    page.goto((sample / "coverage.html").as_uri())
    page.locator(".filters input").focus()
    page.keyboard.press("Control+V")
    assert page.locator(".filters input").input_value() == failure.replay


def test_a_conversation_is_drawn_and_told(look, sample):
    failure = REPORT.failures[0]
    page = look(sample).open(f"failures/{file_name(failure.failure)}.html")
    drawing = page.locator("svg.seq")
    assert drawing.locator("g").count() == 6
    assert "decides" in drawing.locator("g.deciding").text_content()
    page.get_by_text("The conversation as a table").click()
    assert page.locator("tr.deciding").is_visible()
    page.get_by_text("hex").first.click()
    assert "43 4f 4e 4e" in page.locator("pre.hex").first.inner_text()


def test_a_large_matrix_is_quick_enough_to_use(look, tmp_path):
    report = synthetic(40, 219, 2, failing=0.02, versions=1)
    write(report, tmp_path)
    page = look(tmp_path).open("matrix/stomp-server.html")
    assert page.locator("#matrix td.c").count() == 40 * 219
    page.locator("[name=only]").select_option("failing")
    wanted = {c.requirement for c in report.cells if c.standing in FAILS}
    assert page.locator("#matrix-count").inner_text().startswith(f"{len(wanted)} of 219")
