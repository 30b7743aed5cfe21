"""What a MESSAGE must be: to whom, how often, when, and with which content.

Source: 003_30478fd2f19f0da0.txt L117-170 (delivery and acknowledgement), L217-248 (MESSAGE); STOMP 1.2 sections
MESSAGE, ACK, BEGIN, Repeated Header Entries, Value Encoding. "MESSAGE" is about the frame, "MESSAGE of a SEND" about
what it delivers, "message not seen" about a silence in which it was not delivered although someone was there to get it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.model import ANYTHING, Allow, Outcome
from specs.rules import Broken
from specs.stomp import ids
from specs.stomp.frames import Frame
from specs.stomp.headers import sayable_in_1_0, writable
from specs.stomp.machine import MACHINE, Phase
from specs.stomp.server.book import BOOK, outcome
from specs.stomp.server.case import Case, Copy, Match, of_message, special
from specs.stomp.server.causes_messages import (
    BODY,
    ELSEWHERE,
    HEADER,
    NOBODYS,
    NOT_YET,
    TWICE,
    WRONG_SUB,
    bodies,
    headers,
    taken_without_id,
    told,
)
from specs.stomp.server.changes import put
from specs.stomp.server.duties import copy_for_each_subscriber
from specs.stomp.server.effects_heard import delivered
from specs.stomp.server.permissions import OF_MESSAGES
from specs.stomp.server.refusals import REFUSALS
from specs.stomp.server.transactions import shared
from specs.stomp.states import Conn, State, as_read

MIME = re.compile(r"[^/\s;]+/[^/\s;]+\s*(;.*)?\Z", re.DOTALL)
_UNSEEN = "message not seen"
_OF_SEND = "MESSAGE of a SEND"
UNREAD = "octets that are no frame, and silence"

# -- the frame ---------------------------------------------------------------------------------------------------------


@BOOK.form(
    ids.MSG_04,
    on="MESSAGE",
    also=f"{ids.HDR_01} {ids.MSG_09}",
    unless=lambda case: case.sub is None and taken_without_id(case) is not None,
)
def names_a_subscription(case: Case) -> str:
    """L235-238: a MESSAGE carries the subscription header; 1.0 asks for it only where SUBSCRIBE had an id."""
    missing = case.frame.get("subscription") is None and case.sub is None
    return "MESSAGE without subscription" if missing else ""


@BOOK.form(ids.MSG_09, on="MESSAGE", also=ids.MSG_04, causes=WRONG_SUB, if_=lambda case: case.sub is None)
def its_subscription_is_open(case: Case) -> Broken:
    """L235-238; L129-146: a MESSAGE goes to a subscription that the client holds. The RECEIPT of 1.0 says only that
    UNSUBSCRIBE has come: what was under way follows; and an id that it cannot write may come as something else."""
    if case.conn.version == "1.0":
        odd = any(not sayable_in_1_0(key) for key in case.conn.subs if not key.startswith("\0"))
        if odd or case.frame.get("subscription") in case.conn.old_subs:
            return Broken("", level="")
    return Broken(f"MESSAGE for {case.frame.get('subscription')!r:.40}, which was never subscribed here", ends=True)


@BOOK.form("STOMP-1.2-MSG-01", on="MESSAGE", also=ids.HDR_01)
def has_a_destination(case: Case) -> str:
    """L220-222: every MESSAGE has a destination header."""
    return "MESSAGE without destination" if case.frame.get("destination") is None else ""


@BOOK.form(ids.MSG_03, on="MESSAGE", also=ids.HDR_01)
def has_a_message_id(case: Case) -> str:
    """L225-227: every MESSAGE has a message-id header."""
    return "MESSAGE without message-id" if case.frame.get("message-id") is None else ""


@BOOK.form(
    "STOMP-1.2-MSG-05", on="MESSAGE", if_=lambda case: case.conn.version == "1.2" and case.subscription.ack != "auto",
    unless=lambda case: case.subscription.vague,
)  # fmt: skip
def has_an_ack_where_it_is_acknowledged(case: Case) -> str:
    """L228-231: the ack header must be there where the subscription asks for explicit acknowledgement."""
    mode = case.subscription.ack
    return f"MESSAGE without ack on a subscription with ack:{mode}" if case.frame.get("ack") is None else ""


@BOOK.form(ids.BODY_02, on="MESSAGE", also=ids.MSG_09, causes=NOBODYS, if_=lambda case: case.match is Match.NOBODYS)
def somebody_sent_it(case: Case) -> str:
    """L83-86; L217-219: a MESSAGE conveys what was sent."""
    return "a MESSAGE that nobody sent: neither its headers nor its body match any SEND"


# -- may it come, and here ---------------------------------------------------------------------------------------------

_NEVERS = " ".join(
    dict.fromkeys(
        [
            ids.TXN_04,
            ids.TXN_05,
            ids.DISC_06,
            ids.ERROR_02,
            ids.FRAME_05,
            ids.INV_27,
            ids.INV_28,
            *(call.requirement for call in REFUSALS),
        ]
    )
)
"""Requirements by which a message must never be seen: effects_said.py and transactions.py say which."""
_WORDS = {
    ids.TXN_04: "although its transaction was aborted",
    ids.TXN_05: "although its connection ended before COMMIT",
    ids.DISC_06: "although its SEND came behind a DISCONNECT",
    ids.ERROR_02: "although its SEND came behind an ERROR",
}


def _shared(case: Case) -> bool:
    """Its transaction may be one with others of the same name: before 1.2 the text does not say that it is not."""
    return shared(case.state, case.message.conn, case.message.tx)


def _other_transaction_ended(case: Case) -> bool:
    sent = case.message
    if _shared(case):
        return False
    return sent.never in (ids.TXN_04, ids.TXN_05) and any(tx != sent.tx for tx in case.state.conns[sent.conn].old_txs)


@BOOK.form(ids.TXN_10, on=_OF_SEND, if_=lambda case: case.copy is Copy.NEVER and _other_transaction_ended(case))
def transactions_end_apart(case: Case) -> Broken:
    """STOMP 1.2, BEGIN: several transactions may be open, and each ends by itself."""
    why = f"{told(case)} was delivered {_WORDS[case.message.never]}: another one had ended"
    return Broken(why, also=(case.message.never,))


@BOOK.form(
    _NEVERS, on=f"{_OF_SEND}, {_UNSEEN}", which=lambda case: case.message.never,
    same_as="nothing_behind_it_was_done nothing_behind_a_refused_frame_is_done",
)  # fmt: skip
def what_has_no_effect_is_not_seen(case: Case) -> Broken | str:
    """STOMP 1.2, ABORT, DISCONNECT, ERROR: what was undone, refused or sent too late has no effect."""
    if not case.frame.command:
        return ""
    sent = case.message
    if _shared(case):
        return Broken("", level="")
    words = _WORDS.get(sent.never, "although the SEND had to be refused")
    return Broken(f"{told(case)} was delivered {words}", sent.level, ends=True)


@BOOK.form(
    "STOMP-1.2-TXN-02", on=f"{_OF_SEND}, {_UNSEEN}", if_=lambda case: case.message.tx is not None, causes=NOT_YET
)
def not_before_its_commit(case: Case) -> Broken | str:
    """L182-193: what is sent in a transaction is not delivered before COMMIT."""
    if _shared(case):
        return Broken("", level="") if case.copy is Copy.UNCOMMITTED and case.frame.command else ""
    early = case.copy is Copy.UNCOMMITTED and bool(case.frame.command)
    return f"{told(case)} was delivered before COMMIT" if early else ""


@BOOK.tried("STOMP-1.2-INV-38", on=_UNSEEN, if_=lambda case: case.message.never == ids.DISC_06)
def passes_over_what_comes_behind_disconnect(case: Case) -> bool:
    """L194-212: what a server does with such frames is its affair, as long as they have no effect."""
    return True


@BOOK.freedom("E-13")
def one_name_to_the_server(case: Case) -> bool:
    """1.2, SEND: a destination is opaque, and its syntax the server's; discovery saw that letter case, or blanks at its
    ends, make no difference. No other text of a message may change."""
    config = case.state.config
    if not (config.folds or config.trims):
        return False
    meant = as_read(case.message.destination, config)
    return any(meant == as_read(place, config) for place in case.subscription.destinations)


@BOOK.form(ids.SEND_02, on=_OF_SEND, causes=ELSEWHERE, freed_by=(one_name_to_the_server,))
def goes_to_its_destination(case: Case) -> Broken | str:
    """L79-82: destination says where the message goes."""
    if case.copy is not Copy.ELSEWHERE:
        return ""
    if case.conn.version == "1.0" and case.subscription.id in case.conn.old_subs:
        return Broken("", level="")  # it may have been under way to the one that had this id before
    return Broken(f"{told(case)} went to a subscriber of {case.subscription.destinations[0]!r:.60}", ends=True)


def _sent_behind(case: Case) -> bool:
    return case.message.behind is not None


@BOOK.form(
    ids.ERROR_02, on=f"{_OF_SEND}, {_UNSEEN}", if_=_sent_behind,
    same_as="nothing_behind_it_was_done what_has_no_effect_is_not_seen",
)  # fmt: skip
def nothing_behind_a_refused_frame_is_done(case: Case) -> Broken | str:
    """STOMP 1.2, ERROR: the connection is over with the frame that was refused. Earlier versions do not say so."""
    behind = case.message.behind
    if case.copy is not Copy.BEHIND or behind is None:
        return ""
    if case.state.conns[case.message.conn].version != "1.2":
        return Broken("", level="")
    why = f"{told(case)} was processed although it stood behind a refused frame"
    return Broken(why, None if behind.accepted == "MUST" else "SHOULD", ends=True)


@BOOK.form(ids.MSG_10, on=f"{_OF_SEND}, {_UNSEEN}", causes=TWICE, if_=lambda case: case.last is not None)
def comes_once(case: Case) -> str:
    """L148-170: a message is delivered to a subscription once, unless its connection failed or a NACK gave it back."""
    if case.copy is not Copy.AGAIN:
        return ""
    return f"the message {case.message.frame.body[:40]!r} came again while its first delivery was still outstanding"


# -- what it carries ---------------------------------------------------------------------------------------------------


@BOOK.form("STOMP-1.2-MSG-02", on=_OF_SEND)
def destination_as_it_was_sent(case: Case) -> str:
    """L222-224: the destination should be the one of the SEND."""
    got, sent = case.frame.get("destination"), case.message.destination
    return "" if got == sent else f"destination {got!r:.60} is not the {sent!r:.60} of its SEND"


def _strict(case: Case) -> bool:
    return not case.message.loose


@BOOK.form(ids.BODY_02, on=_OF_SEND, if_=_strict, causes=BODY)
def body_as_it_was_sent(case: Case) -> str:
    """L83-86: the body is what was sent, octet for octet."""
    return "" if case.frame.body == case.message.frame.body else bodies(case)


@BOOK.form(ids.MSG_07, on=_OF_SEND, also=ids.CLEN_05, if_=lambda case: bool(case.frame.body))
def states_its_length(case: Case) -> str:
    """L243-246: a MESSAGE with a body should state content-length."""
    return "MESSAGE with a body but without content-length" if case.frame.get("content-length") is None else ""


def _typed(case: Case) -> bool:
    """Its SEND had a content-type, which 1.0 does not know."""
    return case.message.frame.get("content-type") is not None and case.conn.version != "1.0"


@BOOK.form(ids.CTYPE_01, on=_OF_SEND, also=f"{ids.MSG_07} {ids.CTYPE_04}", if_=_typed)
def states_the_type_that_was_sent(case: Case) -> str:
    """L243-246: a content-type that the sender gave should be on the MESSAGE."""
    return "MESSAGE without the content-type of its SEND" if case.frame.get("content-type") is None else ""


@BOOK.form(ids.CTYPE_04, on=_OF_SEND, if_=lambda case: _typed(case) and case.frame.get("content-type") is not None)
def content_type_as_it_was_sent(case: Case) -> str:
    """STOMP 1.2, Header content-type: it describes the body, which is the same."""
    got, sent = case.frame.get("content-type"), case.message.frame.get("content-type")
    return "" if got == sent else f"content-type {got!r:.60} is not the {sent!r:.60} of its SEND"


@BOOK.form(
    ids.CTYPE_02, on=_OF_SEND, unless=lambda case: case.message.frame.get("content-type") is not None,
    if_=lambda case: case.frame.get("content-type") is not None and case.conn.version != "1.0",
)  # fmt: skip
def content_type_of_its_own_is_one(case: Case) -> Broken | str:
    """STOMP 1.2, Header content-type: the value is a MIME type. In 1.1 it should be one."""
    kind = case.frame.get("content-type")
    if MIME.match(kind):
        return ""
    return Broken(f"content-type {kind!r:.60} is no MIME type", None if case.conn.version == "1.2" else "SHOULD")


def _user_headers(case: Case) -> bool:
    return "user" in case.special


@BOOK.form(ids.SEND_04, on=_OF_SEND, also=ids.MSG_08, if_=_user_headers, causes=HEADER)
def user_headers_as_they_were_sent(case: Case) -> Broken | str:
    """L94-106; L239-242: all user headers of the SEND are on the MESSAGE. 1.0 knows selectors, and does not say so."""
    if not case.header[0]:
        return ""
    return Broken(headers(case), None if case.conn.version != "1.0" else "SHOULD")


def _other_header(case: Case) -> tuple[str, str]:
    """The first user header of a SEND that its MESSAGE does not have with the value that was given first. One of a
    newer session that the reader's version has no way to write may be lost or altered (E-38)."""
    frame, sent, version = case.frame, case.message.frame, case.conn.version
    sender = case.state.conns.get(case.message.conn)
    older = sender is not None and sender.version <= version
    for name, value in case.user:
        if frame.get(name) != value == sent.get(name) and (older or writable(version, name, value)):
            return name, value
    return "", ""


