"""A manifest's table of known failures, rewritten after a run: what --update-baseline does.

Entries that still fail stay as they were written; new ones get the reason that the run saw and a year's time; those
that no longer fail go. Every other octet of the file stays, comments too. The new text is read back before it is
answered: a manifest is never made worse than it was.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from records.text import printable
from reports.summary import Failing, Summary

TABLE: Final = "deviations"
REASON_LIMIT: Final = 200
NO_ISSUE: Final = "not reported yet"
"""What stands for a link until somebody has one; a manifest wants every entry to say where it is followed up."""
_QUOTED: Final = {'"': '\\"', "\\": "\\\\"}


class BaselineError(Exception):
    """The baseline was not rewritten; says why, and what to do."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A logical line of TOML with its line end. `keys` are the leading keys of a header or of an assignment."""

    text: str
    kind: str  # "header", "assignment" or "blank" (comments too)
    keys: tuple[str, ...] = ()


def update(
    manifest_text: str,
    failing: Mapping[str, Failing],
    *,
    today: date,
    partial: bool = False,
    unsettled: Set[str] = frozenset(),
) -> str:
    """The manifest with a baseline that accepts exactly what is `failing`. An entry that accepts only other
    sorts of failure than the one that was seen gets the new sort beside them, one that names none the sorts that were
    seen, and one whose failure does not show each time is marked `sometimes`.

    Entries named in `unsettled` stay too: the run could not say that they no longer fail. `manifest_text` must have its
    line ends as they are in the file. Raises BaselineError for a run that is `partial` (or incomplete), and for a
    manifest that is no TOML.
    """
    if partial:
        raise BaselineError(
            "the baseline is not updated after a partial or incomplete run: what it did not try may still fail; "
            "run everything, without --requirement and --level, and to the end"
        )
    before = _parsed(manifest_text)
    old = before.get(TABLE, {})
    if not isinstance(old, dict):
        raise BaselineError(f"{TABLE} is not a table; remove it from the manifest and try again")
    kept = {name for name in old if name in failing or name in unsettled}
    fresh = {name: _entry(failing[name], today) for name in sorted(failing) if name not in old}
    for name in sorted(kept & failing.keys()):
        wider = _widened(old[name], failing[name])
        if wider is not None:
            fresh[name] = _inline(wider)
    kept -= fresh.keys()
    statements = list(_statements(manifest_text))
    if any(s.kind == "assignment" and s.keys[0] == TABLE for s in _before_first_header(statements)):
        # Written at the top as `deviations.X = ...`: TOML then refuses a table of that name, so all move into one.
        fresh = {name: _inline(old[name]) for name in old if name in kept} | fresh
        after = _without_dotted(statements)
    else:
        after = [s for s in _placed(statements) if s[1] is None or s[1] in kept]
    text = _with_entries(after, fresh, manifest_text)
    _check(text, before, kept, fresh)
    return text


def refreshed(manifest_text: str, summary: Summary, today: date) -> str:
    """`update` with what a run says. Raises BaselineError, also for a run that met errors of the tester's own."""
    if summary.troubles:
        raise BaselineError("the baseline is not updated after errors of the tester's own; see the report, run again")
    partial = summary.run.partial or not summary.complete
    return update(manifest_text, summary.failing, today=today, partial=partial, unsettled=summary.unsettled)


def _widened(entry: Any, seen: Failing) -> dict[str, Any] | None:
    """An entry with what was found out of it; None when it says that already."""
    if not isinstance(entry, dict):
        return None
    known, wider = entry.get("fingerprints") or [], dict(entry)
    sorts = {printable(each) for each in seen.fingerprints}
    if not sorts <= set(known):
        wider["fingerprints"] = sorted({*known, *sorts})
    if seen.sometimes and not entry.get("sometimes"):
        wider["sometimes"] = True
    return wider if wider != entry else None


def _entry(seen: Failing, today: date) -> str:
    try:
        expires = today.replace(year=today.year + 1)
    except ValueError:  # 29 February
        expires = today.replace(year=today.year + 1, day=28)
    said = {"reason": printable(seen.reason, REASON_LIMIT).strip() or "fails", "issue": NO_ISSUE}
    where: dict[str, Any] = {"trace": printable(seen.trace)} if seen.trace.strip() else {}
    sorts = {"fingerprints": [printable(each) for each in seen.fingerprints]} if seen.fingerprints else {}
    often = {"sometimes": True} if seen.sometimes else {}
    return _inline({**said, "expires": expires, **where, **often, **sorts})


def _inline(entry: Any) -> str:
    """A value as TOML on one line."""
    if isinstance(entry, dict):
        return "{ " + ", ".join(f"{_key(name)} = {_inline(value)}" for name, value in entry.items()) + " }"
    if isinstance(entry, list):
        return "[" + ", ".join(_inline(value) for value in entry) + "]"
    if isinstance(entry, str):
        return _string(entry)
    if isinstance(entry, bool):
        return "true" if entry else "false"
    return entry.isoformat() if hasattr(entry, "isoformat") else repr(entry)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _string(name)


