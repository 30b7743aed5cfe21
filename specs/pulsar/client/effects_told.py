"""What becomes of the state when the client is told to do something, beside the wire, and by what is known of it."""

from __future__ import annotations

from typing import Any

from specs.events import Fact
from specs.pulsar.client.effects_again import is_due, wanted_again
from specs.pulsar.client.effects_said import over
from specs.pulsar.client.machine import ENDPOINT, Stage
from specs.pulsar.client.state import ClientState, Name, Payload

OPS = frozenset(("connect", "producer", "send", "send_async", "await", "subscribe", "receive", "ack", "redeliver",
                 "close", "disconnect"))  # fmt: skip


def noted(state: ClientState, event: Fact) -> ClientState:
    """Something that is known of the client."""
    if event.name == "address":
        return state._replace(address=str(event.value))
    if event.name == "elsewhere":
        return state._replace(other=str(event.value))
    if event.name == "through":
        return state.with_line(event.conn, state.line(event.conn)._replace(place=str(event.value)))
    if event.name == "accepted":
        return state._replace(accepted=max(state.accepted, int(event.value)))
    return state


def told(state: ClientState, number: int, op: str, value: Any) -> ClientState:
    """The client is told to do something, or the tester cuts a connection."""
    if op == "drop":
        return over(state, number, "cuts")
    if op not in OPS:
        return state
    given = value if isinstance(value, dict) else {}
    state = state._replace(told=(*state.told, (op, given)))
    if op == "connect" and "auth_method" in given:
        state = state._replace(login=(str(given["auth_method"]), str(given.get("auth_data", ""))))
    if op in ("producer", "subscribe"):
        made = ("producer" if op == "producer" else "consumer", str(given.get("topic")))
        return state._replace(asked_for={**state.asked_for, made: (*state.asked_for.get(made, ()), given)})
    if op in ("send", "send_async"):
        topic = state.topic_named("producer", given)
        payload = bytes.fromhex(given.get("payload_hex", ""))
        item = Payload(topic, payload, given.get("key"), dict(given.get("properties") or {}))
        return state._replace(payloads=(*state.payloads, item))
    if op == "ack":
        found = state.refs.get(state.ref(given, given))
        return state if found is None else _acknowledged(state, found[1], given)
    if op == "redeliver":
        return wanted_again(state, state.topic_named("consumer", given))
    if op == "close":
        return _closing(state, given)
    return state._replace(left=True) if op == "disconnect" else state


def _closing(state: ClientState, given: dict[str, Any]) -> ClientState:
    """What is lost need not come back when it is to be closed."""
    kind = "producer" if "producer" in given else "consumer"
    topic = state.topic_named(kind, given)
    for at, end in state.of_topic(kind, topic):
        if end.stage is Stage.LOST:
            state = state.with_endpoint(at, end._replace(stage=ENDPOINT.move(end.stage, "closes"), needless=True))
    return state


def _acknowledged(state: ClientState, name: Name, given: dict[str, Any]) -> ClientState:
    """The application acknowledges. What it has acknowledged already need not be again, and to ask for it may fail."""
    entry, nth, _ = name
    again = entry in state.wholly or (entry, nth) in state.parts
    if again:
        state = state._replace(told=(*state.told[:-1], ("ack", {**given, "_again": True})))
    return _acknowledging(state, name, cumulative=bool(given.get("cumulative")))


def _acknowledging(state: ClientState, name: Name, *, cumulative: bool) -> ClientState:
    """The application acknowledges: of a batch, the entry is due when all of it is acknowledged. What is
    before the end of a cumulative one is due as well, be it by one ACK or by one for each."""
    entry, nth, count = name
    done, anew = state.parts | {(entry, nth)}, state.anew | {(entry, nth)}
    released, wholly = state.released | {entry}, state.wholly
    if cumulative:
        given = {each.entry for _, each in state.refs.values()}
        released |= {each for each in given if each <= entry}
        wholly |= {each for each in given if each < entry}
        done |= {(entry, n) for n in range(nth)}
        anew |= {(entry, n) for n in range(nth)}
    end = nth < 0 or (cumulative and nth == count - 1)
    whole = end or all((entry, n) in done for n in range(count))
    due = (entry,) if (end or all((entry, n) in anew for n in range(count))) and is_due(state, entry) else ()
    before = _before(state, entry) if due and cumulative else ()
    unacked = (*state.unacked, *before, *due)
    wholly |= {entry} if whole else set()
    again = state.again - set(due)
    return state._replace(parts=done, anew=anew, again=again, released=released, wholly=wholly, unacked=unacked)


def _before(state: ClientState, entry: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """What the application was given before this one by the same consumer, and has not acknowledged yet; nothing where
    the consumer was made again, or asked for everything again, since what came before that comes again."""
    topic = state.pushed.get(entry)
    again = any(end.forced or end.cut or end.taken or end.repeats for end in state.endpoints if end.topic == topic)
    if again or any(line.over for line in state.lines.values()):
        return ()
    given = {name.entry for _, name in state.refs.values() if state.pushed.get(name.entry) == topic}
    return tuple(sorted(each for each in given - state.wholly if each < entry))
