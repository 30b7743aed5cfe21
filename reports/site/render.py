"""Pages from templates: every text is made printable and escaped, and nothing is fetched or run that is not ours.

The style sheet and the two scripts stand in each page, because a page must work by itself from a disk, where browsers
do not agree on what "the same origin" is. The page's policy names them by their hashes and forbids all else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from records.text import printable
from reports.often import often
from reports.site import words

HERE: Final = Path(__file__).resolve().parent
TEXT: Final = 600
"""Characters of one text in a page, unless the template asks for more."""
JSON_TEXT: Final = 4000
"""Characters of one text in the JSON beside a page."""


def environment(**shared: object) -> Environment:
    """The templates' environment; `shared` are names that all of them see."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "text": _text, "block": _block, "number": _number, "many": _many, "day": _day, "moment": _moment,
        "seconds": _seconds, "percent": _percent, "often": often,
    }  # fmt: skip
    made.globals |= {"words": words, **assets(), **shared}
    return made


def assets() -> dict[str, object]:
    """Style sheet and scripts as they stand in a page, and the policy that lets only them in."""
    style, early, late = (
        (HERE / "assets" / name).read_text(encoding="utf-8") for name in ("site.css", "theme.js", "site.js")
    )
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(early)} {_hash(late)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return {
        "policy": policy, "style": Markup(style), "early": Markup(early), "late": Markup(late),  # noqa: S704 - our own
    }  # fmt: skip


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _finalize(value: object) -> object:
    """What stands between `{{` and `}}`: our own markup as it is, everything else as printable text of bounded size."""
    if value is None:
        return ""
    return value if isinstance(value, (Markup, int)) else printable(str(value), TEXT)


def _text(value: object, limit: int) -> Markup:
    """Printable text of another length than the usual one."""
    return escape(printable(str(value), limit))


def _block(lines: Sequence[str], limit: int = 400) -> Markup:
    """Lines for a `pre`, each made printable by itself."""
    return Markup("\n").join(escape(printable(line, limit)) for line in lines)


def _number(value: int) -> Markup:
    """A whole number with narrow spaces between the thousands."""
    return Markup(f"{value:,}".replace(",", "\u202f"))  # noqa: S704 - digits


def _many(count: int, one: str, several: str = "") -> Markup:
    return Markup("{} {}").format(_number(count), one if count == 1 else several or one + "s")


def _day(value: str) -> str:
    return value[:10]


def _moment(value: str) -> str:
    """A moment to the minute; the text itself when it is none."""
    return f"{value[:10]} {value[11:16]}" if len(value) >= 16 and value[10] == "T" else value


def _seconds(value: float) -> str:
    """A length of time, as a person reads it."""
    if not math.isfinite(value):
        return "?"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.0f}"


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"


def to_json(data: object) -> str:
    """The JSON beside a page: ASCII, texts printable and of bounded size, safe inside a page as well."""
    text = json.dumps(_plain(data), allow_nan=False)
    # These three stand only inside strings in JSON, where the escape means the same.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026") + "\n"


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {entry.name: _plain(getattr(value, entry.name)) for entry in fields(value)}
    if isinstance(value, Mapping):
        return {printable(str(name), 200): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return printable(value, JSON_TEXT) if isinstance(value, str) else value
