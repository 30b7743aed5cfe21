"""What a client sends for what it was told, in a session.

Topics: the commands SEND, SUBSCRIBE, UNSUBSCRIBE, ACK, NACK, BEGIN, COMMIT and ABORT. Source:
003_30478fd2f19f0da0.txt L76-193; STOMP 1.2, all client frames, Value Encoding, Header content-length, Header
content-type, Frames and Headers; STOMP 1.1 and 1.0, ACK.
"""

from __future__ import annotations

import re
from functools import partial

from specs.stomp import ids
from specs.stomp.client.book import ACKNOWLEDGES, AS_GIVEN, BODIES, BOOK, NAMES_ITS_OWN, REQUIRED
from specs.stomp.client.case import Case, change
from specs.stomp.client.machine import SETTLING, WORK, K
from specs.stomp.client.state import UNBEGUN
from specs.stomp.frames import ESCAPES
from specs.stomp.headers import SPECIAL, blank_ended, writable

MIME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+\s*(;.*)?", re.DOTALL)
_TYPE = "content-type"
IN_SESSION = (K.ASKED, K.LIVE)
"""Where a frame is looked at: elsewhere there must be none, or it may be anything."""
form = partial(BOOK.form, when=IN_SESSION)


@BOOK.excuse(on=", ".join((*WORK, *SETTLING)), when=(K.REFUSED,), if_=lambda case: not case.state.unconnected,
             freedom="E-12")  # fmt: skip
def it_may_have_spoken_before_connected_came(case: Case) -> bool:
    """STOMP 1.2, Connecting: nothing forbids a client to send frames before it has read CONNECTED."""
    return True


# -- SEND --------------------------------------------------------------------------------------------------------------


def _told(case: Case) -> bool:
    return case.known


def _given(case: Case) -> list[tuple[str, str]]:
    """What the application gave, that a header has to say; content-type apart, which is a recommendation, and a
    destination with blanks in it (E-33)."""
    more = [pair for pair in case.send.headers if pair[0] != _TYPE] if case.action == "SEND" else []
    place = case.send.destination if case.action == "SEND" else case.sub.destination
    return [*([] if re.search(r"\s", place) else [("destination", place)]), *more]


def _change(case: Case) -> tuple[str, str]:
    return change([pair for pair in _given(case) if _speakable(pair, case.version)], case.frame, case.version)


def _speakable(pair: tuple[str, str], version: str) -> bool:
    """True when the version of the session has a way to write a header. Before CONNECTED has come nobody knows the
    version, and what versions write in several ways is free (E-33)."""
    if version == "1.2":
        return True
    if version == "":
        return all(pair) and SPECIAL.search("".join(pair)) is None and not blank_ended([pair])
    return all(pair) and writable(version, *pair)


def _why(case: Case, *kinds: str) -> str:
    kind, why = _change(case)
    return f"{case.action}: {why}" if kind in kinds else ""


@form(ids.SEND_01, on="SEND", also=REQUIRED)
def a_send_has_a_destination(case: Case) -> str:
    """L77: destination is required."""
    return "SEND without destination" if case.frame.get("destination") is None else ""


@form(ids.SUB_01, on="SUBSCRIBE", also=REQUIRED)
def a_subscribe_has_a_destination(case: Case) -> str:
    """L113-116: destination is required."""
    return "SUBSCRIBE without destination" if case.frame.get("destination") is None else ""


def _texts(case: Case) -> list[str]:
    return [text for pair in _given(case) for text in pair]


@form(ids.ENC_01, on="SEND, SUBSCRIBE", if_=lambda case: _told(case) and not all(t.isascii() for t in _texts(case)))
def letters_are_those_that_were_given(case: Case) -> str:
    """STOMP 1.2, Value Encoding: headers are UTF-8."""
    return _why(case, ids.ENC_01)


