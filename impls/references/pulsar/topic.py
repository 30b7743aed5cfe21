"""Topics: what was published to them, by whom, and under which ids.

Source: 001_c0ea8805bb7ed422.txt, "Producer", "SendReceipt", "Lookup". An entry is what one SEND brought, a batch too.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from impls.references.pulsar.wire import Message

if TYPE_CHECKING:
    from impls.references.pulsar.publishing import Publishing
    from impls.references.pulsar.reference import Broker
    from impls.references.pulsar.subscription import Subscription

NOWHERE = (1 << 64) - 1
"""Both halves of the id before every message; also of the receipt for what was not stored."""

_FULL = re.compile(r"(persistent|non-persistent)://([^/\s]+)/(?:([^/\s]+)/)?([^/\s]+)/([^/]+(?:/.*)?)", re.DOTALL)
_SHORT = re.compile(r"[^/:]+|[^/:]+/[^/:]+/[^/:]+")
_PARTITION = re.compile(r".*-partition-([0-9]{1,9})", re.DOTALL)
_PARTITIONED = re.compile(r"part-([0-9]{1,4})-(?!.*-partition-[0-9]+\Z).*", re.DOTALL)


def full_name(name: str, short: bool) -> str:
    """The whole name of a topic; empty for what cannot be one. `short` names lack scheme, tenant and namespace."""
    if _FULL.fullmatch(name):
        return name
    if short and _SHORT.fullmatch(name):
        return f"persistent://{'' if name.count('/') else 'public/default/'}{name}"
    return ""


def local_name(name: str) -> str:
    """The last part of a topic's whole name."""
    found = _FULL.fullmatch(name)
    return found[5] if found else name


def namespace_of(name: str) -> str:
    """Tenant and namespace of a topic's whole name."""
    return name.partition("://")[2].rpartition("/")[0]


def partitions_of(name: str) -> int:
    """How many partitions a topic has: it says so itself, in its name. 0 for one that has none."""
    found = _PARTITIONED.fullmatch(local_name(name))
    return int(found[1]) if found else 0


class Entry(NamedTuple):
    """What one SEND brought. `messages` are in it, as its metadata says."""

    id: tuple[int, int]
    block: bytes
    checksum: int | None
    messages: int
    batched: bool
    compressed: bool
    publish_time: int
    key: bytes


class Producer:
    """One producer of a connection."""

    __slots__ = ("closing", "id", "mode", "name", "session", "topic", "waiting")

    def __init__(self, session: Publishing, number: int, name: str, topic: Topic, mode: int = 0) -> None:
        self.session = session
        self.id = number
        self.name = name
        self.topic = topic
        self.mode = mode
        self.waiting = 0  # messages that are not stored yet
        self.closing: int | None = None  # the request that is answered when there are none


class Topic:
    """A topic, or one partition of it."""

    def __init__(self, broker: Broker, name: str) -> None:
        self.broker = broker
        self.name = name
        self.entries: list[Entry] = []
        self.first = 0  # where the first entry is that was not dropped
        self.size = 0
        self.ledger = broker.new_ledger()
        self.next_entry = 0
        self.producers: dict[str, Producer] = {}
        self.subscriptions: dict[str, Subscription] = {}
        self.sequences: dict[str, int] = {}  # the last sequence id of each producer's name
        self.due: float = 0  # nothing is stored before what came before it
        self.terminated = bool(broker.switches.terminated) and local_name(name).startswith(broker.switches.terminated)
        found = _PARTITION.fullmatch(name)
        self.partition = int(found[1]) if found else -1

    @property
    def idle(self) -> bool:
        """True when nobody is connected."""
        return not self.producers and not any(each.consumers for each in self.subscriptions.values())

    def new_id(self) -> tuple[int, int]:
        """The id of the next entry: greater than all before it on this topic, and nobody else's."""
        style, found = self.broker.switches.ids, (self.ledger, self.next_entry)
        self.next_entry += 1 if style != "sparse" else self.broker.chance.randint(1, 1000)
        if style == "rollover" and self.next_entry >= 3:
            self.ledger, self.next_entry = self.broker.new_ledger(), 0
        return found

    def store(self, block: bytes, checksum: int | None, metadata: Message) -> Entry:
        """Keep what a SEND brought."""
        key = metadata.get("ordering_key") or metadata.get("partition_key", "").encode("utf-8", "surrogateescape")
        entry = Entry(
            id=self.new_id(),
            block=block,
            checksum=checksum,
            messages=max(1, metadata.get("num_messages_in_batch", 1)),
            batched="num_messages_in_batch" in metadata,
            compressed=bool(metadata.get("compression")),
            publish_time=metadata["publish_time"],
            key=key or f"{metadata['producer_name']}-{metadata['sequence_id']}".encode("utf-8", "surrogateescape"),
        )
        self.entries.append(entry)
        self.size += len(block)
        self.broker.note_stored(self, len(block))
        self.drop()
        return entry

    def drop(self) -> None:
        """Drop what no subscription needs any more, where a broker does."""
        if self.broker.switches.keeps == "needed":
            needed = min((each.mark for each in self.subscriptions.values()), default=len(self.entries))
            self.first = max(self.first, needed)

    def find(self, message_id: Message) -> int | None:
        """Where the entry with this id is."""
        wanted = (message_id["ledgerId"], message_id["entryId"])
        at = bisect_left(self.entries, wanted, key=lambda entry: entry.id)
        return at if at < len(self.entries) and self.entries[at].id == wanted else None

    def position(self, message_id: Message) -> int:
        """Where the first entry is that has this id or a later one. Both ends have ids of their own."""
        wanted = (message_id["ledgerId"], message_id["entryId"])
        if NOWHERE in wanted:
            return 0
        return bisect_left(self.entries, wanted, key=lambda entry: entry.id)

    def at_time(self, ms: int) -> int:
        """Where the first entry is that was published then or later."""
        return next((at for at, entry in enumerate(self.entries) if entry.publish_time >= ms), len(self.entries))

    def message_id(self, entry_id: tuple[int, int]) -> Message:
        """An id as it is written."""
        found: Message = {"ledgerId": entry_id[0], "entryId": entry_id[1]}
        if self.partition >= 0 and self.broker.switches.id_partition:
            found["partition"] = self.partition
        elif self.broker.switches.optional_fields == "all":
            found["partition"] = -1
        return found

    def wake(self) -> None:
        """Something may be there to push."""
        for subscription in [*self.subscriptions.values()]:
            subscription.wake()
