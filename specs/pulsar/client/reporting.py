"""What a client is told to do, and what it reports of it: beside the wire."""

from __future__ import annotations

from typing import Any

from specs.events import Fact
from specs.model import Allow, Outcome
from specs.pulsar.client.hearing import lost
from specs.pulsar.client.state import GIVES_UP_MS, ClientState, base, blame, ids

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


def fact(state: ClientState, event: Fact) -> Outcome:
    """The client was told something, or reports of it."""
    if event.by == "broker":
        return Allow(_told(state, event.conn, event.name, event.value))
    if event.name == "address":
        return Allow(state._replace(address=str(event.value)))
    if event.name == "elsewhere":
        return Allow(state._replace(other=str(event.value)))
    if event.name == "through":
        return Allow(state.put(event.conn, state.line(event.conn)._replace(place=str(event.value))))
    if event.name == "answer":
        return _reported(state, event.value)
    if event.name == "accepted":
        return Allow(state._replace(accepted=max(state.accepted, int(event.value))))
    if event.name == "exit":
        rule = state.unread[-1] if state.unread else "FRM-13"  # what it could not read may be what it died of
        return blame(rule, f"the client ended: {event.value}", also="FRM-13" if state.unread else "")
    return Allow(state)


def _told(state: ClientState, number: int, op: str, value: Any) -> ClientState:
    if op == "drop":
        return lost(state, number)
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
    released, wholly = state.released | {mid}, state.wholly
    if cumulative:
        given = {name for _, (name, _, _) in state.refs.values()}
        released |= {name for name in given if name <= mid}
        wholly |= {name for name in given if name < mid}
        done |= {(mid, n) for n in range(nth)}
    whole = nth < 0 or (cumulative and nth == count - 1) or all((mid, n) in done for n in range(count))
    unacked = (*state.unacked, (mid, cumulative)) if whole else state.unacked
    wholly |= {mid} if whole else set()
    return state._replace(parts=done, released=released, wholly=wholly, unacked=unacked)


def _reported(state: ClientState, value: Any) -> Outcome:
    if not state.told:
        return Allow(state)
    (op, given), *rest = state.told
    gave_up = (state.waits or state.lacks_receipt) and state.idle >= GIVES_UP_MS
    state = state._replace(told=tuple(rest))
    failed = not isinstance(value, dict) or "ok" not in value
    if failed:
        excused = gave_up or state.odd or state.doubt or state.left or state.beyond or state.too_large(op, given)
        if excused or not isinstance(value, dict) or value.get("error") == "unsupported":
            return Allow(_forgive(state, op, given))
        if any(end.phase == "lost" for end in state.ends) or any(line.over for line in state.lines.values()):
            return Allow(_forgive(state, op, given))
        rule = "FLOW-08" if op == "receive" else "REQ-03"
        return blame(rule, f"{op} failed: {value.get('error')!s:.200}")
    told = value["ok"]
    if op in ("producer", "subscribe"):
        kind = "producer" if op == "producer" else "consumer"
        topic = str(given.get("topic"))
        state = state._replace(handles={**state.handles, str(told): (kind, topic)})
        ends = [end for end in state.ends if end.kind == kind and base(end.topic)[0] == topic and end.phase != "closed"]
        wanted = max(state.partitions.get(topic, 0), 1)
        if len({end.topic for end in ends}) < wanted:
            alone = "PROD-01" if op == "producer" else "REQ-03"
            rule = "PART-02" if wanted > 1 else alone
            return blame(rule, f"{op} of a topic with {wanted} partitions opened {len(ends)}", also="PART-03")
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
    if op in ("send", "send_async", "await"):  # who says that it failed need not send it again
        for at, end in enumerate(state.ends):
            state = state.put_end(at, end._replace(resend=()))
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
