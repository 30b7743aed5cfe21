"""What a running plan has learnt: names that must be fresh, ids that only the other side can know."""

from __future__ import annotations

import re
from typing import Any

from specs.events import Event, Fact, Said
from specs.plan import Ref
from specs.pulsar.frames import Frame
from specs.pulsar.states import Config

PORT = 6650
"""Where a broker is reached whose URL has no port."""
REDIRECT, CONNECT = 0, 1
_URL = re.compile(r"pulsar://([^/:,\[\]]+|\[[0-9a-fA-F:]+\])(?::(\d+))?/?")
_REST = ("PRODUCER", "SUBSCRIBE", "CLOSE_PRODUCER", "CLOSE_CONSUMER", "UNSUBSCRIBE", "SEEK")
ANSWERS = {"LOOKUP_RESPONSE": ("LOOKUP",), "PARTITIONED_METADATA_RESPONSE": ("PARTITIONED_METADATA",), "SUCCESS": _REST,
           "PRODUCER_SUCCESS": ("PRODUCER",), "ERROR": _REST, "ACK_RESPONSE": ("ACK",)}  # fmt: skip
"""The requests that an answer of ours may answer."""


class PulsarMemory:
    """Resolves Refs. `topic`: the full name of a topic, "4:x" one with 4 partitions, "denied:x", "terminated:x",
    and with "#2" its partition 2. `name`: anything fresh. `receipt`: the id in the receipt of (connection,
    producer, sequence id). `pushed`: the id of the nth MESSAGE of (connection, consumer, n), and `written`, that
    with what it leaves out as its default. `made-up`: the name in PRODUCER_SUCCESS of (connection, request).
    `unacked`: the next id pushed to (connection, consumer) that this Ref did not give yet. `held`: all ids pushed
    to it. Of a client: `request`, the id of the nth request of (connection, kind, n); `asked`, a field of it;
    `fed`, the consumer's id while it has permits, and `again`, while it also wants the message of this ledger and
    entry again (of these three, a topic in place of n is the last consumer of it); `count`, how many partitions it
    was told of before; `patience`, the key as it is while more was pushed than its application got, and `idle`,
    while nothing is left of it; `acked`, what answers the oldest ACK that asks for it; `ping`, what answers a PING.
    Of a broker: `redirect` and `connect`, the HOST:PORT that the last answer to a LOOKUP of a topic named, if it
    was such an answer; `redirected`, whether to ask there with authority."""

    def __init__(self, config: Config, fresh: str) -> None:
        self._config, self._fresh = config, fresh
        self._receipts: dict[Any, dict[str, Any]] = {}
        self._pushed: dict[tuple[int, int], list[dict[str, Any]]] = {}
        self._given: dict[tuple[int, int], int] = {}
        self._asked: dict[tuple[int, str], list[Any]] = {}
        self._answered: set[Any] = set()
        self._pinged: dict[Any, int] = {}
        self._fed: dict[tuple[int, int], int] = {}
        self._entries: dict[tuple[int, int], set[tuple[int, int]]] = {}
        self._again: set[tuple[int, int, int, int]] = set()
        self._address = self._elsewhere = ""
        self._handles: dict[str, Any] = {}
        self._under_way = 0
        self._counts: dict[str, int] = {}
        self._told: list[tuple[str, Any]] = []
        self._looked: dict[str, Any] = {}
        self._named: dict[tuple[int, int], str] = {}

    def note(self, event: Event) -> None:
        """Remember ids."""
        if isinstance(event, Fact):
            self._beside(event)
        if not isinstance(event, Said) or not isinstance(event.frame, Frame):
            return
        frame = event.frame
        body, kind = frame.body, frame.kind
        if kind in ("PING", "PONG"):
            watched = event.by == self._config.role
            change = (kind == "PING" and watched) - (kind == "PONG" and not watched)
            self._pinged[event.conn] = max(self._pinged.get(event.conn, 0) + change, 0)
        if self._config.role == "client" and event.by == "broker":
            self._answer(event.conn, frame)
            return
        if event.by == "client" and kind == "FLOW":
            self._feed(event.conn, body.consumer_id, body.messagePermits)
        if event.by == "client" and kind == "REDELIVER_UNACKNOWLEDGED_MESSAGES":
            self._wants(event.conn, body)
        if event.by == "client":
            self._asked.setdefault((event.conn, kind), []).append(body)
        elif kind == "PRODUCER_SUCCESS":
            self._named[event.conn, body.request_id] = body.producer_name
        elif kind == "SEND_RECEIPT":
            self._receipts[event.conn, body.producer_id, body.sequence_id] = _plain(body.message_id)
        elif kind == "LOOKUP_RESPONSE":
            asked = [each for each in self._asked.get((event.conn, "LOOKUP"), []) if each.request_id == body.request_id]
            self._looked |= {each.topic: body for each in asked[-1:]}
        elif kind == "MESSAGE":
            self._pushed.setdefault((event.conn, body.consumer_id), []).append(_plain(body.message_id))

    def _answer(self, conn: int, frame: Frame) -> None:
        """Remember what we, as the broker, have answered a client."""
        body, kind = frame.body, frame.kind
        if kind == "PRODUCER_SUCCESS" and not body.producer_ready:
            return
        if kind == "PARTITIONED_METADATA_RESPONSE":
            for asked in self._asked.get((conn, "PARTITIONED_METADATA"), []):
                if asked.request_id == body.request_id:
                    self._counts.setdefault(asked.topic, body.partitions)
        if kind == "MESSAGE":
            meta = frame.metadata()
            many = max(meta.num_messages_in_batch if meta else 1, 1)
            self._under_way += many
            self._gives(conn, body)
            self._feed(conn, body.consumer_id, -many)
        self._answered.update((conn, asked, getattr(body, "request_id", None)) for asked in ANSWERS.get(kind, ()))
        if kind == "CONNECTED":
            self._answered.add((conn, "CONNECT"))
        if kind in ("SEND_RECEIPT", "SEND_ERROR"):
            self._answered.add((conn, "SEND", (body.producer_id, body.sequence_id)))

    def _feed(self, conn: int, consumer: int, permits: int) -> None:
        self._fed[conn, consumer] = self._fed.get((conn, consumer), 0) + permits

    def _gives(self, conn: int, body: Any) -> None:
        """Remember that a message was pushed."""
        entry = (body.message_id.ledgerId, body.message_id.entryId)
        self._entries.setdefault((conn, body.consumer_id), set()).add(entry)
        self._again.discard((conn, body.consumer_id, *entry))

    def _wants(self, conn: int, body: Any) -> None:
        """Remember what a client asks for again: what it names, or everything that was pushed."""
        named = {(each.ledgerId, each.entryId) for each in body.message_ids}
        pushed = self._entries.get((conn, body.consumer_id), set())
        wanted = pushed & named if named else pushed
        self._again.update((conn, body.consumer_id, *entry) for entry in wanted)

    def _beside(self, event: Fact) -> None:
        if event.name == "address":
            self._address = str(event.value)
        elif event.name == "elsewhere":
            self._elsewhere = str(event.value)
        elif event.by == "broker" and event.name not in ("drop", "octets"):
            given = event.value if isinstance(event.value, dict) else {}
            self._told.append((event.name, given.get("_key")))
        elif event.name == "answer" and self._told:
            op, key = self._told.pop(0)
            if op == "receive" and isinstance(event.value, dict) and event.value.get("ok") is not None:
                self._under_way -= 1
            if key is not None and isinstance(event.value, dict) and "ok" in event.value:
                self._handles[key] = event.value["ok"]

    def resolve(self, ref: Ref) -> Any:
        """The value, or None while it is not known."""
        key: Any = tuple(ref.key) if isinstance(ref.key, list) else ref.key
        match ref.name:
            case "topic":
                return self.topic(str(key))
            case "name":
                return f"{self._fresh}{key}"
            case "receipt":
                return self._receipts.get(key)
            case "made-up":
                return self._named.get(key)
            case "pushed" | "written":
                held = self._pushed.get(key[:2], [])
                found = held[key[2]] if -len(held) <= key[2] < len(held) else None
                return {"partition": -1, "batch_index": -1, **found} if ref.name == "written" and found else found
            case "unacked":
                at = self._given.get(key, 0)
                held = self._pushed.get(key, [])
                if at >= len(held):
                    return None
                self._given[key] = at + 1
                return held[at]
            case "held":
                return self._pushed.get(key) or None
            case "asked":
                conn, kind, nth, name = key
                found = self._nth(conn, kind, nth)
                return None if found is None else getattr(found, name)
            case "fed":
                return self._permitted(*key)
            case "again":
                name = self._permitted(*key[:3])
                return name if name is not None and (key[0], name, *key[3:]) in self._again else None
            case "open" | "name-of":
                return self._open(ref.name, *key)
            case "sent":
                return self._sent(*key)
            case "ping":
                return {} if self._pinged.get(key, 0) > 0 else None
            case "acked":
                waiting = (body for body in self._asked.get((key, "ACK"), ()) if body.HasField("request_id")
                           and (key, "ACK", body.request_id) not in self._answered)  # fmt: skip
                oldest = next(waiting, None)
                return oldest and {"consumer_id": oldest.consumer_id, "request_id": oldest.request_id}
            case "connected":
                return {} if self._asked.get((key, "CONNECT")) else None
            case "after":
                known = self._asked.get((key[0], key[1])) and (key[0], key[1]) not in self._answered
                return "wireproof" if known else None
            case "partly":
                held = self._pushed.get(key[:2], [])
                return (
                    {**held[key[2]], "ack_set": _words(key[3], key[4]), "batch_size": key[4]}
                    if key[2] < len(held)
                    else None
                )
            case "ref":
                given = self._handles.get(key)
                return given.get("ref") if isinstance(given, dict) else None
            case "asked-18":  # of a client that understands broker entry metadata
                said = self._asked.get((key[0], "CONNECT"), [])
                found = self._nth(*key)
                young = bool(said) and said[0].protocol_version >= 18
                return found.consumer_id if young and found is not None else None
            case "count":  # of partitions, as it was told before, of the topic that is asked for
                topic = self._open("open", key, "PARTITIONED_METADATA", "topic")
                return None if topic is None else self._counts.get(topic, 0)
            case "idle":
                return key if self._under_way <= 0 else None
            case "patience":  # how long to wait for a message, where there may be one
                return key if self._under_way > 0 else None
            case "handle":
                return self._handles.get(key)
            case "redirect" | "connect":
                return self._leads(key, REDIRECT if ref.name == "redirect" else CONNECT)
            case "redirected":
                body = self._looked.get(self.topic(key) or "")
                return None if body is None else bool(body.authoritative)
            case "url":
                return f"pulsar://{self._address}" if self._address else None
            case "elsewhere":
                return f"pulsar://{self._elsewhere}" if self._elsewhere else None
        return None

    def _nth(self, conn: int, kind: str, nth: int | str) -> Any:
        """The nth request of a kind, or the last one for a topic; None when there is none."""
        found = self._asked.get((conn, kind), [])
        if isinstance(nth, str):
            topic = self.topic(nth)
            return next((body for body in reversed(found) if body.topic == topic), None)
        return found[nth] if -len(found) <= nth < len(found) else None

    def _permitted(self, conn: int, kind: str, nth: int | str) -> int | None:
        """The id of the nth consumer that a client asked for, while it has permits."""
        found = self._nth(conn, kind, nth)
        name = None if found is None else int(found.consumer_id)
        return name if name is not None and self._fed.get((conn, name), 0) > 0 else None

    def _leads(self, key: str, response: int) -> str | None:
        """Where a topic is, or who knows. One that is reached through the given address is not gone to."""
        body = self._looked.get(self.topic(key) or "")
        if body is None or body.response != response or body.proxy_through_service_url:
            return None
        found = _URL.fullmatch(body.brokerServiceUrl)
        return found and f"{found[1]}:{found[2] or PORT}"

    def _open(self, what: str, conn: int, kind: str, field: str = "request_id") -> Any:
        """A field of the oldest request of this kind that is not answered; the name that a producer gets."""
        for body in self._asked.get((conn, kind), []):
            if (conn, kind, body.request_id) not in self._answered:
                if what == "name-of":
                    return body.producer_name or f"{self._fresh}made-{body.request_id}"
                return getattr(body, field)
        return None

    def _sent(self, conn: int, field: str, nth: int = 0) -> Any:
        """A field of the nth SEND that is not answered."""
        waiting = [body for body in self._asked.get((conn, "SEND"), [])
                   if (conn, "SEND", (body.producer_id, body.sequence_id)) not in self._answered]  # fmt: skip
        return getattr(waiting[nth], field) if -len(waiting) <= nth < len(waiting) else None

    def topic(self, key: str) -> str | None:
        """See the class."""
        config = self._config
        base, _, partition = key.partition("#")
        which, colon, name = base.partition(":")
        local = f"{self._fresh}{name if colon else base}"
        if colon and which.isdigit():
            local = (
                config.partitioned.format(n=which, name=local) if config.partitioned else local
            )  # a client is told by us
        elif colon:
            local = getattr(config, which).format(name=local)
        suffix = f"-partition-{partition}" if partition else ""
        return f"persistent://{config.tenant}/{config.namespace}/{local}{suffix}"


def _plain(data: Any) -> dict[str, Any]:
    """A message id as fields."""
    return {field.name: value for field, value in data.ListFields() if not field.is_repeated}


def _words(left: int, many: int) -> list[int]:
    """The bits of a batch of so many messages as an ack_set: signed words of 64 bits, the lowest first."""
    words = ((left >> at) & ((1 << 64) - 1) for at in range(0, many, 64))
    return [word - (1 << 64) if word >> 63 else word for word in words]
