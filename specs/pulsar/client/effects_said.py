"""What becomes of the state when the tester, as the broker, says something. It is never judged."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any

from specs.codec import Malformed
from specs.events import Noise
from specs.pulsar.batches import MAX_PAYLOAD, ZLIB, Single, messages
from specs.pulsar.client.effects_again import pushed_again
from specs.pulsar.client.machine import ENDPOINT as ENDPOINTS
from specs.pulsar.client.machine import Stage
from specs.pulsar.client.oddities import REFUSED_SIZE, SIZES, SURVIVES, Oddity, Unreadable
from specs.pulsar.client.state import ClientState, Name, Pushed, Redirect, Refusal, Request
from specs.pulsar.frames import NOBODY, Frame

CHECKSUM_ERROR = 9
"""ChecksumError, the reason of a SEND_ERROR after which the message is sent again."""


def tried(state: ClientState, oddity: Oddity) -> ClientState:
    """Something odd was said; the last one stands last."""
    if state.tried and state.tried[-1] is oddity:
        return state
    return state._replace(tried=(*(each for each in state.tried if each is not oddity), oddity))


def _spoilt(state: ClientState, number: int, oddity: Oddity, why: str, *must: str) -> ClientState:
    """Something was said that may end the connection, or must: by the first of these requirements, and the others."""
    state = tried(state, oddity)
    line = state.line(number).moved("misuses")
    line = line._replace(misuse=line.misuse or why, must=line.must or must)
    return state._replace(odd=True).with_line(number, line)


_NOISES: Mapping[str, tuple[Oddity, tuple[str, ...]]] = {
    "over-limit": (Oddity.OVER_LIMIT, (REFUSED_SIZE,)),
    "command-size": (Oddity.NO_COMMAND, (SIZES,)),
    "no-sub-message": (Oddity.NO_SUB_MESSAGE, ()),
}


def no_frame(state: ClientState, event: Noise) -> ClientState:
    """Octets of ours that are no frame: the connection must end, where the text leaves no doubt."""
    oddity, beside = _NOISES.get(event.why, (Oddity.NO_COMMAND, (SURVIVES,)))
    if event.data[:4] == bytes(4):
        oddity, beside = Oddity.EMPTY_FRAME, (SURVIVES,)
    if event.why == "over-limit":
        state = state._replace(doubt=True)
    return _spoilt(state, event.conn, oddity, f"octets that are no frame: {event.why}", oddity.row, *beside)


_BEFORE_CONNECTED = {
    "ERROR": Oddity.CONNECT_REFUSED,
    "AUTH_CHALLENGE": Oddity.CHALLENGE,
    "PING": Oddity.EARLY_PING,
}


def said(state: ClientState, number: int, frame: Frame) -> ClientState:
    """What the tester said as the broker."""
    kind, body = frame.kind, frame.body
    line = state.line(number)._replace(probe=False, low=0)
    state = state._replace(idle=0).with_line(number, line)
    if kind == "CONNECTED":
        return _connected(state, number, body)
    if line.version is None:
        oddity = _BEFORE_CONNECTED.get(kind, Oddity.OUT_OF_PLACE)
        return _spoilt(state._replace(doubt=True), number, oddity, f"{kind} before CONNECTED")
    if frame.odd and kind != "MESSAGE":
        return _spoilt(state._replace(doubt=True), number, Oddity.OCTETS_BEHIND, frame.odd)
    if frame.broker is not None:
        state = tried(state, Oddity.BROKER_METADATA)
    known = _SAID.get(kind)
    if known is not None:
        state = known(state, number, frame)
        if frame.whole:
            return state
        return _spoilt(state._replace(doubt=True), number, Oddity.TWO_SUB_MESSAGES, "two sub-messages in one command")
    oddity = Oddity.END_OF_TOPIC if kind == "REACHED_END_OF_TOPIC" else Oddity.OUT_OF_PLACE
    return _spoilt(state._replace(doubt=True), number, oddity, f"{kind} from a broker")


def _connected(state: ClientState, number: int, body: Any) -> ClientState:
    line = state.line(number)
    if line.version is not None or not line.greeted:
        return _spoilt(state._replace(doubt=True), number, Oddity.OUT_OF_PLACE, "CONNECTED out of place")
    limit = body.max_message_size if body.HasField("max_message_size") else 0
    return state.with_line(number, line.moved("CONNECTED")._replace(version=body.protocol_version, limit=limit))


def _ping(state: ClientState, number: int, frame: Frame) -> ClientState:
    line = state.line(number)
    return state.with_line(number, line._replace(pings=line.pings + 1))


def _pong(state: ClientState, number: int, frame: Frame) -> ClientState:
    return state.with_line(number, state.line(number)._replace(unanswered=False))


def _nothing(state: ClientState, number: int, frame: Frame) -> ClientState:
    return state


def _acknowledged(state: ClientState, number: int, frame: Frame) -> ClientState:
    line, answered = state.line(number), ("ack", frame.body.request_id)
    return state.with_line(number, line._replace(open=tuple(each for each in line.open if each[:2] != answered)))


# -- what the broker takes away ----------------------------------------------------------------------------------------


def _closes(state: ClientState, number: int, frame: Frame) -> ClientState:
    """CLOSE_PRODUCER or CLOSE_CONSUMER."""
    what = "producer" if frame.kind == "CLOSE_PRODUCER" else "consumer"
    name = frame.body.producer_id if what == "producer" else frame.body.consumer_id
    at = state.endpoint(what, number, name, Stage.OPEN)
    if at is None:
        return tried(state, Oddity.UNKNOWN_CLOSE)._replace(odd=True)
    return _lost(state, at, "takes", forced=True)


def _lost(state: ClientState, at: int, action: str, *, forced: bool) -> ClientState:
    end = state.endpoints[at]
    resend = tuple(sent.sequence for sent in end.sent if not sent.receipted)
    queue = tuple(each._replace(sure=False) for each in end.queue)
    stage = ENDPOINTS.move(end.stage, action)
    if end.kind == "consumer":  # an acknowledgement that was on its way may be lost with it: its message comes again
        unacked = tuple(entry for entry in state.unacked if state.pushed.get(entry) != end.topic)
        state = state._replace(unacked=unacked)
    return state.with_endpoint(at, end._replace(
        stage=stage, granted=0, pushed=0, queue=queue, resend=resend, forced=forced, cut=action == "cuts",
        taken=end.taken or action == "takes", fresh=frozenset(), wanted=frozenset(), recalled=False,
    ))  # fmt: skip


def over(state: ClientState, number: int, action: str) -> ClientState:
    """A connection is over, by the tester ("cuts") or by the client ("hangs up"): what was on it must be made again."""
    for at, end in enumerate(state.endpoints):
        if end.line == number and end.alive:
            state = _lost(state, at, "cuts", forced=action == "cuts")
    line = state.line(number).moved(action)  # a PONG may be read behind the end
    return state.with_line(number, line._replace(open=()))


# -- answers -----------------------------------------------------------------------------------------------------------

_FAMILY_OF = {"LOOKUP_RESPONSE": "lookup", "PARTITIONED_METADATA_RESPONSE": "metadata"}


def _answers(state: ClientState, number: int, frame: Frame) -> ClientState:
    line, kind, body = state.line(number), frame.kind, frame.body
    if kind == "ERROR" and body.request_id == NOBODY:
        return tried(state, Oddity.ERROR_OF_NOTHING)._replace(odd=True)
    family = _FAMILY_OF.get(kind, "rest")
    asked = next((each for each in line.open if each[:2] == (family, body.request_id)), None)
    if asked is None:
        return tried(state, Oddity.UNKNOWN_REQUEST)._replace(odd=True)
    held = kind == "PRODUCER_SUCCESS" and body.HasField("producer_ready") and not body.producer_ready
    if not held:
        state = state.with_line(number, line._replace(open=tuple(each for each in line.open if each is not asked)))
    if kind == "LOOKUP_RESPONSE":
        return _found(state, asked, body)
    if kind == "PARTITIONED_METADATA_RESPONSE":
        if body.response == 0 and body.HasField("response"):
            return state._replace(partitions={**state.partitions, asked.topic: body.partitions})
        return state._replace(doubt=True)
    at = next((i for i, end in enumerate(state.endpoints) if (end.line, end.request) == (number, body.request_id)
               and end.stage in (Stage.ASKED, Stage.PENDING)), None)  # fmt: skip
    if kind == "ERROR":
        return _refused(state, at)
    return state if at is None else _made(state, at, frame, held=held)


def _found(state: ClientState, asked: Request, body: Any) -> ClientState:
    """The answer to a LOOKUP."""
    topic, place = asked.topic, str(body.brokerServiceUrl).partition("://")[2]
    if body.response == 1 and body.brokerServiceUrl:
        # of several answers nobody knows which one the client goes by, until something was made of each
        places = (state.named.get(topic, frozenset()) if state.looked.get(topic) else frozenset()) | {place}
        redirects = {key: value for key, value in state.redirects.items() if key != topic}
        return state.looked_up(topic, 1)._replace(named={**state.named, topic: places}, redirects=redirects)
    if body.response == 0 and body.brokerServiceUrl:
        count = state.redirects[topic].nth + 1 if topic in state.redirects else 1
        return state._replace(redirects={**state.redirects, topic: Redirect(body.authoritative, count, place)})
    return state._replace(doubt=True)


def _refused(state: ClientState, at: int | None) -> ClientState:
    """ERROR for a request."""
    kind = "" if at is None else state.endpoints[at].kind
    oddity = Oddity.PRODUCER_REFUSED if kind == "producer" else Oddity.SUBSCRIBE_REFUSED
    state = tried(state._replace(doubt=True), oddity)
    if at is None:
        return state
    end = state.endpoints[at]
    return state.with_endpoint(at, end._replace(stage=ENDPOINTS.move(end.stage, "refuses")))


def _made(state: ClientState, at: int, frame: Frame, *, held: bool) -> ClientState:
    """SUCCESS or PRODUCER_SUCCESS for a producer or consumer."""
    end, body = state.endpoints[at], frame.body
    if held:
        return state.with_endpoint(at, end._replace(stage=ENDPOINTS.move(end.stage, "holds"), held=True))
    end = end._replace(stage=ENDPOINTS.move(end.stage, "answers"))
    if frame.kind == "PRODUCER_SUCCESS":
        first = body.last_sequence_id + 1 if body.HasField("last_sequence_id") else 0
        following = end.next if end.sent else first if end.next in (None, first) else None
        end = end._replace(
            name=body.producer_name, next=following
        )  # made again, it may go on from what it was told first
    return state.looked_up(end.topic, -1).with_endpoint(at, end)


def _receipted(state: ClientState, number: int, frame: Frame) -> ClientState:
    body = frame.body
    at = state.endpoint("producer", number, body.producer_id)
    if at is None:
        return tried(state, Oddity.UNKNOWN_RECEIPT)._replace(odd=True)
    end = state.endpoints[at]
    waiting = [i for i, sent in enumerate(end.sent) if not sent.receipted]
    if waiting and end.sent[waiting[0]].sequence == body.sequence_id:
        i = waiting[0]
        sent = (*end.sent[:i], end.sent[i]._replace(receipted=True), *end.sent[i + 1 :])
        return state.with_endpoint(at, end._replace(sent=sent))
    if any(end.sent[i].sequence == body.sequence_id for i in waiting):
        ahead, why = Oddity.RECEIPT_AHEAD, "a receipt ahead of the oldest message that is open"
        return _spoilt(state._replace(doubt=True), number, ahead, why)
    return state._replace(odd=True)


def _send_failed(state: ClientState, number: int, frame: Frame) -> ClientState:
    """SEND_ERROR: the send fails, or is tried again on another connection."""
    state = state._replace(doubt=True)
    if frame.body.error == CHECKSUM_ERROR:
        return tried(_failed(state, number, frame.body), Oddity.SEND_CHECKSUM)
    return _spoilt(state, number, Oddity.SEND_REFUSED, "SEND_ERROR")


def _failed(state: ClientState, number: int, body: Any) -> ClientState:
    """The messages of that number did not arrive."""
    at = state.endpoint("producer", number, body.producer_id)
    if at is None:
        return state
    end = state.endpoints[at]
    sent = tuple(each._replace(refused=each.refused or each.sequence == body.sequence_id) for each in end.sent)
    return state.with_endpoint(at, end._replace(sent=sent))


# -- messages ----------------------------------------------------------------------------------------------------------


def _pushes(state: ClientState, number: int, frame: Frame) -> ClientState:
    body = frame.body
    entry = (body.message_id.ledgerId, body.message_id.entryId)
    at = state.endpoint("consumer", number, body.consumer_id, Stage.OPEN)
    if at is not None:
        state = pushed_again(state, entry)
        before = tuple(one for one in state.refused_before if one.entry != entry)
        state = state._replace(pushed={**state.pushed, entry: state.endpoints[at].topic}, refused_before=before)
    if frame.odd or frame.metadata() is None:
        oddity = Oddity.NO_PAYLOAD if not frame.rest and frame.headers is None else (
            Oddity.OTHER_MAGIC if frame.rest[:2] == b"\x0e\x09" else Oddity.METADATA_SIZE
        )  # fmt: skip
        row = () if oddity is Oddity.OTHER_MAGIC else (oddity.row,)
        must = () if at is None else (*row, SIZES)  # whoever ignores a MESSAGE by its consumer reads no further
        unfit = entry if oddity is not Oddity.NO_PAYLOAD and not state.line(number).must else None
        state = _spoilt(state._replace(doubt=True), number, oddity, "a MESSAGE whose sizes lie", *must)
        return state.with_line(number, state.line(number)._replace(unfit=unfit))
    if at is None:
        state = tried(state, Oddity.NO_CONSUMER)._replace(unread=(*state.unread, Oddity.NO_CONSUMER))
        return state._replace(crossed=True) if _crosses(state, number, frame) else state._replace(odd=True)
    end = state.endpoints[at]
    if not frame.check:
        state = tried(state, Oddity.NO_CHECKSUM)
    if end.pushed + _count(frame) > end.granted:  # whoever has no room for it may drop it, or end the connection
        state = tried(state._replace(doubt=True), Oddity.OVER_PERMITS)
    unreadable, as_oddity, items = _opened(frame)
    if unreadable is not None and as_oddity is not None:
        return _hidden(state, at, frame, Refusal(entry, unreadable, as_oddity), items)
    return _queued(state, at, frame, items)


def _crosses(state: ClientState, number: int, frame: Frame) -> bool:
    """True for a MESSAGE that a broker may say because it has not read, or not answered, the CLOSE_CONSUMER."""
    at = state.endpoint("consumer", number, frame.body.consumer_id, Stage.CLOSED)
    if at is None:
        return False
    end = state.endpoints[at]
    unanswered = any(each[:2] == ("rest", end.leaving) for each in state.line(number).open)
    return unanswered and end.pushed + _count(frame) <= end.granted


def _count(frame: Frame) -> int:
    """How many messages a MESSAGE says that it brings."""
    return max(int(frame.metadata().num_messages_in_batch), 1)


def _queued(state: ClientState, at: int, frame: Frame, items: list[Single]) -> ClientState:
    """A MESSAGE that can be read."""
    end, body = state.endpoints[at], frame.body
    entry = (body.message_id.ledgerId, body.message_id.entryId)
    batched = frame.metadata().HasField("num_messages_in_batch")
    oddity = Oddity.BROKER_METADATA if frame.broker is not None else None if frame.check else Oddity.NO_CHECKSUM
    crowded = any(other.alive and other is not end and other.line == end.line for other in state.endpoints)
    queue = list(end.queue)
    for n, item in enumerate(items):
        key, properties = item.head
        name = Name(entry, n if batched else -1, len(items))
        # what was acknowledged of a batch before it came again need not be given again
        sure = (entry, n) not in state.parts
        one = Pushed(name, item.payload, key, properties, batched, sure, oddity, crowded)
        queue.append(one.dropped(asked=False) if end.recalled else one)
    return state.with_endpoint(
        at, end._replace(queue=tuple(queue), pushed=end.pushed + len(items), fresh=end.fresh | {entry})
    )


def _hidden(state: ClientState, at: int, frame: Frame, refusal: Refusal, items: list[Single]) -> ClientState:
    """A MESSAGE that cannot be read."""
    end = state.endpoints[at]
    state = tried(state, refusal.oddity)
    state = state._replace(
        refused=(*state.refused, refusal), odd=True, unread=(*state.unread, refusal.oddity)
    )  # fmt: skip
    believed = tuple(Pushed(Name(refusal.entry, -1, 1), item.payload, sure=False) for item in items)
    return state.with_endpoint(at, end._replace(queue=(*end.queue, *believed), pushed=end.pushed + _count(frame)))


def _opened(frame: Frame) -> tuple[Unreadable | None, Oddity | None, list[Single]]:
    """Why a MESSAGE cannot be read, as which oddity that counts, and the messages in it."""
    if frame.check == "bad":
        return Unreadable.CHECKSUM, Oddity.CHECKSUM, []
    try:
        return None, None, messages(frame)
    except Malformed as malformed:
        why = malformed.why
    if why == "uncompressed-size":
        return Unreadable.SIZE, Oddity.WRONG_SIZE, _in_spite_of_its_size(frame)
    if not why.startswith("batch"):
        garbage = Oddity.LZ4_GARBAGE if frame.metadata().compression == 1 else Oddity.ZLIB_GARBAGE
        return Unreadable.COMPRESSION, garbage, []
    if why == "batch-payload-size":
        negative = b"\xff\xff\xff" in frame.payload
        return Unreadable.BATCH, Oddity.BATCH_NEGATIVE_SIZE if negative else Oddity.BATCH_PAYLOAD_SIZE, []
    huge = frame.payload[:1] >= b"\x7f"
    return Unreadable.BATCH, Oddity.BATCH_METADATA_SIZE if huge else Oddity.BATCH_TOO_SHORT, []


def _in_spite_of_its_size(frame: Frame) -> list[Single]:
    """What a client may read that does not look at `uncompressed_size`: to refuse it is a recommendation only."""
    meta = frame.metadata()
    if meta is None or meta.compression != ZLIB or meta.HasField("num_messages_in_batch"):
        return []
    stream = zlib.decompressobj()
    payload = stream.decompress(frame.payload, MAX_PAYLOAD)
    return [Single(meta, payload)] if stream.eof else []


_SAID: Mapping[str, Callable[[ClientState, int, Frame], ClientState]] = {
    "PING": _ping,
    "PONG": _pong,
    "ACTIVE_CONSUMER_CHANGE": _nothing,
    "ACK_RESPONSE": _acknowledged,
    "MESSAGE": _pushes,
    "SEND_RECEIPT": _receipted,
    "SEND_ERROR": _send_failed,
    "CLOSE_PRODUCER": _closes,
    "CLOSE_CONSUMER": _closes,
    **dict.fromkeys(
        ("PRODUCER_SUCCESS", "SUCCESS", "ERROR", "LOOKUP_RESPONSE", "PARTITIONED_METADATA_RESPONSE"), _answers
    ),
}
"""What a broker may say once the connection is established."""
