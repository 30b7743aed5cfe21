"""What the warehouse keeps, table by table. All texts are as the records give them.

`Verdict` and the tables of `reports/tables.py` that come from one run are written anew whenever rows of that run
arrive; readers take the newest. `held`, `rows` and `sheets` are what they are made from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pyspark.sql.types import StructField, StructType, TimestampType

from reports import campaigns, tables
from reports.spark import schemas

UNKNOWN_DAY: Final = "unknown"
"""The day of a run whose first row is lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one run says about one requirement, with what is needed to count and compare without a join."""

    run: str
    slug: str
    version: str
    at: str
    whole: bool
    requirement: str
    verdict: str
    standing: str
    level: str
    failed_as: str
    exercised: int
    judged: int
    message: str
    reason: str
    trace: str
    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A verdict of pass or fail with what the history of a requirement needs, kept apart from the days: whoever looks
    back over all of them opens few files."""

    run: str
    slug: str
    version: str
    at: str
    requirement: str
    failed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault of one run, as its row and the whole run tell it."""

    run: str
    slug: str
    version: str
    requirement: str
    level: str
    verdict: str
    also: tuple[str, ...]
    why: str
    expected: str
    property: str
    features: tuple[str, ...]
    steps: int
    reproduced: int
    tried: int
    trace: str
    replay: str
    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """What one property did in one run; the columns of `tables.SuiteTime`, and the day."""

    slug: str
    run: str
    property: str
    plans: int
    steps: int
    seconds: float
    inconclusive: int
    errors: int
    faults: int
    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """A baseline entry that must go."""

    slug: str
    run: str
    requirement: str
    why: str
    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A row of records in its one JSON form. Those of coverage are in the table of sheets."""

    run: str
    worker: str
    n: int
    kind: str
    text: str
    source: str
    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """All rows of coverage that one worker of a run has in one file: nineteen rows of twenty, and of use only together.

    `text` is a JSON object with a list for each column but run and worker.
    """

    run: str
    worker: str
    text: str
    source: str
    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """`run` has rows in this batch."""

    run: str
    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A trace file and its script."""

    run: str
    trace: str
    document: str
    script: str
    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """`tables.Rejudged`, with the digest of the specification that judged, and the day of the run."""

    run: str
    slug: str
    version: str
    requirement: str
    trace: str
    before: str
    after: str
    changed: bool
    why: str
    digest: str
    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A run that was complete and left nothing out on purpose."""

    at: str
    run: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Last:
    """The last run of a night, by its first two columns."""

    at: str
    run: str
    protocol: str
    role: str
    suite_version: str
    verdict: str
    complete: bool
    passed: int
    failed: int
    warned: int
    accepted: int
    inconclusive: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """One day of a version; `whole` are its last two whole runs, latest first."""

    day: str
    runs: int
    incomplete: int
    last: Last
    whole: tuple[Whole, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """One requirement on a version: the columns of `tables.Flicker`, how many faults were `loose` (not shown by every
    repetition), and the first run that failed, with its moment in microseconds as `first`."""

    requirement: str
    runs: int
    failed: int
    changes: int
    first: int | None
    first_run: str | None
    first_day: str | None
    reproduced: int
    tried: int
    loose: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What all runs of one version of an implementation amount to."""

    slug: str
    version: str
    nights: tuple[Night, ...]
    past: tuple[Past, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A batch that readers may see, the tables that it has a part of, and the batches that it stands in place of.

    `rows` is how many rows of records, or conversations, it was made from. `again` is false when none of its runs was
    in a batch before it: then nobody has to look for what it stands in place of.
    """

    batch: str
    tables: tuple[str, ...]
    replaces: tuple[str, ...]
    rows: int
    again: bool = True


def _ledger() -> StructType:
    size = schemas.of(Kept)["n"].dataType
    return StructType(
        [*schemas.text("path").fields, StructField("length", size), StructField("modified", TimestampType())]
    )


SCHEMAS: Final[Mapping[str, StructType]] = {
    "runs": schemas.of(tables.Run),
    "verdicts": schemas.of(Verdict),
    "settled": schemas.of(Settled),
    "faults": schemas.of(Fault),
    "efforts": schemas.of(Effort),
    "stale": schemas.of(Stale),
    "versions": schemas.of(Version),
    "rows": schemas.of(Kept),
    "sheets": schemas.of(Sheet),
    "held": schemas.of(Held),
    "traces": schemas.of(Trace),
    "rejudged": schemas.of(Judged),
    "quarantine": schemas.of(tables.Quarantined),
    "ledger": _ledger(),
    "found": schemas.of(campaigns.Found),
    "proved": schemas.of(campaigns.Settled),
    "campaigns": schemas.of(campaigns.Campaign),
}
FOLDED: Final = ("runs", "verdicts", "settled", "faults", "efforts", "stale")
"""Tables of which the newest batch that has a run speaks for it."""
KEYED: Final[Mapping[str, tuple[str, ...]]] = {
    "versions": ("slug", "version"), "rejudged": ("run", "trace"), "traces": ("run", "trace"), "ledger": ("path",),
}  # fmt: skip
"""Tables of which, for each of these keys, the newest batch that has it speaks."""
SORTED: Final = ("runs", "settled", "faults", "versions")
"""Tables that are looked back over for some versions only: each file is sorted by version, so that a reader passes over
the pages of the others."""
DAILY: Final = ("verdicts", "efforts", "rows", "sheets", "traces")
"""Tables kept in a folder for each day: those of many rows, of which few days are wanted at a time."""
