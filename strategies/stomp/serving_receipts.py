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

WITHHELD_MS, SOON_MS = 1000, 150
"""How long the RECEIPT of the first message is withheld, and how long the answer to a later one: until
then who does not wait has said that it is done."""
ROW = HEAD
"""The place of the head number that chooses the row."""


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


ANY, SAME, OTHER = range(3)
ROWS: Sequence[tuple[Callable[[Serving, int], None], int]] = (
    (_its_receipt, SAME), (_the_end, ANY), (_an_error, SAME), (_its_receipt, OTHER), (_the_end, SAME), (_an_error, ANY),
)  # fmt: skip
"""What comes in place of the last RECEIPT, and what the application calls them: it leaves that to the library, or gives
all of them one name, or each its own."""


def waits() -> SearchStrategy[Program]:
    """Messages whose RECEIPTs are waited for."""
    return programs({"send": 1}, head=HEAD + 2, most=0, least=0)


def withholding(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Messages that are sent one after the other, each with a receipt, which the application may call alike. Head: as
    in `serving`; the row, and a number that says how many messages there are and what an ERROR holds."""
    *head, row, b = program.head
    ends, names = ROWS[row % len(ROWS)]
    s = Serving(config, (head[0], head[1], head[2], head[3]))
    s.connect()
    s.serve()
    same = s.called("r", s.fresh())
    many = 2 + b % 2
    for nth in range(many):
        receipt = (True, same, s.called("r", s.fresh()))[names]
        s.send(BODIES[(b // 16 + nth) % len(BODIES)], receipt=receipt, serve=False)
        s.steps.append(Wait(SOON_MS if nth else WITHHELD_MS))
        if nth < many - 1:
            s.serve()
    ends(s, b)
    return s.plan()
