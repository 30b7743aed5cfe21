"""What the text leaves open to bolts and spouts: the switches of the reference."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Switches:
    """Turns that the text leaves open.

    `ascii_only`, `indent`, `backwards`, `crlf`, `blank`: how messages are written; `blank` puts an empty line in front.
    `nulls`: members that have nothing to say are null, else absent. `level`: logs have one. `extra`: messages have a
    member that nobody knows. `waits`: an emit waits for its task ids. `serial`: one callback after the other.
    `patient`: heartbeats wait with the tuples while an emit does. `syncs`: each tuple is followed by a sync.
    `unknown`: "exit" or "skip" for what cannot be understood. `after_raise`: "go on" or "exit". `prints`: what user
    code prints goes to "err", to a "log", or nowhere ("drop"). `chatty`: the library logs. `drains`: tuples that were
    read are worked on after the end of STDIN. `delay_ms`: before each callback. `stderr`: it writes a log there.
    `late_file`: the file of the process id is made just after it was said. `lenient`: octets that are no UTF-8 are
    replaced, and a tuple that lacks something is worked on all the same. `notes`: user code notes down what it sees.
    `turned_ids`: user code is given task ids from the last to the first. `late_acks`: what a bolt's user code acks is
    acked once it is over with a tuple, the last one first.
    """

    ascii_only: bool = False
    indent: int = 0
    backwards: bool = False
    crlf: bool = False
    blank: bool = False
    nulls: bool = False
    level: bool = False
    extra: bool = False
    waits: bool = True
    serial: bool = True
    patient: bool = False
    syncs: bool = False
    unknown: str = "exit"
    after_raise: str = "go on"
    prints: str = "err"
    chatty: bool = False
    drains: bool = False
    delay_ms: int = 0
    stderr: bool = False
    late_file: bool = False
    lenient: bool = False
    notes: bool = True
    turned_ids: bool = False
    late_acks: bool = False


CHOICES: Mapping[str, Sequence[Any]] = {
    "indent": (0, 0, 1, 4),
    "unknown": ("exit", "skip"),
    "after_raise": ("go on", "exit"),
    "prints": ("err", "log", "drop"),
    "delay_ms": (0, 0, 0, 1, 7),
    "notes": (True, True, True, False),
}


def drawn(seed: int) -> Switches:
    """Switches by chance."""
    chance = random.Random(seed)
    return Switches(**{f.name: chance.choice(CHOICES.get(f.name, (False, True))) for f in fields(Switches)})
