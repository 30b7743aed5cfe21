"""What becomes of the state by what the client says, reports or does, whether or not something in it was broken."""

from __future__ import annotations

from specs.events import Quiet
from specs.pulsar.client.book import BOOK, SURVIVAL
from specs.pulsar.client.case import Ended, Living, Look, Said, Turn
from specs.pulsar.client.case_reports import Outcome, Reported
from specs.pulsar.client.effects_again import asked_again, none_left, taken_once, unwanted
from specs.pulsar.client.effects_said import over
from specs.pulsar.client.machine import ASKED, COMMANDS, ENDPOINT, MISUSED, REQUESTS, SPOILT, Stage
from specs.pulsar.client.state import FAMILY, ClientState, Endpoint, HangUp, Line, Request, Sent, base
from specs.rules import Predicate

_WITH_EFFECT = {*REQUESTS, "SEND", "FLOW", "ACK", "REDELIVER_UNACKNOWLEDGED_MESSAGES", "PING", "PONG"}
OTHERS = tuple(kind for kind in (*COMMANDS, "foreign") if kind not in _WITH_EFFECT)
"""What a client says without any effect that is remembered."""


def _effect(*actions: str) -> Predicate:
    """Register an effect. Nothing that the client says counts where the connection may have to end, but what it asked
    for there."""

    def registered(after: Predicate) -> Predicate:
        def guarded(case: Said) -> Turn:
            return case.turn(_beside(case) if case.phase in MISUSED else after(case))

        BOOK.effect(*actions)(guarded)
        return after

    return registered


def _beside(case: Said) -> ClientState:
    if case.kind == "SEND":
        return _sent_beside(case)
    line: Line = case.line
    if case.kind == "ACK" and case.body.HasField("validation_error") and line.unfit in [e.entry for e in case.acked]:
        # sizes that lie within a message have been found out, and the frames behind it can be read
        return case.state.with_line(case.number, line._replace(must=(), unfit=None))
    if case.kind in ("LOOKUP", "PARTITIONED_METADATA"):
        return case.state.with_line(case.number, line._replace(sought=line.sought | {case.body.topic}))
    if case.kind not in ("PRODUCER", "SUBSCRIBE"):
        return case.state
    return case.state.with_line(case.number, line._replace(beside=line.beside | {case.body.topic}))


def _sent_beside(case: Said) -> ClientState:
    """Which of its messages a producer has sent is not known any more."""
    state = case.state
    for at, end in enumerate(state.endpoints):
        here = end.line == case.number and end.id == case.body.producer_id
        if end.kind == "producer" and (here or end.topic in case.line.beside):
            state = state.with_endpoint(at, end._replace(guessed=True))
    return state


@BOOK.effect("CONNECT")
def the_client_opens_a_connection(case: Said) -> Turn:
    """What was said too early may end it now."""
    line = case.line._replace(greeted=True, announced=case.body.protocol_version)
    return case.turn(case.state.with_line(case.number, line), SPOILT if line.misuse else ASKED)


@_effect(*OTHERS)
def a_command_changes_nothing(case: Said) -> ClientState:
    """Neither do commands that only a broker says."""
    return case.state


@_effect("PONG")
def a_ping_is_answered(case: Said) -> ClientState:
    """One PING less is open."""
    return case.state.with_line(case.number, case.line._replace(pings=max(case.line.pings - 1, 0)))


@_effect("PING")
def the_client_asks_whether_we_live(case: Said) -> ClientState:
    """It may end the connection when we do not answer."""
    return case.state.with_line(case.number, case.line._replace(probe=True, pinged=True, unanswered=True))


def _asked(case: Said) -> ClientState:
    """A request is open."""
    family, number = FAMILY.get(case.kind, "rest"), case.body.request_id
    topic = case.body.topic if case.kind in ("PRODUCER", "SUBSCRIBE", "LOOKUP", "PARTITIONED_METADATA") else ""
    line: Line = case.line
    line = line._replace(open=(*line.open, Request(family, number, topic)), used=line.used | {(family, number)})
    return case.state.with_line(case.number, line)


@_effect("UNSUBSCRIBE", "SEEK", "GET_LAST_MESSAGE_ID", "CONSUMER_STATS")
def a_request_is_made(case: Said) -> ClientState:
    """It will be answered."""
    return _asked(case)