@form(ids.ENC_07, on="SEND, SUBSCRIBE", if_=lambda case: _told(case) and blank_ended(_given(case)))
def blanks_are_those_that_were_given(case: Case) -> str:
    """STOMP 1.2, Value Encoding: nothing is trimmed or padded."""
    return _why(case, ids.ENC_07)


@form(ids.ENC_08, on="SEND", if_=lambda case: _told(case) and any(value == "" for _, value in case.send.headers))
def an_empty_value_is_written(case: Case) -> str:
    """STOMP 1.2, Augmented BNF: a header-value may be empty."""
    return _why(case, "empty")


@form(
    ids.NEGO_06, on="SEND, SUBSCRIBE", also=AS_GIVEN,
    if_=lambda case: _told(case) and case.version == "1.0" and any(map(SPECIAL.search, _texts(case))),
)  # fmt: skip
def nothing_is_escaped_in_a_session_of_1_0(case: Case) -> str:
    """STOMP 1.2, Protocol Negotiation; STOMP 1.0, which has no escapes."""
    lost = [(name, value) for name, value in _given(case) if case.frame.get(name) != value]
    for name, value in lost:
        for version in ("1.1", "1.2"):
            other, text = (each.translate(ESCAPES[version]) for each in (name, value))
            if case.frame.get(other) == text:
                return f"{case.action}: the header {name!r} was given as {value!r} and is {other!r} with {text!r}"
    return ""


@form(AS_GIVEN, on="SEND, SUBSCRIBE", if_=_told)
def headers_are_those_that_were_given(case: Case) -> str:
    """L77, L105, L113; STOMP 1.2, Value Encoding: destination, and user headers of the application's choice."""
    kind, why = _change(case)
    return f"{case.action}: {why}" if kind else ""


@form(ids.CLEN_06, on="SEND", if_=lambda case: _told(case) and not case.send.body.isascii())
def a_length_counts_octets_of_what_was_given(case: Case) -> str:
    """STOMP 1.2, Header content-length: an octet count, not one of characters."""
    body, sent = case.send.body, case.frame.body
    cut = sent != body and body.startswith(sent) and case.frame.get("content-length") is not None
    return f"a body of {len(body)} octets has a content-length of {len(sent)}" if cut else ""


@form(BODIES, on="SEND", if_=_told)
def a_body_is_sent_as_it_was_given(case: Case) -> str:
    """STOMP 1.2, Body, Header content-length: a body with a NUL must have a content-length."""
    body, sent = case.send.body, case.frame.body
    return "" if sent == body else f"the body {body[:60]!r} ({len(body)} octets) is {sent[:60]!r} ({len(sent)} octets)"


@form(ids.CLEN_05, on="SEND", if_=lambda case: bool(case.frame.body))
def a_body_has_its_length(case: Case) -> str:
    """L98-100: content-length if there is a body."""
    return "SEND with a body and without content-length" if case.frame.get("content-length") is None else ""


def _typed(case: Case) -> str | None:
    return next((value for name, value in case.send.headers if name == _TYPE), None) if case.known else None


@form(ids.CTYPE_01, on="SEND", if_=lambda case: bool(case.frame.body) and _typed(case) is not None)
def a_body_has_its_type(case: Case) -> str:
    """L98-100: content-type if there is a body. Which one only the application knows."""
    said = case.frame.get(_TYPE)
    return "" if said is not None else f"content-type was given as {_typed(case)!r} and is {said!r}"


@form("STOMP-1.2-SEND-08", on="SEND", if_=lambda case: bool(case.frame.body) and _typed(case) is not None)
def what_a_body_is_is_said(case: Case) -> str:
    """L98-100: content-length and content-type if there is a body."""
    said = case.frame.get(_TYPE)
    if said != _typed(case):
        return f"content-type was given as {_typed(case)!r} and is {said!r}"
    return "SEND with a body and without content-length" if case.frame.get("content-length") is None else ""


