"""Looking for false alarms in Pulsar: see tests/soaking.py. References claim both profiles."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from typing import Any

from impls.references.pulsar.client import CLIENT_SWITCHES
from impls.references.pulsar.client_memory import Client
from impls.references.pulsar.reference import SWITCHES, Broker
from specs.model import Breach
from specs.protocol import find
from tests.soaking import ROOT, Peer, Soak, in_memory, main, over_tcp

PULSAR = find("pulsar")
PEERS: Mapping[str, Any] = {"broker": Broker, "client": Client}
ALL = {"broker": SWITCHES, "client": CLIENT_SWITCHES}
FACTS = tomllib.loads((ROOT / "impls/references/pulsar/reference-broker-seed.toml").read_text())["pulsar"]


def config_for(role: str, profile: str, dedup: bool = False) -> Any:
    """What the references declare."""
    facts = {name: fact.default for name, fact in PULSAR.facts.items()} | (FACTS if role == "broker" else {})
    facts |= {"dedup": dedup, "keepalive_s": FACTS["keepalive_s"]}
    facts |= {"auth": "token:wireproof"} if role == "client" else {}
    return PULSAR.configure(role, profile, facts, {})


def unusual(role: str, peer: Any) -> str:
    """The switches of a peer that are not at their defaults."""
    switches = peer.switches if role == "broker" else peer.caller_type(**peer._made).switches
    chosen = {name: getattr(switches, name) for name in ALL[role]}
    return ", ".join(f"{name}={value}" for name, value in chosen.items() if value != ALL[role][name][0])


def made(role: str, number: int, real: bool) -> Peer:
    """A reference with its switches drawn by a number."""
    profile = ("seed", "modern")[number % 2]
    if real:
        argv = [
            "impls.references.pulsar",
            "broker",
            "--port",
            "0",
            "--profile",
            profile,
            "--random",
            "--seed",
            str(number),
        ]
        transport, close = over_tcp([*argv, "--switch", "recommended=true"])
        return Peer(transport, config_for(role, profile), f"{profile} seed {number}", close=close)
    dedup = role == "broker" and number % 5 == 1
    peer = PEERS[role].random(number, profile=profile, **({"deduplication": True} if dedup else {}))
    lax = "unreadable=reconnect" in unusual(role, peer) or (role == "broker" and not peer.switches.recommended)

    def misses(breach: Breach, level: str) -> bool:
        return breach.steady or (lax and level == "SHOULD")  # the former: tolerated once in a while

    name = f"{profile}: {'dedup, ' if dedup else ''}{unusual(role, peer)}"
    return Peer(in_memory(peer), config_for(role, profile, dedup), name, misses)


SOAK = Soak("pulsar", made, tuple(PEERS), ("broker",))

if __name__ == "__main__":
    sys.exit(main("tests.soak_pulsar"))
