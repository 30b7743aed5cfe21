"""Looking for false alarms in Storm: see tests/soaking.py. The extensions are drawn as the switches are."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from random import Random
from typing import Any

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport, Transport
from impls.driver.pipes import PipeTransport
from impls.driver.relay import RelayTransport
from impls.references.storm import child, freedoms, host, hosts
from impls.references.storm.host_memory import Hosts
from impls.references.storm.memory import Children
from impls.references.storm.reference import ALL
from specs.model import Breach
from specs.protocol import find
from strategies.storm import discover
from tests.soaking import Peer, Soak, main, on_pipes

STORM = find("storm")
CHILDREN = {"bolt": child.Bolt, "spout": child.Spout}
HOSTS = {"bolt-host": hosts.BoltHost, "spout-host": hosts.SpoutHost}
ASKED_FOR = ("STORM-HB-07", "STORM-HS-12", "STORM-INV-CHILD-01")
"""Recommendations that a reference misses when a switch asks it to."""
LAX = ("STORM-INV-HOST", "STORM-HS-18")
"""What a lax host misses besides."""


def made(role: str, number: int, real: bool) -> Peer:
    """A reference with switches drawn by a number: with no extension, with some, with all."""
    chance = Random(number)
    odds = chance.choice((0.0, 0.5, 1.0))
    extensions = frozenset(each for each in sorted(ALL) if chance.random() < odds)
    profile = "+".join(["seed", *sorted(extensions)])
    switches: Any = freedoms.drawn(number) if role in CHILDREN else host.drawn(number)
    forgiven = ASKED_FOR + LAX if "lax=True" in repr(switches) else ASKED_FOR

    def misses(breach: Breach, level: str) -> bool:
        return level == "SHOULD" and breach.requirement.startswith(forgiven)

    transport: Transport
    close, patience = (lambda: None), 1000.0
    if real:
        argv = ["impls.references.storm", role, "--profile", profile, "--seed", str(number)]
        transport, close = on_pipes(PipeTransport if role in CHILDREN else RelayTransport, argv)
        patience = 5000.0
    elif role in CHILDREN:
        transport = MemoryTransport(lambda: Children(CHILDREN[role], extensions, switches))
    else:
        transport = MemoryTransport(lambda: Hosts(HOSTS[role], extensions, switches))

    def configure(learnt: Mapping[str, Any]) -> Any:
        return STORM.configure(role, profile, {"scripted": True}, learnt)

    def ask(plan: Any, config: Any) -> Any:
        recording = drive(plan, Setting(STORM, config, role, transport, patience), "ask-")
        return tuple(recording.events), recording.judgement

    return Peer(transport, configure(discover(ask, configure)), f"{profile} {switches!r}", misses, patience, close)


def share(prop: str, real: bool) -> float:
    """Large messages are slow, and so is silence, which over pipes is not virtual."""
    if real and ("timing" in prop or "big" in prop):
        return 0.0
    return 0.1 if "big" in prop or ("invalid_input" in prop and "host" in prop) else 1.0


ROLES = (*CHILDREN, *HOSTS)
SOAK = Soak("storm", made, ROLES, ROLES, share)

if __name__ == "__main__":
    sys.exit(main("tests.soak_storm"))
