"""Round trips over pipes: our driver beside a bare script that says the same lines to the same program.

Ours: `impls.driver.drive.drive` with everything on, observations of user code and the judge included. Theirs: a loop of
write and readline that knows beforehand how many lines will come, and looks at none of them. Each talks to a process of
its own in one long conversation. What is said first is not counted, so that starting an interpreter is not. A round
trip is one message said, up to what answers it. Both wait for another process, so this is wall-clock time, in turns: on
a busy machine only the ratio means something.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.measure import Figure, Rate, RunOptions, ratios, say
from impls.driver.drive import Setting, drive
from impls.driver.pipes import PipeTransport, Pool
from impls.driver.program import OBSERVATIONS
from specs.events import Said
from specs.kcl.frames import message
from specs.plan import Close, Control, Plan, Ref, Say, Step
from specs.protocol import Protocol, find
from specs.storm.bundle import context
from specs.storm.frames import Message

ROOT = Path(__file__).parents[1]
FIRST = 49_590_338_271_490_256_608_559_692_538_361_571_095_921_575_989_136_588_898
SKIPPED = 3
"""Things said before the clock starts."""
ANSWER_LINES = 2
"""Lines of one message of either reference: a blank one and the message, or the message and `end`."""


@dataclass(frozen=True, slots=True)
class Talk:
    """One long conversation: with whom, and everything that is said."""

    name: str
    protocol: Protocol
    role: str
    profile: str
    said: Sequence[Any]
    opening: Sequence[Step] = ()
    """What our plan does in place of the first thing said, when that names what only a plan can know."""

    @property
    def argv(self) -> list[str]:
        """The reference as a program."""
        return [sys.executable, "-m", f"impls.references.{self.protocol.name}", self.role, "--profile", self.profile]


def batches(count: int) -> Talk:
    """A KCL child: batches of one record; every fourth has user code ask for a checkpoint."""
    said: list[Any] = [message("initialize", shardId="shardId-000000000000")]
    serial = 0
    while len(said) <= count:
        serial += 1
        number = str(FIRST + serial)
        text = {"wireproof": [{"op": "checkpoint", "at": number}]} if serial % 4 == 3 else {"serial": serial}
        data = base64.b64encode(json.dumps(text).encode()).decode()
        record = {"data": data, "partitionKey": "key", "sequenceNumber": number}
        said.append(message("processRecords", records=[record]))
        if serial % 4 == 3:
            said.append(message("checkpoint", checkpoint=number, error=None))
    return Talk("kcl child", find("kcl"), "child", "kcl1-seed", said)


def tuples(count: int, folder: str) -> Talk:
    """A Storm bolt: tuples without scripts, each of which it acks. `folder` is where the bare script's registers."""
    setup = {"conf": {"topology.name": "bench"}, "pidDir": folder, "context": context()}
    said: list[Any] = [Message(setup)]
    for serial in range(count):
        shape = {"id": str(serial), "comp": "words", "stream": "default", "task": 1, "tuple": ["word", serial]}
        said.append(Message(shape))
    opening = (Control(0, "folder", "pids"), Say(0, Message({**setup, "pidDir": Ref("folder", "")})))
    return Talk("storm bolt", find("storm"), "bolt", "seed", said, opening)


def ours(talk: Talk) -> float:
    """Round trips in each second of our driver."""
    config = talk.protocol.configure(talk.role, talk.profile, {"scripted": True}, {"noted": True})
    steps: list[Step] = [*talk.opening, *(Say(0, frame) for frame in talk.said[bool(talk.opening) :])]
    transport = PipeTransport(Pool(talk.name, talk.argv, os.environ, ROOT, depth=1))
    try:
        found = drive(Plan((*steps, Close(0, "eof"))), Setting(talk.protocol, config, talk.role, transport), "bench")
    finally:
        transport.close()
    if found.judgement.verdict != "pass":
        raise AssertionError(f"the reference is blamed: {found.judgement.blamed or found.judgement.why}")
    mine = [n for n, event in enumerate(found.events) if type(event) is Said and event.by != talk.role]
    theirs = [n for n, event in enumerate(found.events) if type(event) is Said and event.by == talk.role]
    spent = found.stamps[theirs[-1]] - found.stamps[mine[SKIPPED]]
    return (len(talk.said) - SKIPPED) / (spent / 1000)


def bare(talk: Talk) -> float:
    """Round trips in each second of a script that looks at nothing."""
    lines = [talk.protocol.encode(frame, None) for frame in talk.said]
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, OBSERVATIONS: str(Path(folder) / "notes")}
        pipe = subprocess.PIPE
        with subprocess.Popen(talk.argv, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=env, cwd=ROOT) as one:
            assert one.stdin
            assert one.stdout
            write, flush, readline = one.stdin.write, one.stdin.flush, one.stdout.readline
            begun = 0.0
            for serial, line in enumerate(lines):
                if serial == SKIPPED:
                    begun = time.monotonic()
                write(line)
                flush()
                for _ in range(ANSWER_LINES):
                    readline()
            spent = time.monotonic() - begun
    return (len(lines) - SKIPPED) / spent


def run(options: RunOptions) -> list[Figure]:
    """The ratio for each protocol."""
    count = 20 if options.tiny else 3000
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for talk in (batches(count), tuples(count, folder)):
            rates: dict[str, list[float]] = {"driver": [], "bare script": []}
            for _ in range(options.repeats):
                rates["driver"].append(ours(talk))
                rates["bare script"].append(bare(talk))
            found = {name: Rate(f"{talk.name}, {name}", "round trips", tuple(v)) for name, v in rates.items()}
            for rate in found.values():
                say(f"  {rate}")
            what = f"round trips with a {talk.name}, of a bare script's"
            figures.append(Figure("pipes", what, ratios(found["driver"], found["bare script"]), 0.6))
    return figures