@form(ids.CTYPE_02, on="SEND", if_=lambda case: case.frame.get(_TYPE) is not None and not _typed(case))
def a_type_of_its_own_is_a_mime_type(case: Case) -> str:
    """STOMP 1.2, Header content-type: a MIME type."""
    return "" if MIME.fullmatch(case.frame.get(_TYPE)) else f"content-type:{case.frame.get(_TYPE)}"


@BOOK.tried("STOMP-1.2-SEND-05", on="SEND", when=IN_SESSION, if_=_told)
def user_headers_are_added(case: Case) -> bool:
    """L102: an application may add headers."""
    return any(name != _TYPE for name, _ in case.send.headers)


def _in(case: Case, at: int) -> str:
    """Why a frame is not part of the transaction that the application meant."""
    said = case.frame.get("transaction")
    if at == UNBEGUN or case.state.txs[at].nth in case.state.failed:
        return ""
    tx = case.state.txs[at]
    if said is None:
        return f"{case.action} was to be part of the transaction {tx.name!r} and is part of none"
    if tx.seen and not tx.ended and tx.wire == said:
        return ""
    return f"{case.action} was to be part of the transaction {tx.name!r} ({tx.wire!r}) and is part of {said!r}"


@form(NAMES_ITS_OWN, on="SEND", if_=lambda case: _told(case) and case.send.tx is not None)
def a_send_is_part_of_its_transaction(case: Case) -> str:
    """L96; STOMP 1.2, BEGIN: the transaction header names the transaction that was begun."""
    return "" if case.send.tx is None else _in(case, case.send.tx)


@form(NAMES_ITS_OWN, on="SEND", if_=lambda case: _told(case) and case.send.tx is None)
def what_is_sent_outside_is_part_of_no_transaction(case: Case) -> str:
    """L96; STOMP 1.2, SEND: the transaction header makes the message part of a transaction."""
    said = case.frame.get("transaction")
    return "" if said is None else f"SEND was to be part of no transaction and is part of {said!r}"


# -- SUBSCRIBE, UNSUBSCRIBE --------------------------------------------------------------------------------------------


@form(ids.SUB_02, on="SUBSCRIBE", if_=lambda case: case.version in ("1.1", "1.2"), level="MUST", also=REQUIRED)
def a_subscribe_has_an_id(case: Case) -> str:
    """L129-131: id is required."""
    return "SUBSCRIBE without id" if case.frame.get("id") is None else ""


def _others(case: Case) -> bool:
    return any(sub.open and sub.wire is not None for sub in case.state.subs)


@form(ids.SUB_03, on="SUBSCRIBE", if_=_others, level="MUST", also=NAMES_ITS_OWN)
def ids_of_open_subscriptions_differ(case: Case) -> str:
    """L135: subscriptions of one connection must have different ids."""
    name = case.frame.get("id")
    again = any(sub.open and sub.wire == name for sub in case.state.subs)
    return f"the id {name!r} is that of an open subscription" if name is not None and again else ""


@form(ACKNOWLEDGES, on="SUBSCRIBE", if_=_told)
def the_mode_is_the_one_that_was_given(case: Case) -> str:
    """L137-140: ack is auto, client or client-individual, and auto without it."""
    said = case.frame.get("ack") or "auto"
    return "" if said == case.sub.mode else f"the mode {case.sub.mode!r} was asked for and is {said!r}"


@form(REQUIRED, on="UNSUBSCRIBE", if_=lambda case: case.version in ("1.1", "1.2"))
def an_unsubscribe_has_what_it_needs(case: Case) -> str:
    """STOMP 1.2, Frames and Headers: id is required."""
    return "UNSUBSCRIBE without id" if case.frame.get("id") is None else ""


@form(ids.UNSUB_01, on="UNSUBSCRIBE", level="MUST", also=NAMES_ITS_OWN)
def an_unsubscribe_names_an_open_subscription(case: Case) -> str:
    """STOMP 1.2, UNSUBSCRIBE: the id of an existing subscription; in 1.0 its destination may stand in its place."""
    return "" if case.known else f"UNSUBSCRIBE of {case.frame.get('id')!r}, which is no open subscription"


