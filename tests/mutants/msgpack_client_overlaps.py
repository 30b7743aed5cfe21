"""Clients that are wrong when calls overlap for long, when a notification goes out beside a call, or about what comes
together: several responses in one read, an error and a result, part of a response and then nothing."""

from __future__ import annotations

from typing import Any

from impls.references.msgpack.client import Caller
from strategies.msgpack import calls
from tests.mutants.faults import on
from tests.mutants.msgpack_client import breaks, mutant, told
from tests.mutants.msgpack_kit import Shortened, Witness, without_short_rest

BESIDE = told("group", 0, 32)
LONG = told("many", 0, 0, 0, 7, 1)
TOGETHER = told("group", 0, 64)
ERROR_AND_RESULT = told("error", 0, 0, 0, 2 * len(calls.ERRORS))
NO_RESULT, NOTHING_BUT_AN_ID = breaks(1, 0, 3), breaks(1, 1, 3)


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


@mutant("rest-of-a-read-lost", "FRAG-01", TOGETHER, accept="CLI-01")
class RestOfAReadLost(Caller):
    """What stands behind a message in one read is thrown away."""

    read = 0

    def received(self, data: bytes) -> None:
        self.read = 0
        super().received(data)

    def message(self, value: Any) -> None:
        self.read += 1
        if self.read == 1:
            super().message(value)


mutant("nil-is-cancelled", "CLI-02", told("group", 0, 0, 32))(
    "A call that was not waited for and comes to nil counts as one that was cancelled.",
    on(Caller, "message").takes(
        value=lambda self, value: (
            [*value[:2], "cancelled", None]
            if isinstance(value, list) and value[0] == 1 and value[2:] == [None, None] and len(self.open) == 1
            else value
        )
    ),
)
mutant("short-rest-of-responses-lost", "FRAG-01", told("straddle", 0, 0, 0, 1), accept="CLI-01 CLI-03")(
    "Up to three octets behind a whole response in one read are thrown away.",
    on(Caller, "received").takes(data=lambda self, data: data if self.reader.midway else without_short_rest(data)),
)


@mutant("beginning-of-a-response-lost", "FRAG-01", told("straddle", 0, 1), accept="CLI-01 CLI-03")
class BeginningOfAResponseLost(Caller):
    """When a read ends one message that came in pieces, the beginning of the next one in it is lost."""

    def received(self, data: bytes) -> None:
        super().received(self.__dict__.setdefault("shortened", Shortened())(data))


mutant("result-beside-an-error", "CLI-02", ERROR_AND_RESULT)(
    "A response that has a result is a success, whatever its error is.",
    on(Caller, "message").takes(
        value=lambda value: (
            [*value[:2], None, value[3]]
            if isinstance(value, list) and len(value) == 4 and value[3] is not None
            else value
        )
    ),
)


def _ends_with_nil(size: int, name: str, witness: Witness) -> None:
    mutant(name, "CLI-04", witness)(
        f"A response that ends after {size} elements is taken for one whose error and result are nil.",
        on(Caller, "message").takes(
            value=lambda value: [*value, None, None][:4] if isinstance(value, list) and len(value) == size else value
        ),
    )


_ends_with_nil(2, "nothing-but-an-id", NOTHING_BUT_AN_ID)
_ends_with_nil(3, "no-result-is-nil", NO_RESULT)


@mutant("steps-back-after-an-error", "REQ-02", told("rolling", 0, 64 + 11, 255, 3, 0), accept="CLI-01 REQ-01")
class StepsBackAfterAnError(Caller):
    """A call that failed gives its id back: the next one has that of a call behind it, which may be open."""

    def identity(self) -> int:
        self.last += 1
        return self.last

    def failure(self, error: Any) -> dict[str, Any]:
        self.last -= 1
        return super().failure(error)


@mutant("notifies-as-before", "01", told("again", 0, 0, 0, 1, 3), accept="03 04")
class NotifiesAsBefore(Caller):
    """A notification has the params of an earlier one to the same method, if they are as many."""

    kind = 2

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.said: dict[tuple[str, int], Any] = {}

    def write(self, message: list[Any]) -> None:
        if message[0] == self.kind:
            params = self.said.setdefault((message[-2], len(message[-1])), message[-1])
            message = [*message[:-1], params]
        super().write(message)


@mutant("calls-as-before", "01", told("again", 0, 0, 0, 1, 0), accept="03 04")
class CallsAsBefore(NotifiesAsBefore):
    """A request has the params of an earlier one to the same method, if they are as many."""

    kind = 0


@mutant("steps-back-after-a-notification", "REQ-02", told("group", 0, 32, 0, 0, 1), accept="CLI-01 REQ-01")
class StepsBackAfterANotification(Caller):
    """A notification beside an open call takes the id of the latest one back: the next one has it again."""

    def identity(self) -> int:
        self.last += 1
        return self.last

    def write(self, message: list[Any]) -> None:
        if message[0] == 2 and self.open:
            self.last -= 1
        super().write(message)
