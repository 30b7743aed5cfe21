"""The checks that every field of a manifest goes through, and the one error that they raise.

Every message reads FILE: FIELD: what is wrong; what to write instead. What comes from the file is shown escaped.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, NoReturn

from impls.launching.printable import quoted

Table = Mapping[str, object]


class ManifestError(Exception):
    """What `--impl` names cannot be used. The text is one message for the person who wrote it."""


def fail(where: str, at: str, why: str) -> NoReturn:
    """Refuse the file `where` for its field `at`."""
    raise ManifestError(f"{where}: {at}: {why}")


def table(where: str, document: Table, name: str, *, required: bool = False) -> dict[str, Any]:
    """The table called `name`; an empty one when it may be absent and is."""
    value = document.get(name)
    if value is None and not required:
        return {}
    if value is None:
        near = difflib.get_close_matches(name, [str(key) for key in document], 1, 0.6)
        meant = f" (is {quoted(near[0])} meant to be it?)" if near else ""
        fail(where, f"[{name}]", f"is missing{meant}; every manifest has the tables [impl] and [start]")
    if not isinstance(value, dict):
        fail(where, f"[{name}]", f"must be a table, not {kind(value)}; write [{name}] on a line of its own")
    return value


def only(where: str, table: str, given: Table, known: Sequence[str]) -> None:
    """Refuse whatever is not in `known`; `table` is empty for the top of the file."""
    for name in given:
        if name not in known:
            at = f"{table}.{quoted(name)}" if table else f"[{quoted(name)}]"
            allowed = ", ".join(known) or "nothing"
            what = "field" if table else "table"
            fail(where, at, f"unknown {what}{meant(name, known)}; allowed here: {allowed}")


def text(
    where: str, at: str, table: Table, *, default: str | None = None, choices: tuple[str, ...] | None = None
) -> str:
    """The text in the last part of `at`: one printable line; empty only when the default is."""
    name = at.rpartition(".")[2]
    one_of = f"; write one of: {', '.join(choices)}" if choices else ""
    if name not in table:
        if default is not None:
            return default
        fail(where, at, f"is missing{one_of}" if choices else f'is missing; write {name} = "…"')
    value = table[name]
    if not isinstance(value, str):
        fail(where, at, f"must be a text, not {kind(value)}{one_of or '; write it in quotes'}")
    if choices and value not in choices:
        fail(where, at, f"{quoted(value)} is unknown{meant(value, choices)}{one_of}")
    if not value.isprintable() or (default != "" and not value.strip()):
        fail(where, at, f"{quoted(value)} must be one line of text that prints{' and is not empty' * (default != '')}")
    return value


def strings(where: str, at: str, value: object) -> dict[str, str]:
    """A table of texts whose keys could be the names of environment variables or files."""
    if not isinstance(value, dict):
        fail(where, at, f'must be a table, not {kind(value)}; write {{ KEY = "value" }}')
    for name, text in value.items():
        if not isinstance(text, str):
            fail(where, f"{at}.{quoted(name)}", f"must be a text, not {kind(text)}; write it in quotes")
        if not name or "=" in name or "\0" in name + text:
            fail(where, f"{at}.{quoted(name)}", "has an empty name, or one with '=', or holds a NUL; correct it")
    return dict(value)


def meant(name: str, known: Iterable[str]) -> str:
    """The hint for a misspelt name, with a space before it; empty when nothing known is like it."""
    near = difflib.get_close_matches(name, list(known), 1, 0.6)
    return f" (did you mean {quoted(near[0])}?)" if near else ""


def either(names: Sequence[str]) -> str:
    """Several names as a choice."""
    return " or ".join(names)


NOUNS: Mapping[type, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
    datetime: "a date with a time",
    date: "a date",
}


def noun(kind: type) -> str:
    """What a type of TOML value is called."""
    return NOUNS.get(kind, kind.__name__)


def kind(value: object) -> str:
    """What kind of TOML value this is, in words."""
    return noun(type(value))
