"""Calls of a MessagePack-RPC server: over TCP beside a bare script, and in memory beside a rule-based state machine.

Over TCP: `impls.driver.drive.drive` plays one long conversation of calls, each waiting for the answer of the one before
it, and judges it; the script writes the same requests, encoded beforehand, to the same server, and waits until one more
message of the length that it knows has come, at which it does not look. Both wait for another process, so this is
wall-clock time, in turns.

In memory, as in `bench.lockstep`: ours draws programs, interprets, drives and judges them; theirs has a rule for each
kind of call, with values from the same tables, through the same codec to the same reference server and the same model,
generation only. A step is one message of the client. Bursts and calls that sleep are left out of ours.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from bench.measure import Figure, Rate, RunOptions, in_turns, ratios, say
from bench.transport import quick
from impls.driver.drive import Recording, Setting, drive
from impls.driver.link import Link, MemoryTransport, TcpTransport
from impls.references.msgpack.reference import Server
from specs.codec import Bad, Decoder
from specs.events import Said
from specs.model import Watcher
from specs.msgpack.frames import Frame, encode, notification, request, response
from specs.plan import Plan, Say
from specs.protocol import find
from strategies.msgpack import sessions, values
from suites.hunt import Hunter, Investigated, Property

ROOT = Path(__file__).parents[1]
MSGPACK = find("msgpack")
CONFIG = MSGPACK.configure("server", "core", {name: fact.default for name, fact in MSGPACK.facts.items()}, {})
KINDS = {kind: sessions.EVERYTHING[kind] for kind in ("echo", "small", "add", "fail", "unknown", "note")}
STEPS = 14
PATIENCE = 1000
BYTE = st.integers(0, 255)

# -- over TCP ----------------------------------------------------------------------------------------------------------


@contextmanager
def listening() -> Iterator[tuple[str, int]]:
    """The address of the reference as a process."""
    argv = [sys.executable, "-m", "impls.references.msgpack", "server", "--port", "0"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield "127.0.0.1", int(process.stdout.readline().rsplit(":", 1)[1])
        finally:
            process.terminate()


def requests(count: int) -> list[Frame]:
    """Calls with small values of every kind."""
    return [request(n, "echo", (n, values.pick(values.TEXTS[:10], n))) for n in range(count)]


def driven(frames: list[Frame], address: tuple[str, int]) -> float:
    """Calls in each second of our driver."""
    begun = time.monotonic()
    plan = Plan(tuple(Say(0, frame) for frame in frames))
    found = drive(plan, Setting(MSGPACK, CONFIG, "server", TcpTransport(lambda: address)), "bench")
    if found.judgement.verdict != "pass":
        raise AssertionError(f"the reference is blamed: {found.judgement.blamed or found.judgement.why}")
    return len(frames) / (time.monotonic() - begun)


def scripted(frames: list[Frame], address: tuple[str, int]) -> float:
    """Calls in each second of a script that looks at nothing."""
    moves = [
        (encode(frame, None), len(encode(response(frame.body[1], None, frame.body[3][0]), None))) for frame in frames
    ]
    begun = time.monotonic()
    with socket.create_connection(address) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for octets, size in moves:
            sock.sendall(octets)
            due = size
            while due > 0:
                got = len(sock.recv(65536))
                assert got, "the server closed the connection"
                due -= got
    return len(moves) / (time.monotonic() - begun)


def over_tcp(options: RunOptions) -> Figure:
    """Our share of a bare script's speed."""
    frames = requests(30 if options.tiny else 3000)
    found: dict[str, list[float]] = {"driver": [], "bare script": []}
    with listening() as address:
        for _ in range(options.repeats):
            found["driver"].append(driven(frames, address))
            found["bare script"].append(scripted(frames, address))
    rates = {name: Rate(f"over TCP, {name}", "calls", tuple(each)) for name, each in found.items()}
    for rate in rates.values():
        say(f"  {rate}")
    return Figure("calls", "calls over TCP, of a bare script's", ratios(rates["driver"], rates["bare script"]), 0.6)


# -- in memory ---------------------------------------------------------------------------------------------------------