@form(NAMES_ITS_OWN, on="UNSUBSCRIBE", if_=lambda case: case.known)
def what_is_ended_is_the_subscription_that_was_to_end(case: Case) -> str:
    """STOMP 1.2, UNSUBSCRIBE: the id tells which subscription is removed."""
    ending = [sub for sub in case.state.subs if sub.open and sub.leaves >= 0]
    if case.sub.leaves >= 0 or not ending:
        return ""
    return f"{ending[0].name!r} was to end, and it is {case.sub.name!r} that does"


# -- ACK, NACK ---------------------------------------------------------------------------------------------------------


NAMING = {"1.2": ("id",), "1.1": ("message-id", "subscription")}
"""The headers by which an ACK or NACK of a version names a message; in 1.0 it is the message-id alone."""


def _naming(case: Case) -> tuple[str, ...]:
    return NAMING.get(case.version, ("message-id",))


def _headers(case: Case) -> str:
    """Why an ACK or NACK has not the headers by which its version names a message."""
    missing = [name for name in _naming(case) if case.frame.get(name) is None]
    return f"{case.action} without {missing[0]} in a session of {case.version}" if missing else ""


def _unheard(case: Case) -> str:
    """Why an ACK or NACK of 1.1 or 1.0 names no MESSAGE. Those of connections before count too, since only 1.2 says how
    far an identifier reaches, and a MESSAGE that lacks such a header leaves everything free. In 1.2 it is ACK-03."""
    if case.version == "1.2" or case.known:
        return ""
    names = _naming(case)
    for push in case.state.pushes:
        said = [push.frame.get(name) for name in names]
        if None in said or all(value == case.frame.get(name) for name, value in zip(names, said, strict=True)):
            return ""
    found = " and ".join(f"{name} {case.frame.get(name)!r}" for name in names)
    return f"{case.action} by {found}, which no MESSAGE had"


def _older(case: Case) -> bool:
    """True in a session of an older version than the client offered."""
    return bool(case.state.offered) and case.version != max(case.state.offered)


@BOOK.form(ids.NEGO_06, on="ACK, NACK", when=(K.LIVE,), if_=_older)
def acknowledgements_are_of_the_session_s_version(case: Case) -> str:
    """STOMP 1.2, Protocol Negotiation: the version that was chosen rules the session."""
    if case.action == "NACK" and case.version == "1.0":
        return "NACK in a session of 1.0"
    return _headers(case)


@BOOK.form("STOMP-1.2-CLI-09", on="ACK", when=(K.LIVE,))
def an_ack_has_the_headers_of_its_version(case: Case) -> str:
    """L177-179: id. STOMP 1.1, ACK: message-id and subscription. STOMP 1.0, ACK: message-id. Their values are
    those of the MESSAGE and of its subscription."""
    return _headers(case) or _unheard(case)


def _misnamed(case: Case) -> str:
    """A message that an id of 1.2 names by another header than ack."""
    name = case.frame.get("id")
    if case.version != "1.2" or name is None or case.known:
        return ""
    pushes = (push for push in case.state.pushes if not push.old)
    return next((h for push in pushes for h, value in push.frame.headers if value == name), "")


def _repeated(case: Case) -> bool:
    """True where a MESSAGE had two ack headers."""
    return case.version == "1.2" and any(
        [name for name, _ in push.frame.headers].count("ack") > 1 for push in case.state.pushes
    )


@form(ids.REPEAT_01, on="ACK, NACK", if_=_repeated)
def a_message_is_named_by_its_first_ack(case: Case) -> str:
    """STOMP 1.2, Repeated Header Entries: only the first of repeated headers is used."""
    return f"{case.action} by a repeated header" if _misnamed(case) == "ack" else ""