def _string(text: str) -> str:
    """A basic string; what does not print is written as TOML's own escape."""
    return '"' + "".join(_QUOTED.get(c) or (c if c.isprintable() else f"\\U{ord(c):08x}") for c in text) + '"'


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"the manifest is not TOML, so it is left alone: {printable(str(error))}") from None


# --- the text, cut into statements ------------------------------------------------------------------------------------


def _statements(text: str) -> Iterator[_Statement]:
    """Every logical line, nothing lost: joined they are the text."""
    start = 0
    while start < len(text):
        end = _end(text, start)
        line = text[start:end]
        body = line.strip(" \t\r\n")
        if not body or body.startswith("#"):
            yield _Statement(line, "blank")
        else:
            kind = "header" if body.startswith("[") else "assignment"
            yield _Statement(line, kind, _keys(tomllib.loads(line)))
        start = end


def _end(text: str, at: int) -> int:
    """Where the logical line that begins at `at` ends: the first line end outside texts, lists and inline tables."""
    depth = 0
    while at < len(text):
        char = text[at]
        if char in "\"'":
            at = _string_end(text, at)
            continue
        if char == "#":
            at = text.find("\n", at)
            if at < 0:
                return len(text)
            continue
        depth += (char in "[{") - (char in "]}")
        at += 1
        if char == "\n" and depth <= 0:
            return at
    return len(text)


def _string_end(text: str, at: int) -> int:
    """The place after the text that begins at `at`."""
    quote = text[at]
    mark = quote * 3 if text.startswith(quote * 3, at) else quote
    at += len(mark)
    while at < len(text) and not text.startswith(mark, at):
        at += 2 if text[at] == "\\" and quote == '"' else 1
    at = min(len(text), at + len(mark))
    # Up to two quotes may stand right before the three that end a long text.
    for _ in range(2 if len(mark) == 3 else 0):
        at += text.startswith(quote, at)
    return at


def _keys(document: Any) -> tuple[str, ...]:
    """The keys from the top down to where a statement, parsed alone, branches or holds its value; two at most."""
    keys: list[str] = []
    while isinstance(document, dict) and len(document) == 1 and len(keys) < 2:
        (key, document), *_ = document.items()
        keys.append(key)
    return tuple(keys)


def _before_first_header(statements: list[_Statement]) -> Iterator[_Statement]:
    for statement in statements:
        if statement.kind == "header":
            return
        yield statement


def _placed(statements: list[_Statement]) -> Iterator[tuple[_Statement, str | None]]:
    """Each statement with the entry it belongs to; None for what is no part of an entry."""
    here: tuple[str, ...] = ()
    for statement in statements:
        if statement.kind == "header":
            here = statement.keys
            yield statement, here[1] if here[0] == TABLE and len(here) > 1 else None
        elif statement.kind == "assignment" and here[:1] == (TABLE,):
            yield statement, here[1] if len(here) > 1 else statement.keys[0]
        else:
            yield statement, None


def _without_dotted(statements: list[_Statement]) -> list[tuple[_Statement, str | None]]:
    """The statements without those at the top that assign to the table."""
    top = {id(s) for s in _before_first_header(statements) if s.kind == "assignment" and s.keys[0] == TABLE}
    return [(statement, None) for statement in statements if id(statement) not in top]


def _with_entries(placed: list[tuple[_Statement, str | None]], fresh: Mapping[str, str], text: str) -> str:
    """The text of the statements, new entries after the last one of the table, which is made when there is none."""
    statements = [statement for statement, _ in placed]
    if not fresh:
        return "".join(statement.text for statement in statements)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = "".join(f"{_string(name)} = {entry}{newline}" for name, entry in fresh.items())
    header = next((i for i, s in enumerate(statements) if s.kind == "header" and s.keys == (TABLE,)), None)
    if header is None:
        whole = "".join(statement.text for statement in statements)
        gap = "" if not whole else newline if whole.endswith("\n") else newline * 2
        return f"{whole}{gap}[{TABLE}]{newline}{lines}"
    last = header
    for i in range(header + 1, len(statements)):
        if statements[i].kind == "header":
            break
        if statements[i].kind == "assignment":
            last = i
    head = "".join(statement.text for statement in statements[: last + 1])
    tail = "".join(statement.text for statement in statements[last + 1 :])
    return head + ("" if head.endswith("\n") else newline) + lines + tail


def _check(text: str, before: dict[str, Any], kept: Set[str], fresh: Mapping[str, str]) -> None:
    """The last word before a file is overwritten: entries as they should be, everything else as it was."""
    try:
        after = tomllib.loads(text)
    except ValueError:
        after = {}
    entries = after.pop(TABLE, {})
    old = before.get(TABLE, {})
    rest = {name: value for name, value in before.items() if name != TABLE}
    if after != rest or set(entries) != kept | set(fresh) or any(entries[name] != old[name] for name in kept):
        raise BaselineError(f"the manifest's [{TABLE}] is written in a way that cannot be updated; edit it by hand")
