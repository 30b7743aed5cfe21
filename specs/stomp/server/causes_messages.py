"""Which requirement a server most likely broke: the ranked causes of what is wrong with a MESSAGE, or of its absence.

Source: as in forms_messages.py and duties.py, which find the symptoms; see causes.py.
"""

from __future__ import annotations

import re

from specs.causes import Causes, Named
from specs.stomp import ids
from specs.stomp.damage import damage, renamed
from specs.stomp.frames import Frame
from specs.stomp.headers import RESERVED, TAG
from specs.stomp.server.case import Case, Copy
from specs.stomp.server.causes import cut_short
from specs.stomp.server.refusals import REFUSALS
from specs.stomp.states import Message, Refusal

_TEXTS = f"{ids.ENC_01} {ids.ENC_03} {ids.ENC_07} {ids.ENC_12}"
"""Requirements on text, of which `damage` names one."""

# -- MESSAGE for no open subscription --------------------------------------------------------------------------------

WRONG_SUB = Causes("MESSAGE for no open subscription")


def _key(case: Case) -> str:
    found: str = case.frame.get("subscription") or ""
    return found


def _tagged(case: Case) -> Message | None:
    return case.state.messages.get(case.state.by_tag.get(case.frame.get(TAG) or "", -1))


@WRONG_SUB.cause(ids.SEND_09, could=lambda case: _forges(case, "subscription"))
def senders_own_header(case: Case) -> str:
    sent = _tagged(case)
    if sent is None or sent.frame.get("subscription") != _key(case):
        return ""
    return f"the sender's own header subscription:{_key(case)!r:.40} replaced the real one"


def _forges(case: Case, name: str) -> bool:
    sent = case.sent or _tagged(case)
    return sent is not None and sent.frame.get(name) is not None


@WRONG_SUB.cause(" ".join(dict.fromkeys(call.requirement for call in REFUSALS)), which=lambda case: "", also=ids.MSG_09)
def refused_subscribe(case: Case) -> str | Named:
    for p in case.conn.pending:
        if p.frame.command == "SUBSCRIBE" and isinstance(p.call, Refusal) and p.frame.get("id") == _key(case):
            why = f"MESSAGE for {_key(case)!r:.40}, whose SUBSCRIBE had to be refused"
            return Named(p.call.requirement, why, "", p.call.also, level=p.call.accepted or None)
    nameless = taken_without_id(case)
    if nameless is None:
        return ""
    why = f"MESSAGE for {_key(case)!r:.40}: a SUBSCRIBE without id was accepted"
    return Named(nameless.requirement, why, "", nameless.also, level=nameless.accepted)


def taken_without_id(case: Case) -> Refusal | None:
    """The refusal of a SUBSCRIBE without id that is not answered, where a MESSAGE came for its destination: the server
    may have agreed to it, and what it then calls the subscription is its own affair (docs/ambiguities.md, Leniency)."""
    for p in case.conn.pending:
        frame = p.frame
        if frame.command == "SUBSCRIBE" and isinstance(p.call, Refusal) and frame.get("id") is None:
            place = frame.get("destination")
            if place is not None and place == case.frame.get("destination"):
                return p.call
    return None


@WRONG_SUB.cause(ids.UNSUB_03, also=ids.MSG_09, could=lambda case: bool(case.conn.old_subs))
def after_unsubscribe(case: Case) -> str:
    if _key(case) not in case.conn.old_subs:
        return ""
    return f"MESSAGE for {_key(case)!r:.40} after the RECEIPT of its UNSUBSCRIBE"


@WRONG_SUB.cause(ids.REPEAT_01, could=lambda case: any(sub.repeated for sub in case.conn.subs.values()))
def repeated_id(case: Case) -> str:
    if any(("id", _key(case)) in known.repeated for known in case.conn.subs.values()):
        return f"MESSAGE for {_key(case)!r:.40}, a repeated id header of SUBSCRIBE that is not the first"
    return ""


