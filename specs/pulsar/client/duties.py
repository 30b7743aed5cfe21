"""What a client has still to say or do. From these follow whose turn it is, and what its silence breaks.

Source: 001_c0ea8805bb7ed422.txt; docs/ambiguities.md, "What a client may do".
"""

from __future__ import annotations

from collections.abc import Iterator

from specs.pulsar.client.book import BOOK
from specs.pulsar.client.causes import HUNG_UP, NOTHING_FOLLOWS, SUBSCRIBED_ELSEWHERE
from specs.pulsar.client.effects_again import unwanted
from specs.pulsar.client.forms_again import WANTED_AGAIN
from specs.pulsar.client.forms_commands import PERMITS, PONG, REFUSALS
from specs.pulsar.client.forms_reports import TAKES, UNDISTURBED
from specs.pulsar.client.forms_sends import ASCENDING, IN_ORDER, RESENT
from specs.pulsar.client.machine import ENDPOINT, FIRST, MISUSED, Stage
from specs.pulsar.client.oddities import REFUSED_SIZE, SIZES, SURVIVES, UNPARSABLE, Oddity
from specs.pulsar.client.refusals import ACKS
from specs.pulsar.client.state import ClientState, Endpoint, base
from specs.rules import Due

CLOSINGS = " ".join((
    REFUSED_SIZE, SIZES, SURVIVES,
    *(each.row for each in Oddity if each in UNPARSABLE and each is not Oddity.OTHER_MAGIC),
))  # fmt: skip
"""The requirements by which a connection has to end: a row of invalid input, and what it is a case of beside it."""
UNREFUSED = " ".join((REFUSALS, *(each.row for each in Oddity if each.unread and each is not Oddity.NO_CONSUMER)))
MANY_REDIRECTS = 10
"""Whoever was redirected more often than this in a row may follow no further: loops have to end (LOOK-07, P-81)."""
SUBSCRIBES_AGAIN, CREATES_AGAIN = "PULSAR-SUB-03", "PULSAR-CLP-06"
"""After every connect the client subscribes again. A producer that the broker closed is looked up and created again."""


def _gone(state: ClientState) -> bool:
    """True when the client was told to disconnect, and did."""
    return state.left and not state.told


def _held_up(state: ClientState) -> bool:
    """True while the client may be waiting for something."""
    return (
        state.waits or state.doubt or state.beyond or bool(state.told and state.too_large(*state.told[0]))
    )  # fmt: skip


def _behind_a_send(state: ClientState, op: str) -> bool:
    """True while a call of the application waits behind its send, which waits for our SEND_RECEIPT."""
    return state.lacks_receipt and any(each[0] == op for each in state.told[1:])


def _gave_up(state: ClientState, topic: str) -> bool:
    """True where the client may have given a topic up, or one of its partitions, behind too many redirects."""
    return any(
        base(name)[0] == base(topic)[0] and not each.followed and each.nth > MANY_REDIRECTS
        for name, each in state.redirects.items()
    )


@BOOK.duty(UNDISTURBED, met_by="", causes=HUNG_UP)
def to_stay(state: ClientState) -> Due | str:
    """The client hung up; that it died would be seen a moment later."""
    if state.hung is None:
        return ""
    why = "the client closed a connection on which nothing was wrong"
    return Due(why, forgive=lambda state: state._replace(hung=None))


@BOOK.duty(PONG, met_by="PONG")
def to_answer_ping(state: ClientState) -> Iterator[Due]:
    """The client answers PING with PONG promptly (seed, Keep Alive)."""
    if _gone(state):
        return
    for number, line in state.lines.items():
        if line.pings and not line.over and line.phase not in MISUSED and not line.misuse:
            yield Due(f"PING on connection {number} was not answered", about=number, forgive=_without_pings)


def _without_pings(state: ClientState) -> ClientState:
    return state._replace(lines={number: line._replace(pings=0) for number, line in state.lines.items()})


@BOOK.duty(CLOSINGS, met_by="hangs up")
def to_end_the_connection(state: ClientState) -> Iterator[Due]:
    """What cannot be read ends the connection (follows from the seed, Framing)."""
    if _gone(state):
        return
    for number, line in state.lines.items():
        if line.must and not line.over:
            first, *also = line.must
            why = f"connection {number} stays open: {line.misuse}"
            yield Due(why, about=number, requirement=first, also=tuple(also), forgive=_without_musts)


def _without_musts(state: ClientState) -> ClientState:
    return state._replace(lines={number: line._replace(must=()) for number, line in state.lines.items()})


@BOOK.duty(f"{FIRST} {TAKES}", met_by="reports", causes=NOTHING_FOLLOWS)
def to_do_what_it_was_told(state: ClientState) -> Due | str:
    """Beside the wire: what the application asks for is done, or fails."""
    if not state.told or _held_up(state) or state.lacks_receipt:
        return ""
    op, given = state.told[0]
    named = state.topic_named("producer" if "producer" in given else "consumer", given)
    if _gave_up(state, str(given.get("topic", named))):
        return ""
    return Due(f"{op}: nothing follows", requirement=TAKES if op == "receive" else FIRST)


def _may_come_back(state: ClientState) -> bool:
    """True where a client that was cut off has to come back now."""
    return not (_gone(state) or state.left or _held_up(state)) and (not state.told or _is_stuck(state))


def _is_stuck(state: ClientState) -> bool:
    """True for a client that waits for the receipt of what it has to send again."""
    return len(state.told) == 1 and state.told[0][0] in ("send", "await")


