"""Conversations that took place elsewhere, judged as they stand: nothing is sent, and nobody is provoked.

    python -m suites.offline kcl-3-daemon RECORDINGS --results=results/overheard

RECORDINGS is a folder of `*.jsonl`, one conversation each, what passed in its order, one line a piece:
{"ms": 12.5, "by": "host", "hex": "7b22…"} for octets, and {"ms": 20.0, "by": "host", "end": true} when a side has no
more to say. The first argument is what `--impl` takes; it says which side is judged, in which profile, and what is
accepted. The other side must have kept to the protocol itself: a conversation in which it did not judges nobody.

The results are those of any run, and so is the exit status. What nobody did was not exercised, and stays open.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from impls.driver.drive import Recording, Setting
from impls.driver.link import MemoryTransport
from impls.launching.fields import ManifestError
from impls.launching.manifest import Implementation, resolve
from records import reader, writer
from reports import document, terminal
from reports.summary import fold
from specs.codec import Bad
from specs.events import Closed, Event, Fact, Noise, Said
from specs.model import Blame, Watcher
from specs.plan import Plan
from specs.protocol import find
from strategies.common import Program
from suites.head import RunOptions
from suites.hunt import Fault, Tally
from suites.session import Session

NAME = "overheard"
MAX_LINE = 1 << 26
"""Octets of one line of a recording; a piece may be a whole large message."""


class NoRecording(Exception):
    """The file is something else; the text says what is wrong with it."""


def pieces(path: Path) -> Iterator[tuple[float, str, bytes | None]]:
    """(ms, role, octets) for each line of a recording, in order; None for the octets when that side has ended.

    A last line that was cut off, because the recorder was killed, is left out. Raises NoRecording.
    """
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(MAX_LINE), b""), 1):
            if not line.endswith(b"\n") and len(line) < MAX_LINE:
                return
            try:
                piece = json.loads(line)
                yield float(piece["ms"]), str(piece["by"]), None if piece.get("end") else bytes.fromhex(piece["hex"])
            except (ValueError, KeyError, TypeError) as error:
                raise NoRecording(f"{path}, line {number}: no piece of a conversation ({error!r:.120})") from None


def listen(path: Path, setting: Setting) -> Recording:
    """The conversation as it would have been recorded by a run, and the judgement on it. Raises NoRecording."""
    protocol, found = setting.protocol, Recording()
    watcher = Watcher(protocol.model, setting.config, setting.role)
    session: dict[str, Any] = {}
    decoders = {role: protocol.decoder(role, setting.config, session) for role in (setting.role, setting.played)}

    def feed(ms: float, event: Event) -> None:
        found.events.append(event)
        found.stamps.append(ms)
        watcher.feed(event)

    for ms, by, data in pieces(path):
        if by not in decoders:
            raise NoRecording(f"{path}: {by!r} is no side of {protocol.name}; write {' or '.join(decoders)}")
        ours = by == setting.played
        if data is None:
            found.wire.append((ms, 0, "closed by us" if ours else "closed by peer", b""))
            feed(ms, Closed(0, by, "eof"))
            continue
        found.wire.append((ms, 0, "sent" if ours else "received", data))
        for item in decoders[by].feed(data):
            feed(ms, Noise(0, by, item.data, item.why) if isinstance(item, Bad) else Said(0, by, item))
        if decoders[by].midway:
            feed(ms, Fact(0, by, "octets", len(data)))
    found.judgement = watcher.judgement()
    return found


class Offline:
    """A run over recordings: heads, coverage and faults as of any other."""

    def __init__(self, impl: Implementation, results: Path) -> None:
        options = RunOptions(asked=impl.name, budget=NAME, budget_s=0.0, partial=True)
        self.session = Session(impl, options, results, writer.new_run())
        self.session.accepted = impl.deviations
        protocol = find(impl.protocol)
        other = protocol.roles[impl.role]
        # seen from the other side nothing but the wire is known
        config = protocol.configure(other, impl.profile, {}, {})
        self.setting = Setting(protocol, config, impl.role, MemoryTransport(lambda: None))
        self.tally = Tally(ended="end")
        self.faults: dict[str, tuple[Blame, Recording, int]] = {}

    def take(self, path: Path) -> None:
        """Judge one recording. Raises NoRecording."""
        recording = listen(path, self.setting)
        judgement = recording.judgement
        self.tally.plans += 1
        self.tally.steps += len(recording.events)
        self.tally.inconclusive += judgement.verdict == "inconclusive"
        if judgement.verdict == "error":
            self.tally.errors += 1
            self.session.note(path.name, judgement.why, "an error of our own")
        blamed = {name for blame in judgement.faults for name in (blame.breach.requirement, *blame.breach.also)}
        names = blamed | set(judgement.covered)
        self.tally.exercised.update(names)
        self.tally.judged.update(names)
        for blame in judgement.faults:
            shortest = self.faults.get(blame.breach.requirement)
            times = 1 + (shortest[2] if shortest else 0)
            if shortest and len(shortest[1].events) <= len(recording.events):
                blame, recording = shortest[:2]  # noqa: PLW2901 - the shortest is shown
            self.faults[blame.breach.requirement] = (blame, recording, times)

    def end(self) -> None:
        """Write what was found."""
        session = self.session
        binding = {r.id: r for r in session.chosen() if not r.untestable}
        session.record(NAME, self.tally, binding)
        for name, (blame, recording, times) in sorted(self.faults.items()):
            if name in binding:
                breach, of = blame.breach, self.tally.judged[name]
                session.report(
                    Fault(
                        requirement=name,
                        level=breach.level or binding[name].level,
                        also=breach.also,
                        why=breach.why,
                        expected=binding[name].statement,
                        property=NAME,
                        program=Program((), ()),
                        plan=Plan(()),
                        recording=recording,
                        deciding=blame.at,
                        reproduced=times,
                        tried=of,
                        steady=times == of,
                        features=(),
                        found_after_s=0.0,
                        shrink_s=0.0,
                    ),
                    self.setting,
                )
        session.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status of docs/verdicts.md."""
    parser = argparse.ArgumentParser(prog="python -m suites.offline", description=__doc__.splitlines()[0])
    parser.add_argument("impl", help="what --impl takes: its role and profile are judged, its baseline is accepted")
    parser.add_argument("recordings", type=Path, help="a folder of *.jsonl")
    parser.add_argument("--results", type=Path, default=Path("results/overheard"), metavar="DIR")
    options = parser.parse_args(arguments)
    paths = sorted(options.recordings.glob("*.jsonl"))
    if not paths:
        parser.error(f"{options.recordings}: no *.jsonl there; name the folder that the recorder wrote to")
    try:
        run = Offline(resolve(options.impl)[0], options.results)
        run.session.head()
        for path in paths:
            run.take(path)
    except (ManifestError, NoRecording) as error:
        parser.error(str(error))
    run.end()
    session = run.session
    rows = reader.read(session.results).of(session.run)
    found = fold(rows, session.accepted, False, datetime.now(UTC).date())
    document.write(found, session.results)
    print(terminal.render(found, 100, sys.stdout.isatty(), session.results))
    return found.exit_code


if __name__ == "__main__":
    sys.exit(main())
