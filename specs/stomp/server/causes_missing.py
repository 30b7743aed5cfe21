"""Which requirement a server most likely broke: the ranked causes of a message that never came.

Source: as in duties.py, which finds the symptom; see causes.py.
"""

from __future__ import annotations

from specs.causes import Causes, Named
from specs.stomp import ids
from specs.stomp.machine import Phase
from specs.stomp.server.case import Case

MISSING = Causes("a message that never came")
_ENDED = (Phase.CLOSING, Phase.LEFT, Phase.CLOSED)


def _came_before(case: Case) -> bool:
    """A queue's message that has been delivered once must come again."""
    kind = case.message.kind
    return bool(case.message.deliveries) and not (kind is not None and kind.fanout)


def _held_by(case: Case) -> str:
    """Which rule makes it owed that a message comes again."""
    last = case.state.deliveries[case.message.deliveries[-1]]
    # what was acknowledged, also where its connection ended before that was answered
    others = [d for d in case.state.deliveries.values() if d.conn == last.conn and d.serial != last.serial and d.by]
    beside = [d for d in others if d.sub != last.sub]
    if last.by == "abort":
        return ids.ACK_06
    if any(d.mode == "client" for d in beside):  # what covers more than itself reaches too far more easily
        return ids.ACKMODE_07
    if any(d.sub == last.sub and d.fate == "nacked" for d in others):
        return ids.NACK_03
    later = any(d.sub == last.sub and d.serial > last.serial for d in others)
    if beside and not later:
        return ids.ACKMODE_07
    if others:  # of the same subscription, which is the likelier reason
        return ids.ACKMODE_05 if last.mode == "client-individual" else ids.ACKMODE_04
    return ids.ACK_02


@MISSING.cause(
    f"{ids.ACK_06} {ids.ACKMODE_07} {ids.NACK_03} {ids.ACKMODE_05} {ids.ACKMODE_04} {ids.ACK_02}",
    which=_held_by, could=_came_before, steady=True,
)  # fmt: skip
def not_delivered_again(case: Case) -> Named:
    """Whether a message comes again is the server's choice (docs/ambiguities.md, N-09): it is owed only where discovery
    saw it every time. What nobody acknowledged, or not for it, passes for consumed: a MUST. The rest is a SHOULD."""
    name = _held_by(case)
    text = f"{case.text}: a second time, although it was never acknowledged and this server redelivers"
    level = "SHOULD" if name in (ids.ACK_06, ids.NACK_03) else "MUST"
    return Named(name, text, "not_delivered_again", (), level, steady=True)


def _sender_left(case: Case) -> bool:
    return case.sender.phase in _ENDED and not case.message.sure and case.subscription.conn != case.message.conn


@MISSING.circumstance(
    "STOMP-1.2-DISC-09", also=ids.DISC_07, says="its sender's DISCONNECT was receipted", level="SHOULD",
    where=_sender_left,
)  # fmt: skip
def vouched_for_at_the_end(case: Case) -> bool:
    """The RECEIPT of DISCONNECT says that the SEND was received. It may have been, and then to go on with it is a
    recommendation: nobody can tell."""
    return case.sender.farewell


@MISSING.circumstance(ids.DISC_07, where=_sender_left, says="its sender had disconnected in order", level="SHOULD")
def sender_had_left(case: Case) -> bool:
    return True


@MISSING.circumstance(ids.REPEAT_01)
def repeated_headers(case: Case) -> bool:
    names = [name for name, _ in case.message.frame.headers]
    return names.count("destination") > 1 or names.count("transaction") > 1


def _in_tx(case: Case) -> bool:
    return case.message.tx is not None


@MISSING.circumstance(ids.TXN_07, where=_in_tx, also=ids.SUB_05)
def same_transaction_id_elsewhere(case: Case) -> bool:
    others = (conn for number, conn in case.state.conns.items() if number != case.message.conn)
    return case.sender.version == "1.2" and any(case.message.tx in (*conn.txs, *conn.old_txs) for conn in others)


@MISSING.circumstance(ids.TXN_09, where=_in_tx, also=ids.SUB_05)
def transaction_id_used_again(case: Case) -> bool:
    return case.sender.version == "1.2" and case.sender.old_txs.count(str(case.message.tx)) > 1


