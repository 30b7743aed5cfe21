"""Are the seeded faults of MessagePack found by the suites that users run, and on what are they blamed?

python -m tests.mutants.msgpack_hunt [--budget SECONDS] [--only PATTERN]
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from impls.drive import Setting, drive
from impls.link import MemoryGround
from specs.protocol import find
from suites.hunt import Fault, Hunter
from suites.investigate import Investigator
from tests.mutants.hunting import main, settling
from tests.mutants.msgpack_kit import MUTANTS, Mutant

THEMES = ("rpc", "values", "codec", "client", "idl", "idl_server", "typed")
for _theme in THEMES:
    importlib.import_module(f"tests.mutants.msgpack_{_theme}")
MSGPACK = find("msgpack")
FACTS: Mapping[str, Mapping[str, Any]] = {
    "server": {"count": "count", "malformed": "close"},
    "idl": {"eol": "free", "forward_refs": True, "id_zero": True},
}
"""What the references declare beside the defaults, by role."""


PROFILES = {"codec": "core+def"} | dict.fromkeys(("idl", "idl-server"), "core+def+td+ts+meta+if+nosc")
"""What the references claim, where it is more than `core`."""


def hunter_for(mutant: Mutant, report: Callable[[Fault], None]) -> Hunter:
    """A hunter on a fresh peer of the mutant, which was asked before what the texts leave to it."""
    ground, role = MemoryGround(mutant.make), mutant.role
    facts = {name: fact.default for name, fact in MSGPACK.facts.items()} | dict(FACTS.get(role, {}))
    profile = PROFILES.get(role, "core")
    serial = count()

    def configure(learnt: Mapping[str, Any]) -> Any:
        return MSGPACK.configure(role, profile, facts, learnt)

    def play(plan: Any, config: Any) -> tuple[Any, Any]:
        recording = drive(plan, Setting(MSGPACK, config, role, ground), f"ask{next(serial)}-")
        return tuple(recording.events), recording.judgement

    config = configure(importlib.import_module("strategies.msgpack").discover(play, configure))
    return Hunter(
        Setting(MSGPACK, config, role, ground),
        {r.id: r for r in MSGPACK.requirements.binding(role, profile) if not r.untestable},
        investigate=Investigator(shrink_s=1.0),
        report=report,
        settle=settling(ground, tell=role == "server"),
        prefix="m",
    )


if __name__ == "__main__":
    sys.exit(main("msgpack", MUTANTS, hunter_for))