@_effect("CLOSE_PRODUCER", "CLOSE_CONSUMER")
def a_producer_or_consumer_is_closed(case: Said) -> ClientState:
    """It is closed for good, whatever the answer."""
    state = _asked(case)
    kind, name = ("producer", case.body.producer_id) if case.kind == "CLOSE_PRODUCER" else (
        "consumer", case.body.consumer_id)  # fmt: skip
    at = state.endpoint(kind, case.number, name, Stage.ASKED, Stage.PENDING, Stage.OPEN, Stage.LOST)
    if at is None:
        return state
    end = state.endpoints[at]
    closed = end._replace(stage=ENDPOINT.move(end.stage, "closes"), leaving=case.body.request_id)
    return state.with_endpoint(at, closed)


@_effect("LOOKUP")
def a_topic_is_looked_up(case: Said) -> ClientState:
    """A redirect is followed."""
    state, topic, redirect = _asked(case), case.body.topic, case.redirect
    if redirect is None or case.look is not Look.FOLLOWS:
        return state
    return state._replace(redirects={**state.redirects, topic: redirect._replace(followed=True)})


@_effect("PARTITIONED_METADATA")
def partitions_are_asked_for(case: Said) -> ClientState:
    """Who made something of the topic knows their number."""
    state = _asked(case)
    if state.told:
        return state
    for at, end in enumerate(state.endpoints):
        if end.stage is Stage.LOST and base(end.topic)[0] == case.body.topic:
            state = state.with_endpoint(at, end._replace(recounted=True))
    return state


@_effect("PRODUCER", "SUBSCRIBE")
def a_producer_or_consumer_is_made(case: Said) -> ClientState:
    """It is a new one, or the one that was lost."""
    state, at, body = _asked(case), case.before, case.body
    if at is not None:
        end = state.endpoints[at]
        stage = ENDPOINT.move(end.stage, "creates")
        return state.with_endpoint(at, end._replace(
            line=case.number, id=case.made_id, request=body.request_id, stage=stage, recounted=False
        ))  # fmt: skip
    size = _permits(state, base(body.topic)[0])
    # it may be a new one, or one that was to be closed when it was lost, which goes on from where it was
    others = tuple(
        nth
        for nth, end in enumerate(state.endpoints)
        if end.needless and (end.kind, end.topic) == (case.made, body.topic)
    )
    end = Endpoint(
        case.made, body.topic, case.number, case.made_id, body.request_id, size=size, others=others,
        guessed=any(body.topic in line.beside for line in state.lines.values()),
    )  # fmt: skip
    return state._replace(endpoints=(*state.endpoints, end))


def _permits(state: ClientState, topic: str) -> int:
    for op, value in state.told:
        if op == "subscribe" and isinstance(value, dict) and value.get("topic") == topic:
            return int(value.get("permits", 0))
    return 0


@_effect("FLOW")
def permits_are_granted(case: Said) -> ClientState:
    """So many more messages may be pushed."""
    at = case.state.endpoint("consumer", case.number, case.body.consumer_id)
    end = None if at is None else case.state.endpoints[at]
    if at is None or end is None or not end.alive:
        return case.state
    return case.state.with_endpoint(at, end._replace(granted=end.granted + case.body.messagePermits))


@_effect("ACK")
def messages_are_acknowledged(case: Said) -> ClientState:
    """Their acknowledgement is not due any more."""
    state = case.state
    if case.body.HasField("request_id"):
        line = case.line._replace(open=(*case.line.open, Request("ack", case.body.request_id)))
        state = state.with_line(case.number, line)
    for each in case.acked:
        if each.refusal is not None:
            left = tuple(one for one in state.refused if one is not each.refusal)
            state = state._replace(refused=left, refused_before=(*state.refused_before, each.refusal))
        if each.refusal is None or not case.body.HasField("validation_error"):
            upto = each.upto and each.refusal is None
            keep = tuple(one for one in state.unacked if not (one == each.entry or (upto and one <= each.entry)))
            state = state._replace(unacked=keep)
        state = state._replace(acked=state.acked | case.settled(each))
    return state


