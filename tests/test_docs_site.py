"""The site of docs/: it builds without a warning, fetches nothing, fits on a phone, and its search finds pages.

The browser's part needs Playwright and a Chromium on the PATH; see tests/browsing.py.
"""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("sphinx", reason="the site needs Sphinx (dependency group `docs-site`)")

from tests.browsing import DESK, PHONE

ROOT = Path(__file__).resolve().parents[1]
LOADS = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
"""Elements that make a browser fetch what they name."""


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "docs", str(out / "site")]
    done = subprocess.run([*command, "-d", str(out / "trees")], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return out / "site"


class Links(HTMLParser):
    """What a page leads to, and what it makes the browser fetch."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.leads: list[str] = []
        self.fetches: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        if tag in LOADS and named.get(LOADS[tag]):
            self.fetches.append(named[LOADS[tag]])
        if tag == "a" and named.get("href"):
            self.leads.append(named["href"])


def written() -> list[str]:
    """The page of the site that each Markdown file becomes."""
    folder = ROOT / "docs"
    return sorted(str(path.relative_to(folder).with_suffix(".html")) for path in folder.rglob("*.md"))


def reached(site: Path, first: str = "index.html") -> set[str]:
    """Every page that links lead to from the first one."""
    found, left = {first}, [first]
    while left:
        page = site / left.pop()
        for link in Links(page).leads:
            parts = urlsplit(link)
            if not parts.scheme and parts.path.endswith(".html"):
                target = str((page.parent / unquote(parts.path)).resolve().relative_to(site.resolve()))
                if target not in found:
                    found.add(target)
                    left.append(target)
    return found


def test_every_page_is_reached_from_the_first(site):
    assert len(written()) > 20
    assert set(written()) - reached(site) == set()


def test_nothing_is_fetched_from_elsewhere(site):
    fetched = {name for page in site.rglob("*.html") for name in Links(page).fetches}
    assert any(name.split("?")[0].endswith("furo.css") for name in fetched)
    assert [name for name in fetched if urlsplit(name).scheme or name.startswith("//")] == []
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    assert [style for style in styles if "url(http" in style or "url(//" in style or "@import" in style] == []


@pytest.mark.parametrize(("viewport", "scheme"), [(PHONE, "light"), (DESK, "dark")], ids=["phone", "desk"])
def test_every_page_fits_and_is_quiet(look, site, viewport, scheme):
    eye = look(site, viewport, color_scheme=scheme)
    for path in written():
        page = eye.open(path)
        assert eye.overflow() <= 0, path
        assert page.locator("h1").count() == 1, path
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(19, 20, 22)"}[scheme], path


@pytest.mark.parametrize(
    ("words", "page"), [("receipt", "requirements-stomp.html"), ("baseline stale", "verdicts.html")]
)
def test_the_search_finds_pages_without_a_server(look, site, words, page):
    opened = look(site).open("index.html")
    opened.locator("input[name=q]").first.fill(words)
    opened.locator("input[name=q]").first.press("Enter")
    opened.locator(f"#search-results a[href*='{page}']").first.wait_for()


def test_a_phone_opens_the_list_of_pages(look, site):
    page = look(site, PHONE).open("index.html")
    link = page.locator(".sidebar-tree a", has_text="Options")
    assert not link.is_visible() or link.bounding_box()["x"] < 0
    page.locator("label.nav-overlay-icon").click()
    page.wait_for_function("document.querySelector('.sidebar-drawer').getBoundingClientRect().x >= 0")
    link.click()
    assert page.url.endswith("options.html")
