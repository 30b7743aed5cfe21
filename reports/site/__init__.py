"""The pages of the nightly report: static HTML that works from a disk, its JSON, badges, SARIF, JUnit and summary.md.

`write` is all that others need. `book` looks things up in the report, `pages` says what stands on each page,
`templates` how it looks; nothing here reads a clock, the network, or anything but the report.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Final

from reports.site import campaigns, markdown, plots
from reports.site.book import Book
from reports.site.pages import Page, navigation, own_name, pages
from reports.site.render import environment, to_json
from reports.tables import Report

MANIFEST: Final = "site.json"
SCHEMA: Final = 1
"""Version of site.json and of the JSON beside the pages; fields may be added."""


def write(report: Report, out: Path) -> None:
    """Write the whole site into the folder `out`, `out`/index.html last.

    Each file is replaced whole. Files that the site before had and this one has not are removed, as its site.json
    lists them; whatever else lies in the folder is left alone. Raises OSError.
    """
    book = Book(report)
    made = environment(report=report, book=book, shares=plots.shares, sparkline=plots.spark, left=campaigns.left)
    before = _listed(out)
    written: set[str] = set()

    def put(path: str, text: str) -> None:
        _replace(out / path, text)
        written.add(path)

    put("summary.md", markdown.render(book))
    for page in pages(book):
        for path, text in page.beside.items():
            put(path, text)
        put(page.path.removesuffix(".html") + ".json", to_json({"schema": SCHEMA, "page": page.path, **page.data}))
        put(page.path, made.get_template(page.template).render(_context(page, book)))
    for path in sorted(before - written):
        _remove(out, path)
    listing = {"schema": SCHEMA, "built": report.built, "files": sorted(written)}
    _replace(out / MANIFEST, to_json(listing))


def _context(page: Page, book: Book) -> dict[str, object]:
    head = [
        (name, href, ("page" if page.path == href else "true") if section == page.section else "")
        for section, name, href in navigation(book)
    ]
    own = own_name(page.path)
    return {
        "title": page.title, "navigation": head, "up": "../" * page.path.count("/"), "own": own,
        "json_name": f"{own}.json", **page.context,
    }  # fmt: skip


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8", newline="\n")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _listed(out: Path) -> set[str]:
    """The files of the site before, if its list can be read."""
    try:
        found = json.loads((out / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):  # no site yet, or none of ours: nothing to remove
        return set()
    files = found.get("files") if isinstance(found, dict) else None
    return {name for name in files if isinstance(name, str)} if isinstance(files, list) else set()


def _remove(out: Path, name: str) -> None:
    """Remove a file of the site before, and its folder when that is empty; never one outside `out`."""
    path = out / name
    if "\0" in name or not path.resolve().is_relative_to(out.resolve()) or path.is_dir():
        return
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # the folder has other files
        path.parent.rmdir()
