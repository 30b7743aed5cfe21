"""Connecting, versions and keep-alive."""

from __future__ import annotations

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan
from specs.pulsar.frames import draft
from specs.pulsar.states import Config
from strategies.common import Program, programs
from strategies.pulsar.writer import Writer

VERSIONS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 18, 19, 20, 21, 22, 30, 40)
TEXTS = ("wireproof", "", "Pulsar-Client-Java-v1.15.2", "é 🙂 \x00\n", "x" * 2000, "1.0")


def hellos() -> SearchStrategy[Program]:
    """Programs of connections."""
    return programs({"hello": 1}, head=1, most=3)


def saying_hello(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """CONNECT in every version, with any text, and a little traffic."""
    w = Writer(config, hurry=hurry, slots=8)
    for slot, op in enumerate(program.ops):
        a, b, c, d, _ = op.args
        version = -1 if a % 25 == 24 else VERSIONS[a % 25]
        line = w.bare(slot)
        w.say(line, w.hello(version, client_version=TEXTS[b % len(TEXTS)]))
        w.settle()
        if version > 0:
            w.ping(line)
        if c % 2:
            topic = f"v{slot}"
            old = version < 4
            ear = w.ear(line, topic, "s", d % 3, d)
            w.flow(ear, 10)
            pen = w.pen(line, topic)
            w.send(pen, check="" if version < 6 else "good", messages=0 if old and d % 5 else d % 3)
            w.settle()
            if d % 2:
                w.close_ear(ear)
                w.close_pen(pen)
        if version <= 0:
            w.wait()
    w.wait()
    return w.plan()


def silences() -> SearchStrategy[Program]:
    """Programs of keep-alive."""
    return programs({"beat": 1}, head=3, least=3, most=6)


def keeping(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Nothing is said for a while: by somebody who answers PING, or speaks of his own accord, or does neither."""
    w = Writer(config, hurry=hurry)
    interval = config.keepalive_ms
    if not interval:
        w.ping(w.line())
        return w.plan()
    how = (2, 0, 1, 2, 3)[program.head[0] % 5]
    if how == 3:
        line = w.bare()
        w.blurt(line, b"\x00" * (1 + program.head[1] % 7))
        w.wait(config.latest_ms + 2000)
        return w.plan()
    line = w.line(0, (None, 1, None, 0, 19 if config.profile == "modern" else 6, -1)[program.head[1] % 6])
    old = program.head[1] % 6 in (3, 5)
    for op in program.ops:
        if how == 0:
            w.wait(interval * 3 // 4)
            w.say(line, draft("PONG"))
        elif how == 1:
            w.wait(interval * (2 + op.args[0] % 3) // 4)
            w.lookup(line, "t")
        elif not old:
            w.ping(line)
    if how == 2:
        w.wait(interval + config.latest_ms)
    return w.plan()