def _spoilt(case: Case) -> str:
    if case.sub is not None:
        return ""
    found = (damage(known.id, _key(case), case.conn.version) for known in case.conn.subs.values())
    return next(filter(None, found), "")


@WRONG_SUB.cause(_TEXTS, which=_spoilt, also=f"{ids.SUB_10} {ids.MSG_04}")
def altered_id(case: Case) -> str:
    return f"subscription {_key(case)!r:.60} is none of {list(case.conn.subs)!r:.120}" if _spoilt(case) else ""


@WRONG_SUB.cause(ids.SUB_10, also=ids.MSG_04, could=lambda case: case.sub is None or not case.sub.id.isalnum())
def another_id(case: Case) -> str:
    key = _key(case)
    for known in case.conn.subs.values():
        if known.id.strip() == key.strip() or known.id in key or key in known.id:
            return f"subscription {key!r:.60} should be {known.id!r:.60}"
    return ""


def _meant_for_another(case: Case) -> bool:
    return any(case.frame.get("destination") in sub.destinations for sub in case.conn.subs.values())


@WRONG_SUB.cause(ids.MSG_04, also=ids.MSG_09, could=_meant_for_another)
def not_the_id(case: Case) -> str:
    return f"MESSAGE for {_key(case)!r:.40}, though another subscription is for its destination"


# -- MESSAGE that nobody sent ----------------------------------------------------------------------------------------

NOBODYS = Causes("MESSAGE that nobody sent")


def _lost(case: Case, why: str) -> bool:
    return any(conn.lost == why for conn in case.state.conns.values())


@NOBODYS.circumstance(
    ids.CLEN_02, also=ids.INV_16, says="the body of a SEND whose content-length does not fit was delivered"
)
def cut_by_its_length(case: Case) -> bool:
    return any(conn.lost == ids.CLEN_02 and conn.version != "1.0" for conn in case.state.conns.values())


@NOBODYS.circumstance(
    ids.CLEN_02, also=ids.INV_16, level="SHOULD",
    says="the body of a SEND of 1.0 whose content-length does not fit was delivered",
)  # fmt: skip
def cut_by_its_length_in_1_0(case: Case) -> bool:
    """1.0 says that so many octets should be read."""
    return _lost(case, ids.CLEN_02)


@NOBODYS.circumstance(ids.INV_29, says="a SEND without the empty line behind its headers was delivered")
def without_empty_line(case: Case) -> bool:
    return _lost(case, ids.INV_29)


@NOBODYS.circumstance(
    ids.CLEN_01, says="a SEND whose content-length is more than it could ever send was delivered", level="MUST"
)
def never_complete(case: Case) -> bool:
    return _lost(case, ids.INV_19)


@NOBODYS.circumstance("STOMP-1.2-ROB-03", says="a SEND whose end was never sent was delivered")
def cut_off(case: Case) -> bool:
    return any(map(cut_short, case.state.conns.values()))


@NOBODYS.circumstance(ids.CLEN_08, says="a SEND was delivered before it was complete")
def not_complete(case: Case) -> bool:
    return any(conn.midway for conn in case.state.conns.values())


@NOBODYS.circumstance(ids.CLEN_01, also=ids.BODY_02, says="the body of a SEND was cut at its NUL")
def of_a_body_with_nul(case: Case) -> bool:
    """STOMP 1.2, Header content-length. Of several that nobody got yet, with headers that the server may replace, none
    can be told by anything but its body."""
    unseen = (each.frame.body for each in case.state.messages.values() if not each.deliveries)
    return any(b"\0" in body and case.frame.body == body.partition(b"\0")[0] for body in unseen)


# -- a message that nobody may see, or that comes again ---------------------------------------------------------------

NOT_YET = Causes("a message of a transaction that is not committed")


