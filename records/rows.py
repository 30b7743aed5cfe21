"""The rows that a run leaves behind, one JSON object a line.

Rows are flat (text, whole numbers, fractions, truth values, lists of text), so that any tool reads them with a schema
written down beforehand. A column has one type in all kinds of row. Fields may be added and get a default; what they
mean never changes. A reader keeps fields that it does not know in `extra`.

Counts in rows are increments: a property that reports twice adds up. A row is identified by its whole content, `n`
included; the same row read twice is one row.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, Final, Union, get_args, get_origin, get_type_hints

from records.text import printable

SCHEMA: Final = 7
"""Version of this module's rows; grows when a field or a kind is added. 2 added the kind "acceptance"; 3 the kind
"freedom", and `fingerprint`, `behind` and `unsettled` of faults and `fingerprints` of acceptances; 4 the kinds "replay"
and "round"; 5 the kind "rate", and `shown` and `chances` of faults; 6 the kind "rest"; 7 the kind
"missed"."""
_AS_IT_IS: Final = (str, bool)
_INT64: Final = range(-(2**63), 2**63)


class RecordError(Exception):
    """A line that is not a row, or a value that no row can hold; says where, and which field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What all rows have. The writer fills in `run`, `worker` and `n`, the place in the worker's file from 1."""

    kind: ClassVar[str] = ""

    run: str = ""
    worker: str = ""
    n: int = 0
    schema: int = SCHEMA
    extra: Mapping[str, object] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow(Row):
    """What was tried on what; the first row of every worker.

    `at` is UTC in ISO form. `asked` is what `--impl` was given, and `command` the command that was given it (pytest
    when it is empty), for commands that repeat the run. `requirements` is the pattern that chose them. `partial`:
    some suites or requirements of the role were left out on purpose, so that a requirement that did not fail says
    nothing. `workers` are all that were started, as far as it is known.
    """

    kind: ClassVar[str] = "run"

    at: str = ""
    impl: str = ""
    protocol: str = ""
    role: str = ""
    profile: str = ""
    version: str = ""
    suite_version: str = ""
    seed: int = 0
    budget: str = ""
    budget_s: float | None = None
    disciplines: tuple[str, ...] = ()
    requirements: str = "*"
    levels: tuple[str, ...] = ()
    partial: bool = False
    strict: bool = False
    asked: str = ""
    command: str = ""
    workers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementRow(Row):
    """One requirement that is known, written at the start so that a killed run still lists what it owes.

    `applies`: "judged", "unsupported" (the implementation does not claim it) or "unselected" (left out of a partial
    run). `untestable` says why no conversation can show it; empty when one can.
    """

    kind: ClassVar[str] = "requirement"

    id: str
    section: str = ""
    level: str = "MUST"
    basis: str = "text"
    statement: str = ""
    source: str = ""
    applies: str = "judged"
    untestable: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceRow(Row):
    """An entry of the baseline in force: requirement `id` may fail, until the end of the day `expires` (ISO; empty: for
    ever). `sometimes`: a run in which it does not fail does not make it stale. `fingerprints`: the sorts of failure
    that are accepted; none: any. Written at the start, since schema 2."""

    kind: ClassVar[str] = "acceptance"

    id: str
    reason: str = ""
    issue: str = ""
    expires: str = ""
    sometimes: bool = False
    fingerprints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyRow(Row):
    """What one property did: `plans` driven, `steps` in them, `inconclusive` plans, `errors` of our own.

    `ended` says why it stopped: "budget", "error", ... `obstacles` are known faults that ended conversations, so that
    nothing behind them was judged: each is the id of a requirement, a blank, and how many. Since schema 3.
    """

    kind: ClassVar[str] = "property"

    property: str
    plans: int = 0
    steps: int = 0
    seconds: float = 0.0
    inconclusive: int = 0
    errors: int = 0
    ended: str = ""
    obstacles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageRow(Row):
    """How often a property brought a requirement into play, and how often it could be judged there."""

    kind: ClassVar[str] = "coverage"

    property: str
    requirement: str
    exercised: int = 0
    judged: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FreedomRow(Row):
    """How many conversations of a property were right only because of `freedom`, a reading of docs/ambiguities.md.
    Since schema 3."""

    kind: ClassVar[str] = "freedom"

    property: str
    freedom: str
    leaned: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRow(Row):
    """One fault that a property found.

    `level` is the level as which it counts, which may be weaker than that of its requirement. `also` are further
    requirements that the same deed breaks. `steps` counts the steps of the minimal plan, which showed the fault in
    `reproduced` of `tried` repetitions; `steady`: in all of them. `verdict` is "fail", or "inconclusive" when the text
    tolerates it once in a while and it was not steady, or when what was blamed could not be confirmed: `unsettled` says
    why then. `trace` is relative to the folder of results. `fingerprint` names the sort of failure, without any value
    of the run; `behind` are the known faults of the same conversation. `shown` and `chances` are those of a `RateRow`.
    `rivals` are the fingerprints of other failures that would show in the same way: where one of them is found too,
    this is that one again. `sort` is the fingerprint that the specification itself gives it, before it was laid on
    another requirement.
    """

    kind: ClassVar[str] = "fault"

    requirement: str
    level: str = "MUST"
    also: tuple[str, ...] = ()
    why: str = ""
    expected: str = ""
    property: str = ""
    steps: int = 0
    reproduced: int = 0
    tried: int = 0
    steady: bool = True
    trace: str = ""
    found_after_s: float | None = None
    shrink_s: float | None = None
    features: tuple[str, ...] = ()
    verdict: str = "fail"
    fingerprint: str = ""
    behind: tuple[str, ...] = ()
    unsettled: str = ""
    shown: int = 0
    chances: int = 0
    rivals: tuple[str, ...] = ()
    sort: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateRow(Row):
    """Of a failure that shows now and then: how often the conversations of the hunt have shown it (`shown`), of how
    many times that they could have (`chances`). Written when the hunt is over; the fault row of that `requirement` and
    `fingerprint` came before. Since schema 5."""

    kind: ClassVar[str] = "rate"

    requirement: str
    fingerprint: str = ""
    shown: int = 0
    chances: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRow(Row):
    """How often the conversation that is kept for an entry of the baseline was played before the hunt, and how often it
    has shown (`shown`) what it is kept for. `requirement` is the entry, `fingerprint` the sort of failure. Since schema
    4."""

    kind: ClassVar[str] = "replay"

    requirement: str
    fingerprint: str = ""
    tried: int = 0
    shown: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRow(Row):
    """A round of a run that makes a baseline, which looks on until little is left to find: `plans` that it hunted with,
    replays and repetitions apart, and what failed in them at a level that counts: each text of `seen` is how many plans
    showed it, a blank, and the sort of failure. `round` counts from 1. Since schema 4."""

    kind: ClassVar[str] = "round"

    round: int = 0
    plans: int = 0
    seconds: float = 0.0
    seen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RestRow(Row):
    """A requirement that was not judged since what could show it has to say nothing for longer than the run lasts:
    `needs_s` seconds, the shortest that is known. Since schema 6."""

    kind: ClassVar[str] = "rest"

    requirement: str
    needs_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedRow(Row):
    """A requirement that was not judged, although every stored program that judges it on a reference was played, which
    are so many `programs`: this implementation did not come to it. Since schema 7."""

    kind: ClassVar[str] = "missed"

    requirement: str
    programs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TroubleRow(Row):
    """Something went wrong on the tester's side; never a verdict. `requirement` and `property` when it is known."""

    kind: ClassVar[str] = "trouble"

    where: str = ""
    message: str = ""
    detail: str = ""
    property: str = ""
    requirement: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRow(Row):
    """The last row of a worker: without it, or with rows missing before it, the run is incomplete.

    `status` is "complete" or "interrupted". `rows` is how many rows the worker wrote before this one; the writer fills
    it in.
    """

    kind: ClassVar[str] = "end"

    at: str = ""
    status: str = "complete"
    rows: int = 0
    plans: int = 0
    steps: int = 0
    faults: int = 0
    troubles: int = 0
    seconds: float = 0.0


