"""Looking for false alarms in MessagePack: see tests/soaking.py."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping
from typing import Any

from impls.driver.client_harness import ClientHarnessTransport
from impls.driver.drive import Recording, Setting, drive
from impls.driver.link import Transport
from impls.references.msgpack.client import Client
from impls.references.msgpack.idl import Idl
from impls.references.msgpack.idl_client import IdlClient
from impls.references.msgpack.idl_codec import IdlCodec
from impls.references.msgpack.idl_server import IdlServer
from impls.references.msgpack.reference import Server
from specs.model import Breach
from specs.protocol import find
from strategies.msgpack import discover
from suites.investigate import CONFIRM_MS
from tests.soaking import Peer, Soak, in_memory, level_of, main, on_pipes, over_tcp

MSGPACK = find("msgpack")
PEERS: Mapping[str, Any] = {"server": Server, "codec": IdlCodec, "client": Client, "idl": Idl, "idl-server": IdlServer,
         "idl-client": IdlClient}  # fmt: skip
PROFILES = {"codec": "core+def", "idl": "core+def+td+ts+meta+if+nosc", "idl-server": "core+def+td+ts+meta+if+nosc",
            "idl-client": "core+def+td+ts+meta+if+nosc"}  # fmt: skip
MISSED = {
    "MP-FMT-02", "MPRPC-RESP-03b", "MPIDL-EXW-02", "MPIDL-TYPE-07", "MPIDL-EXC-06", "MPIDL-IF-04", "MPIDL-INV-26",
    "MPIDL-LEX-06", "MPIDL-FALL-04", "MPRPC-CLI-03",
}  # fmt: skip
"""Recommendations that a switch makes a reference miss."""
ASSUMED = {"MPIDL-INV-31"}
"""The same among our readings."""
NUMBERS = {"MP-FMT-04", "MP-FMT-05"}
"""What a language with one number type misses, as a recommendation."""


def profile_for(role: str, number: int) -> str:
    """Some of the extensions, drawn by a number; all of them half of the time."""
    whole = PROFILES.get(role, "core")
    chance = random.Random(number)
    core, *more = whole.split("+")
    return whole if chance.random() < 0.5 else "+".join([core, *(each for each in more if chance.random() < 0.5)])


def config_for(role: str, transport: Transport, facts: Mapping[str, Any], profile: str = "") -> Any:
    """What discovery learns."""
    given_facts = {name: fact.default for name, fact in MSGPACK.facts.items()} | dict(facts)

    def configure(learnt: Mapping[str, Any]) -> Any:
        return MSGPACK.configure(role, profile or PROFILES.get(role, "core"), given_facts, learnt)

    def play(plan: Any, config: Any) -> tuple[Any, Any]:
        recording = drive(plan, Setting(MSGPACK, config, role, transport), "ask")
        return tuple(recording.events), recording.judgement

    return configure(discover(play, configure))


def misses(breach: Breach, level: str) -> bool:
    """True for what a correct peer may be told as a recommendation."""
    missed = {"SHOULD": MISSED | NUMBERS, "ASSUMED": ASSUMED}
    return breach.requirement in missed.get(level, ())


def alarms(recording: Recording) -> list[str]:
    """What a correct peer must not be blamed for."""
    found = [recording.judgement.why] if recording.judgement.verdict == "error" else []
    faults = [b for b in recording.judgement.faults if not misses(b.breach, level_of(b, MSGPACK))]
    return found + [f"{blame.breach.requirement}: {blame.breach.why}" for blame in faults]


def made(role: str, number: int, real: bool) -> Peer:
    """A reference with its switches drawn by a number."""
    profile, facts = profile_for(role, number), {"count": "count"} if role == "server" else {}
    if real and role == "idl-client":
        argv = ["impls.references.msgpack", role, "--seed", str(number), "--random"]
        pipes, close = on_pipes(ClientHarnessTransport, argv)
        there = config_for(role, pipes, facts, profile)
        return Peer(pipes, there, f"{profile} seed {number}", misses, CONFIRM_MS, close)
    if real:
        transport, close = over_tcp(
            ["impls.references.msgpack", role, "--port", "0", "--seed", str(number), "--random"]
        )
        there = config_for(role, transport, facts, profile)
        # sixteen share it, some of whom flood it: the patience is what a run believes in the end
        return Peer(transport, there, f"{profile} seed {number}", misses, CONFIRM_MS, close)
    peer = PEERS[role].random(number)
    if role == "server" and number % 2:
        facts["malformed"] = peer.switches.malformed
    if role == "idl-server" and number % 2:
        facts = {"bare_name": peer.serving.bare_name, "exception_wire": peer.serving.exception_wire}
    if role == "idl" and number % 2:
        facts = {"missing_default": peer.switches.missing_default}
    name = f"{profile} {getattr(peer, 'switches', getattr(peer, '_made', None))!r}"
    there = in_memory(peer)
    return Peer(there, config_for(role, there, facts, profile), name, misses)


SOAK = Soak("msgpack", made, tuple(PEERS), ("server", "idl-client"))

if __name__ == "__main__":
    sys.exit(main("tests.soak_msgpack"))