@NOT_YET.cause(" ".join(dict.fromkeys(call.requirement for call in REFUSALS)), which=lambda case: "")
def its_commit_had_to_be_refused(case: Case) -> str | Named:
    for p in case.state.conns[case.message.conn].pending:
        if p.frame.command != "COMMIT" or p.frame.get("transaction") != case.message.tx:
            continue
        if isinstance(p.call, Refusal) and p.call.accepted == "MUST":
            return Named(
                p.call.requirement, f"{told(case)} was delivered by a COMMIT that had to be refused", "", p.call.also
            )
    return ""


def _others_ended(case: Case) -> bool:
    """The connection of a message in a transaction has ended another one."""
    sent = case.message
    return sent.tx is not None and any(tx != sent.tx for tx in case.state.conns[sent.conn].old_txs)


@NOT_YET.cause(ids.TXN_10, could=_others_ended)
def another_transaction_ended(case: Case) -> str:
    return f"{told(case)} was delivered before COMMIT: another transaction had ended"


def told(case: Case) -> str:
    """The message that it is about, in words."""
    return f"the message of SEND {case.message.frame.body[:40]!r} to {case.message.destination!r:.60}"


_ODD = re.compile(r"[^\w/.-]")
ELSEWHERE = Causes("a message for a subscriber of another destination")


def _repeats_destination(case: Case) -> bool:
    names = [name for name, _ in case.message.frame.headers]
    return names.count("destination") > 1 or bool(case.sub and case.sub.repeated)


@ELSEWHERE.cause(ids.REPEAT_01, could=_repeats_destination)
def repeated_destination(case: Case) -> str:
    if case.copy is not Copy.ELSEWHERE:
        return ""
    later = [value for name, value in case.message.frame.headers if name == "destination"][1:]
    sub = case.subscription
    if any(p in sub.destinations for p in later) or ("destination", case.message.destination) in sub.repeated:
        return f"{told(case)} went by a repeated destination header that is not the first"
    return ""


@ELSEWHERE.cause(ids.SEND_03, also=ids.SEND_02, could=lambda case: _ODD.search(case.message.destination) is not None)
def unusual_name(case: Case) -> str:
    """The two names differ behind an unusual character alone."""
    start = _ODD.split(case.message.destination)[0]
    near = case.copy is Copy.ELSEWHERE and any(_ODD.split(p)[0] == start for p in case.subscription.destinations)
    return f"{told(case)} went to a subscriber of {case.subscription.destinations[0]!r:.60}" if near else ""


@ELSEWHERE.cause(
    ids.UNSUB_03, also=ids.SEND_02, could=lambda case: case.subscription.reused and bool(case.conn.left_places)
)
def of_the_former_subscription(case: Case) -> str:
    """L135: an id names one subscription at a time, and the one that had it before was ended by UNSUBSCRIBE."""
    if case.copy is not Copy.ELSEWHERE or case.message.destination not in {place for place, _ in case.conn.left_places}:
        return ""
    return f"{told(case)} went to a subscription whose id was that of an ended one for it"


@ELSEWHERE.cause(
    ids.SUB_03, also=ids.SEND_02, level="SHOULD", could=lambda case: len(case.subscription.destinations) > 1
)
def subscription_id_given_twice(case: Case) -> str:
    """The client broke a rule itself: what comes of that is a recommendation."""
    return f"{told(case)} went to a subscription whose id was given twice, and not for that"


TWICE = Causes("a message that comes again", vague=True)


def _settled(case: Case) -> bool:
    return case.last is not None and case.last.fate == "settled"


def _again(case: Case) -> str:
    return f"the message {case.message.frame.body[:40]!r} came again"


def _outstanding(case: Case) -> str:
    return f"{_again(case)} while its first delivery was still outstanding"


@TWICE.cause(
    ids.ACKMODE_04, also=ids.ACKMODE_08, level="MUST",
    could=lambda case: case.last is not None and _settled(case) and case.last.by.endswith("cumulative"),
)  # fmt: skip
def settled_by_a_cumulative_ack(case: Case) -> str:
    return f"{_again(case)} after a cumulative ACK that covered it was receipted"