def _comes_back(state: ClientState, end: Endpoint) -> bool:
    """True for a producer or consumer that was lost and has to be made again. A producer whose connection was lost
    may come back when there is something to send; whoever hung up by himself may be where the plan does not look."""
    if end.stage is not Stage.LOST or _is_stuck(state):
        return False
    if end.kind == "producer" and end.cut and not end.resend:
        return False
    return end.forced or any(line.greeted and number > end.line for number, line in state.lines.items())


@BOOK.duty(f"{SUBSCRIBES_AGAIN} {SUBSCRIBED_ELSEWHERE} {CREATES_AGAIN}", met_by="PRODUCER, SUBSCRIBE")
def to_make_again_what_was_lost(state: ClientState) -> Iterator[Due]:
    """After every connect the client subscribes again; what the broker closed is looked up and made again (seed,
    Consumer, CloseProducer, CloseConsumer)."""
    if not any(end.stage is Stage.LOST for end in state.endpoints) or not _may_come_back(state):
        return
    for at, end in enumerate(state.endpoints):
        if _comes_back(state, end) and not _gave_up(state, end.topic):
            again = SUBSCRIBES_AGAIN if end.cut else SUBSCRIBED_ELSEWHERE
            rule = CREATES_AGAIN if end.kind == "producer" else again
            yield Due(f"a {end.kind} on {end.topic} was not created again", about=at, requirement=rule, forgive=_buried)


def _buried(state: ClientState) -> ClientState:
    """What did not come back is closed for good."""
    for at, end in enumerate(state.endpoints):
        if end.stage is Stage.LOST:
            state = state.with_endpoint(at, end._replace(stage=ENDPOINT.move(end.stage, "closes")))
    return state


@BOOK.duty(RESENT, met_by="", also=ASCENDING)
def to_send_again(state: ClientState) -> Iterator[Due]:
    """Messages without a receipt are sent again after a reconnect (follows from the seed, CloseProducer)."""
    if not any(end.resend for end in state.endpoints) or not _may_come_back(state):
        return
    for at, end in enumerate(state.endpoints):
        if end.stage is Stage.OPEN and end.resend and not end.guessed:
            yield Due(f"the message {end.resend[0]} was not sent again", about=at, forgive=_unsent)


def _unsent(state: ClientState) -> ClientState:
    return state._replace(endpoints=tuple(end._replace(resend=()) for end in state.endpoints)).freed()


@BOOK.duty(UNREFUSED, met_by="")
def to_refuse_what_it_cannot_read(state: ClientState) -> Iterator[Due]:
    """ACK with validation_error (seed, Ack): a recommendation."""
    if state.left:
        return
    for each in state.refused:
        row, held = each.oddity.row, each.unreadable.refused
        why = f"the message {each.entry} was not refused"
        yield Due(why, about=each, requirement=row, level="SHOULD", also=(held,), forgive=believed)


def believed(state: ClientState) -> ClientState:
    """What was not refused by now is not waited for."""
    return state._replace(refused=())


@BOOK.duty(ACKS, met_by="")
def to_acknowledge(state: ClientState) -> Due | str:
    """What the application acknowledged is acknowledged (seed, Ack)."""
    if not state.unacked or state.left or _held_up(state) or _behind_a_send(state, "ack"):
        return ""
    if any(end.stage is Stage.LOST for end in state.endpoints):
        return ""
    why = f"the application's acknowledgement of {state.unacked[0]} was not sent"
    return Due(why, forgive=lambda state: state._replace(unacked=()))


@BOOK.duty(WANTED_AGAIN, met_by="REDELIVER_UNACKNOWLEDGED_MESSAGES")
def to_ask_again(state: ClientState) -> Iterator[Due]:
    """What the application wants again is asked for (follows from the seed, RedeliverUnacknowledgedMessages)."""
    if state.left or _held_up(state) or _behind_a_send(state, "redeliver"):
        return
    for at, end in enumerate(state.endpoints):
        line = state.line(end.line)
        if end.wanted and end.stage is Stage.OPEN and not line.over and not line.misuse:
            why = f"the application wants {min(end.wanted)} again, and it was not asked for"
            yield Due(why, about=at, forgive=unwanted)


@BOOK.duty(IN_ORDER, met_by="")
def to_send(state: ClientState) -> Due | str:
    """What the application sent is sent (follows from the seed, Send)."""
    if not any(each.owed for each in state.payloads) or state.told or state.odd or _gone(state) or _held_up(state):
        return ""
    if any(end.stage is not Stage.OPEN for end in state.endpoints):
        return ""
    return Due("a message that the application sent was not sent", forgive=ClientState.freed)


def held_back(state: ClientState) -> ClientState:
    """Behind a message that waits for its receipt a producer may hold the others back: how many may be under way at
    once is its own affair (P-91)."""
    waiting = {
        base(end.topic)[0]
        for end in state.endpoints
        if end.stage is Stage.OPEN and any(not sent.receipted for sent in end.sent)
    }
    payloads = tuple(each._replace(owed=False) if base(each.topic)[0] in waiting else each for each in state.payloads)
    return state._replace(payloads=payloads)


@BOOK.duty(PERMITS, met_by="")
def to_permit(state: ClientState) -> Iterator[Due]:
    """The client grants permits, and more as the application takes messages (seed, Flow control): a recommendation."""
    if state.odd or state.left:
        return
    for at, end in enumerate(state.endpoints):
        if end.kind != "consumer" or end.stage is not Stage.OPEN:
            continue
        if not end.granted:
            yield Due(f"no permits for {end.topic}", about=at, level="SHOULD")
        elif end.pushed and end.granted <= end.pushed and not (state.doubt or end.waits):
            yield Due(f"all messages were taken, and no more were permitted for {end.topic}", about=at, level="SHOULD")