@MISSING.circumstance(ids.TXN_06, where=_in_tx, also=ids.SUB_05, level="SHOULD")
def transaction_begun_twice(case: Case) -> bool:
    """The client broke a rule itself: what comes of that is a recommendation."""
    return f"begun twice {case.message.conn} {case.message.tx}" in case.state.history


@MISSING.circumstance(ids.TXN_10, where=_in_tx, also=ids.SUB_05)
def beside_another_transaction(case: Case) -> bool:
    return len({*case.sender.old_txs, *case.sender.txs}) > 1


@MISSING.circumstance(ids.TXN_03, where=_in_tx, also=ids.SUB_05)
def in_a_transaction(case: Case) -> bool:
    return True


@MISSING.circumstance(ids.TXN_11, also=ids.SUB_05)
def beside_a_transaction(case: Case) -> bool:
    return not _in_tx(case) and bool(case.sender.old_txs or case.sender.txs)


@MISSING.circumstance(ids.BODY_03, also=ids.SUB_05)
def empty_body(case: Case) -> bool:
    return not case.message.frame.body


@MISSING.circumstance(ids.SUB_11, also=ids.SUB_05)
def subscription_id_used_again(case: Case) -> bool:
    return case.subscription.reused and case.conn.version == "1.2"


@MISSING.circumstance("STOMP-1.2-UNSUB-05", also=ids.SUB_05)
def another_subscription_removed(case: Case) -> bool:
    if case.conn.version != "1.2":
        return False
    return bool(case.conn.old_subs) or any(sub.closing for sub in case.conn.subs.values())


@MISSING.circumstance(ids.SUB_04, also=ids.SUB_05)
def same_subscription_id_elsewhere(case: Case) -> bool:
    return case.subscription.id in [name for conn in case.others for name in conn.subs]


def _stopped(case: Case) -> bool:
    """Earlier messages came to the subscription, and later ones did not."""
    sub = case.subscription
    if sub.ack != "auto":
        return False
    came = [d.message for d in case.state.deliveries.values() if d.sub == sub.serial]
    return bool(came) and max(came) <= case.message.serial


@MISSING.circumstance("STOMP-1.2-SUB-08", where=_stopped, also=ids.SUB_05)
def stopped_without_acks(case: Case) -> bool:
    return not case.subscription.stated


@MISSING.circumstance("STOMP-1.2-ACKMODE-01", where=_stopped, also=ids.SUB_05)
def stopped_in_auto_mode(case: Case) -> bool:
    return case.subscription.stated


@MISSING.circumstance(ids.RECEIPT_05, also=ids.SUB_05, says="a later frame of its sender was receipted")
def vouched_for(case: Case) -> bool:
    """The RECEIPT of a later frame says that the SEND was received, and its sender is still there. Only 1.2 says so."""
    sent, sub, sender = case.message, case.subscription, case.sender
    if sender.version != "1.2" or sent.sure or sub.ack != "auto":
        return False
    return sub.serial < sent.serial < sender.vouched and sender.alive


def received_before(case: Case) -> tuple[str, ...]:
    """What a RECEIPT shows of the SENDs before it whose messages have come already."""
    since, until = case.conn.vouched, case.subject.serial
    come = [
        sent
        for sent in case.state.messages.values()
        if sent.conn == case.number and since < sent.serial < until and sent.deliveries
    ]
    if not come:
        return ()
    state = case.state._replace(conns={**case.state.conns, case.number: case.conn._replace(vouched=until)})
    there = {sub.serial: sub for conn in state.conns.values() for sub in conn.subs.values()}
    for sent in come:
        found = there.get(state.deliveries[sent.deliveries[0]].sub)
        if found is not None and vouched_for(case.but(state=state, sent=sent, sub=found)):
            return (ids.RECEIPT_05,)
    return ()


@MISSING.circumstance("STOMP-1.2-RECEIPT-04", also=ids.SUB_05, says="it was receipted before that subscription began")
def there_to_be_had(case: Case) -> bool:
    """The RECEIPT of its SEND said that it waits for who subscribes now."""
    return case.message.sure and case.message.serial < case.subscription.serial and case.sender.version != "1.0"