@TWICE.cause(ids.ACKMODE_08, could=_settled)
def settled(case: Case) -> str:
    return f"{_again(case)} after its ACK was receipted"


@TWICE.cause(
    ids.NACK_04, also=ids.MSG_10, level="MUST", could=lambda case: case.last is not None and case.last.tx is not None
)
def held_by_a_transaction(case: Case) -> str:
    return f"{_outstanding(case)}: a transaction that is not committed holds its NACK"


@TWICE.cause(
    ids.ACKMODE_07, also=ids.NACK_03, level="SHOULD", could=lambda case: case.last is not None and _nacked_beside(case)
)
def nack_on_another_subscription(case: Case) -> str:
    return f"{_outstanding(case)}: a NACK on another subscription reached it"


@TWICE.cause(ids.NACK_03, could=lambda case: case.last is not None and bool(_nacked(case)))
def nack_of_another_delivery(case: Case) -> str:
    return f"{_outstanding(case)}: a NACK of another delivery reached it"


def _nacked(case: Case) -> list[int]:
    """Subscriptions of the connection with a delivery that got a NACK."""
    last = case.last
    if last is None:
        return []
    return [d.sub for d in case.state.deliveries.values() if d.conn == last.conn and d.fate == "nacked"]


def _nacked_beside(case: Case) -> bool:
    return case.last is not None and any(sub != case.last.sub for sub in _nacked(case))


# -- what it carries -------------------------------------------------------------------------------------------------

BODY = Causes("another body")


def _has_a_nul(case: Case) -> bool:
    return b"\0" in case.message.frame.body


def _cut_at_nul(case: Case) -> bool:
    body = case.message.frame.body
    return b"\0" in body and case.frame.body == body.partition(b"\0")[0]


def bodies(case: Case) -> str:
    """Both bodies, in words."""
    got, was = case.frame.body, case.message.frame.body
    return f"the body is {got[:60]!r} ({len(got)} octets), sent was {was[:60]!r} ({len(was)} octets)"


def _later_lengths(frame: Frame) -> list[str]:
    first, *later = [value for name, value in frame.headers if name == "content-length"] or [""]
    return [value for value in later if value != first]


@BODY.cause(ids.REPEAT_01, also=ids.INV_20, could=lambda case: bool(_later_lengths(case.message.frame)))
def by_a_later_length(case: Case) -> str:
    """STOMP 1.2, Repeated Header Entries: that the first one counts is a recommendation, and so is what follows."""
    found = len(case.frame.body)
    by_it = any(str(found) == value for value in _later_lengths(case.message.frame))
    right = case.message.frame.body.startswith(case.frame.body)
    return f"{bodies(case)}, as a content-length says that is not the first" if by_it and right else ""


@BODY.cause(ids.CLEN_04, also=ids.BODY_02, where=_has_a_nul)
def length_not_stated(case: Case) -> str:
    return bodies(case) if _cut_at_nul(case) and case.frame.get("content-length") is None else ""


@BODY.cause(ids.CLEN_01, also=ids.BODY_02, where=_has_a_nul)
def cut_at_nul(case: Case) -> str:
    return bodies(case) if _cut_at_nul(case) else ""


@BODY.cause(ids.ENC_02, also=ids.BODY_02, could=lambda case: _line_feeds(case.message.frame))
def headers_ended_early(case: Case) -> str:
    torn = b"\n\n" in case.frame.body and case.frame.get("content-length") is None
    return f"{bodies(case)}; a line feed in a header ended the headers" if torn else ""


def _line_feeds(frame: Frame) -> bool:
    return any("\n" in name or "\n" in value for name, value in frame.headers)


@BODY.cause(ids.BODY_03, could=lambda case: not case.message.frame.body)
def made_up(case: Case) -> str:
    return bodies(case)


@BODY.cause(ids.CLEN_06, also=ids.BODY_02, could=lambda case: not case.message.frame.body.isascii())
def characters_counted(case: Case) -> str:
    return bodies(case) if case.message.frame.body.startswith(case.frame.body) else ""


