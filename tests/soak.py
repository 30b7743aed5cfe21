"""Looking for false alarms in STOMP: see tests/soaking.py.

A correct server may miss a recommendation where a switch asks it to: it closes a connection in silence.
"""

from __future__ import annotations

import sys

from impls.references.stomp.reference import Server
from specs.model import Breach
from specs.protocol import find
from specs.stomp.states import MODEST, NORMAL, Config
from suites.investigate import CONFIRM_MS
from tests.soaking import Peer, Soak, in_memory, main, over_tcp

FIXED = {"versions": "1.0,1.1,1.2", "odd_destination": "accept"}
REAL = FIXED | {
    "output_delay_ms": 0, "work_delay_ms": 0, "redelivery": "front", "limits": "large", "connections": "any",
    "self_delivery": True, "silent_close": False, "over_limit": "error",
    "destinations": "exact", "copies": "each",
}  # fmt: skip
STOMP = find("stomp")
FACTS = {name: fact.default for name, fact in STOMP.facts.items()}


def config_of(server: Server, profile: str = "1.2") -> Config:
    """What discovery would learn of a reference with these switches."""
    switches = server.switches
    learnt = {
        "supports": ("1.0", "1.1", "1.2"),
        "queue": {
            "keeps": True,
            "own": True,
            "redelivers": switches.redelivery in ("front", "back"),
            "shared": switches.subscribers == "any",
        },
        "topic": {"own": bool(switches.self_delivery), "copies": switches.copies == "each"},
        "sizes": MODEST if switches.limits == "small" else NORMAL,
        "crowded": switches.connections == "three",
        "folds": switches.destinations == "any-case",
        "trims": switches.destinations == "trimmed",
    }
    return STOMP.configure("server", profile, FACTS, learnt)


def made(role: str, number: int, real: bool) -> Peer:
    """A reference with switches drawn by a number; it claims any of the versions."""
    profile = STOMP.profiles[number % len(STOMP.profiles)]
    if real:
        pinned = [f"--switch={name}={value}" for name, value in REAL.items()]
        transport, close = over_tcp(
            ["impls.references.stomp", "--port", "0", "--seed", str(number), "--random", *pinned]
        )
        learnt = {"supports": ("1.0", "1.1", "1.2"), "queue": {"keeps": True, "own": True}, "topic": {"own": True}}
        return Peer(transport, STOMP.configure("server", profile, FACTS, learnt), f"seed {number}", close=close)
    server = Server.random(number, **FIXED)
    silent = bool(server.switches.silent_close) or server.switches.over_limit == "close"

    def misses(breach: Breach, level: str) -> bool:
        return silent and level != "MUST" and "closed without ERROR" in breach.why

    # the patience is what a run believes in the end
    return Peer(in_memory(server), config_of(server, profile), repr(server.switches), misses, CONFIRM_MS)


SOAK = Soak("stomp", made, ("server",), ("server",))

if __name__ == "__main__":
    sys.exit(main("tests.soak"))