def _own_handles(case: Case) -> list[str]:
    """The headers of a MESSAGE that are the server's own and that its SEND has as well. Where there need not be an ack,
    it is a user header like others: before 1.2, and where it is not certain that something is to be acknowledged."""
    sub = case.subscription
    explicit = case.conn.version == "1.2" and sub.ack != "auto" and not sub.vague
    return [name for name in ("message-id", "ack")[: 1 + explicit] if case.message.frame.get(name) is not None]


@BOOK.form(ids.SEND_09, on=_OF_SEND, if_=lambda case: bool(_own_handles(case)))
def has_handles_of_the_servers_own(case: Case) -> str:
    """L225-231: message-id and ack are the server's."""
    forged = any(case.frame.get(name) == case.message.frame.get(name) for name in _own_handles(case))
    return "the sender's own message-id or ack replaced the server's" if forged else ""


_HANDLES = (ids.MSG_03, ids.MSG_06, ids.SEND_09)
"""Requirements that make acknowledgements plain."""


@BOOK.form(ids.MSG_03, on=_OF_SEND)
def message_id_is_its_own(case: Case) -> str:
    """L225-227: the message-id is unique."""
    identity, sent = case.frame.get("message-id"), case.message
    for other in case.state.deliveries.values():
        if other.conn == case.number and other.id == identity and other.message != sent.serial:
            return f"message-id {identity!r:.60} was given to two different messages on one connection"
    return ""


