"""Reports to make pages of: from results of real runs, made up at any size, and hostile in every field.

`python -m tests.sample_report OUT RESULTS...` writes the site of real results, filled up with made-up history.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, get_type_hints

from records import reader
from reports import campaigns as searches
from reports import result
from reports.site import write
from reports.summary import Summary, fold
from reports.tables import (
    Cell,
    Change,
    Day,
    Difference,
    Failure,
    Flicker,
    Quarantined,
    Rejudged,
    Report,
    Requirement,
    Run,
    StaleEntry,
    Strictness,
    SuiteTime,
)

BUILT = "2026-03-01T04:00:00Z"
WORDS = ("passed", "failed", "warned", "accepted", "inconclusive", "error", "untestable", "unsupported", "unselected")


def run_of(slug: str, found: Summary, **changed: Any) -> Run:
    counts = {word: len(found.standing(word)) for word in WORDS}
    row = found.run
    made = Run(
        run=row.run, slug=slug, impl=row.impl, protocol=row.protocol, role=row.role, profile=row.profile,
        version=row.version, at=row.at, day=row.at[:10], verdict=found.verdict, reasons=found.reasons,
        complete=found.complete, partial=row.partial, strict=found.strict, seed=row.seed, budget=row.budget,
        suite_version=row.suite_version, plans=found.plans, steps=found.steps, seconds=found.seconds,
        judged=sum(counts[word] for word in WORDS[:4]), troubles=tuple(t.message for t in found.troubles), **counts,
    )  # fmt: skip
    return replace(made, **changed)


def cells_of(slug: str, run: Run, found: Summary) -> Iterator[Cell]:
    for one in found.results:
        yield Cell(
            slug=slug, version=run.version, newest=True, run=run.run, requirement=one.id, verdict=one.verdict,
            standing=one.standing, level=one.requirement.level, failed_as=one.failed_as or "", judged=one.judged,
            exercised=one.exercised, message=one.message, failure=f"{slug}-{one.id}".lower() if one.fault else "",
            reason=one.accepted.reason if one.accepted else "",
        )  # fmt: skip


def failures_of(slug: str, run: Run, found: Summary, results: Path) -> Iterator[Failure]:
    for one in found.results:
        fault = one.fault
        if fault is None:
            continue
        trace = results / (one.witness or "none")
        yield Failure(
            failure=f"{slug}-{one.id}".lower(), slug=slug, version=run.version, run=run.run, requirement=one.id,
            level=one.failed_as or fault.level, verdict=one.verdict, standing=one.standing, also=fault.also,
            why=fault.why, expected=fault.expected, property=fault.property, features=fault.features,
            steps=fault.steps, reproduced=fault.reproduced, tried=fault.tried, first_run=run.run, first_day=run.day,
            document=trace.read_text() if trace.is_file() else "", script="print()",
            replay=f"pytest --impl={run.impl} --replay=results/{one.witness}",
        )  # fmt: skip


def requirements_of(cells: Sequence[Cell], summaries: Sequence[Summary]) -> tuple[Requirement, ...]:
    known = {one.id: one.requirement for found in summaries for one in found.results}
    made = []
    for name, row in known.items():
        mine = [cell for cell in cells if cell.requirement == name and cell.newest]
        count = {word: sum(cell.standing == word for cell in mine) for word in WORDS}
        made.append(
            Requirement(
                id=name, protocol="stomp", section=row.section, level=row.level, basis=row.basis,
                statement=row.statement, source=row.source, untestable=row.untestable, passed=count["passed"],
                failed=count["failed"], warned=count["warned"], accepted=count["accepted"],
                open=count["inconclusive"], exercised=sum(c.exercised for c in mine),
                judged=sum(c.judged for c in mine),
            )
        )  # fmt: skip
    return tuple(made)


def real(folders: Sequence[Path], days: int = 40) -> Report:
    """The newest runs in folders of results, with a history made up around them."""
    chance = random.Random(7)
    runs, cells, failures, times, history, strictness, stale, summaries = [], [], [], [], [], [], [], []
    for folder in folders:
        data = reader.read(folder)
        name = max(row.run for row in data.rows)
        summary = fold(data.of(name), {}, False, date(2026, 3, 1))
        slug = f"{summary.run.protocol}-{summary.run.role}-{summary.run.impl}"
        run = run_of(slug, summary)
        summaries.append(summary)
        runs.append(run)
        cells += cells_of(slug, run, summary)
        failures += failures_of(slug, run, summary, folder)
        history += made_up_days(slug, run, days, chance)
        times += [
            SuiteTime(slug=slug, run=run.run, property=p.property, plans=p.plans, steps=p.steps, seconds=p.seconds,
                      inconclusive=p.inconclusive, errors=p.errors, faults=0) for p in summary.properties
        ]  # fmt: skip
        for level in result.LEVELS:
            mine = [one for one in summary.results if one.requirement.level == level]
            at = {word: sum(one.standing == word for one in mine) for word in WORDS}
            strictness.append(Strictness(slug=slug, run=run.run, level=level, passed=at["passed"],
                                         failed=at["failed"] + at["warned"], accepted=at["accepted"],
                                         open=at["inconclusive"]))  # fmt: skip
    failing = [cell for cell in cells if cell.standing == "failed"][:3]
    changes = [
        Change(kind="regression", slug=c.slug, requirement=c.requirement, level=c.level, before="passed",
               after=c.standing, before_run="earlier", after_run=c.run, before_version="1.0", after_version=c.version,
               message=c.message, failure=c.failure) for c in failing[:2]
    ] + [
        Change(kind="repair", slug=c.slug, requirement=c.requirement, level=c.level, before="failed", after="passed",
               before_run="earlier", after_run=c.run, before_version="1.0", after_version=c.version, message="",
               failure="") for c in [cell for cell in cells if cell.standing == "passed"][:2]
    ]  # fmt: skip
    return filled(
        Report(
            built=BUILT, suite_version="0.1.0", total_runs=len(runs), incomplete_runs=0, runs=tuple(runs),
            requirements=requirements_of(cells, summaries), cells=tuple(cells), days=tuple(history),
            changes=tuple(changes), times=tuple(times), strictness=tuple(strictness), stale=tuple(stale),
            failures=tuple(failures),
        )
    )  # fmt: skip


def made_up_days(slug: str, run: Run, days: int, chance: random.Random) -> Iterator[Day]:
    failed, accepted = run.failed, run.accepted
    end = date(2026, 3, 1)
    for back in range(days):
        complete = back % 17 != 5
        yield Day(
            slug=slug, day=(end - timedelta(days=back)).isoformat(), run=f"{slug}-{back}",
            version=run.version if back < days // 3 else "1.0.0", verdict=("fail" if failed else "pass"),
            complete=complete, passed=max(0, run.passed - failed), failed=failed, warned=run.warned,
            accepted=accepted, inconclusive=run.inconclusive, runs=1 + back % 3 // 2,
        )  # fmt: skip
        failed = max(0, failed + (chance.choice((-1, 0, 0, 1, 2)) if run.failed else 0))


def filled(report: Report) -> Report:
    """The report with a few rows in each table that had none."""
    (*_, cell) = report.cells
    some = next((c for c in report.cells if words_fail(c)), cell)
    shared: dict[str, Any] = {"slug": some.slug, "version": some.version, "requirement": some.requirement}
    return replace(
        report,
        flickers=report.flickers or (Flicker(**shared, runs=9, failed=2, changes=3, reproduced=2, tried=5),),
        quarantined=report.quarantined or (
            Quarantined(source="night/a.jsonl", line=17, reason="not JSON", text='{"kind":"fau', day="2026-03-01"),
            Quarantined(source="night/notes.txt", line=0, reason="no records", text="a list", day="2026-02-28"),
        ),
        quarantined_total=report.quarantined_total or 2,
        rejudged=report.rejudged or (
            Rejudged(**shared, run=some.run, trace="traces/x.json", before="fail", after="pass", changed=True,
                     why="the text allows it (corrected reading)"),
            Rejudged(**shared, run=some.run, trace="traces/y.json", before="fail", after="fail", changed=False, why=""),
        ),
        stale=report.stale or (
            StaleEntry(slug=some.slug, run=some.run, requirement=some.requirement, why="it passes now"),
        ),
        differences=report.differences or differences(report),
    )  # fmt: skip


def words_fail(cell: Cell) -> bool:
    return cell.standing in ("failed", "warned", "accepted")


def differences(report: Report) -> tuple[Difference, ...]:
    made = []
    sides = {run.slug: (run.protocol, run.role) for run in report.runs}
    for r in report.requirements:
        mine = [c for c in report.cells if c.requirement == r.id and c.newest and c.slug in sides]
        for protocol, role in sorted({sides[c.slug] for c in mine}):
            here = [c for c in mine if sides[c.slug] == (protocol, role)]
            good = tuple(c.slug for c in here if c.standing == "passed")
            bad = tuple(c.slug for c in here if words_fail(c))
            if good and bad:
                open_ = r.level != "MUST" or r.basis != "text"
                made.append(Difference(protocol=protocol, role=role, requirement=r.id, level=r.level, basis=r.basis,
                                       ambiguous=open_, passing=good, failing=bad))  # fmt: skip
    return tuple(made)


DOCUMENT = {
    "schema": 1, "impl": {"name": "one", "role": "server", "protocol": "stomp"}, "requirement": "STOMP-1.2-X-01",
    "level": "MUST", "statement": "A server answers.", "why": "nothing came", "deciding": 3, "plan": {"steps": []},
    "conversation": [
        {"ms": 1.5, "conn": 0, "by": "client", "event": "said", "text": "CONNECT\nhost:x\n\nbody"},
        {"ms": 2.5, "conn": 0, "by": "server", "event": "said", "text": "CONNECTED\nversion:1.2"},
        {"ms": 3.5, "conn": 1, "by": "client", "event": "said", "text": "SEND\ndestination:/q"},
        {"event": "quiet", "ms": 900, "ms_quiet": 500, "elapsed": 510, "final": True},
        {"ms": 901, "conn": 0, "by": "server", "event": "closed", "how": "eof"},
        {"ms": 902, "conn": 1, "by": "server", "event": "noise", "text": "no-frame: b'x'", "hex": "78"},
    ],
    "wire": [
        {"ms": 1.5, "conn": 0, "dir": "sent", "hex": "434f4e4e4543540a0a00"},
        {"ms": 2.5, "conn": 0, "dir": "received", "hex": "0001ff3c623e"},
    ],
    "script": [{"do": "send", "conn": 0, "parts": [{"hex": "434f4e4e4543540a0a00"}]}, {"do": "wait", "ms": 500}],
}  # fmt: skip


def synthetic(
    implementations: int = 4,
    requirements: int = 40,
    days: int = 30,
    sides: Sequence[tuple[str, str]] = (("stomp", "server"),),
    seed: int = 1,
    failing: float = 0.1,
    versions: int = 2,
) -> Report:
    """A report of any size, the same for the same arguments."""
    chance = random.Random(seed)
    runs, cells, failures, history, known, times = [], [], [], [], [], []
    for protocol, role in sides:
        ids = [f"{protocol.upper()}-{'ABCDEFGH'[n * 8 // requirements]}-{n + 1:02}" for n in range(requirements)]
        levels = [chance.choice(("MUST", "MUST", "SHOULD", "ASSUMED", "MAY")) for _ in ids]
        for n in range(implementations):
            slug = f"{protocol}-{role}-impl{n}"
            for back in range(versions):
                version, name = f"{3 - back}.0", f"run-{slug}-{back}"
                mine = []
                for place, (requirement, level) in enumerate(zip(ids, levels, strict=True)):
                    roll = chance.random()
                    standing = ("failed" if level == "MUST" else "warned") if roll < failing else "passed"
                    standing = "accepted" if roll < failing / 3 else standing
                    standing = "inconclusive" if roll > 0.96 else standing
                    bad = standing in ("failed", "warned", "accepted")
                    failure = f"{slug}-{back}-{requirement.lower()}" if bad else ""
                    verdict = "fail" if bad else "pass" if standing == "passed" else "inconclusive"
                    mine.append(
                        Cell(slug=slug, version=version, newest=not back, run=name, requirement=requirement,
                             verdict=verdict, standing=standing, level=level, failed_as=level if bad else "",
                             exercised=place * 7, judged=place * 5 if standing != "inconclusive" else 0,
                             message=f"answer {place} is missing" if bad else "", failure=failure,
                             reason="known" if standing == "accepted" else "")
                    )  # fmt: skip
                    if failure:
                        failures.append(
                            Failure(failure=failure, slug=slug, version=version, run=name, requirement=requirement,
                                    level=level, verdict="fail", standing=standing, also=(), why="nothing came",
                                    expected="an answer", property="test_x", features=("cuts",), steps=4,
                                    reproduced=4, tried=5, first_run=name, first_day="2026-02-11",
                                    document=json.dumps(DOCUMENT), script="", replay=f"pytest --impl={slug}")
                        )  # fmt: skip
                cells += mine
                count = {word: sum(c.standing == word for c in mine) for word in WORDS}
                verdict = "fail" if count["failed"] else "pass"
                runs.append(
                    Run(run=name, slug=slug, impl=f"impl{n}", protocol=protocol, role=role, profile="1.2",
                        version=version, at=f"2026-03-0{2 - min(back, 1)}T01:02:03Z", day="2026-03-01",
                        verdict=verdict, reasons=(f"{count['failed']} fail",) if count["failed"] else (),
                        complete=True, partial=False, strict=False, seed=n, budget="ci", suite_version="0.1.0",
                        plans=1000 + n, steps=9000, seconds=61.5, judged=sum(count[w] for w in WORDS[:4]),
                        troubles=(), **count)
                )  # fmt: skip
                if not back:
                    history += made_up_days(slug, runs[-1], days, chance)
                    times.append(SuiteTime(slug=slug, run=name, property="test_x[lock-step]", plans=10, steps=90,
                                           seconds=n + 0.5, inconclusive=0, errors=0, faults=1))  # fmt: skip
        by_id = {name: [c for c in cells if c.requirement == name and c.newest] for name in ids}
        for place, (name, level) in enumerate(zip(ids, levels, strict=True)):
            count = {word: sum(c.standing == word for c in by_id[name]) for word in WORDS}
            known.append(
                Requirement(id=name, protocol=protocol, section=f"Section {'ABCDEFGH'[place * 8 // requirements]}",
                            level=level, basis="text" if place % 5 else "derived", statement=f"Rule {place} holds.",
                            source=f"{protocol} 1.2, chapter {place}", untestable="", passed=count["passed"],
                            failed=count["failed"], warned=count["warned"], accepted=count["accepted"],
                            open=count["inconclusive"], exercised=place * 7, judged=place * 5)
            )  # fmt: skip
    return filled(
        Report(built=BUILT, suite_version="0.1.0", total_runs=len(runs), incomplete_runs=0, runs=tuple(runs),
               requirements=tuple(known), cells=tuple(cells), days=tuple(history), times=tuple(times),
               failures=tuple(failures), campaigns=tuple(searched(runs[0], known[0].id)) if runs else ())
    )  # fmt: skip


def searched(run: Run, requirement: str) -> Iterator[searches.Told]:
    """A campaign that goes on, and one that has ended, both on the implementation of this run."""
    sight = searches.Sight(
        source="impl.toml", requirement=requirement, level="MUST", fingerprint="lost", why="nothing came",
        conversations=7, verdict="fail", document=json.dumps(DOCUMENT), slug=run.slug,
    )  # fmt: skip
    sources = ("impl.toml", "peers:own.peers:server")
    for name, ended in (("weekend", ""), ("release", "2026-03-01T02:00:00+00:00")):
        yield searches.Told(
            campaign=searches.Campaign(
                campaign=name, at="2026-02-28T20:00:00+00:00", sources=sources, seed=1,
                plans=5_000, each=100, wide=8, fresh=0.5, suite_version="0.1.0", digest="",
            ),
            plans=2_400, conversations=2_391, inconclusive=2, ended=ended, why="its time was up" if ended else "",
            waves=tuple(
                searches.Wave(source=source, wave=n, plans=400 * n, judged=30 + n, features=200 + 20 * n, faults=n > 1,
                              at=f"2026-02-28T2{n}:00:00+00:00")
                for source in sources for n in (1, 2, 3)
            ),
            rows=(searches.Row(source="impl.toml", protocol=run.protocol, role=run.role, requirement=requirement,
                               judged=900, conversations=800, broken=7),),
            leans=(searches.Lean(source="impl.toml", freedom="E-3", conversations=12),),
            sights=(sight, replace(sight, verdict="", document="", slug="", fingerprint="other")),
            alarms=(searches.Alarm(source="peers:own.peers:server", name="crash", about="KeyError",
                                   why="KeyError: 'id' (plain)", conversations=2, key="test_x::test_y lock-step",
                                   program="[[1,2],[[\"send\",0,7,250,3,1]]]"),),
            scores=(searches.Score(protocol=run.protocol, requirement=requirement, seeded=4, killed=3, late=1, wrong=0,
                                   survived=0, median_ms=310.0, survivors=("acks-all",)),),
            features=tuple((source, searches.estimate([1, 1, 2, 9], 1_200)) for source in sources),
            faults=tuple((source, searches.estimate([7], 1_200)) for source in sources),
        )  # fmt: skip


# -- hostile ----------------------------------------------------------------------------------------------------------

HOSTILE = (
    "<script>window.owned=1;alert(1)</script>",
    "\"><img src=x onerror='window.owned=1;alert(2)'>",
    "' onmouseover='window.owned=1' autofocus onfocus='window.owned=1' x='",
    "javascript:window.owned=1//",
    "</style></title></textarea></svg></script><script>window.owned=1</script>",
    "{{ 7*7 }}{% raw %}<svg onload=window.owned=1>",
    "]]>--><!--<svg><foreignObject><body onload='window.owned=1'>",
    "\u202ereversed\u2066\u2067\u200f\u200b\ufeff",
    "\x1b[31mred\x1b]0;title\x07\x9b2J",
    "nul\0nul\r\n\x85\u2028\u2029",
    "lone\ud800surrogate\udfff",
    "a\u0301" + "\u0300" * 400,
    "../../../../etc/passwd",
    "..\\..\\CON",
    "https://evil.invalid/\\@x?<b>#",
    "W" * 5000,
    "字" * 3000,
    "<b>" * 350_000,
    "\n" * 2000,
    "",
)
"""Texts that want to be something else. The longest is over 1 MB."""


def hostile_document(text: str) -> str:
    """A trace with `text` wherever a text can stand; short enough to be read."""
    text = text[:200_000]
    octets = text.encode("utf-8", "surrogatepass")[:5000].hex()
    event = {"ms": text, "conn": text, "by": text, "event": text, "text": text, "hex": text, "how": text, "dir": text}
    trace = {
        **dict.fromkeys(("requirement", "level", "statement", "why", "expected", "source"), text),
        "impl": {"name": text, "role": text}, "deciding": text, "features": [text], "plan": {"steps": [{"do": text}]},
        "conversation": [
            event, {**event, "event": "said", "by": "x", "ms": 1, "conn": 0},
            {**event, "event": "quiet", "ms_quiet": text},
            {**event, "event": "closed"}, {**event, "event": "noise"}, {**event, "conn": 7, "event": "fact"}, 7, None,
        ],
        "wire": [event, {"ms": 1, "conn": 0, "dir": "received", "hex": octets}],
        "script": [{"do": text, "conn": text}, {"do": "send", "conn": 0, "parts": [{"match": text, "nth": text}]}],
    }  # fmt: skip
    return json.dumps(trace)


def hostile() -> Report:
    """A report that has each of HOSTILE in each text field of each table."""

    def made(kind: type, text: str, number: int, /, **changed: Any) -> Any:
        hints = get_type_hints(kind)
        values: dict[str, Any] = {}
        for entry in fields(kind):
            hint = hints[entry.name]
            values[entry.name] = (
                text if hint is str else True if hint is bool else (-1) ** number * number if hint is int
                else float("nan") if hint is float and number % 2 else 1.5 if hint is float else (text, text)
            )  # fmt: skip
        return kind(**values | changed)

    def each(kind: type, /, **changed: Any) -> tuple[Any, ...]:
        return tuple(made(kind, text, n, **changed) for n, text in enumerate(HOSTILE))

    failures = tuple(
        made(Failure, text, n, document=hostile_document(text) if n % 4 else text) for n, text in enumerate(HOSTILE)
    )
    links = [replace(cell, standing="failed", level="MUST") for cell in each(Cell)]
    return Report(
        built=HOSTILE[0], suite_version=HOSTILE[1], total_runs=10**12, incomplete_runs=3,
        runs=each(Run), requirements=each(Requirement), cells=(*each(Cell), *links, *each(Cell, newest=False)),
        days=(*each(Day), *each(Day, complete=False)),
        changes=tuple(c for kind in ("regression", "repair", "lost", "?") for c in each(Change, kind=kind)),
        flickers=each(Flicker), times=each(SuiteTime), strictness=each(Strictness), stale=each(StaleEntry),
        differences=(*each(Difference), *each(Difference, ambiguous=False)), failures=failures,
        quarantined=each(Quarantined), quarantined_total=99, rejudged=each(Rejudged),
        campaigns=tuple(
            searches.Told(
                campaign=made(searches.Campaign, text, n, sources=(text, "x")), plans=n, conversations=n,
                inconclusive=n, ended=text if n % 2 else "", why=text, waves=each(searches.Wave),
                rows=each(searches.Row), leans=each(searches.Lean), alarms=each(searches.Alarm),
                sights=(*each(searches.Sight, document=hostile_document(text)), *each(searches.Sight, verdict="fail")),
                scores=each(searches.Score, seeded=3),
                features=((text, searches.estimate([1], 2)),), faults=((text, searches.estimate([1], 2)),),
            )
            for n, text in enumerate(HOSTILE[:8])
        ),
    )  # fmt: skip


def main(arguments: Sequence[str]) -> None:
    out, *folders = map(Path, arguments)
    write(real(folders), out)
    sys.stdout.write(f"{out / 'index.html'} {datetime.now(UTC):%H:%M:%S}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
