"""STOMP clients that are wrong about heart-beats in one of the rhythms that were made to show it."""

from __future__ import annotations

from collections.abc import Sequence

from impls.references.stomp.client import Channel, Header
from impls.references.stomp.client_speaker import MESSAGE
from strategies.common import Program
from strategies.stomp import serving_rhythms
from tests.mutants.faults import on
from tests.mutants.record import Witness
from tests.mutants.stomp_client_kit import mutant

LARGER, BEHIND_SENDS, LONG, WAITING, RECEIVING = 1, 2, 8, 10, 11
"""Rhythms of `serving_rhythms.POINTED`."""


def pointed(rhythm: int) -> Witness:
    """A session in that rhythm."""
    return lambda config: serving_rhythms.keeping(Program((0, 0, 0, 0, rhythm), ()), config)


@mutant("smaller-of-both", "CLI-12", pointed(LARGER), "CLI-15 CLI-14", switches={"silent_server": "close"})
class SmallerOfBoth(Channel):
    """A server is expected to beat as often as it can, where the client has asked for fewer heart-beats."""

    def agree_beats(self, text: str) -> bool:
        agreed = super().agree_beats(text)
        if self.beat_in:
            self.beat_in = min(self.wanted[1], int(text.partition(",")[0]))
        return agreed


@mutant("no-beats-behind-a-send", "HB-11", pointed(BEHIND_SENDS))
class NoBeatsBehindASend(Channel):
    """The clock of the client's own heart-beats is stopped by a SEND, and not started again."""

    sent = False

    def say(self, command: str, headers: Sequence[Header], body: bytes = b"") -> None:
        super().say(command, headers, body)
        self.sent = self.sent or command == "SEND"

    def beat(self) -> None:
        if not self.sent:
            super().beat()


@mutant("no-beats-while-it-waits", "HB-11", pointed(WAITING))
class NoBeatsWhileItWaits(Channel):
    """No heart-beat is said while a RECEIPT is awaited."""

    waits = False

    def say(self, command: str, headers: Sequence[Header], body: bytes = b"") -> None:
        super().say(command, headers, body)
        self.waits = self.waits or any(name == "receipt" for name, _ in headers)

    def beat(self) -> None:
        if not self.waits:
            super().beat()


mutant("no-beats-while-it-receives", "HB-11", pointed(RECEIVING))(
    "No heart-beat is said while the application waits for a message.",
    on(Channel, "write").skips(when=lambda self, data: not data.strip() and self.caller.awaited == MESSAGE),
)


@mutant("interval-of-32-bits", "CLI-15", pointed(LONG), "CLI-12 CLI-14", switches={"silent_server": "close"})
class IntervalOf32Bits(Channel):
    """Twice the time that a server may be silent for is counted in 32 bits with a sign: less than nothing is over."""

    def agree_beats(self, text: str) -> bool:
        agreed = super().agree_beats(text)
        if 2 * self.beat_in > (1 << 31) - 1:
            self.beat_in = 1
        return agreed
