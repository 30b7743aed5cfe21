"""Foreign text made fit for a message: a manifest, a log or an engine must not be able to rewrite a terminal."""

from __future__ import annotations

LINE_CHARS = 400
"""Longest line that is shown whole."""
VALUE_CHARS = 120
"""Longest value that is quoted whole."""


def quoted(value: object) -> str:
    """A value as Python writes it, control and invisible characters escaped, at most VALUE_CHARS characters long."""
    if isinstance(value, int) and value.bit_length() > 512:
        return "a very large number"  # Python refuses to write the largest ones in decimal
    text = repr(value[: VALUE_CHARS + 1] if isinstance(value, str) else value)
    return text if len(text) <= VALUE_CHARS + 2 else text[:VALUE_CHARS] + "…"


def printable(text: str) -> str:
    """One line, unquoted: whatever does not print is escaped, at most LINE_CHARS characters of it."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:LINE_CHARS])
    return shown if len(text) <= LINE_CHARS else shown + "…"
