"""The options of a run, as pytest takes them; docs/options.md explains them to users."""

from __future__ import annotations

import pytest

from suites.rounds import MOST_S


def add_options(parser: pytest.Parser) -> None:
    """Every option of a run."""
    group = parser.getgroup("wireproof", "judging an implementation")
    add = group.addoption
    add("--impl", default="reference", help="a catalogue name, a manifest, a URL, or `reference` (the default)")
    add("--impl-path", action="append", default=[], metavar="DIR", help="also look for NAME.toml here")
    add("--role", default=None, help="judge this role only")
    add("--profile", default=None, help="judge this profile instead of the one that the manifest claims")
    add(
        "--budget", default="ci", help="quick (10 s), ci (60 s), nightly (900 s) or seconds, for each protocol and role"
    )
    add("--results", default="results", metavar="DIR", help="where summary, records and traces go")
    add("--requirement", default="*", metavar="GLOB", help="judge only requirements whose id matches")
    add("--level", action="append", default=[], help="judge only requirements of this level (may be repeated)")
    # --strict is pytest's own already; a run takes it to mean that a SHOULD that fails counts as well
    add("--seed", type=int, default=None, help="repeat the draws of a run")
    add("--corpus", default=None, metavar="FILE", help="play what a campaign has kept, and nothing else")
    add(
        "--baseline",
        default=None,
        metavar="FILE",
        help="take [deviations] from this manifest instead; none: no baseline",
    )
    add("--update-baseline", action="store_true", help="write what fails now into the manifest's [deviations]")
    add(
        "--look-on",
        type=float,
        default=MOST_S,
        metavar="SECONDS",
        help="how long --update-baseline may look on, at most",
    )
    add("--replay", default=None, metavar="FILE", help="play the conversation of one trace again and judge it")
    add("--sarif", default=None, metavar="FILE", help="also write the failures as SARIF 2.1.0")
    add("--list-requirements", action="store_true", help="print what would be judged, and stop")
    parser.addini("wireproof_command", "what the user has typed, for commands that repeat a run", default="pytest")
    add("--explain", default=None, metavar="ID", help="print what is known of one requirement, and stop")
