"""Steps in memory where each side waits for the other: a hunt over a KCL child beside a rule-based state machine.

As in `bench.lockstep`: ours draws programs, interprets, drives and judges them; theirs has a rule for each kind of
batch, with the same octets, keys, prints and errors from the same tables, through the same codec to the same reference
child and the same model, generation only. A step is one message of the host. Long rows of batches, which cost a program
nothing to draw, are left out of ours.
"""

from __future__ import annotations

import base64
import json
from functools import partial
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from bench.measure import Figure, RunOptions, in_turns, ratios, say
from bench.transport import quick
from impls.driver.drive import Recording, Setting
from impls.driver.link import MemoryTransport, control_of
from impls.references.kcl.reference import ChildSeed
from specs.codec import Bad
from specs.events import Closed, Fact, Said
from specs.kcl.frames import Message, encode, message
from specs.model import Watcher
from specs.protocol import find
from strategies.kcl import sessions, texts
from suites.hunt import Hunter, Investigated, Property

KCL = find("kcl")
CONFIG = KCL.configure("child", "kcl1-seed", {"scripted": True}, {"noted": True})
PATIENCE = 1000
keys = st.sampled_from([*texts.KEYS, *texts.WIDE_KEYS])
records = st.lists(st.tuples(st.sampled_from(texts.DATA), keys), max_size=5)
tries = st.lists(st.tuples(st.booleans(), st.none() | st.sampled_from(texts.ERRORS)), min_size=1, max_size=3)


class Batches(RuleBasedStateMachine):
    """One conversation with a child."""

    said = 0

    def __init__(self) -> None:
        super().__init__()
        self.transport = MemoryTransport(ChildSeed)
        self.link = self.transport.open()
        self.decoder = KCL.decoder("child", CONFIG, {})
        self.watcher = Watcher(KCL.model, CONFIG, "child")
        self.serial = 0
        self.asked: str | None = None
        self.say(message("initialize", shardId="shardId-0"))

    def say(self, frame: Message) -> None:
        """Say a message and take all that has to come of it."""
        Batches.said += 1
        self.asked = None
        self.watcher.feed(Said(0, "host", frame))
        self.link.send(encode(frame))
        self.hear()

    def hear(self) -> None:
        """Take what has come, and wait while the child owes something."""
        waited = 0
        while True:
            self.take()
            if not self.watcher.owed("child"):
                break
            assert waited < PATIENCE
            self.transport.wait([], 50)
            waited += 50
        assert not self.watcher.over

    def take(self) -> None:
        """Read until there is nothing more."""
        control = control_of(self.link)
        assert control is not None
        while True:
            data = self.link.take()
            for name, value in control.facts():
                self.watcher.feed(Fact(0, "child", name, value))
            if not data:
                break
            for item in self.decoder.feed(data):
                assert not isinstance(item, Bad)
                self.watcher.feed(Said(0, "child", item))
                if isinstance(item, Message) and item.action == "checkpoint":
                    self.asked = item.members["checkpoint"]

    def record(self, data: bytes, key: str) -> dict[str, Any]:
        """The next record."""
        self.serial += 1
        number = texts.number(self.serial)
        return {"data": base64.b64encode(data).decode(), "partitionKey": key, "sequenceNumber": number}

    @rule(given=records)
    def batch(self, given: list[tuple[bytes, str]]) -> None:
        self.say(message("processRecords", records=[self.record(data, key) for data, key in given]))

    @rule(given=records, asks=tries, text=st.none() | st.sampled_from(texts.PRINTS))
    def script(self, given: list[tuple[bytes, str]], asks: list[tuple[bool, str | None]], text: str | None) -> None:
        numbers = [texts.number(self.serial) if known and self.serial else None for known, _ in asks]
        steps: list[dict[str, Any]] = [{"op": "checkpoint", "at": number} for number in numbers]
        if text is not None:
            steps.append({"op": "print", "text": text})
        told = self.record(json.dumps({"wireproof": steps}).encode(), "key")
        self.say(message("processRecords", records=[*(self.record(data, key) for data, key in given), told]))
        for _, error in asks:
            self.say(message("checkpoint", checkpoint=self.asked, error=error))

    def teardown(self) -> None:
        """The end of the conversation."""
        self.say(message("shutdown", reason="ZOMBIE"))
        control = control_of(self.link)
        assert control is not None
        control.finish()
        self.watcher.feed(Closed(0, "host", "eof"))
        self.hear()
        assert not self.watcher.judgement().blamed


def hunted(number: int, budget_s: float) -> int:
    """Messages said in a hunt of `budget_s` seconds."""
    said = 0

    def count(recording: Recording) -> str:
        nonlocal said
        said += sum(type(event) is Said and event.by == "host" for event in recording.events)
        return ""

    kinds = {kind: weight for kind, weight in sessions.EVEN.items() if kind != "many"}
    binding = {r.id: r for r in KCL.requirements.binding("child", "kcl1-seed") if not r.untestable}
    setting = Setting(KCL, CONFIG, "child", MemoryTransport(ChildSeed))
    hunter = Hunter(setting, binding, investigate=lambda *_: Investigated(None), run_seed=number, settle=count)
    hunter.hunt(Property("sessions", sessions.sessions(kinds), partial(sessions.interpret, ways=0)), budget_s)
    return said


def machined(examples: int) -> int:
    """Messages that the state machine said."""
    before = Batches.said
    run_state_machine_as_test(Batches, settings=settings(quick(examples), stateful_step_count=sessions.MOST))
    return Batches.said - before


def run(options: RunOptions) -> list[Figure]:
    """The ratio of both."""
    budget_s, examples = (0.05, 2) if options.tiny else (1.5, 60)
    works = {"hunt": lambda n: hunted(n, budget_s), "state machine": lambda _: machined(examples)}
    rates = in_turns(works, options.repeats, unit="messages")
    for rate in rates.values():
        say(f"  {rate}")
    ratio = ratios(rates["hunt"], rates["state machine"])
    return [Figure("turns", "draw, drive and judge a KCL child, against a state machine", ratio, 5)]