@BODY.cause(
    "STOMP-1.2-CLEN-03", also=ids.BODY_02,
    could=lambda case: bool(case.message.frame.body) and case.message.frame.get("content-length") is None,
)  # fmt: skip
def nul_not_the_end(case: Case) -> str:
    got, was = case.frame.body, case.message.frame.body
    return bodies(case) if got.startswith(was + b"\0") else ""


HEADER = Causes(
    "a user header that was altered or lost", turns_on=lambda case: (case.special, case.conn.version == "1.0")
)


def headers(case: Case) -> str:
    """The header as sent and as it came, in words."""
    name, value = case.header
    return f"user header {name!r:.60} came as {case.frame.get(name)!r:.80}, sent was {value!r:.80}"


def _later(case: Case) -> list[str]:
    return [value for name, value in case.message.frame.headers if name == case.header[0]][1:]


@HEADER.cause("STOMP-1.2-REPEAT-02", could=lambda case: "repeated" in case.special)
def another_value_first(case: Case) -> str:
    return headers(case) if case.frame.get(case.header[0]) in _later(case) else ""


@HEADER.cause(ids.ENC_08, also=f"{ids.SEND_04} {ids.MSG_08}", could=lambda case: "empty" in case.special)
def not_empty_any_more(case: Case) -> str:
    name, value = case.header
    return headers(case) if value == "" and case.frame.get(name) is not None and not _joined(case) else ""


def _joined(case: Case) -> bool:
    """True when values of a repeated header came as one."""
    name, value = case.header
    got = case.frame.get(name) or ""
    return any(v and v in got.removeprefix(value) for v in _later(case))


def _altered(case: Case) -> str:
    name, value = case.header
    got = case.frame.get(name)
    if got is not None:
        return "" if _joined(case) or value == "" else damage(value, got, case.conn.version)
    if _other_case(case):
        return ""
    known = {n for n, _ in case.message.frame.headers} | RESERVED
    found = (renamed(name, value, n, text, case.conn.version) for n, text in case.frame.headers if n not in known)
    return next(filter(None, found), "")


def _other_case(case: Case) -> bool:
    name, value = case.header
    return any(n.lower() == name.lower() and v == value for n, v in case.frame.headers)


def _alters(case: Case, requirement: str) -> str:
    return headers(case) if _altered(case) == requirement else ""


@HEADER.cause(ids.ENC_01, also=f"{ids.SEND_04} {ids.MSG_08} {ids.ENC_13}", could=lambda case: "letters" in case.special)
def not_utf8_any_more(case: Case) -> str:
    return _alters(case, ids.ENC_01)


def _escaped(case: Case) -> bool:
    return case.conn.version != "1.0" and "escaped" in case.special


@HEADER.cause(ids.ENC_03, also=f"{ids.SEND_04} {ids.MSG_08} {ids.ENC_02}", could=_escaped)
def not_unescaped(case: Case) -> str:
    return _alters(case, ids.ENC_03)


@HEADER.cause(
    ids.ENC_12,
    also=f"{ids.SEND_04} {ids.MSG_08}",
    could=lambda case: case.conn.version == "1.0" and "escaped" in case.special,
    level="MUST",
)
def escapes_in_1_0(case: Case) -> str:
    return _alters(case, ids.ENC_12)


@HEADER.cause(ids.ENC_07, also=f"{ids.SEND_04} {ids.MSG_08}", could=lambda case: "blanks" in case.special)
def stripped(case: Case) -> str:
    return _alters(case, ids.ENC_07)


@HEADER.cause(ids.FRAME_05, also=f"{ids.SEND_04} {ids.MSG_08}", could=lambda case: "case" in case.special)
def in_other_letter_case(case: Case) -> str:
    if case.conn.version != "1.0" and case.frame.get(case.header[0]) is None and _other_case(case):
        return f"{headers(case)}; it came under the name in other letter case"
    return ""