@BOOK.form(
    ids.MSG_06, on=_OF_SEND,
    if_=lambda case: case.conn.version == "1.2" and case.subscription.ack != "auto" and bool(case.state.deliveries),
)  # fmt: skip
def ack_is_its_own(case: Case) -> str:
    """L228-231: by the ack value the delivery is told from others."""
    ack, sent = case.frame.get("ack"), case.message
    if ack is None:
        return ""
    for other in case.state.deliveries.values():
        if other.conn != case.number or (sent.wild and other.message == sent.serial):
            continue
        if other.ack == ack and other.fate == "out" and other.mode != "auto":
            return f"ack {ack!r:.60} stands for two deliveries that are both outstanding"
    return ""


# -- together ----------------------------------------------------------------------------------------------------------


def message(state: State, number: int, conn: Conn, frame: Frame, shown: tuple[str, ...]) -> Outcome:
    """Judge one MESSAGE on a connection that may get any."""
    case = of_message(state, number, conn, frame)
    found = BOOK.ask("MESSAGE", case)
    if found.breach is not None or found.unjudged or case.sub is None or (case.sent is None and found.lapses):
        # it was delivered all the same, if it is known what and to whom; otherwise nobody knows what is still owed
        known = case.sub is not None and case.sent is not None
        after = delivered(state, number, conn, case.subscription, frame, case.message) if known else ANYTHING
        return outcome(found, after)
    if case.sent is None:
        # nothing is owed any more to a subscription that may be busy with it
        subs = {**conn.subs, case.sub.id: case.sub._replace(vague=True)}
        return Allow(put(state, number, conn._replace(phase=MACHINE.move(conn.phase, "MESSAGE"), subs=subs)))
    sent = case.sent.frame
    if case.copy is Copy.MAY and _may_be_torn(case):
        torn = f"the body is empty, sent was {sent.body[:60]!r} ({len(sent.body)} octets)"
        return Allow(put(state, number, conn._replace(torn=torn)))
    if not case.sent.loose:
        case.header, case.special = _other_header(case), special(case.user)
    of_send = BOOK.ask(_OF_SEND, case)
    after = delivered(state, number, conn, case.subscription, frame, case.message)
    if of_send.breach is not None or of_send.unjudged:
        # which of two deliveries an acknowledgement means is open once they cannot be told apart
        unclear = of_send.breach is not None and of_send.breach.requirement in _HANDLES
        return outcome(of_send, ANYTHING if unclear and case.subscription.ack != "auto" else after)
    # which of two names it meant is the server's affair, and so is all that follows
    return outcome(of_send, ANYTHING if of_send.leans else after, shown + found.covers + _credited(case))


