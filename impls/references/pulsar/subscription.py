"""Subscriptions: who gets which message, when, and again.

Source: 001_c0ea8805bb7ed422.txt, "Consumer", "Flow control", "Subscribe", "Ack",
"RedeliverUnacknowledgedMessages". Every entry of the topic is either acknowledged, pending at the consumer that it was
pushed to, released to be pushed again, or fresh: never pushed.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left, insort
from collections.abc import Iterable
from typing import TYPE_CHECKING

from impls.references.pulsar.topic import Entry, Topic

if TYPE_CHECKING:
    from impls.references.pulsar.session import Session

EXCLUSIVE, SHARED, FAILOVER, KEY_SHARED = range(4)
LOOK_AHEAD = 1000
"""How many entries Key_Shared passes by to find one whose consumer has permits."""
WORD = 64


class Consumer:
    """One consumer of a connection."""

    def __init__(self, session: Session, number: int, name: str, priority: int, subscription: Subscription) -> None:
        self.session = session
        self.id = number
        self.name = name
        self.priority = priority
        self.subscription = subscription
        self.permits = 0
        self.window = 0  # entries that this round of dispatch may push, with batch_permits=window
        self.pending: dict[int, None] = {}
        self.pushed = 0
        self.epoch: int | None = None

    def grant(self, permits: int) -> None:
        """FLOW adds to what is left."""
        self.permits += permits

    def spend(self, messages: int) -> None:
        """What was pushed used permits, a batch one for each of its messages."""
        self.permits -= messages
        self.window -= 1

    @property
    def permitted(self) -> bool:
        """True while an entry may be pushed. A batch is pushed whole, so permits may fall below zero."""
        return self.permits > 0 or self.window > 0

    @property
    def ready(self) -> bool:
        """True when an entry can be pushed now."""
        limit = self.subscription.topic.broker.switches.max_unacked
        return self.permitted and len(self.pending) < limit and self.session.takes_more


class Subscription:
    """One subscription of a topic."""

    def __init__(self, topic: Topic, name: str, kind: int, start: int, durable: bool = True) -> None:
        self.topic = topic
        self.broker = topic.broker
        self.name = name
        self.kind = kind
        self.durable = durable
        self.consumers: list[Consumer] = []
        self.active: Consumer | None = None
        self.rewind_to(start)
        self.paused_until: float = 0
        self._turn = 0
        self._woken = False

    def rewind_to(self, start: int) -> None:
        """Everything before `start` counts as acknowledged, everything else as never pushed."""
        self.topic.drop()
        self.mark = self.fresh = max(start, self.topic.first)
        self.acked: set[int] = set()
        self.left: dict[int, int] = {}  # the batch indexes that are not acknowledged, as bits
        self.pending: dict[int, Consumer] = {}
        self.released: list[int] = []  # in order
        self.again: dict[int, int] = {}  # how often an entry was pushed before
        for consumer in getattr(self, "consumers", ()):
            consumer.pending.clear()

    @property
    def single(self) -> bool:
        """True for the types in which one consumer receives everything."""
        return self.kind in (EXCLUSIVE, FAILOVER)

    # Consumers

    def join(self, consumer: Consumer) -> None:
        """Add a consumer."""
        self.consumers.append(consumer)
        self.elect(consumer)

    def leave(self, consumer: Consumer) -> None:
        """A consumer is gone: what it did not acknowledge goes to the others, or to whoever comes next."""
        self.consumers.remove(consumer)
        self.release(list(consumer.pending))
        if self.active is consumer:
            self.active = None
        self.elect(None)
        self.wake()

    def elect(self, joined: Consumer | None) -> None:
        """Say who is active, where only one is."""
        if not self.single:
            return
        chosen = self.choose_active() if self.consumers else None
        old = self.active
        if chosen is not old:
            self.active = chosen
            self.hand_over(old)
        if self.kind == FAILOVER:
            told = self.consumers if chosen is not old else [joined] if joined else []
            for consumer in told:
                consumer.session.tell_active(consumer, consumer is chosen)
        self.wake()

    def hand_over(self, old: Consumer | None) -> None:
        """Another consumer is active now. The text does not say what becomes of what the old one holds."""
        if old is not None and self.broker.switches.takeover == "rewind":
            self.release(list(old.pending))
        if self.kind == FAILOVER and len(self.consumers) + (old is not None) > 1:
            self.pause(self.broker.switches.failover_delay_ms)

    def choose_active(self) -> Consumer:
        """The master: by name, the first one (Subscribe, consumer_name). Newer brokers have rules of their own."""
        how = self.broker.switches.failover if self.broker.switches.profile != "seed" else "name"
        if how == "joined":
            return self.consumers[0]
        if how == "hash":
            return min(self.consumers, key=lambda each: (zlib.crc32(self.sort_name(each)), self.sort_name(each)))
        if how == "priority":
            return min(self.consumers, key=lambda each: (each.priority, self.sort_name(each)))
        return min(self.consumers, key=self.sort_name)

    def sort_name(self, consumer: Consumer) -> bytes:
        """What consumers are sorted by."""
        name = consumer.name.casefold() if self.broker.switches.alphabet == "letters" else consumer.name
        return name.encode("utf-8", "surrogateescape")

    # Acknowledging

    def ack(self, at: int) -> None:
        """An entry is done with."""
        if at < self.mark or at in self.acked:
            return
        self.settle(at)
        self.acked.add(at)
        while self.mark in self.acked:
            self.acked.remove(self.mark)
            self.again.pop(self.mark, None)
            self.mark += 1
        self.fresh = max(self.fresh, self.mark)
        self.topic.drop()

    def ack_upto(self, at: int) -> None:
        """An entry and everything before it is done with."""
        for each in range(self.mark, at + 1):
            self.ack(each)

    def ack_some(self, at: int, words: list[int]) -> None:
        """The batch indexes whose bits are clear in `words` are done with."""
        bits = sum((word & (1 << WORD) - 1) << WORD * number for number, word in enumerate(words))
        left = self.bits_left(at) & bits
        if left:
            self.left[at] = left
        else:
            self.ack(at)

    def bits_left(self, at: int) -> int:
        """The batch indexes that are not acknowledged, as bits."""
        return self.left.get(at, (1 << self.topic.entries[at].messages) - 1)

    def settle(self, at: int) -> None:
        """An entry is no longer pending, nor to be pushed again."""
        self.left.pop(at, None)
        owner = self.pending.pop(at, None)
        if owner is not None:
            owner.pending.pop(at, None)
        self.unrelease(at)

    def unrelease(self, at: int) -> None:
        """An entry need not be pushed again."""
        place = bisect_left(self.released, at)
        if place < len(self.released) and self.released[place] == at:
            del self.released[place]

    # Redelivering

    def redeliver(self, consumer: Consumer, wanted: list[int] | None) -> None:
        """Push again what this consumer has not acknowledged; `wanted` is None for all of it."""
        listed = list(consumer.pending) if wanted is None or self.rewinds else wanted
        listed = [at for at in listed if at in consumer.pending]
        delay = self.broker.switches.redelivery_delay_ms
        if not delay:
            self.release(listed)
            self.wake()
            return
        ms = self.broker.chance.randint(0, delay)
        if self.single:
            self.pause(ms)
        self.broker.later(ms, lambda: self.release_late(consumer, listed))

    @property
    def rewinds(self) -> bool:
        """True when a redelivery is of everything, whatever is listed. The seed recommends to obey the list."""
        obeys = self.broker.switches.recommended and self.broker.switches.profile == "seed"
        return self.single and self.broker.switches.exclusive_redelivery == "rewind" and not obeys

    def release_late(self, consumer: Consumer, listed: list[int]) -> None:
        """As `release`, after a while in which some may have been acknowledged."""
        self.release([at for at in listed if at in consumer.pending])
        self.wake()

    def release(self, listed: Iterable[int]) -> None:
        """Entries that were pending are to be pushed again."""
        for at in listed:
            owner = self.pending.pop(at, None)
            if owner is not None:
                owner.pending.pop(at, None)
                insort(self.released, at)

    # Dispatching

    def pause(self, ms: float) -> None:
        """Push nothing for a while."""
        if ms:
            self.paused_until = max(self.paused_until, self.broker.now + ms)
            self.broker.later(ms, self.wake)

    def wake(self) -> None:
        """Something may be there to push, and somebody to push it to."""
        if not self.consumers or self._woken:
            return
        delay = self.broker.switches.dispatch_delay_ms
        if delay:
            self._woken = True
            self.broker.later(self.broker.chance.randint(0, delay), self.woken)
        else:
            self.dispatch()

    def woken(self) -> None:
        """Dispatch, after a while."""
        self._woken = False
        self.dispatch()

    def dispatch(self) -> None:
        """Push what may be pushed."""
        if self.paused_until > self.broker.now:
            return
        counts = self.broker.switches.recommended and self.broker.switches.profile == "seed"  # permits are of messages
        if self.broker.switches.batch_permits == "window" and not counts:
            for consumer in self.consumers:
                consumer.window = max(0, consumer.permits)
        pushed, burst = 0, self.broker.switches.burst
        while (choice := self.next_delivery()) is not None:
            if self.broker.switches.batch_permits == "whole" and self.too_large(*choice):
                break
            if burst and pushed == burst:
                self._woken = True
                self.broker.later(1, self.woken)
                break
            consumer, at = choice
            self.push(consumer, at)
            if not consumer.session.understands(self.topic.entries[at]):
                break  # it leaves, now or soon, and wakes the others
            pushed += 1
        for consumer in self.consumers:
            consumer.window = 0

    def too_large(self, consumer: Consumer, at: int) -> bool:
        """True for a batch that brings more messages than are permitted."""
        return self.cost(at, self.topic.entries[at]) > consumer.permits

    def next_delivery(self) -> tuple[Consumer, int] | None:
        """Who gets which entry next."""
        ready = [each for each in self.eligible() if each.ready]
        if not ready:
            return None
        if self.kind == KEY_SHARED:
            return self.next_keyed()
        at = self.next_entry()
        return None if at is None else (self.choose(ready), at)

    def eligible(self) -> list[Consumer]:
        """Who may receive."""
        if self.single:
            return [self.active] if self.active else []
        return self.consumers

    def next_entry(self) -> int | None:
        """The entry that is pushed next."""
        while self.fresh in self.acked:
            self.fresh += 1
        some = self.fresh < len(self.topic.entries)
        if not self.released:
            return self.fresh if some else None
        if self.single or not some:
            return self.next_released()
        how = self.broker.switches.redelivered
        if how == "last" or (how == "mixed" and self.broker.chance.random() < 0.5):
            return self.fresh
        return self.next_released()

    def next_released(self) -> int:
        """The entry that is pushed again next."""
        how = self.broker.switches.redelivery_order
        if self.single or how == "oldest":
            return self.released[0]
        return self.released[-1] if how == "newest" else self.broker.chance.choice(self.released)

    def choose(self, ready: list[Consumer]) -> Consumer:
        """Which of several consumers gets an entry."""
        how = self.broker.switches.shared_order
        if how == "first" or len(ready) == 1:
            return ready[0]
        if how == "random":
            return self.broker.chance.choice(ready)
        if how == "most-permits":
            return max(ready, key=lambda each: each.permits)
        if how == "fewest-pending":
            return min(ready, key=lambda each: len(each.pending))
        self._turn += 1
        return ready[self._turn % len(ready)]

    def next_keyed(self) -> tuple[Consumer, int] | None:
        """Key_Shared: the first entry whose consumer can take it. Messages of one key keep their order."""
        holders = {self.topic.entries[at].key: owner for at, owner in self.pending.items()}
        passed: set[bytes] = set()
        fresh = (at for at in range(self.fresh, len(self.topic.entries)) if at not in self.acked)
        for count, at in enumerate([*self.released, *fresh]):
            if count == LOOK_AHEAD:
                return None
            key = self.topic.entries[at].key
            owner = holders.get(key) or self.keyed(key)
            if key not in passed and owner.ready:
                while self.fresh < at and at not in self.released:
                    if self.fresh not in self.acked and self.fresh not in self.released:
                        insort(self.released, self.fresh)
                    self.fresh += 1
                return owner, at
            passed.add(key)
        return None

    def keyed(self, key: bytes) -> Consumer:
        """The consumer of a key."""
        return self.consumers[zlib.crc32(key) % len(self.consumers)]

    def push(self, consumer: Consumer, at: int) -> None:
        """Send an entry to a consumer."""
        entry = self.topic.entries[at]
        if not consumer.session.understands(entry):
            consumer.session.give_up_on(consumer)
            return
        if at == self.fresh:
            self.fresh += 1
        self.unrelease(at)
        self.pending[at] = consumer
        consumer.pending[at] = None
        consumer.spend(self.cost(at, entry))
        consumer.pushed += 1
        count = self.again.get(at, 0)
        self.again[at] = count + 1
        consumer.session.deliver(consumer, entry, count, self.ack_set(at, entry))

    def messages_in(self, at: int, entry: Entry) -> int:
        """How many messages an entry brings: batch indexes that are acknowledged do not count."""
        return self.left[at].bit_count() if at in self.left else entry.messages

    def cost(self, at: int, entry: Entry) -> int:
        """The permits that an entry uses."""
        return entry.messages if self.broker.switches.part_permits == "all" else self.messages_in(at, entry)

    def ack_set(self, at: int, entry: Entry) -> list[int]:
        """The batch indexes that are still to be delivered, empty for all of them."""
        every = self.broker.switches.ack_sets == "all" and entry.batched
        if at not in self.left and not every:
            return []
        bits, words = self.left.get(at, (1 << entry.messages) - 1), []
        while bits:
            word = bits & (1 << WORD) - 1
            words.append(word - (1 << WORD) if word >> (WORD - 1) else word)
            bits >>= WORD
        return words
