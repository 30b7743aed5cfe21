"""Is every MUST judged within ten seconds of wall time, the start included? Each target by a fresh process, at quick.

The targets are the references as programs of their own, over TCP and on pipes, with the freedoms by which everything
can be judged: a broker that unloads topics of its own accord, a server that refuses odd destinations. What is not
judged is named. It does not count where the run has said that it takes more than ten seconds of silence.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Figure, RunOptions, say
from bench.ontime import ROOT
from bench.timeline import VARIABLE
from records.reader import read
from records.rows import RestRow

WITHIN_S = 10.0
BOLT = "seed+x-error+x-need-task-ids+x-anchor-string+x-loglevel+x-activate+x-hb-any-message+x-hb-timing"
BROKER = (
    'tenant = "public"\nnamespace = "default"\npartitioned = "part-{n}-{name}"\nkeepalive_s = 30\n'
    'auth = "secret:good"\nbad_auth = "bad"\ndenied = "denied-{name}"\nterminated = "terminated-{name}"\n'
)
DOCUMENTS = 'eol = "free"\nforward_refs = true\nid_zero = true\nmissing_default = "first"\n'


@dataclass(frozen=True, slots=True)
class Target:
    """A reference: what it speaks, how it is started (behind `python -m impls.references.`), and its facts."""

    protocol: str
    role: str
    profile: str
    start: str
    facts: str = ""

    def manifest(self) -> str:
        """The manifest of it."""
        command = ["{python}", "-m", *f"impls.references.{self.start}".split()]
        profile = f'profile = "{self.profile}"\n' if self.profile else ""
        return (
            f'[impl]\nname = "reference"\nprotocol = "{self.protocol}"\nrole = "{self.role}"\nversion = "1"\n{profile}'
            f"[start]\ncommand = {json.dumps(command)}\nenv = {{ PYTHONPATH = {json.dumps(str(ROOT))} }}\n"
            f"[{self.protocol}]\n{self.facts}"
        )


TARGETS: Mapping[str, Target] = {
    "stomp": Target("stomp", "server", "1.2", "stomp --port {port} --switch odd_destination=refuse"),
    "pulsar": Target(
        "pulsar", "broker", "seed", "pulsar broker --port {port} --profile seed --switch unloads=sometimes", BROKER
    ),
    "rpc": Target("msgpack", "server", "", "msgpack server --port {port}", 'count = "count"\nmalformed = "close"\n'),
    "bolt": Target("storm", "bolt", BOLT, f"storm bolt --profile {BOLT}", "scripted = true\n"),
    "spout": Target("storm", "spout", BOLT, f"storm spout --profile {BOLT}", "scripted = true\n"),
    "kcl": Target("kcl", "child", "kcl3", "kcl child --profile kcl3", "scripted = true\ndecodes = true\n"),
    "codec": Target("msgpack", "codec", "core", "msgpack codec"),
    "idl": Target("msgpack", "idl", "core+def+td+ts+meta+if+nosc", "msgpack idl", DOCUMENTS),
}


@dataclass(frozen=True, slots=True)
class Timeline:
    """When each MUST was judged, in seconds since the process began; `missing` were not, and `resting` need so many
    seconds of silence."""

    at_s: Mapping[str, float]
    missing: tuple[str, ...]
    resting: Mapping[str, float]

    def within(self, seconds: float) -> float:
        """The part of them that was judged by then."""
        return sum(at <= seconds for at in self.at_s.values()) / max(1, len(self.at_s) + len(self.missing))


def judge(target: Target, budget_s: float = WITHIN_S) -> Timeline:
    """Judge a target in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        manifest, seen = Path(folder) / "it.toml", Path(folder) / "seen.json"
        manifest.write_text(target.manifest(), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "bench.timeline", f"suites/{target.protocol}", f"--impl={manifest}",
             f"--budget={budget_s:g}", f"--results={folder}/r", "--seed=1", "-q"],
            cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, VARIABLE: str(seen)},
        )  # fmt: skip
        found = json.loads(seen.read_text("utf-8")) if seen.exists() else {}
        rows = read(Path(folder, "r")).rows
    if not found.get("judged"):
        raise RuntimeError(
            f"{target.protocol} {target.role} was not judged: {done.stdout[-1000:]}{done.stderr[-1000:]}"
        )
    must = found["must"]
    at_s = {name: found["judged"][name] for name in must if name in found["judged"]}
    resting = {
        row.requirement: row.needs_s for row in rows
        if isinstance(row, RestRow) and row.needs_s > WITHIN_S and row.requirement in must
    }  # fmt: skip
    return Timeline(at_s, tuple(name for name in must if name not in at_s and name not in resting), resting)


def run(options: RunOptions) -> list[Figure]:
    """The part of the MUSTs of each that was judged in time."""
    figures = []
    for name, target in list(TARGETS.items())[: 1 if options.tiny else None]:
        found = judge(target, 2.0 if options.tiny else WITHIN_S)
        last = max(found.at_s.values(), default=0.0)
        late = [each for each, at in found.at_s.items() if at > WITHIN_S]
        say(
            f"  {name}: {len(found.at_s)} MUSTs, the last after {last:.1f} s; "
            f"late: {', '.join(late[:8]) or 'none'}; not judged: {', '.join(found.missing[:8]) or 'none'}; "
            f"need more silence: {', '.join(f'{each} ({s:.0f} s)' for each, s in found.resting.items()) or 'none'}"
        )
        figures.append(
            Figure("musts", f"{name}: judged within {WITHIN_S:g} s", (100 * found.within(WITHIN_S),), 100, unit="%")
        )
    return figures
