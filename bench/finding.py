"""Finding and shrinking: the time until each seeded fault is reported on the right requirement, in process.

The hunt is that of `python -m tests.mutants`, over every nth mutant (`--every 1`: all of them).
"""

from __future__ import annotations

from bench.measure import Figure, RunOptions, say


def run(options: RunOptions) -> list[Figure]:
    """Median and worst, and how many were found at all."""
    try:
        from tests.mutants.every import of_protocol  # noqa: PLC0415 - our own tests may be left out
        from tests.mutants.hunted import BUDGET_S, score_one  # noqa: PLC0415
    except ImportError as error:
        return [Figure("finding", f"seeded faults: {error}", (), 3, True, "s")]
    budget_s = 1.0 if options.tiny else BUDGET_S
    chosen = [m for m in of_protocol("stomp") if not m.unseen][:: options.every]
    rows = []
    for mutant in chosen[:1] if options.tiny else chosen:
        row = score_one(mutant, budget_s)
        rows.append(row)
        if row.status != "killed" or row.seconds > 10:
            others = f", blamed {', '.join(row.others)}" if row.others else ""
            say(f"  {row.mutant} ({row.requirement}): {row.status} after {row.seconds:.1f} s{others} {row.why[:80]}")
    seconds = tuple(row.seconds for row in rows)
    killed = 100.0 * sum(row.status == "killed" for row in rows) / len(rows)
    return [
        Figure("finding", f"until reported, {len(rows)} mutants", seconds, 3, True, "s"),
        Figure("finding", "the slowest of them", (max(seconds),), 30, True, "s"),
        Figure("finding", "first report on a right requirement", (killed,), 100, unit="%"),
    ]