@_effect("REDELIVER_UNACKNOWLEDGED_MESSAGES")
def messages_are_asked_for_again(case: Said) -> ClientState:
    """They are not wanted any more, and may have been dropped."""
    at = case.state.endpoint("consumer", case.number, case.body.consumer_id, Stage.OPEN)
    if at is None:
        return case.state
    return case.state.with_endpoint(at, asked_again(case.state.endpoints[at], case.again_ids))


@_effect("SEND")
def a_message_is_sent(case: Said) -> ClientState:
    """It is not due any more, and waits for its receipt."""
    state, at, end = case.state, case.producer_at, case.producer
    if at is None or end is None or case.meta is None:
        return state
    if case.chunked:
        return state._replace(doubt=True).freed()
    if end.guessed:
        gone = [item.payload for item in case.contents[0]]
        return state._replace(payloads=tuple(each for each in state.payloads if each.payload not in gone))
    if end.resend:
        return state.with_endpoint(at, end._replace(resend=end.resend[1:]))
    items, unreadable = case.contents
    _, _, payloads, keys = case.fit
    if unreadable:  # it may bring any of what has to be sent
        payloads = state.freed().payloads
    payload, head = (items[0].payload, items[0].head) if items else (b"", None)
    sent = Sent(case.body.sequence_id, max(len(items), 1), payload, head)
    return state._replace(payloads=payloads, keys=keys).with_endpoint(at, end._replace(sent=(*end.sent, sent)))


@BOOK.effect("hangs up")
def the_client_hangs_up(case: Ended) -> Turn:
    """What was on the connection must be made again. Whether a client hung up or died shows a moment later."""
    state = case.state
    if not case.excused:
        closed = next((end.kind for end in state.endpoints if end.line == case.number and end.stage is Stage.LOST), "")
        state = state._replace(hung=state.hung or HangUp(case.number, closed, state.odd, case.line.unanswered))
    line, state = case.line, over(state, case.number, "hangs up")
    sent_on = state.redirects or any(state.partitions.values())  # what is to be asked next may be asked elsewhere
    reason = line.over or line.open or line.misuse or line.probe or line.unanswered or sent_on
    quits = line.version is not None and not reason
    return case.turn(state.with_line(case.number, state.line(case.number)._replace(quit=quits)))


@SURVIVAL.effect("rests")
def the_client_rests(case: Living) -> Turn:
    """Nothing changes."""
    return case.turn(case.state)


def silent(state: ClientState, event: Quiet) -> ClientState:
    """Nothing was said for a while."""
    state = state._replace(idle=state.idle + event.elapsed)
    return state._replace(lines={n: line._replace(low=line.low + event.ms) for n, line in state.lines.items()})


# -- reports -----------------------------------------------------------------------------------------------------------


def reported(case: Reported) -> ClientState:
    """What the client was told first is done, or will not be."""
    state = case.state._replace(told=case.state.told[1:])
    if case.outcome in (Outcome.FAILED, Outcome.EXCUSED):
        return forgiven(state, case.op) if not case.takes_no_login else state._replace(login=None, doubt=True)
    if case.op in ("producer", "subscribe"):
        handle = (case.made, str(case.told))
        return state._replace(topics={**state.topics, handle: str(case.given.get("topic"))})
    if case.op == "send_async":
        return state._replace(sending={**state.sending, str(case.told): str(case.given.get("payload_hex", ""))})
    if case.outcome is Outcome.MESSAGE and case.found is not None:
        at, i = case.found
        end, name = state.endpoints[at], case.name
        sure = end.queue[i].sure
        queue = end.queue[i + 1 :] if sure else (*end.queue[:i], *end.queue[i + 1 :])
        taker = end._replace(
            queue=queue, alone=end.alone or not end.queue[i].crowded, crowded=end.crowded or end.queue[i].crowded
        )
        state = state.with_endpoint(at, taker if sure else taken_once(taker, name))
        return state._replace(refs={**state.refs, state.ref(case.given, case.told): (case.topic, name)})
    return none_left(state, case.topic) if case.outcome is Outcome.NOTHING else state


def forgiven(state: ClientState, op: str) -> ClientState:
    """What a command that failed would have led to is not due."""
    if op == "ack":
        return state._replace(unacked=())
    if op == "redeliver":
        return unwanted(state)
    if op in ("send", "send_async", "await"):  # who says that it failed need not send it again
        for at, end in enumerate(state.endpoints):
            state = state.with_endpoint(at, end._replace(resend=()))
        return state.freed()
    return state
