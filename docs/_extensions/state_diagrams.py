"""Shows the state diagrams of docs/states-*.md as tables of their arrows.

A drawing of Mermaid needs a browser and three megabytes of somebody else's script; the site is to be read offline, on a
phone, and by a screen reader too.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

ARROW = re.compile(r"\s*(?P<source>\S+) --> (?P<target>[^\s:]+)(?:: (?P<event>.*))?")
ENDS = {"source": "(start)", "target": "(end)"}


class StateDiagram(SphinxDirective):
    """The content of a `mermaid` block: `stateDiagram-v2`, then one arrow a line."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """A table with one row for each arrow."""
        head, *lines = [line for line in self.content if line.strip()]
        if head.strip() != "stateDiagram-v2":
            raise self.error(f"the site can show state diagrams only, not {head.strip()!r}")
        rows = ["| from | to | when |", "| --- | --- | --- |"]
        for line in lines:
            arrow = ARROW.fullmatch(line)
            if arrow is None:
                raise self.error(f"this is no arrow of a state diagram: {line.strip()!r}")
            source, target = (ENDS[end] if arrow[end] == "[*]" else arrow[end] for end in ENDS)
            rows.append(f"| {source} | {target} | {arrow['event'] or ''} |")
        table = nodes.Element()
        self.state.nested_parse(StringList(rows, source=self.get_location()), self.content_offset, table)
        shown: list[nodes.Node] = table.children
        return shown


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("mermaid", StateDiagram)
    return {"parallel_read_safe": True}
