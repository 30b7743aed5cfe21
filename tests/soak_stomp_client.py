"""Looking for false alarms with STOMP clients: see tests/soaking.py.

A quarter of the clients in memory are behind delays (tests/far.py). A correct client may miss a recommendation where a
switch asks it to (`ADVISED` of the reference).
"""

from __future__ import annotations

import sys

from impls.driver.client_harness import ClientHarnessTransport
from impls.references.stomp.client_memory import Client
from impls.references.stomp.client_switches import ADVISED
from specs.model import Breach
from specs.protocol import find
from suites.investigate import CONFIRM_MS
from tests.far import Far
from tests.soaking import Peer, Soak, in_memory, main, on_pipes

STOMP = find("stomp")
FACTS = {name: fact.default for name, fact in STOMP.facts.items()}
MISSED = {
    "STOMP-1.2-CONNECT-06": "command", "STOMP-1.2-CLEN-05": "content_length", "STOMP-1.2-SEND-08": "content_length",
    "STOMP-1.2-DISC-02": "leaving",
}  # fmt: skip
"""The switch that makes a reference miss a recommendation."""


def made(role: str, number: int, real: bool) -> Peer:
    """A reference with switches drawn by a number; it claims any of the versions."""
    profile = STOMP.profiles[number % len(STOMP.profiles)]
    config = STOMP.configure("client", profile, FACTS, {})
    if real:
        arguments = ["impls.references.stomp", "client", "--seed", str(number), "--random"]
        transport, close = on_pipes(ClientHarnessTransport, arguments)
        return Peer(
            transport,
            config,
            f"{profile} seed {number}",
            lambda b, level: level != "MUST" and b.requirement in MISSED,
            CONFIRM_MS,
            close,
        )
    client = Client.random(number)
    switches = client.caller_type(**client._made).switches

    def misses(breach: Breach, level: str) -> bool:
        switch = MISSED.get(breach.requirement)
        return level != "MUST" and switch is not None and getattr(switches, switch) != ADVISED[switch]

    peer = Far(client, number) if number // 3 % 4 == 3 else client
    # the patience is what a run believes in the end
    return Peer(in_memory(peer), config, f"{profile} {switches!r}", misses, CONFIRM_MS)


SOAK = Soak("stomp", made, ("client",), ("client",))

if __name__ == "__main__":
    sys.exit(main("tests.soak_stomp_client"))