class Calls(RuleBasedStateMachine):
    """Calls on up to three connections."""

    said = 0

    def __init__(self) -> None:
        super().__init__()
        self.transport = MemoryTransport(Server)
        self.links: dict[int, tuple[Link, Decoder]] = {}
        self.watcher = Watcher(MSGPACK.model, CONFIG, "server")
        self.serial = 0

    def say(self, slot: int, frame: Frame) -> None:
        """Say a message and take all that has to come of it."""
        conn = slot % 3
        if conn not in self.links:
            self.links[conn] = (self.transport.open(), MSGPACK.decoder("server", CONFIG, {}))
        Calls.said += 1
        self.watcher.feed(Said(conn, "client", frame))
        self.links[conn][0].send(encode(frame, None))
        waited = 0
        while True:
            self.take()
            if not self.watcher.owed("server"):
                break
            assert waited < PATIENCE
            self.transport.wait([], 50)
            waited += 50
        assert not self.watcher.over

    def take(self) -> None:
        """Read until there is nothing more."""
        for conn, (link, decoder) in self.links.items():
            while data := link.take():
                for item in decoder.feed(data):
                    assert not isinstance(item, Bad)
                    self.watcher.feed(Said(conn, "server", item))

    def call(self, slot: int, method: str, *params: Any) -> None:
        self.serial += 1
        self.say(slot, request(self.serial, method, *params))

    @rule(slot=BYTE, a=BYTE, b=BYTE)
    def echo(self, slot: int, a: int, b: int) -> None:
        self.call(slot, "echo", values.legal(a, b))

    @rule(slot=BYTE)
    def small(self, slot: int) -> None:
        self.call(slot, "echo", (self.serial,))

    @rule(slot=BYTE, a=st.sampled_from(values.INTEGERS[:22]), b=st.sampled_from(values.INTEGERS[:22]))
    def add(self, slot: int, a: int, b: int) -> None:
        self.call(slot, "add", a % (1 << 50), -(b % (1 << 50)))

    @rule(slot=BYTE, text=st.sampled_from(("no", "x" * 40, "é", "0")))
    def fail(self, slot: int, text: str) -> None:
        self.call(slot, "fail", text)

    @rule(slot=BYTE, name=st.sampled_from(sessions.UNKNOWN[:-1]))
    def unknown(self, slot: int, name: str) -> None:
        self.call(slot, name, self.serial)

    @rule(slot=BYTE)
    def note(self, slot: int) -> None:
        self.say(slot, notification("bump"))

    def teardown(self) -> None:
        """The end of the conversation."""
        assert not self.watcher.judgement().blamed
        for link, _ in self.links.values():
            link.close()


def hunted(number: int, budget_s: float) -> int:
    """Messages said in a hunt of `budget_s` seconds."""
    said = 0

    def count(recording: Recording) -> str:
        nonlocal said
        said += sum(type(event) is Said and event.by == "client" for event in recording.events)
        return ""

    binding = {r.id: r for r in MSGPACK.requirements.binding("server", "core") if not r.untestable}
    setting = Setting(MSGPACK, CONFIG, "server", MemoryTransport(Server))
    hunter = Hunter(setting, binding, investigate=lambda *_: Investigated(None), run_seed=number, settle=count)
    interpret = partial(sessions.interpret, wires=(0,))
    hunter.hunt(Property("sessions", sessions.sessions(KINDS, most=STEPS), interpret), budget_s)
    return said


def machined(examples: int) -> int:
    """Messages that the state machine said."""
    before = Calls.said
    run_state_machine_as_test(Calls, settings=settings(quick(examples), stateful_step_count=STEPS))
    return Calls.said - before


def in_memory(options: RunOptions) -> Figure:
    """The ratio of both."""
    budget_s, examples = (0.05, 2) if options.tiny else (1.5, 60)
    works = {"hunt": lambda n: hunted(n, budget_s), "state machine": lambda _: machined(examples)}
    rates = in_turns(works, options.repeats, unit="messages")
    for rate in rates.values():
        say(f"  {rate}")
    what = "draw, drive and judge an RPC server, against a state machine"
    return Figure("calls", what, ratios(rates["hunt"], rates["state machine"]), 5)


def run(options: RunOptions) -> list[Figure]:
    """Both."""
    return [over_tcp(options), in_memory(options)]
