"""What the rules of a client look at: an event in a state, with what was found out about it once."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from specs.codec import Malformed
from specs.events import Noise
from specs.lazy import lazy
from specs.pulsar.batches import messages, unbatch
from specs.pulsar.client.machine import COMMANDS, Life, Phase, Stage
from specs.pulsar.client.state import ClientState, Endpoint, Line, Payload, Redirect, Refusal, base
from specs.pulsar.frames import Frame

MANY = 200
"""Messages that a batch of a client has at most."""
SMALL = 1 << 16
"""A size that reads so when its octets are turned round, and over the limit when they are not, was turned round."""
GIVES_UP_MS = 1000
"""How long a client waits for us at least before it may say that what it was told has failed."""


class Turn(NamedTuple):
    """The state after an action on a connection, before the phase of the connection is written into it."""

    state: ClientState
    number: int
    phase: Any

    def settled(self) -> ClientState:
        """The state, with the phase that the machine gave. The client spoke: no phase is left behind since."""
        if not isinstance(self.phase, Phase):
            return self.state
        line = self.state.line(self.number)
        if line.phase is self.phase and not line.left:
            return self.state
        return self.state.with_line(self.number, line._replace(phase=self.phase, left=()))


class Case:
    """An action of the client on connection `number`, or beside all of them. `during` and `about`: see
    `specs.rules`."""

    during = ""

    def __init__(self, state: ClientState, number: int = -1) -> None:
        self.state, self.number = state, number
        self.profile = state.config.profile
        self.line: Line = state.line(number)
        self.phase: Phase = self.line.phase
        self.left = self.line.left
        self.about: Any = number

    def turn(self, state: ClientState, phase: Phase | None = None) -> Turn:
        """What an effect answers: the state after the action, in the same phase if no other one is given."""
        return Turn(state, self.number, self.phase if phase is None else phase)


IN_VAIN = 5
"""So many connections are more than a client needs that makes one for each of its requests."""


class Ended(Case):
    """A connection that the client closed."""

    @lazy
    def excused(self) -> bool:
        """True where the client may have a reason to close the connection, or nothing on it."""
        line, state = self.line, self.state
        keepalive = state.config.soonest_ms
        if keepalive and line.probe and line.low + GIVES_UP_MS >= keepalive:
            return True
        if not keepalive and line.unanswered:
            return True
        if line.misuse or line.over or line.begged or state.left or state.doubt or state.distrusts:
            return True
        return not any(end.line == self.number and end.alive for end in state.endpoints) and not self.in_vain

    @property
    def in_vain(self) -> bool:
        """True for the last of many connections on which whatever the client asked was answered, and nothing came of
        it (P-84): it was told to make something, and has asked for nothing to be made."""
        state = self.state
        if not state.told or state.endpoints or self.line.open or self.line.version is None:
            return False
        return sum(line.quit for line in state.lines.values()) + 1 >= IN_VAIN


class Living(Case):
    """Whether the client lives."""

    def __init__(self, state: ClientState) -> None:
        super().__init__(state)
        self.phase: Any = Life.RUNNING


class Look(Enum):
    """A LOOKUP of a topic: the first one, one that follows a redirect, one that begins anew after that, or one behind
    answers that may not have been heard."""

    FIRST = "first"
    FOLLOWS = "follows"
    ANEW = "anew"
    UNKNOWN = "unknown"


class Acked(NamedTuple):
    """One id of an ACK: what was to be refused of it, and why it may not be acknowledged ("" if it may). `upto`: all
    before it is meant as well; `part`: only a part of its entry is."""

    entry: tuple[int, int]
    refusal: Refusal | None
    wrong: str
    upto: bool
    part: bool


class Content(Enum):
    """Whether what is in a SEND can be read, and what stands in the way."""

    READ = "it can be read"
    COUNT = "the number of messages is another one"
    ENTRY = "a message says a wrong length"
    LAYOUT = "no messages lie there"
    APART = "the messages are not compressed as a whole"
    SIZE = "the size or the compression is another one"


class Match(Enum):
    """How a message in a SEND fits what the client was told to send."""

    FITS = "as told"
    UNASKED = "nobody asked for it"
    EARLY = "another one is first"
    CHANGED = "with other properties"
    OTHER_KEY = "with another key"
    OTHER_PARTITION = "the key went elsewhere before"


class Said(Case):
    """A frame of the client."""

    def __init__(self, state: ClientState, number: int, frame: Frame) -> None:
        super().__init__(state, number)
        self.frame, self.kind, self.body = frame, frame.kind, frame.body
        if self.kind in ("PRODUCER", "SUBSCRIBE"):
            self.about = -1 if self.before is None else self.before

    @lazy
    def meta(self) -> Any:
        """The metadata of a SEND; None when they cannot be read."""
        return self.frame.metadata()

    @property
    def foreign(self) -> bool:
        """True for a command that only a broker says."""
        return self.kind not in COMMANDS and self.kind != "CONNECT"

    # -- LOOKUP

    @property
    def redirect(self) -> Redirect | None:
        """The redirect of the topic that is open."""
        return self.state.redirects.get(self.body.topic)

    @property
    def look(self) -> Look:
        """Which LOOKUP of its topic this is."""
        redirect = self.redirect
        if self.state.sought(self.body.topic):
            return Look.UNKNOWN
        if redirect is None:
            return Look.FIRST
        return Look.ANEW if redirect.followed and not self.body.authoritative else Look.FOLLOWS

    # -- PRODUCER, SUBSCRIBE

    @property
    def made(self) -> str:
        """What is asked for: a producer or a consumer."""
        return "producer" if self.kind == "PRODUCER" else "consumer"

    @property
    def made_id(self) -> int:
        """The id that it gets."""
        return int(self.body.producer_id if self.kind == "PRODUCER" else self.body.consumer_id)

    @lazy
    def before(self) -> int | None:
        """The index of the producer or consumer of the topic that was lost, and is made again."""
        return next((at for at, end in enumerate(self.state.endpoints) if end.kind == self.made
                     and end.topic == self.body.topic and end.stage is Stage.LOST), None)  # fmt: skip

    @lazy
    def partition(self) -> tuple[int | None, int | None]:
        """Which partition the topic is, and how many partitions the topic has; None where there is none, or unknown.
        What is made again is what it was, whatever was told of the topic since."""
        topic, partition = base(self.body.topic)
        if self.state.sought(topic) or self.before is not None:
            return partition, None
        return partition, self.state.partitions.get(topic if partition is not None else self.body.topic)

    @property
    def elsewhere(self) -> frozenset[str]:
        """The addresses that lookups named for the topic, where it matters which one is gone to."""
        named = self.state.named.get(self.body.topic, frozenset())
        if self.state.sought(self.body.topic):
            return frozenset()
        return named if self.line.place or self.state.address not in named else frozenset()

    # -- FLOW, ACK

    @lazy
    def consumer(self) -> Any:
        """The consumer that a FLOW or ACK is about; None when there is none, of which the first form of each speaks."""
        at = self.state.endpoint("consumer", self.number, self.body.consumer_id)
        return None if at is None else self.state.endpoints[at]

    @lazy
    def acked(self) -> list[Acked]:
        """The ids of an ACK."""
        found = []
        known = self.state.refused
        if self.body.HasField("validation_error"):  # to say so twice does no harm
            known += self.state.refused_before
        for each in self.body.message_id:
            entry = (each.ledgerId, each.entryId)
            refusal = next((one for one in known if one.entry == entry), None)
            upto = self.body.ack_type == 1
            part = bool(each.ack_set) or (each.HasField("batch_index") and each.batch_index >= 0)
            wrong = ""
            if refusal is None and not self.body.HasField("validation_error"):
                wrong = self._early(entry, upto=upto, part=part)
            found.append(Acked(entry, refusal, wrong, upto, part))
        return found

    def settled(self, each: Acked) -> frozenset[tuple[int, int]]:
        """The entries that one id of an ACK acknowledges wholly."""
        end, upto = self.consumer, each.upto and each.refusal is None
        if end is None:
            return frozenset()
        before = {entry for entry, topic in self.state.pushed.items() if topic == end.topic and entry < each.entry}
        return frozenset((before if upto else set()) | (set() if each.part else {each.entry}))

    @property
    def again_ids(self) -> frozenset[tuple[int, int]]:
        """The entries that are asked for again; none for all of them."""
        return frozenset((each.ledgerId, each.entryId) for each in self.body.message_ids)

    @lazy
    def refusing(self) -> tuple[str, str, tuple[str, ...]]:
        """What an ACK makes of messages that cannot be read: the requirement, why it is broken, and what else is by
        that."""
        given, held = self.body.validation_error, ""
        for each in self.acked:
            if each.refusal is None:
                continue
            unreadable, row = each.refusal.unreadable, each.refusal.oddity.row
            held = unreadable.refused
            if not self.body.HasField("validation_error"):
                # what can be read of it may have been given to the application, and acknowledged by it
                kept = () if each.entry in self.state.released or unreadable.kept == held else (unreadable.kept,)
                return (
                    held,
                    f"the message {each.entry} cannot be read, and was acknowledged like any other",
                    (*kept, row),
                )
            if given != unreadable.error:
                return held, f"acknowledged with validation_error {given}, not {unreadable.error}", (row,)
        return held, "", ()

    def _early(self, entry: tuple[int, int], *, upto: bool, part: bool) -> str:
        """Why the consumer may not acknowledge this, or all up to it: "" if it may."""
        state, end = self.state, self.consumer
        if end is None:
            return ""
        if state.pushed.get(entry, end.topic) != end.topic:
            return f"ACK of {entry} by the consumer of {end.topic}, it was pushed on {state.pushed[entry]}"
        if part and entry in state.released:
            return ""
        if upto and entry not in state.wholly and any(entry < other for other in state.released):
            # of a batch that is not done with, what comes before it is acknowledged: the id of that may be a guess
            waiting = {each.name.entry for each in end.queue if each.sure}
            early = sorted(name for name in waiting | (state.released - state.wholly) if name <= entry)
            return f"ACK of all up to {entry}, the application has not acknowledged {early[0]}" if early else ""
        if entry not in state.released:
            return f"ACK of {entry} before the application has acknowledged it"
        if entry not in state.wholly:
            return f"ACK of all of the batch {entry}, the application has acknowledged part of it"
        return self._before(entry, end) if upto else ""

    def _before(self, entry: tuple[int, int], end: Endpoint) -> str:
        """Why not all up to this may be acknowledged."""
        state = self.state
        given = {name.entry for _, name in state.refs.values()} | {each.name.entry for each in end.queue if each.sure}
        early = sorted(name for name in given - state.wholly if name < entry and state.pushed.get(name) == end.topic)
        return f"ACK of all up to {entry}, the application has not acknowledged {early[0]}" if early else ""

    # -- SEND

    @lazy
    def producer_at(self) -> int | None:
        """The index of the producer that a SEND is of, unless it was lost."""
        stages = (Stage.OPEN, Stage.ASKED, Stage.PENDING, Stage.CLOSED)
        return self.state.endpoint("producer", self.number, self.body.producer_id, *stages)

    @lazy
    def producer(self) -> Any:
        """The producer that a SEND is of, unless it was lost; None when there is none, as for `consumer`. The first
        SEND shows whether it is one that was to be closed when it was lost, and has come back."""
        if self.producer_at is None:
            return None
        end = self.state.endpoints[self.producer_at]
        others = () if end.sent else end.others
        return next((back for other in others if (back := self._come_back(end, self.state.endpoints[other]))), end)

    def _come_back(self, end: Endpoint, lost: Endpoint) -> Endpoint | None:
        """A producer as one that was lost and goes on with this SEND: what had no receipt is sent again, or else what
        is next."""
        sequence, payloads = self.body.sequence_id, [item.payload for item in self.contents[0][:1]]
        first = next((sent for sent in lost.sent if lost.resend and sent.sequence == lost.resend[0]), None)
        asked = any(each.payload in payloads for each in self.state.payloads)
        if first is not None and first.sequence == sequence and first.payload in payloads and not asked:
            return end._replace(sent=lost.sent, resend=lost.resend, next=lost.next)
        return end._replace(sent=lost.sent, next=lost.next) if sequence == lost.following else None

    @lazy
    def contents(self) -> tuple[list[Any], str]:
        """The messages in a SEND, and why they cannot be read ("" if they can)."""
        try:
            return messages(self.frame), ""
        except Malformed as malformed:
            return [], malformed.why

    @property
    def batched(self) -> bool:
        """True when a SEND carries a batch."""
        return bool(self.meta.HasField("num_messages_in_batch"))

    @property
    def chunked(self) -> bool:
        """True for a part of a message that is too large for this broker."""
        return bool(self.line.limit) and self.meta.HasField("num_chunks_from_msg") and self.meta.num_chunks_from_msg > 1

    @property
    def keyed(self) -> bool:
        """True for a message for a partition, with a key that has been used before: only that can go elsewhere."""
        end = self.producer
        topic, partition = base(end.topic) if end is not None else ("", None)
        if partition is None:
            return False
        return any((topic, item.meta.partition_key) in self.state.keys for item in self.contents[0])

    @lazy
    def content(self) -> Content:
        """Whether what is in a SEND can be read."""
        why = self.contents[1]
        if not why:
            return Content.READ
        if self.meta.compression:
            if self.batched and _lies_there(self.frame.payload, self.meta.num_messages_in_batch):
                return Content.APART
            if not why.startswith("batch"):
                return Content.SIZE
        elif self.batched and any(_lies_there(self.frame.payload, n) for n in range(1, MANY)):
            return Content.COUNT
        return Content.SIZE if why == "uncompressed-size" else (
            Content.ENTRY if why == "batch-payload-size" else Content.LAYOUT
        )  # fmt: skip

    @property
    def again(self) -> bool:
        """True for a SEND of a producer that has messages to send again."""
        return bool(self.producer and self.producer.resend)

    @lazy
    def expected(self) -> int | None:
        """The sequence id that is next; None where nobody knows."""
        end: Endpoint = self.producer
        return end.following

    @lazy
    def fit(self) -> tuple[Match, str, tuple[Payload, ...], dict[tuple[str, str], str]]:
        """How the messages fit what the client was told to send, why one does not, what remains to be sent, and
        where keys went."""
        end, left = self.producer, list(self.state.payloads)
        keys = dict(self.state.keys)
        assert end is not None
        topic, partition = base(end.topic)
        for item in self.contents[0]:
            at = next((i for i, one in enumerate(left) if one.payload == item.payload and one.topic == topic), None)
            if at is None:
                return Match.UNASKED, f"a message that nobody asked for: {item.payload[:60]!r}", (), keys
            told = left.pop(at)
            if partition is None and any(one.topic == topic and one.owed for one in left[:at]):
                return Match.EARLY, "messages are not sent in the order of the application", (), keys
            given = {each.key: each.value for each in item.meta.properties}
            if given != told.properties or len(item.meta.properties) != len(told.properties):
                why = f"the properties {told.properties!r:.200} were sent as {given!r:.200}"
                return Match.CHANGED, why, (), keys
            key = item.meta.partition_key if item.meta.HasField("partition_key") else None
            if (key or None) != (told.key or None):
                return Match.OTHER_KEY, f"the key {told.key!r} was sent as {key!r}", (), keys
            if told.key:
                where = keys.setdefault((topic, told.key), end.topic)
                if partition is not None and where != end.topic:
                    why = f"messages with the key {told.key!r} go to {where} and {end.topic}"
                    return Match.OTHER_PARTITION, why, (), keys
                keys[topic, told.key] = end.topic
        return Match.FITS, "", tuple(left), keys


def _lies_there(data: bytes, count: int) -> bool:
    """True when these octets are a batch of so many messages."""
    try:
        unbatch(data, count)
    except Malformed:
        return False
    return True


class Garbled(Case):
    """Octets of the client that are no frame."""

    def __init__(self, state: ClientState, event: Noise) -> None:
        super().__init__(state, event.conn)
        size = int.from_bytes(event.data[:4], "little")
        self.reversed = event.why == "over-limit" and 4 < size < SMALL
        self.action = "reverses" if self.reversed else _GARBAGE.get(event.why, "garbles")


_GARBAGE = {"over-limit": "exceeds", "command-size": "miscounts"}
