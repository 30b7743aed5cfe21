"""The acceptor of a client: what it sends for what it was told, and what it reports.

Source: 001_c0ea8805bb7ed422.txt. What the tester tells the client stands in the trace as a Fact of the broker. A client
does one thing after the other; while it waits for the broker nothing is owed. Its connections are numbered in the order
in which it opens them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from specs.codec import Malformed
from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import Allow, Breach, Outcome
from specs.pulsar.batches import messages, unbatch
from specs.pulsar.frames import MAX_TOTAL, NOBODY, Frame
from specs.pulsar.states import Config, P

FAMILY = {"LOOKUP": "lookup", "PARTITIONED_METADATA": "metadata"}
"""Request ids are unique within LOOKUP, within PARTITIONED_METADATA, and within the rest."""
ASKING = ("PRODUCER", "SUBSCRIBE", "UNSUBSCRIBE", "CLOSE_PRODUCER", "CLOSE_CONSUMER", "LOOKUP", "PARTITIONED_METADATA",
          "SEEK", "GET_LAST_MESSAGE_ID", "CONSUMER_STATS")  # fmt: skip
ANSWERING = {"PRODUCER_SUCCESS", "SUCCESS", "ERROR", "LOOKUP_RESPONSE", "PARTITIONED_METADATA_RESPONSE"}
SINCE = {
    "PING": 1, "PONG": 1, "REDELIVER_UNACKNOWLEDGED_MESSAGES": 2, "CONSUMER_STATS": 8, "GET_LAST_MESSAGE_ID": 12,
    "GET_TOPICS_OF_NAMESPACE": 12, "AUTH_RESPONSE": 14, "GET_SCHEMA": 13, "GET_OR_CREATE_SCHEMA": 15,
}  # fmt: skip
"""Commands that a broker of an older version does not know. SEEK came without a version of its own."""
FROM_CLIENT = {*ASKING, *SINCE, "CONNECT", "SEND", "FLOW", "ACK"}
EARLIEST_MS, LATEST_MS = 1_577_836_800_000, 4_102_444_800_000
"""2020 and 2100: no clock that runs shows another publish time. In seconds or microseconds it is far outside."""
MAX_REDIRECTS = 25
OPS = (
    "connect",
    "producer",
    "send",
    "send_async",
    "await",
    "subscribe",
    "receive",
    "ack",
    "redeliver",
    "close",
    "disconnect",
)
_PARTITION = re.compile(r"(.*)-partition-(\d+)")


class Line(NamedTuple):
    """A connection. `version`: what we advertised; `announced`: what the client did. `open`: its requests
    that we did     not answer, by (family, id). `odd`: we said what may end it; `must`: the rule
    by which it has to end. `probe`: the client sent a PING and we said nothing since, for `low` ms at least."""

    greeted: bool = False
    welcomed: bool = False
    announced: int = 0
    version: int = 0
    limit: int = 0
    open: tuple[tuple[str, int, str], ...] = ()
    used: frozenset[tuple[str, int]] = frozenset()
    pings: int = 0
    over: bool = False
    odd: str = ""
    must: str = ""
    probe: bool = False
    pinged: bool = False
    low: int = 0


class End(NamedTuple):
    """A producer or consumer of the client. `phase`: "asked", "open", "lost", "closed". `sent`: (sequence id,
    payloads, receipted) of a producer's SENDs in order. `queue`: messages pushed to a consumer, not given to the
    application."""

    kind: str
    topic: str
    line: int
    id: int
    request: int
    name: str = ""
    wanted: str = ""
    phase: str = "asked"
    next: int | None = None
    sent: tuple[tuple[int, int, bool, bytes], ...] = ()
    granted: int = 0
    pushed: int = 0
    size: int = 0
    queue: tuple[Any, ...] = ()
    resend: tuple[int, ...] = ()
    ready: bool = True
    forced: bool = False


class ClientState(NamedTuple):
    """`told`: commands not reported yet, as (op, value). `partitions` by topic; `looked`: topics whose LOOKUP was
    answered with Connect and that were not created since. `want`: topics that the client must open, with how many
    endings. `refs`: what the application was given, by ref. `unacked`: message ids whose acknowledgement was asked
    for and not seen; `released` all that was acknowledged by the application, of batches in `parts`. `refused`: what
    must be acknowledged with a validation_error, as (id, error, rules). `accepted`: connections that the client is
    known to have opened."""

    config: Config
    lines: Mapping[int, Line] = {}
    told: tuple[tuple[str, Any], ...] = ()
    ends: tuple[End, ...] = ()
    handles: Mapping[str, tuple[str, str]] = {}
    partitions: Mapping[str, int] = {}
    looked: frozenset[str] = frozenset()
    redirects: Mapping[str, tuple[bool, int]] = {}
    asked: frozenset[str] = frozenset()
    refs: Mapping[str, tuple[str, Any]] = {}
    unacked: tuple[tuple[Any, bool], ...] = ()
    refused: tuple[tuple[Any, int, str], ...] = ()
    payloads: tuple[Any, ...] = ()
    parts: frozenset[Any] = frozenset()
    released: frozenset[Any] = frozenset()
    odd: bool = False
    doubt: bool = False
    left: bool = False
    tried: frozenset[str] = frozenset()
    address: str = ""
    elsewhere: Mapping[str, int] = {}
    unread: tuple[str, ...] = ()
    bad: frozenset[str] = frozenset()
    keys: Mapping[tuple[str, str], str] = {}
    accepted: int = 0

    @property
    def beyond(self) -> bool:
        """True while the client has a connection on which nobody listens: it may wait for an answer there."""
        return self.accepted > sum(line.greeted for line in self.lines.values())

    def line(self, number: int) -> Line:
        """A connection, be it new."""
        return self.lines.get(number) or Line()

    def put(self, number: int, line: Line) -> ClientState:
        """The state with one connection changed."""
        return self._replace(lines={**self.lines, number: line})

    def put_end(self, at: int, end: End) -> ClientState:
        """The state with one producer or consumer changed."""
        return self._replace(ends=(*self.ends[:at], end, *self.ends[at + 1 :]))


def ids(names: str) -> tuple[str, ...]:
    """Full requirement ids from short ones separated by blanks."""
    return tuple(P + name for name in names.split())


def blame(short: str, why: str, then: ClientState | None = None, level: str | None = None, also: str = "") -> Breach:
    """A breach of the client; judging goes on when the state after it is known."""
    if then is None:
        return Breach("client", P + short, why, level=level, also=ids(also))
    return Breach("client", P + short, why, then=then, level=level, also=ids(also))


def base(topic: str) -> tuple[str, int | None]:
    """A topic and its partition."""
    found = _PARTITION.fullmatch(topic)
    return (found[1], int(found[2])) if found else (topic, None)


class ClientModel:
    """See the module."""

    drifts = False

    def initial(self, config: Any) -> ClientState:
        """Nothing done."""
        return ClientState(config)

    def drift(self, state: ClientState) -> Iterable[ClientState]:
        """None."""
        return ()

    def owed(self, state: ClientState, role: str) -> Iterator[str]:
        """What the client has still to say."""
        if role == "client":
            for rule, _, _ in due(state):
                yield P + rule

    def step(self, state: ClientState, event: Event) -> Iterable[Outcome]:
        """One reading always."""
        if isinstance(event, Said):
            if event.by == "client":
                return (_marked(state, heard(state, event.conn, event.frame)),)
            return (Allow(said(state, event.conn, event.frame)),)
        if isinstance(event, Quiet):
            return (_marked(state, _quiet(state, event)),)
        if isinstance(event, Closed):
            return (_marked(state, _closed(state, event)),)
        if isinstance(event, Noise):
            if event.by == "client":
                rule = "FRM-09" if event.why == "over-limit" else "FRM-02" if event.why == "command-size" else "FRM-05"
                return (blame(rule, f"the client sent octets that are no frame: {event.why}"),)
            return (Allow(_no_frame(state, event)),)
        return (_marked(state, _fact(state, event)),)


# -- what the tester says ----------------------------------------------------------------------------------------------


def _marked(state: ClientState, outcome: Outcome) -> Outcome:
    """The outcome; what is broken after something odd breaks the requirement of that oddity as well."""
    if isinstance(outcome, Breach) and state.tried:
        return replace(outcome, also=tuple(dict.fromkeys((*outcome.also, *ids(" ".join(sorted(state.tried)))))))
    return outcome


def _tried(state: ClientState, number: int) -> ClientState:
    """Something odd was said: the row of the table of invalid input."""
    return state._replace(tried=state.tried | {f"INV-CLIENT-{number:02}"})


def _spoil(state: ClientState, number: int, why: str, must: str = "") -> ClientState:
    line = state.line(number)
    return state._replace(odd=True).put(number, line._replace(odd=line.odd or why, must=line.must or must))


def _no_frame(state: ClientState, event: Noise) -> ClientState:
    """Octets of ours that are no frame: the connection must end, where the text leaves no doubt."""
    row, rule = {
        "over-limit": (15, "FRM-10"),
        "command-size": (17, "FRM-14"),
        "no-sub-message": (19, "INV-CLIENT-19"),
    }.get(event.why, (17, "FRM-13"))
    if event.data[:4] == bytes(4):
        row, rule = 16, "FRM-13"
    if event.why == "over-limit":
        state = state._replace(doubt=True)
    return _spoil(_tried(state, row), event.conn, f"octets that are no frame: {event.why}", rule)


def said(state: ClientState, number: int, frame: Frame) -> ClientState:
    """What the tester said as the broker."""
    line, kind, body = state.line(number)._replace(probe=False, low=0), frame.kind, frame.body
    state = state.put(number, line)
    if kind == "CONNECTED":
        if line.welcomed or not line.greeted:
            return _spoil(_tried(state._replace(doubt=True), 24), number, "CONNECTED out of place")
        limit = body.max_message_size if body.HasField("max_message_size") else 0
        return state.put(number, line._replace(welcomed=True, version=body.protocol_version, limit=limit))
    if not line.welcomed:
        row = {"ERROR": 26, "AUTH_CHALLENGE": 27, "PING": 28}.get(kind, 24)
        return _spoil(_tried(state._replace(doubt=True), row), number, f"{kind} before CONNECTED")
    if not frame.whole:
        state = _spoil(_tried(state._replace(doubt=True), 20), number, "two sub-messages in one command")
    if frame.odd and kind != "MESSAGE":
        return _spoil(_tried(state._replace(doubt=True), 18), number, frame.odd)
    if frame.broker is not None:
        state = _tried(state, 4)
    if kind == "PING":
        return state.put(number, line._replace(pings=line.pings + 1))
    if kind == "MESSAGE":
        return _push(state, number, frame)
    if kind == "SEND_RECEIPT":
        return _receipted(state, number, body)
    if kind in ("CLOSE_PRODUCER", "CLOSE_CONSUMER"):
        what = "producer" if kind == "CLOSE_PRODUCER" else "consumer"
        name = body.producer_id if what == "producer" else body.consumer_id
        for at, end in enumerate(state.ends):
            if (end.kind, end.line, end.id) == (what, number, name) and end.phase == "open":
                return _lose(state, at)
        return _tried(state, 23)._replace(odd=True)
    if kind == "SEND_ERROR":
        return _failed_send(state, number, body)
    if kind in ANSWERING:
        return _answer(state, number, frame)
    if kind in ("PONG", "ACK_RESPONSE", "ACTIVE_CONSUMER_CHANGE"):
        return state
    row = {"REACHED_END_OF_TOPIC": 25}.get(kind, 24)
    return _spoil(_tried(state._replace(doubt=True), row), number, f"{kind} from a broker")


def _failed_send(state: ClientState, number: int, body: Any) -> ClientState:
    """SEND_ERROR: the send fails, or is tried again on another connection."""
    state = _tried(state, 31 if body.error == 9 else 32)._replace(doubt=True)
    if body.error != 9:
        state = _spoil(state, number, "SEND_ERROR")
    return state


def _lose(state: ClientState, at: int, *, forced: bool = True) -> ClientState:
    end = state.ends[at]
    unsure = tuple((mid, item, good, False) for mid, item, good, _ in end.queue)
    resend = tuple(seq for seq, _, done, _ in end.sent if not done)
    state = state._replace(looked=state.looked - {end.topic})
    return state.put_end(
        at, end._replace(phase="lost", granted=0, pushed=0, queue=unsure, resend=resend, forced=forced)
    )


def _answer(state: ClientState, number: int, frame: Frame) -> ClientState:
    line, kind, body = state.line(number), frame.kind, frame.body
    if kind == "ERROR" and body.request_id == NOBODY:
        return _tried(state, 22)._replace(odd=True)
    family = {"LOOKUP_RESPONSE": "lookup", "PARTITIONED_METADATA_RESPONSE": "metadata"}.get(kind, "rest")
    asked = next((each for each in line.open if each[:2] == (family, body.request_id)), None)
    if asked is None:
        return _tried(state, 21)._replace(odd=True)
    topic = asked[2]
    pending = kind == "PRODUCER_SUCCESS" and body.HasField("producer_ready") and not body.producer_ready
    if not pending:
        state = state.put(number, line._replace(open=tuple(each for each in line.open if each is not asked)))
    if kind == "LOOKUP_RESPONSE":
        if body.response == 1 and body.brokerServiceUrl:
            state = state._replace(looked=state.looked | {topic})
            if state.address and body.brokerServiceUrl != f"pulsar://{state.address}":
                state = state._replace(elsewhere={**state.elsewhere, topic: number})
            redirects = {key: value for key, value in state.redirects.items() if key != topic}
            return state._replace(redirects=redirects)
        if body.response == 0 and body.brokerServiceUrl:
            count = state.redirects.get(topic, (False, 0))[1] + 1
            return state._replace(redirects={**state.redirects, topic: (body.authoritative, count)})
        return state._replace(doubt=True)
    if kind == "PARTITIONED_METADATA_RESPONSE":
        if body.response == 0 and body.HasField("response"):
            return state._replace(partitions={**state.partitions, topic: body.partitions})
        return state._replace(doubt=True)
    at = next((i for i, end in enumerate(state.ends) if (end.line, end.request) == (number, body.request_id)
               and end.phase == "asked"), None)  # fmt: skip
    if kind == "ERROR":
        what = "" if at is None else state.ends[at].kind
        state = _tried(state._replace(doubt=True), 34 if what == "producer" else 33)
        return state if at is None else state.put_end(at, state.ends[at]._replace(phase="closed"))
    if at is not None:
        end = state.ends[at]
        fields: dict[str, Any] = {"phase": "open", "ready": not pending}
        if kind == "PRODUCER_SUCCESS":
            if pending:
                return state.put_end(at, end._replace(ready=False))
            fields["name"] = body.producer_name
            if not end.sent:
                fields["next"] = body.last_sequence_id + 1 if body.HasField("last_sequence_id") else 0
        state = state._replace(looked=state.looked - {end.topic})
        return state.put_end(at, end._replace(**fields))
    return state


def _receipted(state: ClientState, number: int, body: Any) -> ClientState:
    for at, end in enumerate(state.ends):
        if (end.kind, end.line, end.id) == ("producer", number, body.producer_id):
            waiting = [i for i, sent in enumerate(end.sent) if not sent[2]]
            if waiting and end.sent[waiting[0]][0] == body.sequence_id:
                i = waiting[0]
                seq, count, _, payload = end.sent[i]
                return state.put_end(
                    at, end._replace(sent=(*end.sent[:i], (seq, count, True, payload), *end.sent[i + 1 :]))
                )
            if any(end.sent[i][0] == body.sequence_id for i in waiting):
                state = _tried(state._replace(doubt=True), 30)
                return _spoil(state, number, "a receipt ahead of the oldest message that is open", "SEND-15")
            return state._replace(odd=True)
    return _tried(state, 29)._replace(odd=True)


def _push(state: ClientState, number: int, frame: Frame) -> ClientState:
    body = frame.body
    mid = (body.message_id.ledgerId, body.message_id.entryId)
    at = next((i for i, end in enumerate(state.ends) if (end.kind, end.line, end.id, end.phase)
               == ("consumer", number, body.consumer_id, "open")), None)  # fmt: skip
    if frame.odd or frame.metadata() is None:
        row = 6 if not frame.rest and frame.headers is None else 3 if frame.rest[:2] == b"\x0e\x09" else 5
        state = _tried(state._replace(doubt=True), row)
        return _spoil(state, number, "a MESSAGE whose sizes lie", "FRM-14")
    if at is None:
        return _tried(state, 7)._replace(odd=True)
    end = state.ends[at]
    meta = frame.metadata()
    rule, error, items = "", 0, []
    if not frame.check:
        state = _tried(state, 2)
    if end.pushed >= end.granted:  # whoever has no room for it may drop it, or end the connection
        state = _tried(state._replace(doubt=True), 35)
    if frame.check == "bad":
        rule, error = "CHK-07 CHK-06", 2
        state = _tried(state, 1)
    else:
        try:
            items = messages(frame)
        except Malformed as malformed:
            if malformed.why.startswith("batch"):
                rule, error = "BAT-09 BAT-08", 3
                row = 12 if frame.payload[:1] >= b"\x7f" else 11
                if malformed.why == "batch-payload-size":
                    row = 14 if b"\xff\xff\xff" in frame.payload else 13
                state = _tried(state, row)
            elif malformed.why == "uncompressed-size":
                rule, error = "CMP-03 CMP-02", 0
                state = _tried(state, 10)
            else:
                rule, error = "CMP-02 CMP-02", 1
                state = _tried(state, 9 if meta.compression == 1 else 8)
    if rule:
        state = state._replace(
            refused=(*state.refused, (mid, error, rule)), odd=True, unread=(*state.unread, rule.split()[1])
        )
        count = meta.num_messages_in_batch if meta.HasField("num_messages_in_batch") else 1
        return state.put_end(at, end._replace(pushed=end.pushed + max(count, 1)))
    queue = list(end.queue)
    batched = meta.HasField("num_messages_in_batch")
    for n, item in enumerate(items):
        key = item.meta.partition_key if item.meta.HasField("partition_key") else None
        properties = tuple((each.key, each.value) for each in item.meta.properties)
        queue.append(((mid, n if batched else -1, len(items)), (item.payload, key, properties), batched, True))
    pushed = end.pushed + len(items)
    return state.put_end(at, end._replace(queue=tuple(queue), pushed=pushed))


# -- what the client sends ---------------------------------------------------------------------------------------------


def heard(state: ClientState, number: int, frame: Frame) -> Outcome:
    """What the client said."""
    line, kind = state.line(number), frame.kind
    if not frame.whole:
        return blame("FRM-05", f"{kind} with more than one sub-message")
    if frame.odd:
        return blame("FRM-03" if kind != "SEND" else "FRM-14", f"{kind}: {frame.odd}")
    if frame.size > MAX_TOTAL:
        return blame("FRM-09", "a frame over the maximum")
    covers = ids("FRM-01 FRM-02 FRM-03 FRM-05 FRM-09")
    if not line.greeted:
        if kind != "CONNECT":
            return blame("CONN-01", f"the first frame is {kind}")
        line = line._replace(greeted=True, announced=frame.body.protocol_version)
        return Allow(state.put(number, line), covers + ids("CONN-01"))
    if kind == "CONNECT":
        return blame("CONN-01", "a second CONNECT")
    if line.odd:
        return Allow(state)
    if not line.welcomed:
        return blame("CONN-03", f"{kind} before CONNECTED")
    if kind not in FROM_CLIENT:
        return blame("VER-02", f"{kind} from a client")
    if SINCE.get(kind, 0) > line.version and kind != "PONG":
        return blame("VER-02", f"{kind} to a broker of version {line.version}")
    outcome = _spoken(state, number, frame)
    if isinstance(outcome, Allow):
        more = ids("CONN-03 VER-02") + (ids("FRM-13 REQ-04") if state.odd else ())
        return Allow(outcome.state, covers + outcome.covers + more, outcome.lapses)
    return outcome


def _spoken(state: ClientState, number: int, frame: Frame) -> Outcome:
    line, kind, body = state.line(number), frame.kind, frame.body
    if kind == "PONG":
        if not line.pings:
            return blame("KA-01", "PONG without a PING")
        return Allow(state.put(number, line._replace(pings=line.pings - 1)), ids("KA-01 KA-09"))
    if kind == "PING":
        return Allow(state.put(number, line._replace(probe=True, pinged=True)))
    covers: tuple[str, ...] = ()
    if kind in ASKING:
        family = FAMILY.get(kind, "rest")
        if (family, body.request_id) in line.used:
            return blame("PROD-04", f"the request id {body.request_id} is used twice")
        about = body.topic if kind in ("PRODUCER", "SUBSCRIBE", "LOOKUP", "PARTITIONED_METADATA") else ""
        line = line._replace(
            open=(*line.open, (family, body.request_id, about)), used=line.used | {(family, body.request_id)}
        )
        state = state.put(number, line)
        covers = ids("PROD-04")
    match kind:
        case "LOOKUP":
            return _looks_up(state, body, covers)
        case "PARTITIONED_METADATA":
            lapses = []
            if any(base(end.topic)[0] == body.topic for end in state.ends if end.phase == "lost") and not state.told:
                lapses.append(blame("PART-04", "the number of partitions is asked again after a reconnect", state))
            return Allow(state, covers + ids("PART-04"), tuple(lapses))
        case "PRODUCER" | "SUBSCRIBE":
            return _creates(state, number, kind, body, covers)
        case "SEND":
            return _sends(state, number, frame)
        case "FLOW":
            return _flows(state, number, body)
        case "ACK":
            return _acks(state, number, body)
        case _:
            what = {"CLOSE_PRODUCER": "producer", "CLOSE_CONSUMER": "consumer"}.get(kind)
            name = getattr(body, f"{what}_id", None)
            for at, end in enumerate(state.ends):
                if (end.kind, end.line, end.id) == (what, number, name) and end.phase != "closed":
                    return Allow(state.put_end(at, end._replace(phase="closed")), covers)
            return Allow(state, covers)


def _looks_up(state: ClientState, body: Any, covers: tuple[str, ...]) -> Outcome:
    if body.topic in state.redirects:
        wanted, count = state.redirects[body.topic]
        if body.authoritative != wanted:
            return blame("LOOK-04", f"redirected with authoritative={wanted}, asked with {body.authoritative}")
        if count > MAX_REDIRECTS:
            return blame("LOOK-07", f"{count} redirects were followed")
        return Allow(state, covers + ids("LOOK-04 LOOK-07"))
    if body.authoritative:
        return blame("LOOK-03", "the first lookup is authoritative")
    return Allow(state, covers + ids("LOOK-03"))


def _creates(state: ClientState, number: int, kind: str, body: Any, covers: tuple[str, ...]) -> Outcome:
    what = "producer" if kind == "PRODUCER" else "consumer"
    name = body.producer_id if what == "producer" else body.consumer_id
    rule = "PROD-03" if what == "producer" else "SUB-04"
    if any(
        (end.kind, end.line, end.id) == (what, number, name) and end.phase in ("open", "asked") for end in state.ends
    ):
        if what == "producer" and any(
            (end.kind, end.line, end.id, end.topic, end.phase) == (what, number, name, body.topic, "asked")
            for end in state.ends
        ):
            return blame("PROD-11", "a producer is asked for again without CLOSE_PRODUCER")
        return blame(rule, f"the {what} id {name} is used twice")
    covers += ids(rule)
    if any((end.kind, end.topic, end.phase) == (what, body.topic, "closed") for end in state.ends):
        covers += ids("PROD-11")
    topic, partition = base(body.topic)
    count = state.partitions.get(topic if partition is not None else body.topic)
    if partition is None and count:
        return blame("PART-02", f"{kind} for a topic with {count} partitions")
    if partition is not None and count is not None and partition >= count and body.topic not in state.partitions:
        return blame("PART-02" if count else "PART-03", f"{kind} for partition {partition} of {count}")
    covers += ids("PART-02") if count else ids("PART-03")
    if body.topic not in state.looked:
        return blame("LOOK-01", f"{kind} without a lookup of {body.topic}")
    covers += ids("LOOK-01") + (ids("LOOK-05") if body.topic in state.elsewhere else ())
    at = next((i for i, end in enumerate(state.ends) if end.kind == what and end.topic == body.topic
               and end.phase == "lost"), None)  # fmt: skip
    lapses: list[Breach] = []
    if state.elsewhere.get(body.topic) == number:  # two names of one address: nobody could demand two connections
        why = f"{kind} on the connection of the lookup, which named another URL"
        lapses.append(blame("LOOK-05", why, state, level="SHOULD"))
    if at is not None:
        end = state.ends[at]
        covers += ids("SUB-03 CLC-02" if what == "consumer" else "CLP-06 CLP-07")
        if what == "producer" and end.name and body.producer_name != end.name:
            lapses.append(
                blame("PROD-07", f"created again with the name {body.producer_name!r}, it had {end.name!r}", state)
            )
        elif what == "producer":
            covers += ids("PROD-07")
        end = end._replace(line=number, id=name, request=body.request_id, phase="asked")
        return Allow(state.put_end(at, end), covers, tuple(lapses))
    wanted = body.producer_name if what == "producer" else body.subscription
    end = End(what, body.topic, number, name, body.request_id, wanted=wanted, size=_permits(state, topic))
    return Allow(state._replace(ends=(*state.ends, end)), covers, tuple(lapses))


def _permits(state: ClientState, topic: str) -> int:
    for op, value in state.told:
        if op == "subscribe" and isinstance(value, dict) and value.get("topic") == topic:
            return int(value.get("permits", 0))
    return 0


def _sends(state: ClientState, number: int, frame: Frame) -> Outcome:
    line, body, meta = state.line(number), frame.body, frame.metadata()
    at = next(
        (
            i
            for i, end in enumerate(state.ends)
            if (end.kind, end.line, end.id) == ("producer", number, body.producer_id)
            and end.phase in ("open", "asked", "closed")
        ),
        None,
    )
    if at is None:
        if any((end.kind, end.line, end.id) == ("producer", number, body.producer_id) for end in state.ends):
            return Allow(state)  # it may not have read yet that its producer is closed
        return blame("SEND-01", f"SEND for producer {body.producer_id}, which was never created")
    end = state.ends[at]
    if end.phase == "asked":
        return blame("PROD-01" if end.ready else "PROD-13", "SEND before PRODUCER_SUCCESS")
    if meta is None:
        return blame("MD-01", "SEND whose metadata lack a required field")
    wrong = _framed(line, frame, meta)
    if wrong is not None:
        return wrong
    covers = list(ids("PROD-13") if end.name else ())
    covers += list(ids("PROD-01 SEND-01 MD-01 MD-02 FRM-04 FRM-14"))
    covers += ids("CHK-01 CHK-02 CHK-03") if frame.check else ids("CHK-09")
    lapses: list[Breach] = []
    if meta.producer_name != end.name or meta.sequence_id != body.sequence_id:
        why = f"metadata say {meta.producer_name!r} {meta.sequence_id}, it is {end.name!r} {body.sequence_id}"
        lapses.append(blame("MD-06", why, state))
    covers += ids("MD-06")
    covers += ids("FRM-11") if line.limit else ()
    covers += ids("FRM-08") if frame.size > 4_900_000 else ()
    batched = meta.HasField("num_messages_in_batch")
    try:
        items = messages(frame)
    except Malformed as malformed:
        rule = {"batch-rest": "BAT-02", "batch-payload-size": "BAT-03", "uncompressed-size": "MD-08"}.get(
            malformed.why, "BAT-02"
        )
        if meta.compression:
            rule = _compressed_apart(frame, meta) or ("MD-08" if not malformed.why.startswith("batch") else rule)
        return blame(rule, f"the payload of a SEND cannot be read: {malformed.why}")
    if meta.compression:
        covers += ids("MD-08") + (ids("BAT-04") if batched else ())
        if (meta.compression > 2 and line.version < 8) or line.version < 3:
            return blame("CMP-04", f"compression {meta.compression} to a broker of version {line.version}")
        covers += ids("CMP-04")
    if batched:
        covers += ids("BAT-01 BAT-02 BAT-03 BAT-05")
        if line.version < 4:
            return blame("VER-02", "a batch to a broker of version 3 or older")
    if body.num_messages != (len(items) if batched else 1):
        lapses.append(blame("BAT-05", f"num_messages is {body.num_messages}, {len(items)} are in it", state))
    return _sequenced(state, at, frame, items, covers, lapses)


def _framed(line: Line, frame: Frame, meta: Any) -> Outcome | None:
    version = min(line.version, line.announced)
    if frame.check == "bad":
        return blame("CHK-03", "the checksum of a SEND is wrong")
    if not frame.check and version >= 6:
        return blame("CHK-02", f"SEND without a checksum to a broker of version {line.version}")
    if frame.check and line.version < 6:
        return blame("CHK-09", f"SEND with a checksum to a broker of version {line.version}")
    if not EARLIEST_MS <= meta.publish_time <= LATEST_MS:
        return blame("MD-02", f"publish_time {meta.publish_time} is not now, in milliseconds since 1970")
    if line.limit and len(frame.headers or b"") + len(frame.payload) > line.limit:
        return blame("FRM-11", f"a message over max_message_size {line.limit}")
    return None


def _compressed_apart(frame: Frame, meta: Any) -> str:
    """BAT-04 when the messages of a batch are not compressed, or each by itself."""
    if not meta.HasField("num_messages_in_batch"):
        return ""
    try:
        unbatch(frame.payload, meta.num_messages_in_batch)
    except Malformed:
        return ""
    return "BAT-04"


def _sequenced(
    state: ClientState, at: int, frame: Frame, items: Any, covers: list[str], lapses: list[Breach]
) -> Outcome:
    end, seq = state.ends[at], frame.body.sequence_id
    if end.resend:
        known = [each for each in end.sent if each[0] == seq]
        if seq not in end.resend and known and known[0][2]:
            return blame("SEND-14", f"the message {seq} was sent again although its receipt came")
        if seq != end.resend[0]:
            return blame("SEND-14", f"after the reconnect {seq} is sent, open is {end.resend[0]}")
        if known and items and known[0][3] != items[0].payload:
            return blame("SEND-14", f"the message {seq} was sent again with another payload")
        state = state.put_end(at, end._replace(resend=end.resend[1:]))
        return Allow(state, (*covers, *ids("SEND-14 SEND-03")), tuple(lapses))
    last = end.sent[-1] if end.sent else None
    if last is not None and seq <= last[0]:
        return blame("SEND-03", f"the sequence id {seq} follows {last[0]}")
    expected = end.next if last is None else last[0] + last[1]
    if last is None and end.next and seq != end.next:
        return blame("PROD-12", f"the first sequence id is {seq}, the last one of the name was {end.next - 1}")
    if expected is not None and seq != expected:
        lapses.append(blame("SEND-02", f"the sequence id is {seq}, {expected} is next", state))
    covers += ids("SEND-02 SEND-03") + (ids("PROD-12") if last is None and end.next else ())
    for item in items:
        wrong = _told_to_send(state, end, item)
        if wrong is not None:
            return wrong
        state = _sent(state, end, item)
    covers += ids("MD-05 MD-07") if any(item.meta.properties or item.meta.partition_key for item in items) else ()
    payload = items[0].payload if items else b""
    end = end._replace(sent=(*end.sent, (seq, max(len(items), 1), False, payload)))
    return Allow(state.put_end(at, end), tuple(dict.fromkeys(covers)), tuple(lapses))


def _find_send(state: ClientState, end: End, item: Any) -> tuple[int, Any] | None:
    for i, text in enumerate(state.payloads):
        topic, payload, key, properties = text
        if payload == item.payload and topic == base(end.topic)[0]:
            return i, (key, properties)
    return None


def _told_to_send(state: ClientState, end: End, item: Any) -> Outcome | None:
    """Why this message is not the one that the client was told to send."""
    found = _find_send(state, end, item)
    if found is None:
        return blame("FRM-04", f"a message that nobody asked for: {item.payload[:60]!r}")
    at, (key, properties) = found
    earlier = [text for text in state.payloads[:at] if text[0] == base(end.topic)[0]]
    if earlier and base(end.topic)[1] is None:
        return blame("FRM-15", "messages are not sent in the order of the application")
    given = {each.key: each.value for each in item.meta.properties}
    if given != properties or len(item.meta.properties) != len(properties):
        return blame("MD-05", f"the properties {properties!r:.200} were sent as {given!r:.200}")
    sent_key = item.meta.partition_key if item.meta.HasField("partition_key") else None
    if (sent_key or None) != (key or None):
        return blame("MD-05", f"the key {key!r} was sent as {sent_key!r}")
    if key and base(end.topic)[1] is not None:
        where = state.keys.get((base(end.topic)[0], key))
        if where is not None and where != end.topic:
            return blame("MD-07", f"messages with the key {key!r} go to {where} and {end.topic}")
    return None


def _sent(state: ClientState, end: End, item: Any) -> ClientState:
    found = _find_send(state, end, item)
    if found is None:
        return state
    at, (key, _) = found
    if key:
        state = state._replace(keys={**state.keys, (base(end.topic)[0], key): end.topic})
    return state._replace(payloads=(*state.payloads[:at], *state.payloads[at + 1 :]))


def _flows(state: ClientState, number: int, body: Any) -> Outcome:
    for at, end in enumerate(state.ends):
        if (end.kind, end.line, end.id) == ("consumer", number, body.consumer_id):
            if end.phase == "asked":
                return blame("FLOW-07", "FLOW before SUCCESS", level="SHOULD")
            if end.phase != "open":
                return Allow(state)
            if body.messagePermits == 0:
                return blame("FLOW-07", "FLOW of no permits")
            granted = end.granted + body.messagePermits
            given = end.pushed - len([1 for item in end.queue if item[3]])
            lapses = []
            if end.size and granted - given > end.size + 1:
                why = f"{granted} permits with {given} messages taken, the queue has room for {end.size}"
                lapses.append(blame("FLOW-07", why, state))
            return Allow(state.put_end(at, end._replace(granted=granted)), ids("FLOW-07"), tuple(lapses))
    return blame("SUB-04", f"FLOW for consumer {body.consumer_id}, which was never created")


def _acks(state: ClientState, number: int, body: Any) -> Outcome:
    line = state.line(number)
    end = next((each for each in state.ends if (each.kind, each.line, each.id)
                == ("consumer", number, body.consumer_id)), None)  # fmt: skip
    if end is None:
        return blame("ACK-13", f"ACK for consumer {body.consumer_id}, which was never created")
    if len(body.message_id) > 1 and line.version < 12:
        return blame("VER-06", f"several ids in one ACK to a broker of version {line.version}")
    covers = list(ids("VER-06"))
    for each in body.message_id:
        mid = (each.ledgerId, each.entryId)
        refused = next((one for one in state.refused if one[0] == mid), None)
        if refused is not None:
            state = state._replace(refused=tuple(one for one in state.refused if one is not refused))
            should, must = refused[2].split()
            if not body.HasField("validation_error"):
                return blame(
                    should, f"the message {mid} cannot be read, and was acknowledged like any other", state, also=must
                )
            if body.validation_error != refused[1]:
                why = f"acknowledged with validation_error {body.validation_error}, not {refused[1]}"
                return blame(should, why, state, level="SHOULD")
            covers += ids(f"{should} {must}")
            continue
        if body.HasField("validation_error"):
            return blame("ACK-13", f"the message {mid} was refused, nothing is wrong with it")
        if mid not in state.released:
            return blame("ACK-13", f"ACK of {mid} before the application has acknowledged it")
        covers += ids("ACK-13")
        upto = body.ack_type == 1
        keep = tuple(one for one in state.unacked if not (one[0] == mid or (upto and one[0] <= mid)))
        state = state._replace(unacked=keep)
    return Allow(state, tuple(dict.fromkeys(covers)))


# -- beside the wire ---------------------------------------------------------------------------------------------------


def _fact(state: ClientState, event: Fact) -> Outcome:
    if event.by == "broker":
        return Allow(_told(state, event.conn, event.name, event.value))
    if event.name == "address":
        return Allow(state._replace(address=str(event.value)))
    if event.name == "answer":
        return _reported(state, event.value)
    if event.name == "accepted":
        return Allow(state._replace(accepted=max(state.accepted, int(event.value))))
    if event.name == "exit":
        return blame("FRM-13", f"the client ended: {event.value}")
    return Allow(state)


def _told(state: ClientState, number: int, op: str, value: Any) -> ClientState:
    if op == "drop":
        return _lost(state, number)
    if op not in OPS:
        return state
    given = value if isinstance(value, dict) else {}
    state = state._replace(told=(*state.told, (op, given)))
    if op in ("send", "send_async"):
        topic = str(state.handles.get(str(given.get("producer")), ("", ""))[1])
        payload = bytes.fromhex(given.get("payload_hex", ""))
        item = (topic, payload, given.get("key"), dict(given.get("properties") or {}))
        state = state._replace(payloads=(*state.payloads, item))
    elif op == "ack":
        found = state.refs.get(str(given.get("ref")))
        if found is not None:
            state = _acking(state, found, cumulative=bool(given.get("cumulative")))
    elif op == "close":
        kind = "producer" if "producer" in given else "consumer"
        _, topic = state.handles.get(str(given.get(kind)), ("", ""))
        for at, end in enumerate(state.ends):
            if end.kind == kind and base(end.topic)[0] == topic and end.phase == "lost":
                state = state.put_end(at, end._replace(phase="closed"))
    elif op == "disconnect":
        state = state._replace(left=True)
    return state


def _acking(state: ClientState, found: tuple[str, Any], *, cumulative: bool) -> ClientState:
    """The application acknowledges: of a batch, the entry is due when all of it is acknowledged."""
    _topic, (mid, nth, count) = found
    done = state.parts | {(mid, nth)}
    released = state.released | {mid}
    if cumulative:
        given = {name for _, (name, _, _) in state.refs.values()}
        released |= {name for name in given if name <= mid}
        whole = nth < 0 or nth == count - 1
    else:
        whole = nth < 0 or all((mid, n) in done for n in range(count))
    unacked = (*state.unacked, (mid, cumulative)) if whole else state.unacked
    return state._replace(parts=done, released=released, unacked=unacked)


def _reported(state: ClientState, value: Any) -> Outcome:
    if not state.told:
        return Allow(state)
    (op, given), *rest = state.told
    state = state._replace(told=tuple(rest))
    failed = not isinstance(value, dict) or "ok" not in value
    if failed:
        excused = state.odd or state.doubt or state.left or state.beyond
        if excused or not isinstance(value, dict) or value.get("error") == "unsupported":
            return Allow(_forgive(state, op, given))
        if any(end.phase == "lost" for end in state.ends) or any(line.over for line in state.lines.values()):
            return Allow(_forgive(state, op, given))
        rule = {"send": "SEND-04", "receive": "FLOW-08"}.get(op, "REQ-03")
        rule = "REQ-03" if rule == "SEND-04" else rule
        return blame(rule, f"{op} failed: {value.get('error')!s:.200}")
    told = value["ok"]
    if op in ("producer", "subscribe"):
        kind = "producer" if op == "producer" else "consumer"
        topic = str(given.get("topic"))
        state = state._replace(handles={**state.handles, str(told): (kind, topic)})
        ends = [end for end in state.ends if end.kind == kind and base(end.topic)[0] == topic and end.phase != "closed"]
        wanted = max(state.partitions.get(topic, 0), 1)
        if len({end.topic for end in ends}) < wanted:
            return blame("PART-02", f"{op} of a topic with {wanted} partitions opened {len(ends)}")
        if any(end.phase == "asked" for end in ends):
            return blame(
                "PROD-01" if kind == "producer" else "REQ-03",
                f"{op} is said to be done before its answer came",
            )
        return Allow(state, ids("REQ-03"))
    if op == "receive":
        return _received(state, given, told)
    if op in ("send", "await"):
        return Allow(state, ids("REQ-03"))
    return Allow(state)


def _forgive(state: ClientState, op: str, given: Any) -> ClientState:
    """What a failed command would have led to is not due."""
    if op == "ack":
        return state._replace(unacked=())
    if op in ("send", "send_async", "await"):
        return state._replace(payloads=())
    return state


def _received(state: ClientState, given: Any, told: Any) -> Outcome:
    _kind, topic = state.handles.get(str(given.get("consumer")), ("consumer", ""))
    ends = [(at, end) for at, end in enumerate(state.ends) if end.kind == "consumer" and base(end.topic)[0] == topic]
    if told is None:
        for _, end in ends:
            for (mid, nth, _), _, batched, sure in end.queue:
                if sure and end.phase == "open":
                    rule = "BAT-07" if batched and nth >= 0 else "FLOW-08"
                    return blame(rule, f"the message {mid} did not reach the application")
        return Allow(state, ids("MSG-04") if state.odd else ())
    payload = bytes.fromhex(told.get("payload_hex", ""))
    for at, end in ends:
        for i, (name, item, batched, sure) in enumerate(end.queue):
            if item[0] != payload:
                continue
            if any(before[3] for before in end.queue[:i]):
                rule = "BAT-07" if batched else "FRM-15"
                return blame(rule, "messages reach the application in another order")
            wrong = _changed(item, told, batched=batched)
            if wrong is not None:
                return wrong
            end = end._replace(queue=end.queue[i + 1 :] if sure else (*end.queue[:i], *end.queue[i + 1 :]))  # noqa: PLW2901
            state = state.put_end(at, end)._replace(refs={**state.refs, str(told.get("ref")): (topic, name)})
            covers = ids("FRM-04 FLOW-08 MD-05 FRM-15 CHK-08")
            covers += ids("BAT-07 BAT-02 BAT-10") if batched else ()
            covers += ids("CHK-06 MSG-04 BAT-08 CMP-02") if state.odd else ()
            return Allow(state, covers)
    for rule in reversed(state.unread):
        return blame(rule, f"a message that cannot be read reached the application: {payload[:60]!r}")  # fmt: skip
    rule = "MSG-04" if state.odd else "FRM-04"
    return blame(rule, f"the application got a message that was not pushed: {payload[:60]!r}")  # fmt: skip


def _changed(item: Any, told: Any, *, batched: bool) -> Outcome | None:
    _, key, properties = item
    rule = "BAT-07" if batched else "MD-05"
    given = told.get("properties") or {}
    if given != dict(properties):
        return blame(rule, f"the properties {properties!r:.200} reached the application as {given!r:.200}")
    if (told.get("key") or None) != (key or None):
        return blame(rule, f"the key {key!r} reached the application as {told.get('key')!r}")
    return None


# -- closes and silence ------------------------------------------------------------------------------------------------


def _lost(state: ClientState, number: int, *, forced: bool = True) -> ClientState:
    """A connection is over: what was on it must be made again."""
    for at, end in enumerate(state.ends):
        if end.line == number and end.phase in ("open", "asked"):
            state = _lose(state, at, forced=forced)
    line = state.line(number)
    return state.put(number, line._replace(over=True, open=(), pings=0))


def _closed(state: ClientState, event: Closed) -> Outcome:
    line = state.line(event.conn)
    covers = ids("FRM-13") if line.odd else ()
    covers += ids(line.must) if line.must else ()
    covers += ids("KA-08") if line.probe else ()
    keepalive = state.config.keepalive_ms
    if event.by == "client" and line.probe and keepalive and line.low + 1000 >= keepalive:
        return Allow(_lost(state, event.conn, forced=False), covers)
    if event.by == "client" and not (line.odd or line.over or state.left or state.doubt):
        alive = any(end.line == event.conn and end.phase in ("open", "asked") for end in state.ends)
        if alive and not state.odd:
            return blame("KA-09", "the client closed a connection on which nothing was wrong")
        if alive:
            return blame("REQ-04", "the client closed the connection over something that it must ignore")  # fmt: skip
    return Allow(_lost(state, event.conn, forced=False), covers)


def due(state: ClientState) -> Iterator[tuple[str, str, str]]:
    """What the client has still to say or do: the rule, why, and what else it breaks."""
    if state.left and not state.told:
        return
    waiting = any(line.open or (line.greeted and not line.welcomed) for line in state.lines.values() if not line.over)
    for number, line in state.lines.items():
        if line.pings and not line.over and not line.odd:
            yield "KA-01", f"PING on connection {number} was not answered", "KA-09"
        if line.must and not line.over:
            yield line.must, f"connection {number} stays open: {line.odd}", ""
    if state.doubt or state.beyond:
        waiting = True
    if state.told and not waiting and not _needs_receipt(state):
        op = state.told[0][0]
        yield ("FLOW-08" if op == "receive" else "CONN-01"), f"{op}: nothing follows", "REQ-03 LOOK-04 LOOK-05 PROD-01"
    stuck = [op for op, _ in state.told] in (["send"], ["await"])  # it waits for a receipt of what it has to send again
    if not waiting and not state.left and (stuck or not state.told):
        for end in state.ends:
            if stuck and end.phase != "open":
                continue
            back = end.forced or any(line.greeted and number > end.line for number, line in state.lines.items())
            if end.phase == "lost" and back:  # whoever hung up by himself may be where the plan does not look
                rule = "SUB-03" if end.kind == "consumer" else "CLP-06"
                yield rule, f"a {end.kind} on {end.topic} was not created again", "CLC-02 SUB-03 CLP-06"
            elif end.phase == "open" and end.resend:
                yield "SEND-14", f"the message {end.resend[0]} was not sent again", "SEND-03"
    for mid, _, rule in state.refused:
        should, must = rule.split()
        if not state.left:
            yield should, f"the message {mid} was not refused", must
    if state.unacked and not state.left and not any(end.phase == "lost" for end in state.ends) and not waiting:
        yield "ACK-13", f"the application's acknowledgement of {state.unacked[0][0]} was not sent", "VER-06"
    if (
        state.payloads
        and not waiting
        and not state.told
        and not state.odd
        and not any(end.phase != "open" for end in state.ends)
    ):
        yield "FRM-15", "a message that the application sent was not sent", "SEND-01"
    for end in state.ends:
        if end.kind == "consumer" and end.phase == "open" and not end.granted and not state.odd and not state.left:
            yield "FLOW-07", f"no permits for {end.topic}", "SUB-03"
        spent = end.pushed and end.granted <= end.pushed and not any(item[3] for item in end.queue)
        if end.kind == "consumer" and end.phase == "open" and spent and not (state.odd or state.left or state.doubt):
            yield "FLOW-07", f"all messages were taken, and no more were permitted for {end.topic}", ""


def _needs_receipt(state: ClientState) -> bool:
    """True when the client waits for a receipt."""
    op = state.told[0][0] if state.told else ""
    return op in ("send", "await", "close", "disconnect") and any(
        not done for end in state.ends if end.phase == "open" for _, _, done, _ in end.sent
    )


def _quiet(state: ClientState, event: Quiet) -> Outcome:
    keepalive = state.config.keepalive_ms
    for number, line in state.lines.items():
        line = line._replace(low=line.low + event.ms)  # noqa: PLW2901
        state = state.put(number, line)
        if keepalive and line.probe and not line.over and line.low > 2 * keepalive + 1000:
            return blame("KA-08", f"the client's PING was not answered for {line.low} ms, the connection is open")
    return _silent(state) if event.final else Allow(state)


def _silent(state: ClientState) -> Outcome:
    lapses: list[Breach] = []
    for rule, why, also in due(state):
        if rule in ("INV-CLIENT-19", "FRM-10", "SEND-15"):
            return blame(rule, why)
        if rule in ("CHK-07", "BAT-09", "CMP-03", "FLOW-07", "CMP-02"):
            level = "SHOULD"
            lapses.append(blame(rule, why, state._replace(refused=()), level=level))
            state = state._replace(refused=())
            continue
        return blame(rule, why, also=also)
    covers = ids("KA-01 SUB-03") if state.ends else ()
    covers += ids(" ".join(sorted(state.tried)))
    covers += ids("KA-07")
    covers += ids("KA-06") if state.config.keepalive_ms and any(line.pinged for line in state.lines.values()) else ()
    covers += ids("FRM-06") if len(state.ends) > 1 else ()
    if any(line.welcomed and not line.version for line in state.lines.values()):
        covers += ids("VER-04")
    return Allow(state, covers, tuple(lapses[:1]))
