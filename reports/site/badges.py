"""Badges: what stands on a project's own page, as SVG and as the JSON that shields.io draws one from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from records.text import printable
from reports.site.book import Implementation

CHAR: Final = 6.6
"""Width of a character in px, at 11 px; the text is stretched to what was reckoned with."""
_COLOURS: Final = {"pass": "#17653a", "fail": "#a11a2c"}
_OTHER: Final = "#4a535e"


@dataclass(frozen=True, slots=True)
class Badge:
    """Two texts and a colour."""

    label: str
    message: str
    colour: str
    failed: bool

    def svg(self) -> str:
        """The drawing, 20 px high. White on each of its colours has a contrast of 4.5 at least."""
        left, right = (round(len(text) * CHAR) + 14 for text in (self.label, self.message))
        places = {"left": left, "right": right, "whole": left + right, "first": left / 2, "second": left + right / 2}
        lengths = {"one": left - 14, "other": right - 14}
        return str(_SVG.format(label=self.label, message=self.message, colour=self.colour, **places, **lengths))

    def endpoint(self) -> str:
        """The JSON of the shields endpoint."""
        told = {
            "schemaVersion": 1,
            "label": self.label,
            "message": self.message,
            "color": self.colour.removeprefix("#"),
            "isError": self.failed,
        }
        return json.dumps(told, indent=1) + "\n"


def badge(found: Implementation) -> Badge:
    """The badge of an implementation: its protocol and profile, and how its newest run ended."""
    label = printable(f"{found.protocol} {found.profile}".strip() or "conformance", 40)
    failed, judged = found.counts.get("failed", 0), found.judged
    if found.run is None:
        return Badge(label, "not judged", _OTHER, False)
    if not found.run.complete:
        return Badge(label, "incomplete run", _OTHER, False)
    if failed:
        return Badge(label, f"{failed} of {judged} fail", _COLOURS["fail"], True)
    if found.run.verdict == "pass":
        return Badge(label, f"passes {found.counts.get('passed', 0)} of {judged}", _COLOURS["pass"], False)
    word = printable(found.run.verdict, 20) or "not judged"
    return Badge(label, word, _COLOURS.get(found.run.verdict, _OTHER), found.run.verdict == "fail")


_SVG: Final = Markup(
    """\
<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="20" viewBox="0 0 {whole} 20" role="img" \
aria-label="{label}: {message}">
<title>{label}: {message}</title>
<rect width="{whole}" height="20" rx="3" fill="{colour}"/><path d="M3 0h{left}v20H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" \
fill="#2b3138"/><rect x="{left}" width="3" height="20" fill="{colour}"/>
<g font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
<text x="{first}" y="14" textLength="{one}" fill="#fff">{label}</text>
<text x="{second}" y="14" textLength="{other}" fill="#fff">{message}</text>
</g></svg>
"""
)
