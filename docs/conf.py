"""How Sphinx makes the site of this folder: `tox -e site-docs` writes it to out/docs. Nothing is fetched to read it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "_extensions"))

project = "Wireproof"
author = "The Wireproof authors"
language = "en"

extensions = ["myst_parser", "state_diagrams"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_*"]
myst_heading_anchors = 4  # a heading is linked by its words, as on the pages of a repository
myst_fence_as_directive = ["mermaid"]  # see _extensions/state_diagrams.py
nitpicky = True  # together with -W: a link that leads nowhere ends the build
highlight_language = "text"

html_theme = "furo"
html_title = "Wireproof"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_search_summary = False  # a page that was opened from a disk may not fetch the others
html_show_sourcelink = False
html_show_copyright = False
