"""Requests and their answers, delays and refusals; which broker has a topic, and in how many partitions.

Source: 001_c0ea8805bb7ed422.txt, "Service discovery".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from impls.references.pulsar.connection import Close, Connection, Phase, Refused
from impls.references.pulsar.schema import SINCE
from impls.references.pulsar.topic import full_name, partitions_of
from impls.references.pulsar.wire import Message

if TYPE_CHECKING:
    from impls.references.pulsar.reference import Broker

CONNECT, REDIRECT_TO, FAILED = 1, 0, 2
"""Answers to a lookup."""


class Taken(Refused):
    """As `Refused`, because of what another connection holds."""

    def __init__(self, code: str, why: str, holder: Asked) -> None:
        super().__init__(code, why)
        self.holder = holder


class Asked(Connection):
    """One connection, as far as it asks and is answered."""

    def __init__(self, broker: Broker, number: int) -> None:
        super().__init__(broker, number)
        self.opening: dict[tuple[str, int], Callable[[], None]] = {}  # what a delayed request will do

    def clean_up(self) -> None:
        """Free what the client had open."""

    def request(self, body: Message, work: Callable[[], None], key: tuple[str, int] | None = None) -> None:
        """Do a request, now or soon; what cannot be done is answered ERROR. Only a delay changes their order."""

        def do() -> None:
            if key is not None:
                if self.opening.get(key) is not do:
                    return  # it was done before its time
                del self.opening[key]
            if self.phase is not Phase.LIVE:
                return
            try:
                work()
            except Taken as taken:
                self.on_taken(body, taken, work)
            except Refused as refused:
                self.on_refused(body["request_id"], refused)
            except Close:
                self.end()  # whoever does this may be another session, or the clock

        delay = self.switches.answer_delay_ms
        if key is not None:
            self.opening[key] = do
        if delay:
            self.broker.later(self.chance.randint(0, delay), do)
        else:
            do()

    def on_taken(self, body: Message, taken: Taken, work: Callable[[], None]) -> None:
        """Somebody holds what is asked for: refuse, after a look at whether that connection lives."""
        holder = taken.holder
        if self.switches.liveness == "trust" or holder.version < SINCE["PING"]:
            self.on_refused(body["request_id"], taken)
            return

        def decided(alive: bool) -> None:
            if self.phase is not Phase.LIVE:
                return
            if not alive:
                holder.end()
                holder.clean_up()
            try:
                work()
            except Refused as refused:
                self.on_refused(body["request_id"], refused)
            except Close:
                self.end()

        holder.ask_whether_alive(decided)

    def on_refused(self, request: int, refused: Refused) -> None:
        """A request could not be done."""
        self.error(request, refused)

    def success(self, request: int) -> None:
        """Answer SUCCESS."""
        self.say("SUCCESS", {"request_id": request})

    def settle(self, kind: str, number: int) -> None:
        """Have a delayed request for this id done before anything else is done with it."""
        if (kind, number) in self.opening:
            self.opening[kind, number]()

    def topic_named(self, name: str) -> str:
        """The whole name of a topic. Raises Refused."""
        found = full_name(name, self.switches.short_names == "accept")
        if not found:
            raise Refused("InvalidTopicName", "this cannot be the name of a topic")
        return found

    def close_unknown(self, body: Message, code: str) -> None:
        """CLOSE_PRODUCER or CLOSE_CONSUMER for an id that is not open."""
        if self.switches.close_unknown == "success":
            self.success(body["request_id"])
        else:
            self.on_refused(body["request_id"], Refused(code, "there is nothing to close"))

    # Lookup

    def on_lookup(self, body: Message) -> None:
        """Which broker has this topic (Lookup)."""
        self.request(body, lambda: self.say("LOOKUP_RESPONSE", self.looked_up(body)))

    def looked_up(self, body: Message) -> Message:
        """The answer to a lookup."""
        request = {"request_id": body["request_id"]}
        try:
            self.topic_named(body["topic"])
        except Refused as refused:
            return {**request, "response": FAILED, "error": self.code(refused.code), "message": str(refused)}
        if self.switches.lookup == "redirect" and not body.get("authoritative", False):
            return {**request, "response": REDIRECT_TO, **self.place(self.switches.url, authoritative=True)}
        url = self.switches.other_url or self.switches.url
        return {**request, "response": CONNECT, **self.place(url, authoritative=True)}

    def place(self, url: str, *, authoritative: bool) -> Message:
        """Where a lookup sends a client."""
        found: Message = {"brokerServiceUrl": url, "authoritative": authoritative}
        if self.switches.proxied and self.version >= 10:
            found["proxy_through_service_url"] = True
        return found

    def on_partitioned_metadata(self, body: Message) -> None:
        """How many partitions a topic has (Partitioned topics discovery)."""
        self.request(body, lambda: self.say("PARTITIONED_METADATA_RESPONSE", self.partitioned(body)))

    def partitioned(self, body: Message) -> Message:
        """The answer to that."""
        request = {"request_id": body["request_id"]}
        try:
            name = self.topic_named(body["topic"])
        except Refused as refused:
            return {**request, "response": 1, "error": self.code(refused.code), "message": str(refused)}
        return {**request, "response": 0, "partitions": partitions_of(name)}