@form(ids.ACK_01, on="ACK", if_=lambda case: case.version == "1.2", unless=lambda case: _misnamed(case) == "ack")
def an_ack_names_its_message_by_the_ack_header(case: Case) -> str:
    """L177-179: id equals the ack header of the MESSAGE."""
    return f"ACK by the header {_misnamed(case)!r} of the MESSAGE" if _misnamed(case) else ""


@BOOK.form(ids.NACK_01, on="NACK", when=(K.LIVE,))
def a_nack_has_the_headers_of_an_ack(case: Case) -> str:
    """STOMP 1.2, NACK: the same headers as ACK."""
    if _misnamed(case) and _misnamed(case) != "ack":
        return f"NACK by the header {_misnamed(case)!r} of the MESSAGE"
    return _headers(case) or _unheard(case)


@form(ids.ACK_03, on="ACK, NACK", unless=lambda case: _misnamed(case) == "ack")
def what_is_settled_was_delivered_and_is_open(case: Case) -> str:
    """STOMP 1.2, ACK (derived): it names a MESSAGE that was delivered and was not settled."""
    if not case.known:
        return f"{case.action} of what was not delivered: {case.frame.headers!r:.200}"
    settled = case.push.settled
    return f"{case.action} of a message behind its {settled}" if settled and case.version != "1.0" else ""


@form(NAMES_ITS_OWN, on="ACK, NACK", if_=lambda case: case.known and case.want is not None and case.want.tx is not None)
def what_is_settled_in_a_transaction_names_it(case: Case) -> str:
    """L180-181; STOMP 1.2, BEGIN: the transaction header names the transaction that was begun."""
    want = case.want
    return "" if want is None or want.tx is None else _in(case, want.tx)


@form(NAMES_ITS_OWN, on="ACK, NACK", if_=lambda case: case.known and case.want is not None and case.want.tx is None)
def what_is_settled_outside_is_part_of_no_transaction(case: Case) -> str:
    """L180-181: the transaction header says that the acknowledgement is part of that transaction."""
    said = case.frame.get("transaction")
    return "" if said is None else f"{case.action} was to be part of no transaction and is part of {said!r}"


# -- transactions ------------------------------------------------------------------------------------------------------


@form(ids.TXN_01, on="BEGIN, COMMIT, ABORT", also=REQUIRED)
def a_transaction_is_named(case: Case) -> str:
    """L192; STOMP 1.2, BEGIN, COMMIT, ABORT: transaction is required."""
    return f"{case.action} without transaction" if case.frame.get("transaction") is None else ""


@form(ids.TXN_06, on="BEGIN", if_=lambda case: any(tx.seen and not tx.ended for tx in case.state.txs),
           level="MUST", also=NAMES_ITS_OWN)  # fmt: skip
def ids_of_open_transactions_differ(case: Case) -> str:
    """STOMP 1.2, BEGIN: different transactions of one connection must have different ids."""
    name = case.frame.get("transaction")
    again = any(tx.seen and not tx.ended and tx.wire == name for tx in case.state.txs)
    return f"the id {name!r} is that of an open transaction" if again else ""


@form(NAMES_ITS_OWN, on="COMMIT, ABORT")
def what_is_ended_is_the_transaction_that_was_to_end(case: Case) -> str:
    """STOMP 1.2, COMMIT, ABORT: the header names the transaction that is ended."""
    name = case.frame.get("transaction")
    if not case.known:
        begun = not any(tx.nth in case.state.failed for tx in case.state.txs)
        return f"{case.action} of {name!r}, which is no open transaction" if begun else ""
    ending = [tx for tx in case.state.txs if tx.verb == case.action and not tx.ended]
    if case.tx.verb and case.tx.verb != case.action and case.tx.ends not in case.state.failed:
        return f"{case.tx.name!r} was to be ended by {case.tx.verb}, and it is by {case.action}"
    if case.tx.verb == case.action or not ending:
        return ""
    return f"{ending[0].name!r} was to be ended by {case.action}, and it is {case.tx.name!r} that is"