def _may_be_torn(case: Case) -> bool:
    """A body that was cut, or one without its content-length: what comes next tells."""
    sent = case.message
    empty = not case.frame.body and case.frame.get("content-length") is None
    return empty and sent.frame.body[:1] == b"\0" and not sent.loose


def _credited(case: Case) -> tuple[str, ...]:
    """What a delivery shows besides: the duty that it meets, and freedoms of which it makes use."""
    sent, sub = case.message, case.subscription
    shown: tuple[str, ...] = ()
    if (sent.serial, sub.serial) in case.state.due or sent.serial in case.state.waiting.get(sent.destination, ()):
        shown = BOOK.met_one(copy_for_each_subscriber, case)
    if sent.tx is not None or case.last is not None or len(case.frame.headers) > 4:
        shown += BOOK.ask(OF_MESSAGES, case).covers
    return shown


def unseen(state: State) -> Iterator[str]:
    """What a silence shows in which a message was not delivered although someone was there to get it."""
    places = {
        place
        for conn in state.conns.values()
        if conn.phase is Phase.LIVE
        for sub in conn.subs.values()
        if sub.sure
        for place in sub.destinations
    }
    for sent in state.messages.values():
        hidden = sent.never or not sent.may or (sent.behind is not None and not sent.deliveries)
        if hidden and sent.destination in places:
            copy = Copy.NEVER if sent.never else Copy.MAY
            case = Case(state, sent.conn, state.conns[sent.conn], sent=sent, copy=copy)
            yield from BOOK.ask(_UNSEEN, case).covers
    if places:
        yield from _not_delivered(state, places)
    for delivery in state.deliveries.values():
        sent = state.messages[delivery.message]
        if delivery.fate == "settled" and sent.destination in places:
            case = Case(state, delivery.conn, state.conns[delivery.conn], sent=sent, last=delivery)
            yield from BOOK.ask(_UNSEEN, case).covers


@BOOK.form(ids.UNSUB_03, on="a place that was left", also=ids.MSG_09)
def nothing_comes_after_unsubscribe(case: Case) -> str:
    """STOMP 1.2, UNSUBSCRIBE: a silence in which it could have come shows it; `after_unsubscribe` finds the breach."""
    return ""


def _not_delivered(state: State, places: set[str]) -> Iterator[str]:
    """What a silence shows of octets that were no frame, and of subscriptions that are gone."""
    for number, conn in state.conns.items():
        if conn.lost or conn.midway:
            case = Case(state, number, conn)
            yield from (*NOBODYS.credits(case), *BOOK.ask(UNREAD, case).covers)
        for place, since in conn.left_places:
            if any(m.destination == place and m.serial > since and not m.never for m in state.messages.values()):
                yield from BOOK.ask("a place that was left", Case(state, number, conn)).covers
