"""RECEIPTs that take their time, and what comes in place of one: an ERROR, or the end of the connection.

Who was seen to wait for a RECEIPT is known to do so. How long that takes is the server's affair, and nothing tells a
client that does not wait from one that does but a silence.
Source: STOMP 1.2, RECEIPT, ERROR; 003_30478fd2f19f0da0.txt L250-255.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.plan import Control, Plan, Ref, Wait
from specs.stomp.states import Config
from strategies.common import Program, programs
from strategies.stomp.desk import BODIES, HEAD, Serving

WITHHELD_MS, SOON_MS = 400, 150
"""How long the RECEIPT of the first message is withheld, and how long the answer to a later one: until
then who does not wait has said that it is done."""
ROW = HEAD
"""The place of the head number that chooses what comes in place of the last RECEIPT."""


def _its_receipt(s: Serving, b: int) -> None:
    """Nothing else comes, and the session goes on."""
    s.serve()
    s.given(s.ear(), b"behind")
    s.end()


def _the_end(s: Serving, b: int) -> None:
    """The server ends the connection, as one does that is stopped."""
    s.steps += [Control(0, "drop", {}), Wait(0)]
    s.do("disconnect")
    s.steps.append(Wait(0))


def _an_error(s: Serving, b: int) -> None:
    """An ERROR says that the message was not taken."""
    headers: list[tuple[str, Any]] = [("receipt-id", Ref("receipt", (0, s.version)))]
    s.say("ERROR", [("message", "no"), *headers] if b & 4 else headers, b"why" if b & 8 else b"")
    s.steps.append(Wait(1))
    _the_end(s, b)


IN_PLACE: Sequence[Callable[[Serving, int], None]] = (_its_receipt, _the_end, _an_error)


def waits() -> SearchStrategy[Program]:
    """Messages whose RECEIPTs are waited for."""
    return programs({"send": 1}, head=HEAD + 3, most=0, least=0)


def withholding(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Messages that are sent one after the other, each with a receipt, which the application may call alike. Head: as
    in `serving`; what comes in place of the last RECEIPT; what the receipts are called, and a number that says how many
    messages there are and what an ERROR holds."""
    *head, row, names, b = program.head
    s = Serving(config, (head[0], head[1], head[2], head[3]))
    s.connect()
    s.serve()
    same = s.called("r", s.fresh())
    many = 2 + b % 2
    for nth in range(many):
        receipt = (True, same, s.called("r", s.fresh()))[names % 3]
        s.send(BODIES[(b // 16 + nth) % len(BODIES)], receipt=receipt, serve=False)
        s.steps.append(Wait(SOON_MS if nth else WITHHELD_MS))
        if nth < many - 1:
            s.serve()
    IN_PLACE[row % len(IN_PLACE)](s, b)
    return s.plan()
