"""What the rules of a client look at when it reports what became of an operation."""

from __future__ import annotations

from enum import Enum
from typing import Any

from specs.lazy import lazy
from specs.pulsar.client.case import Case
from specs.pulsar.client.machine import Stage
from specs.pulsar.client.state import ClientState, Endpoint, Name, Pushed, Sent

PATIENCE = 4
"""Redirects in a row after which a client may give up."""


class Outcome(Enum):
    """What the client reports of what it was told to do."""

    DONE = "done"
    FAILED = "failed"
    EXCUSED = "failed, as it may"
    NOTHING = "there was no message"
    MESSAGE = "a message that was pushed"
    STRANGE = "a message that was not pushed"


class Reported(Case):
    """What the client reports of what it was told first."""

    def __init__(self, state: ClientState, value: Any) -> None:
        super().__init__(state)
        self.about = None
        self.op, self.given = state.told[0]
        self.value = value

    @lazy
    def told(self) -> Any:
        """What it reports as done."""
        return self.value["ok"]

    @lazy
    def outcome(self) -> Outcome:
        """What is reported."""
        if not isinstance(self.value, dict) or "ok" not in self.value:
            return Outcome.EXCUSED if self._excused() else Outcome.FAILED
        if self.op != "receive":
            return Outcome.DONE
        if self.told is None:
            return Outcome.NOTHING
        return Outcome.STRANGE if self.found is None else Outcome.MESSAGE

    @property
    def takes_no_login(self) -> bool:
        """True for the report that the client makes no connection with the credentials that it was given."""
        return self.op == "connect" and self.state.login is not None

    def _excused(self) -> bool:
        state = self.state
        if self.takes_no_login or self.given.get("_again"):
            return True
        if state.left or not isinstance(self.value, dict) or self.value.get("error") == "unsupported":
            return True
        if any(redirect.nth > PATIENCE for redirect in state.redirects.values()):
            return True
        of_now = [line for number, line in state.lines.items() if not line.over or number == max(state.lines)]
        if self.op in ("connect", "producer", "subscribe") and any(line.version_is_old for line in of_now):
            return True  # who will not speak with that broker may have hung up before it says so
        over = [line for line in state.lines.values() if line.over]
        if any(end.stage is Stage.LOST for end in state.endpoints) or any(not line.quit for line in over):
            return True
        # who makes one for each of its requests may wait for one that the plan does not answer (P-84)
        return bool(over) and state.beyond

    # -- producer, subscribe

    @property
    def made(self) -> str:
        """What was to be made."""
        return "producer" if self.op == "producer" else "consumer"

    @lazy
    def opened(self) -> list[Endpoint]:
        """What there is of it."""
        return [end for _, end in self.state.of_topic(self.made, str(self.given.get("topic")))
                if end.stage is not Stage.CLOSED]  # fmt: skip

    @property
    def wanted(self) -> int:
        """How many there should be."""
        return max(self.state.partitions.get(str(self.given.get("topic")), 0), 1)

    # -- send, await

    @property
    def refused(self) -> bool:
        """True for a message that we refused, of which no other one of the same octets had a receipt."""
        return any(each.refused for each in self.sent) and not any(each.receipted for each in self.sent)

    @lazy
    def sent(self) -> list[Sent]:
        """What was sent with the octets of the message that is reported on; nothing where it is not known what was."""
        given, state = self.given, self.state
        text = given.get("payload_hex", "") if self.op == "send" else state.sending.get(str(given.get("handle")))
        return [each for end in state.endpoints for each in end.sent if each.payload.hex() == text]

    # -- receive

    @property
    def topic(self) -> str:
        """The topic of the consumer that was to receive."""
        return self.state.topic_named("consumer", self.given)

    @property
    def wants(self) -> bool:
        """True while messages of that consumer are wanted again and were not asked for."""
        return any(end.wanted for _, end in self.state.of_topic("consumer", self.topic))

    @lazy
    def found(self) -> tuple[int, int] | None:
        """The consumer, and the place in its queue, of the message that the application was given."""
        payload = bytes.fromhex(self.told.get("payload_hex", ""))
        for at, end in self.state.of_topic("consumer", self.topic):
            for i, each in enumerate(end.queue):
                if each.payload == payload:
                    return at, i
        return None

    @lazy
    def message(self) -> Pushed | None:
        """The message that reached the application, or the first one that should have and did not."""
        if self.outcome is Outcome.MESSAGE and self.found is not None:
            at, i = self.found
            return self.state.endpoints[at].queue[i]
        for _, end in self.state.of_topic("consumer", self.topic):
            for each in end.queue:
                if each.sure and end.stage is Stage.OPEN:
                    return each
        return None

    @property
    def name(self) -> Name:
        """Which message was received."""
        assert self.message is not None
        return self.message.name