KINDS: Final[Mapping[str, type[Row]]] = {
    row.kind: row
    for row in (
        RunRow,
        RequirementRow,
        AcceptanceRow,
        PropertyRow,
        CoverageRow,
        FreedomRow,
        FaultRow,
        ReplayRow,
        RoundRow,
        RateRow,
        RestRow,
        MissedRow,
        TroubleRow,
        EndRow,
    )
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of one kind of row: `type` is str, int, float, bool or tuple (a list of text)."""

    name: str
    type: type
    nullable: bool
    required: bool


def _columns(row: type[Row]) -> dict[str, Column]:
    hints = get_type_hints(row)
    found = {}
    for entry in fields(row):
        if entry.name == "extra":
            continue
        hint, nullable = hints[entry.name], False
        if get_origin(hint) in (types.UnionType, Union):
            nullable = True
            (hint,) = (choice for choice in get_args(hint) if choice is not type(None))
        required = entry.default is MISSING and entry.default_factory is MISSING
        found[entry.name] = Column(entry.name, get_origin(hint) or hint, nullable, required)
    return found


COLUMNS: Final[Mapping[str, Mapping[str, Column]]] = {kind: _columns(row) for kind, row in KINDS.items()}
"""The columns of each kind, `kind` itself left out: what a schema elsewhere is made from."""
_NEEDED: Final = {
    kind: [name for name, column in columns.items() if column.required or name in ("run", "worker")]
    for kind, columns in COLUMNS.items()
}
"""What a row must say to be one."""


def to_json(row: Row) -> str:
    """The row as one line of ASCII without a line end. Raises RecordError for a value that its column cannot hold."""
    document: dict[str, object] = {"kind": row.kind}
    for name, column in COLUMNS[row.kind].items():
        document[name] = _value(column, getattr(row, name), row.kind)
    for name, value in row.extra.items():
        document.setdefault(name, value)
    try:
        return json.dumps(document, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordError(f"row of kind {row.kind!r}: {error}") from None


def from_json(text: str, file: str = "", line: int = 0) -> Row:
    """The row that a line holds, of this or of an older schema.

    A field that is missing or null gets its default. Raises RecordError naming `file` and `line` when the line is no
    JSON object, is of no known kind, lacks what identifies it, or has a value of the wrong type.
    """
    where = f"{printable(file)}:{line}: " if file else ""
    try:
        document = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{where}not JSON: {printable(str(error))}") from None
    if not isinstance(document, dict):
        raise RecordError(f"{where}not a JSON object")
    kind = document.pop("kind", None)
    row = KINDS.get(kind) if isinstance(kind, str) else None
    if row is None:
        raise RecordError(f"{where}unknown kind {printable(repr(kind), 60)}")
    values: dict[str, Any] = {}
    try:
        for name, column in COLUMNS[row.kind].items():
            value = document.pop(name, None)
            if value is not None:
                values[name] = _value(column, value, row.kind)
                if isinstance(value, list):
                    values[name] = tuple(value)
    except RecordError as error:
        raise RecordError(f"{where}{error}") from None
    for name in _NEEDED[row.kind]:
        if not values.get(name):
            raise RecordError(f"{where}{row.kind}: {name} is missing")
    return row(extra=document, **values)


def _value(column: Column, value: object, kind: str) -> object:
    """`value` as JSON holds it in this column; truth values are not numbers, and whole numbers fit 64 bits."""
    if type(value) is column.type and column.type in _AS_IT_IS:
        return value
    if column.type is tuple:
        if isinstance(value, (tuple, list)) and all(isinstance(item, str) for item in value):
            return list(value)
    elif column.type is float:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            try:
                number = float(value)
            except OverflowError:
                number = math.inf
            if math.isfinite(number):
                return number
    elif column.type is int:
        if isinstance(value, int) and not isinstance(value, bool) and value in _INT64:
            return value
    elif isinstance(value, column.type):
        return value
    if value is None and column.nullable:
        return None
    wanted = "a list of text" if column.type is tuple else column.type.__name__
    raise RecordError(f"{kind}: {column.name} must be {wanted}, not {printable(repr(value), 80)}")


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not a number")
