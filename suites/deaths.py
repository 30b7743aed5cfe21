"""The ways in which an implementation was brought down, and what the tester had said by then.

Each kind of frame that always brings it down is a fault of its own, and so is each manner in which it ends. A way is
the name of what was said last, and the manner.
"""

from __future__ import annotations

from typing import Final

from impls.driver.drive import Recording, Setting
from specs.events import Noise, Said
from suites.manner import ENDED
from suites.pursuit import Fault

WAYS: Final = 4
"""So many ways to bring an implementation down are reported at most."""
OCTETS: Final = "octets"
"""What was said last when it was no frame."""
Way = tuple[str, str]


class Deaths:
    """Those of one implementation. `seen` is what was said last whenever it ended, known or not."""

    def __init__(self) -> None:
        self.seen: frozenset[str] = frozenset()
        self._ways: dict[Way, Fault] = {}

    def __len__(self) -> int:
        """How many ways are known."""
        return len(self._ways)

    def saw(self, recording: Recording, setting: Setting) -> None:
        """It ended in this conversation."""
        self.seen |= frozenset(said(recording, setting)[-1:])

    def otherwise(self, recording: Recording, setting: Setting) -> bool:
        """True when one that some kind of frame always brings down went down with another one, or in another manner."""
        return 0 < len(self._ways) < WAYS and way(recording, setting) not in (*self._ways, ("", ""))

    def distinct(self, fault: Fault, setting: Setting, survived: set[str]) -> bool:
        """True for a fault that brings it down each time, and has nothing of another way. It has `survived` some of
        what was thought to be one."""
        mine, _ = way(fault.recording, setting)
        others = {name for name, _ in self._ways if name} - survived - {mine}
        mixed = others & set(said(fault.recording, setting))
        return fault.verdict == "fail" and not fault.unsettled and fault.reproduced == fault.tried and not mixed

    def note(self, fault: Fault, setting: Setting) -> None:
        """This is one of the ways."""
        self._ways.setdefault(way(fault.recording, setting), fault)


def way(recording: Recording, setting: Setting) -> Way:
    """How an implementation was brought down: by what was said last, and in which manner it ended."""
    crash = setting.protocol.crash
    ended = [b.breach.kind for b in recording.judgement.faults if b.breach.requirement == crash]
    return last_said(recording, setting), next((kind for kind in ended if kind.startswith(ENDED)), "")


def said(recording: Recording, setting: Setting) -> list[str]:
    """What the tester said in a conversation, by the names of `Protocol.saying`."""
    events = (event for event in recording.events if isinstance(event, Said) and event.by != setting.role)
    return [name for event in events if (name := setting.protocol.saying(event.frame))]


def outlived(recording: Recording, setting: Setting) -> list[str]:
    """The same of what `setting.role` has said something behind, on the same connection."""
    last: dict[int, int] = {}
    for at, event in enumerate(recording.events):
        if isinstance(event, Said) and event.by == setting.role:
            last[event.conn] = at
    answered = [
        event
        for at, event in enumerate(recording.events)
        if isinstance(event, Said) and event.by != setting.role and at < last.get(event.conn, 0)
    ]
    return [name for event in answered if (name := setting.protocol.saying(event.frame))]


def last_said(recording: Recording, setting: Setting) -> str:
    """The same of the last frame that has a name; OCTETS where something followed it that is no frame."""
    mine = [event for event in recording.events if isinstance(event, (Said, Noise)) and event.by != setting.role]
    if mine and isinstance(mine[-1], Noise):
        return OCTETS
    return next(iter(said(recording, setting)[-1:]), "")
