"""Frames over TCP: `drive` beside a bare socket script that sends the same plans to the same broker.

The script knows nothing: it writes octets that were encoded beforehand, and where a frame asks for a receipt (or is a
CONNECT) it reads until one more RECEIPT (CONNECTED) has come. It does not look at messages, while `drive` waits for
those that are due as well, decodes everything, and judges every event. Only plans that the broker answers as it
should, and without a silence that has to be waited for, are compared.
"""

from __future__ import annotations

import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path

from bench.measure import Figure, RunOptions, in_turns, ratios, say
from bench.transport import drawn
from impls.driver.drive import Setting, drive
from impls.launching.launch import LaunchError
from impls.launching.manifest import resolve
from specs.events import Closed, Said
from specs.plan import Close, Plan, Say
from specs.stomp.bundle import StompMemory
from specs.stomp.bundle import resolve as filled
from specs.stomp.frames import encode
from strategies.stomp import sessions
from suites.head import RunOptions as Asked
from suites.session import Session

CATALOG = Path(__file__).resolve().parent.parent / "impls" / "catalog"
KINDS = {"send": 8, "sub": 2, "unsub": 1, "connect": 1, "disconnect": 1}
"""No acknowledgements, for what they name only the broker knows, and no transactions, whose receipts may be late."""
TIMEOUT_S = 5.0
Move = tuple[int, bytes, bytes]
"""Connection, octets (none: close it), and what to wait for."""


def moves(plan: Plan, setting: Setting, fresh: str) -> list[Move]:
    """What the script does: all of it known beforehand."""
    memory, found, gone = StompMemory(setting.config, fresh), [], set()
    for step in plan.steps:
        if isinstance(step, Close) and step.conn not in gone:
            gone.add(step.conn)
            found.append((step.conn, b"", b""))
        elif isinstance(step, Say) and step.conn not in gone:
            frame = filled(step.frame, memory)
            assert frame is not None
            connecting = frame.command in ("CONNECT", "STOMP")
            answer = b"CONNECTED\n" if connecting else b"RECEIPT\n" if frame.get("receipt") is not None else b""
            found.append((step.conn, encode(frame, step.style), answer))
    return found


def scripted(plans: Sequence[Sequence[Move]], address: tuple[str, int]) -> int:
    """Play them with sockets alone; answers how many frames were sent."""
    sent = 0
    for plan in plans:
        lines: dict[int, socket.socket] = {}
        try:
            for conn, data, answer in plan:
                line = lines.get(conn)
                if not data:
                    if line is not None:
                        line.close()
                    continue
                if line is None:
                    line = lines[conn] = socket.create_connection(address, TIMEOUT_S)
                    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                line.sendall(data)
                sent += 1
                if answer:
                    heard = b""
                    while answer not in heard:
                        more = line.recv(65_536)
                        if not more or b"ERROR\n" in more:
                            raise ConnectionError(f"refused: {data[:80]!r}: {more[:200]!r}")
                        heard += more
        finally:
            for line in lines.values():
                line.close()
    return sent


def answered(plan: Sequence[Move], address: tuple[str, int]) -> bool:
    """True when the script gets every receipt: a broker need not answer what it may refuse, and `drive` knows that."""
    try:
        return scripted([plan], address) > 0
    except OSError:
        return False


def driven(plans: Sequence[Plan], setting: Setting, serial: Iterator[int]) -> int:
    """Play them as the suites do."""
    sent = 0
    for plan in plans:
        recording = drive(plan, setting, f"b{next(serial)}-")
        sent += sum(type(event) is Said and event.by == "client" for event in recording.events)
    return sent


def suited(plans: Sequence[Plan], setting: Setting, serial: Iterator[int]) -> list[Plan]:
    """Those in which nothing is refused, nothing is wrong, and no silence has to be waited for."""
    found = []
    for plan in plans:
        recording = drive(plan, setting, f"b{next(serial)}-")
        gaps = [b - a for a, b in zip(recording.stamps, recording.stamps[1:], strict=False)]
        refused = any(type(event) is Closed and event.by == "server" for event in recording.events) or any(
            type(event) is Said and event.frame.command == "ERROR" for event in recording.events
        )
        if recording.judgement.verdict == "pass" and not refused and max(gaps, default=0) < 100:
            found.append(plan)
    return found


@contextmanager
def broker(address: str) -> Iterator[Session | str]:
    """A session with the broker at `address`, or with one that the catalogue can start; or why there is none."""
    why = ""
    for name in (address,) if address else ("rabbitmq", "rabbitmq-process"):
        url = name if "://" in name or not address else f"stomp://guest:guest@{name}/"
        (impl,) = resolve(url, [CATALOG])
        with tempfile.TemporaryDirectory() as folder:
            session = Session(impl, Asked(), Path(folder), "bench")
            session.open()
            try:
                if not session.trouble:
                    yield session
                    return
                why = session.trouble.splitlines()[0]
            finally:
                session.close()
    yield why


def run(options: RunOptions) -> list[Figure]:
    """The share of the script's speed that is left."""
    what = "frames/s of drive against a bare socket script"
    if options.tiny and not options.address:
        return [Figure("broker", f"{what} (no address)", (), 0.7)]
    try:
        with broker(options.address) as session:
            if isinstance(session, str):
                return [Figure("broker", f"{what}: {session[:60]}", (), 0.7)]
            return [measured(session, options, what)]
    except (LaunchError, LookupError, ValueError, OSError) as error:
        return [Figure("broker", f"{what}: {str(error)[:60]}", (), 0.7)]


def measured(session: Session, options: RunOptions, what: str) -> Figure:
    """Both, in turns, by the clock on the wall: most of the time belongs to the broker."""
    setting, serial = session.setting(), count()
    address = session.started.address
    assert address is not None
    programs = drawn(sessions.sessions(KINDS), 5 if options.tiny else 150, 1)
    interpret = partial(sessions.interpret, wires=(0,), places=4)
    plans = [interpret(program, setting.config) for program in programs]
    for _ in range(3):  # what the broker does only sometimes, it must not do here
        plans = suited(plans, setting, serial)
    plans = [plan for i, plan in enumerate(plans) if answered(moves(plan, setting, f"t{i}-"), address)]
    say(f"  {session.impl.name} {session.learnt.get('stated', '')}: {len(plans)} of {len(programs)} plans are compared")
    ready = [[moves(plan, setting, f"s{n}x{i}-") for i, plan in enumerate(plans)] for n in range(-1, options.repeats)]
    rates = in_turns(
        {"drive": lambda _: driven(plans, setting, serial), "script": lambda n: scripted(ready[n + 1], address)},
        options.repeats,
        unit="frames",
        clock=time.monotonic,
    )
    for rate in rates.values():
        say(f"  {rate}")
    return Figure("broker", f"{what}, {session.impl.name}", ratios(rates["drive"], rates["script"]), 0.7)
