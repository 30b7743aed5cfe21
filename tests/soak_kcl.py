"""Looking for false alarms in KCL: see tests/soaking.py."""

from __future__ import annotations

import sys

from impls.driver.link import MemoryTransport
from impls.driver.pipes import PipeTransport
from impls.driver.relay import RelayTransport
from impls.references.kcl import child, host
from impls.references.kcl.memory import Children
from specs.model import Breach
from specs.protocol import find
from tests.soaking import Peer, Soak, main, on_pipes

KCL = find("kcl")
ASKED_FOR = {"KCL-INV-CHILD-01", "KCL-SHUT-04"}
"""Recommendations that the reference misses when a switch asks it to."""


def made(role: str, number: int, real: bool) -> Peer:
    """A reference of any profile with switches drawn by a number."""
    profile = KCL.profiles[number % len(KCL.profiles)]
    config = KCL.configure(role, profile, {"scripted": True, "decodes": True}, {"noted": True})
    switches: object = child.drawn(number) if role == "child" else host.drawn(number)

    def misses(breach: Breach, level: str) -> bool:
        return level == "SHOULD" and breach.requirement in ASKED_FOR

    name = f"{profile} {switches!r}"
    if real:
        argv = ["impls.references.kcl", role, "--profile", profile, "--seed", str(number)]
        transport, close = on_pipes(PipeTransport if role == "child" else RelayTransport, argv)
        return Peer(transport, config, name, misses, 4000.0, close)
    kind = Children if role == "child" else host.Hosts
    return Peer(MemoryTransport(lambda: kind(profile, switches)), config, name, misses)


def share(prop: str, real: bool) -> float:
    """Large messages are slow."""
    return 0.02 if "big" in prop else 1.0


SOAK = Soak("kcl", made, ("child", "host"), ("child", "host"), share)

if __name__ == "__main__":
    sys.exit(main("tests.soak_kcl"))
