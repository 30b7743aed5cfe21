"""Looking for false alarms: correct MessagePack peers of every kind must never be blamed.

    python -m tests.soak_msgpack [PLANS] [--role server] [--tcp PLANS] [--seed N]

Plays that many plans of each role in memory, half of them pipelined, against references whose switches are drawn anew
every 20 plans, over all properties of the suites; `--tcp` as many against the server as a process. Exit status 1, and
the conversation, if a correct peer is blamed for anything but a recommendation that its switches make it miss.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from impls.drive import Recording, Setting, drive
from impls.link import Ground, MemoryGround, TcpGround
from impls.msgpack.client import Client
from impls.msgpack.idl import Idl
from impls.msgpack.idl_codec import IdlCodec
from impls.msgpack.idl_server import IdlServer
from impls.msgpack.reference import Server
from specs.protocol import find
from strategies.msgpack import discover
from suites.hunt import Property
from suites.trace import conversation
from tests.properties import properties

MSGPACK = find("msgpack")
EACH = 20
PEERS: Mapping[str, Any] = {"server": Server, "codec": IdlCodec, "client": Client, "idl": Idl, "idl-server": IdlServer}
PROFILES = {"codec": "core+def", "idl": "core+def+td+ts+meta+if+nosc", "idl-server": "core+def+td+ts+meta+if+nosc"}
MISSED = {
    "MP-FMT-02", "MPRPC-RESP-03b", "MPIDL-EXW-02", "MPIDL-TYPE-07", "MPIDL-EXC-06", "MPIDL-IF-04", "MPIDL-INV-26",
    "MPIDL-LEX-06", "MPIDL-FALL-04",
}  # fmt: skip
ASSUMED = {"MPIDL-INV-31"}
"""Recommendations that a switch makes a reference miss."""
NUMBERS = {"MP-FMT-04", "MP-FMT-05"}
"""What a language with one number type misses, as a recommendation."""


def profile_for(role: str, number: int) -> str:
    """Some of the extensions, drawn by a number; all of them half of the time."""
    whole = PROFILES.get(role, "core")
    chance = random.Random(number)
    core, *more = whole.split("+")
    return whole if chance.random() < 0.5 else "+".join([core, *(each for each in more if chance.random() < 0.5)])


def config_for(role: str, ground: Ground, facts: Mapping[str, Any], profile: str = "") -> Any:
    """What discovery learns."""
    given_facts = {name: fact.default for name, fact in MSGPACK.facts.items()} | dict(facts)

    def configure(learnt: Mapping[str, Any]) -> Any:
        return MSGPACK.configure(role, profile or PROFILES.get(role, "core"), given_facts, learnt)

    def play(plan: Any, config: Any) -> tuple[Any, Any]:
        recording = drive(plan, Setting(MSGPACK, config, role, ground), "ask")
        return tuple(recording.events), recording.judgement

    return configure(discover(play, configure))


def alarms(recording: Recording) -> list[str]:
    """What a correct peer must not be blamed for."""
    found = [recording.judgement.why] if recording.judgement.verdict == "error" else []
    for blame in recording.judgement.faults:
        name = blame.breach.requirement
        level = blame.breach.level or MSGPACK.requirements[name].level
        if (level == "SHOULD" and name in MISSED | NUMBERS) or (level == "ASSUMED" and name in ASSUMED):
            continue
        found.append(f"{name}: {blame.breach.why}")
    return found


def told(recording: Recording) -> list[str]:
    """What happened, line by line."""
    lines = []
    for event in conversation(recording, MSGPACK):
        text = str(event.get("text", event["event"]))
        lines.append(f"  {event['ms']} {event.get('conn')} {event.get('by')} {text:.200}")
    return lines


def soak(role: str, plans: int, number: int, make: Callable[[int], tuple[Ground, Mapping[str, Any], str]]) -> int:
    """Play `plans` plans in `role`; the number of alarms. `make` gives a peer, what it declares, and a name for it."""
    cases: list[Property] = [prop for prop, _ in properties("msgpack", role)]
    verdicts: Counter[str] = Counter()
    found = played = 0
    begun, chance = time.monotonic(), random.Random(number)
    while played < plans:
        ground, facts, name = make(chance.randrange(1 << 30))
        profile = profile_for(role, chance.randrange(1 << 30))
        setting = Setting(MSGPACK, config_for(role, ground, facts, profile), role, ground)
        done: list[Recording] = []
        prop = cases[chance.randrange(len(cases))]

        @settings(
            max_examples=EACH,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @seed(chance.randrange(1 << 30))
        @given(prop.programs)
        def play(program: Any) -> None:
            done.append(drive(prop.plan(program, setting.config), setting, "s"))  # noqa: B023 - within this turn

        play()
        if getattr(ground, "crash", ""):
            print(f"{role}: the reference raised {ground.crash}")  # type: ignore[attr-defined]
            found += 1
        played += len(done)
        for recording in done:
            verdicts[recording.judgement.verdict] += 1
            for alarm in alarms(recording):
                found += 1
                if found <= 5:
                    what = f"{role}: {alarm:.300}\n  {prop.name} {profile}\n  {name}"
                    print("\n".join([what, *told(recording)[-60:]]))
    print(f"{role}: {played} plans in {time.monotonic() - begun:.0f} s, {found} false alarms; {dict(verdicts)}")
    return found


def in_memory(role: str) -> Callable[[int], tuple[Ground, Mapping[str, Any], str]]:
    """References with their switches drawn by a number."""

    def make(number: int) -> tuple[Ground, Mapping[str, Any], str]:
        peer = PEERS[role].random(number)
        facts: dict[str, Any] = {}
        if role == "server":
            facts = {"count": "count"} | ({"malformed": peer.switches.malformed} if number % 2 else {})
        if role == "idl-server" and number % 2:
            facts = {"bare_name": peer.serving.bare_name, "exception_wire": peer.serving.exception_wire}
        if role == "idl" and number % 2:
            facts = {"missing_default": peer.switches.missing_default}
        return MemoryGround(lambda: peer), facts, repr(getattr(peer, "switches", getattr(peer, "_made", None)))

    return make


def over_tcp(plans: int, number: int) -> int:
    """The server as a process, with switches drawn by a number."""
    found = 0
    for part in range(2):
        argv = [
            sys.executable,
            "-m",
            "impls.msgpack",
            "server",
            "--port",
            "0",
            "--seed",
            str(number + part),
            "--random",
        ]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                port = int(process.stdout.readline().rsplit(":", 1)[1])
                ground = TcpGround(lambda port=port: ("127.0.0.1", port))
                found += soak(
                    "server", plans // 2, number + part, lambda _, g=ground: (g, {"count": "count"}, "over TCP")
                )
            finally:
                process.terminate()
    return found


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak_msgpack")
    parser.add_argument("plans", type=int, nargs="?", default=5000, help="plans of each role")
    parser.add_argument("--role", choices=sorted(PEERS), action="append", help="these roles only")
    parser.add_argument("--tcp", type=int, default=0, help="plans over TCP")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    found = sum(soak(role, args.plans, args.seed, in_memory(role)) for role in args.role or PEERS) if args.plans else 0
    if args.tcp:
        found += over_tcp(args.tcp, args.seed)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
