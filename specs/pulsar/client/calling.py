"""What a client says: the order of its commands, its lookups, permits and acknowledgements."""

from __future__ import annotations

from typing import Any

from specs.model import Allow, Breach, Outcome
from specs.pulsar.client.publishing import sends
from specs.pulsar.client.state import FAMILY, ClientState, End, base, blame, ids
from specs.pulsar.frames import MAX_TOTAL, Frame

ASKING = ("PRODUCER", "SUBSCRIBE", "UNSUBSCRIBE", "CLOSE_PRODUCER", "CLOSE_CONSUMER", "LOOKUP", "PARTITIONED_METADATA",
          "SEEK", "GET_LAST_MESSAGE_ID", "CONSUMER_STATS")  # fmt: skip
SINCE = {
    "PING": 1, "PONG": 1, "REDELIVER_UNACKNOWLEDGED_MESSAGES": 2, "CONSUMER_STATS": 8, "GET_LAST_MESSAGE_ID": 12,
    "GET_TOPICS_OF_NAMESPACE": 12, "AUTH_RESPONSE": 14, "GET_SCHEMA": 13, "GET_OR_CREATE_SCHEMA": 15,
}  # fmt: skip
"""Commands that a broker of an older version does not know. SEEK came without a version of its own."""
FROM_CLIENT = {*ASKING, *SINCE, "CONNECT", "SEND", "FLOW", "ACK"}
MAX_REDIRECTS = 25


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
        # one that was to be cut before it was there is there now
        line = line._replace(greeted=True, announced=frame.body.protocol_version, over=False)
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
        return Allow(state.put(number, line._replace(probe=True, pinged=True, unanswered=True)))
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
            return _looks_up(state, number, body, covers)
        case "PARTITIONED_METADATA":
            lapses = []
            if any(base(end.topic)[0] == body.topic for end in state.ends if end.phase == "lost") and not state.told:
                lapses.append(blame("PART-04", "the number of partitions is asked again after a reconnect", state))
            return Allow(state, covers + ids("PART-04"), tuple(lapses))
        case "PRODUCER" | "SUBSCRIBE":
            return _creates(state, number, kind, body, covers)
        case "SEND":
            return sends(state, number, frame)
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


def _looks_up(state: ClientState, number: int, body: Any, covers: tuple[str, ...]) -> Outcome:
    if body.topic in state.redirects:
        wanted, count, place, followed = state.redirects[body.topic]
        if followed and not body.authoritative:  # it begins anew: the connection that it asked on may be lost by now
            return Allow(state, covers)
        if body.authoritative != wanted:
            return blame("LOOK-04", f"redirected with authoritative={wanted}, asked with {body.authoritative}")
        if count > MAX_REDIRECTS:
            return blame("LOOK-07", f"{count} redirects were followed")
        if state.astray(number, (place,)):
            return blame("LOOK-04", f"redirected to {place}, asked again at another address")
        state = state._replace(redirects={**state.redirects, body.topic: (wanted, count, place, True)})
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
    if not state.looked.get(body.topic):
        return blame("LOOK-01", f"{kind} without a lookup of {body.topic}")
    named = state.named.get(body.topic, ())
    if named and state.astray(number, named):
        return blame("LOOK-05", f"{kind} at another address than the lookup named, which is {', '.join(named)}")
    covers += ids("LOOK-01") + (ids("LOOK-05") if named and state.address not in named else ())
    at = next((i for i, end in enumerate(state.ends) if end.kind == what and end.topic == body.topic
               and end.phase == "lost"), None)  # fmt: skip
    lapses: list[Breach] = []
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


def _early(state: ClientState, end: End, mid: tuple[int, int], *, upto: bool, part: bool) -> str:
    """Why a consumer may not acknowledge this, or all up to it: "" if it may."""
    if state.pushed.get(mid, end.topic) != end.topic:
        return f"ACK of {mid} by the consumer of {end.topic}, it was pushed on {state.pushed[mid]}"
    if part and mid in state.released:
        return ""
    if upto and mid not in state.wholly and any(mid < other for other in state.released):
        # of a batch that is not done with, what comes before it is acknowledged: the id of that may be a guess
        waiting = {name for (name, _, _), _, _, sure in end.queue if sure}
        early = sorted(name for name in waiting | (state.released - state.wholly) if name <= mid)
        return f"ACK of all up to {mid}, the application has not acknowledged {early[0]}" if early else ""
    if mid not in state.released:
        return f"ACK of {mid} before the application has acknowledged it"
    if mid not in state.wholly:
        return f"ACK of all of the batch {mid}, the application has acknowledged part of it"
    if upto:
        given = {name for _, (name, _, _) in state.refs.values()} | {
            name for (name, _, _), _, _, sure in end.queue if sure
        }
        early = sorted(name for name in given - state.wholly if name < mid and state.pushed.get(name) == end.topic)
        return f"ACK of all up to {mid}, the application has not acknowledged {early[0]}" if early else ""
    return ""


def _done_with(state: ClientState, mid: tuple[int, int], *, upto: bool = False) -> ClientState:
    """The state when the acknowledgement of this, or of all up to it, was sent."""
    keep = tuple(one for one in state.unacked if not (one[0] == mid or (upto and one[0] <= mid)))
    return state._replace(unacked=keep)


def _acks(state: ClientState, number: int, body: Any) -> Outcome:
    line = state.line(number)
    end = next((each for each in state.ends if (each.kind, each.line, each.id)
                == ("consumer", number, body.consumer_id)), None)  # fmt: skip
    if end is None:
        return blame("ACK-13", f"ACK for consumer {body.consumer_id}, which was never created")
    if body.HasField("request_id"):
        line = line._replace(open=(*line.open, ("ack", body.request_id, "")))
        state = state.put(number, line)
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
                if mid in state.released:  # the application was given what can be read of it, and is done with it
                    state, must = _done_with(state, mid), ""
                why = f"the message {mid} cannot be read, and was acknowledged like any other"
                return blame(should, why, state, also=must)
            if body.validation_error != refused[1]:
                why = f"acknowledged with validation_error {body.validation_error}, not {refused[1]}"
                return blame(should, why, state, level="SHOULD")
            covers += ids(f"{should} {must}")
            continue
        if body.HasField("validation_error"):
            return blame("ACK-13", f"the message {mid} was refused, nothing is wrong with it")
        upto = body.ack_type == 1
        part = bool(each.ack_set) or (each.HasField("batch_index") and each.batch_index >= 0)
        wrong = _early(state, end, mid, upto=upto, part=part)
        if wrong:
            return blame("ACK-13", wrong)
        covers += ids("ACK-13")
        state = _done_with(state, mid, upto=upto)
    return Allow(state, tuple(dict.fromkeys(covers)))
