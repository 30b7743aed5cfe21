"""The tables of the nightly report: what the Spark job computes and the pages show.

Each table is a frozen dataclass whose fields are its columns (text, whole numbers, fractions, truth values, lists of
text; `| None` where a value may be missing). The Spark schema is derived from the same declaration
(`reports/spark/schemas.py`), and the pages read the same fields, so that neither can drift from the other. Text in them
is as implementations wrote it: whoever shows it escapes it.

Moments are UTC in ISO form, days are `YYYY-MM-DD`. An *implementation* is a name, a protocol, a role and a profile; its
`slug` names its pages. Verdicts and standings are those of `reports/result.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from reports.campaigns import Told


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run as its summary tells it, incomplete ones too. `seconds` is the sum over its properties."""

    run: str
    slug: str
    impl: str
    protocol: str
    role: str
    profile: str
    version: str
    at: str
    day: str
    verdict: str
    reasons: tuple[str, ...]
    complete: bool
    partial: bool
    strict: bool
    seed: int
    budget: str
    suite_version: str
    plans: int
    steps: int
    seconds: float
    judged: int
    passed: int
    failed: int
    warned: int
    accepted: int
    inconclusive: int
    error: int
    untestable: int
    unsupported: int
    unselected: int
    troubles: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """A requirement as the newest run lists it; how many implementations stand how in their latest whole run."""

    id: str
    protocol: str
    section: str
    level: str
    basis: str
    statement: str
    source: str
    untestable: str
    passed: int
    failed: int
    warned: int
    accepted: int
    open: int
    exercised: int
    judged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of the matrix: the latest run of one version of one implementation, and one requirement."""

    slug: str
    version: str
    newest: bool
    run: str
    requirement: str
    verdict: str
    standing: str
    level: str
    failed_as: str
    exercised: int
    judged: int
    message: str
    failure: str
    """`slug` of the failure page; empty when there is none."""
    reason: str
    """Why the baseline accepts it; empty when it does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """One day of one implementation: its last run of that day, counted by standing."""

    slug: str
    day: str
    run: str
    version: str
    verdict: str
    complete: bool
    passed: int
    failed: int
    warned: int
    accepted: int
    inconclusive: int
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A requirement that stands otherwise in the last run of an implementation than in the one before.

    `kind`: "regression" (it fails and did not), "repair" (it passes and failed), "lost" (it passed and cannot be
    judged now). Only complete runs are compared.
    """

    kind: str
    slug: str
    requirement: str
    level: str
    before: str
    after: str
    before_run: str
    after_run: str
    before_version: str
    after_version: str
    message: str
    failure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Flicker:
    """A requirement whose verdict changed between runs of one version, or a fault that not every repetition showed.

    `runs` settled it (pass or fail), `failed` of them with a fail, `changes` times it differed from the run before;
    `reproduced` of `tried` repetitions of minimal conversations showed it.
    """

    slug: str
    version: str
    requirement: str
    runs: int
    failed: int
    changes: int
    reproduced: int
    tried: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteTime:
    """What one property of the suites did in the latest run of an implementation, summed over its workers."""

    slug: str
    run: str
    property: str
    plans: int
    steps: int
    seconds: float
    inconclusive: int
    errors: int
    faults: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Strictness:
    """How an implementation keeps to each level in its latest run."""

    slug: str
    run: str
    level: str
    passed: int
    failed: int
    accepted: int
    open: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleEntry:
    """A baseline entry that must go, and why."""

    slug: str
    run: str
    requirement: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A requirement on which implementations of one protocol and role differ in their latest runs.

    `ambiguous`: its level or basis says that the text leaves it open (SHOULD, MAY, ASSUMED, or not from the text).
    """

    protocol: str
    role: str
    requirement: str
    level: str
    basis: str
    ambiguous: bool
    passing: tuple[str, ...]
    failing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A fault shown with its minimal conversation, in the latest run of a version in which it was seen.

    `document` is the text of the trace file (suites/trace.py), empty when it was lost; `script` the stand-alone
    script, empty when there is none; `replay` the command that plays it again. `first_run` and `first_day` say when
    this implementation first failed this requirement.
    """

    failure: str
    slug: str
    version: str
    run: str
    requirement: str
    level: str
    verdict: str
    standing: str
    also: tuple[str, ...]
    why: str
    expected: str
    property: str
    features: tuple[str, ...]
    steps: int
    reproduced: int
    tried: int
    first_run: str
    first_day: str
    document: str
    script: str
    replay: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """A line or a file of results that is no record: where, why, and how it begins. `line` 0 means the whole file."""

    source: str
    line: int
    reason: str
    text: str
    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejudged:
    """A stored conversation judged again with today's specifications. `after` differs from `before` when the
    specification was corrected; `error` when it could not be judged."""

    run: str
    slug: str
    version: str
    requirement: str
    trace: str
    before: str
    after: str
    changed: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything the pages show. `built` is when; `runs` holds the runs of the last `days` days, newest first."""

    built: str
    suite_version: str
    total_runs: int
    incomplete_runs: int
    runs: tuple[Run, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    cells: tuple[Cell, ...] = ()
    days: tuple[Day, ...] = ()
    changes: tuple[Change, ...] = ()
    flickers: tuple[Flicker, ...] = ()
    times: tuple[SuiteTime, ...] = ()
    strictness: tuple[Strictness, ...] = ()
    stale: tuple[StaleEntry, ...] = ()
    differences: tuple[Difference, ...] = ()
    failures: tuple[Failure, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    quarantined_total: int = 0
    rejudged: tuple[Rejudged, ...] = ()
    campaigns: tuple[Told, ...] = ()
