"""Pages in a real browser: what the tests of the report's pages and of the documentation share.

Needs Playwright and a Chromium on the PATH; without them the tests are skipped, and fail when REQUIRE_BROWSER=1.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}


def missing(reason: str) -> None:
    """Skip, or fail where a browser is required."""
    if os.environ.get("REQUIRE_BROWSER") == "1":
        pytest.fail(f"REQUIRE_BROWSER=1, and {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415 - may be missing
    except ImportError:
        missing("Playwright is not installed (dependency group `browser`)")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        missing("there is no chromium on the PATH (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield found
        found.close()


@dataclass
class Eye:
    """A page and everything that it should not have done."""

    page: Any
    folder: Path
    bad: list[str] = field(default_factory=list)

    def open(self, path: str, anchor: str = "") -> Any:
        self.page.goto((self.folder / path).as_uri() + anchor)
        return self.page

    def overflow(self) -> int:
        """px by which the page is wider than the window."""
        return self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


@pytest.fixture
def look(browser: Any) -> Iterator[Any]:
    """Makes an Eye on a folder; complains in the end about errors, dialogs and requests of its pages."""
    contexts, eyes = [], []

    def make(folder: Path, viewport: dict[str, int] = DESK, **options: Any) -> Eye:
        context = browser.new_context(viewport=viewport, **options)
        contexts.append(context)
        eye = Eye(context.new_page(), folder)
        eyes.append(eye)
        eye.page.on("console", lambda message: eye.bad.append(f"console: {message.text}"))
        eye.page.on("pageerror", lambda error: eye.bad.append(f"error: {error}"))
        eye.page.on("dialog", lambda dialog: (eye.bad.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        inside = folder.as_uri()

        def requested(request: Any) -> None:
            if not request.url.startswith((inside, "data:image/svg+xml")):
                eye.bad.append(f"request: {request.url}")

        eye.page.on("request", requested)
        return eye

    yield make
    for context in contexts:
        context.close()
    assert [bad for eye in eyes for bad in eye.bad] == []
