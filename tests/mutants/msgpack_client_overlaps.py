"""Clients that are wrong when calls overlap for long, or when a notification goes out beside a call."""

from __future__ import annotations

from impls.references.msgpack.client import Caller
from tests.mutants.faults import on
from tests.mutants.msgpack_client import mutant, told

BESIDE = told("group", 0, 32)
LONG = told("many", 0, 0, 0, 7, 1)


mutant("id-of-seven-bits", "REQ-02", LONG, accept="CLI-01 REQ-01 REQ-03")(
    "Ids have seven bits, and nobody looks whether one is open.",
    on(Caller, "identity").gives(lambda found: found & 0x7F),
)
mutant("notification-with-the-id-of-a-call", "NOTE-02", BESIDE, accept="REQ-01 REQ-02 REQ-03 CLI-01")(
    "A notification that goes out while a call is open is written as a request with the id of that.",
    on(Caller, "write").takes(
        message=lambda self, message: [0, self.last, *message[1:]] if message[0] == 2 and self.open else message
    ),
)
