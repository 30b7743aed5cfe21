"""What a MESSAGE must be: to whom, how often, when, and with which content.

Source: 003_30478fd2f19f0da0.txt L117-170 (delivery and acknowledgement), L217-248 (MESSAGE); STOMP 1.2 sections
MESSAGE, ACK, BEGIN, Repeated Header Entries, Value Encoding.
"""

from __future__ import annotations

import re
import unicodedata

from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.stomp.client import TAG
from specs.stomp.damage import damage, renamed
from specs.stomp.frames import Frame
from specs.stomp.headers import RESERVED, ids
from specs.stomp.states import PREFIX, Conn, Delivery, Message, Phase, Refusal, State, Sub

MIME = re.compile(r"[^/\s;]+/[^/\s;]+\s*(;.*)?\Z", re.DOTALL)
_SHOWN = ids("FRAME-01 FRAME-08 MSG-01 MSG-02 MSG-03 MSG-04 MSG-09 MSG-10 HDR-01 HDR-03 SUB-05 SEND-02 ENC-10")
_SHOWN_BODY = ids("CLEN-05 MSG-07")
_SHOWN_TYPE = ids("CTYPE-02")
_SHOWN_AGAIN = {"nacked": ids("NACK-02"), "freed": ids("ACK-02 ACKMODE-03")}
_SHOWN_MODE = {
    "auto": ids("ACKMODE-01 SUB-08"),
    "client": ids("MSG-05 MSG-06"),
    "client-individual": ids("MSG-05 MSG-06"),
}
LEASE_MS = 25
"""How long a delivery is the client's for sure: nothing forbids a server to take back what is not acknowledged in time.
What comes again at once has nothing to do with that."""
_OLD_MODES = {"auto": _SHOWN_MODE["auto"], "client": (), "client-individual": ()}


def blame(requirement: str, why: str, level: str | None = None, also: str = "", steady: bool = False) -> Breach:
    """A breach by the server; requirement ids in their short form."""
    return Breach("server", PREFIX + requirement, why, ANYTHING, level, ids(also), steady)


def message(state: State, number: int, conn: Conn, frame: Frame) -> Outcome:
    """Judge one MESSAGE on a connection that may get any."""
    sub = _subscription(state, conn, frame)
    if isinstance(sub, Breach):
        return sub
    for name, requirement in (("destination", "MSG-01"), ("message-id", "MSG-03")):
        if frame.get(name) is None:
            return blame(requirement, f"MESSAGE without {name}", also="HDR-01")
    ack = frame.get("ack")
    if conn.version == "1.2" and sub.ack in ("client", "client-individual") and ack is None and not sub.vague:
        return blame("MSG-05", f"MESSAGE without ack on a subscription with ack:{sub.ack}")
    found = _match(state, sub, frame)
    if found is None:
        # nothing is owed any more to a subscription that may be busy with it
        subs = {**conn.subs, sub.id: sub._replace(vague=True)}
        return Allow(state._replace(conns={**state.conns, number: conn._replace(subs=subs)}))
    if isinstance(found, Breach):
        return found
    wrong = _untimely(state, number, sub, found) or _repeated(state, conn, sub, found)
    if wrong is not None:
        return wrong
    lapses: list[Breach] = []
    if not frame.body and found.frame.body[:1] == b"\0" and not found.loose and frame.get("content-length") is None:
        # a body that was cut, or one without its content-length: what comes next tells
        torn = f"the body is empty, sent was {found.frame.body[:60]!r} ({len(found.frame.body)} octets)"
        return Allow(state._replace(conns={**state.conns, number: conn._replace(torn=torn)}))
    wrong = _content(conn, frame, found, lapses) or _handles(state, number, conn, sub, frame, found)
    if wrong is not None:
        return wrong
    shown = _shown(state, conn, sub, found)
    return Allow(_delivered(state, number, conn, sub, frame, found), shown, tuple(lapses))


def _shown(state: State, conn: Conn, sub: Sub, found: Message) -> tuple[str, ...]:
    modes = _SHOWN_MODE if conn.version == "1.2" else _OLD_MODES
    shown = _SHOWN + modes.get(sub.ack, ()) + found.covers
    if found.frame.body:
        shown += _SHOWN_BODY
        if found.frame.get("content-type") is None:
            shown += _SHOWN_TYPE
    if sub.sure and found.serial > sub.serial:
        shown += ids("RECEIPT-04")
    sender = state.conns[found.conn]
    if found.conn != sub.conn and sender.phase in (Phase.CLOSING, Phase.LEFT, Phase.CLOSED):
        shown += ids("DISC-07 DISC-09 RECEIPT-05")
    if found.deliveries:
        shown += _SHOWN_AGAIN.get(state.deliveries[found.deliveries[-1]].fate, ())
    if sub.reused:
        shown += ids("SUB-11")
    if found.tx is not None:
        shown += ids("TXN-02 TXN-03 TXN-14")
    return shown


def _subscription(state: State, conn: Conn, frame: Frame) -> Sub | Breach:
    key = frame.get("subscription")
    if key is None:
        if conn.version == "1.0":
            for candidate in conn.subs.values():
                if frame.get("destination") in candidate.destinations:
                    return candidate
        return blame("MSG-04", "MESSAGE without subscription", also="HDR-01")
    sub = conn.subs.get(key)
    if sub is not None:
        return sub
    forged = state.messages.get(state.by_tag.get(frame.get(TAG) or "", -1))
    if forged is not None and forged.frame.get("subscription") == key:
        return blame("SEND-09", f"the sender's own header subscription:{key!r:.40} replaced the real one")
    for p in conn.pending:
        if p.frame.command == "SUBSCRIBE" and isinstance(p.call, Refusal) and p.frame.get("id") == key:
            why = f"MESSAGE for {key!r:.40}, whose SUBSCRIBE had to be refused"
            return Breach("server", p.call.requirement, why, level=p.call.accepted or None, also=p.call.also)
    if key in conn.old_subs:
        return blame("UNSUB-03", f"MESSAGE for {key!r:.40} after the RECEIPT of its UNSUBSCRIBE", also="MSG-09")
    if any(("id", key) in known.repeated for known in conn.subs.values()):
        return blame("REPEAT-01", f"MESSAGE for {key!r:.40}, a repeated id header of SUBSCRIBE that is not the first")
    for known in conn.subs.values():
        spoilt = damage(known.id, key, conn.version)
        if spoilt:
            return blame(spoilt, f"subscription {key!r:.60} should be {known.id!r:.60}", also="SUB-10 MSG-04")
    for known in conn.subs.values():
        if known.id.strip() == key.strip() or known.id in key or key in known.id:
            return blame("SUB-10", f"subscription {key!r:.60} should be {known.id!r:.60}", also="MSG-04")
    return blame("MSG-04", f"MESSAGE for {key!r:.60}, which was never subscribed here", also="MSG-09")


def _match(state: State, sub: Sub, frame: Frame) -> Message | Breach | None:
    """The SEND that this MESSAGE delivers; None when that cannot be known."""
    tag = frame.get(TAG)
    serial = state.by_tag.get(tag) if tag is not None else None
    if serial is None:
        serial = state.by_tag.get(f"\0{frame.body!r}")
    if serial is not None:
        return state.messages[serial]
    unseen = [m for m in state.messages.values() if not m.deliveries and m.destination in sub.destinations]
    for candidate in unseen:
        if candidate.frame.body == frame.body:
            return candidate
    for other in state.conns.values():
        if other.lost == "CLEN-02":
            return blame("CLEN-02", "the body of a SEND whose content-length does not fit was delivered", also="INV-16")
        if other.lost == "INV-29":
            return blame("INV-29", "a SEND without the empty line behind its headers was delivered")
        if other.lost == "INV-19":
            why = "a SEND whose content-length is more than it could ever send was delivered"
            return blame("INV-19", why, "MUST", also="CLEN-01")
        if other.lost:
            return None  # the server was free to make what it could of those octets
        if other.midway:
            cut = other.phase is Phase.CLOSED
            why = (
                "a SEND whose end was never sent was delivered"
                if cut
                else "a SEND was delivered before it was complete"
            )
            return blame("ROB-03" if cut else "CLEN-08", why)
    if len(unseen) == 1:
        return unseen[0]
    return blame(
        "BODY-02", "a MESSAGE that nobody sent: neither its headers nor its body match any SEND", also="MSG-09"
    )


def _untimely(state: State, number: int, sub: Sub, found: Message) -> Outcome | None:
    """Breach if nobody may see this message, or not here."""
    text = f"the message of SEND {found.frame.body[:40]!r} to {found.destination!r:.60}"
    if found.never:
        short = found.never.removeprefix(PREFIX)
        others = _others_ended(state, found)
        if others and short in ("TXN-04", "TXN-05"):
            return blame("TXN-10", f"{text} was delivered before COMMIT: another transaction had ended", also=short)
        why = {
            "TXN-04": "was delivered although its transaction was aborted",
            "TXN-05": "was delivered although its connection ended before COMMIT",
        }.get(short, "was delivered although the SEND had to be refused")
        return Breach("server", found.never, f"{text} {why}", level=found.level)
    if not found.may:
        if _others_ended(state, found):
            return blame("TXN-10", f"{text} was delivered before COMMIT: another transaction had ended", also="TXN-02")
        return blame("TXN-02", f"{text} was delivered before COMMIT")
    if found.destination not in sub.destinations and not sub.vague:
        later = [value for name, value in found.frame.headers if name == "destination"][1:]
        if any(place in sub.destinations for place in later) or ("destination", found.destination) in sub.repeated:
            return blame("REPEAT-01", f"{text} went by a repeated destination header that is not the first")
        if any(_alike(found.destination, place) for place in sub.destinations):
            return Allow(ANYTHING)  # which of them it meant is the server's affair, and so is all that follows
        return blame("SEND-02", f"{text} went to a subscriber of {sub.destinations[0]!r:.60}")
    if found.behind is not None and state.conns[found.conn].phase in (Phase.FAILED, Phase.CLOSED):
        level = None if found.behind.accepted == "MUST" else "SHOULD"
        return blame("ERROR-02", f"{text} was processed although it stood behind a refused frame", level)
    return None


def _alike(one: str, other: str) -> bool:
    """True when two names may be one in the syntax of some server, which STOMP leaves to it (Protocol Overview): they
    differ in letter case, blanks, slashes, or the form of a character at most."""
    return _folded(one) == _folded(other)


def _folded(name: str) -> str:
    return "".join(unicodedata.normalize("NFKC", name).casefold().split()).replace("/", "")


def _others_ended(state: State, found: Message) -> bool:
    """True when the connection of a message in a transaction has ended another one."""
    return any(tx != found.tx for tx in state.conns[found.conn].old_txs)


def _repeated(state: State, conn: Conn, sub: Sub, found: Message) -> Breach | None:
    """Breach if this message was delivered before and nothing justifies a second time.

    What arrives on a subscription that is being closed may have been sent before a delivery that was seen earlier on
    another connection, so it justifies itself; so does an end of the earlier connection that is not seen yet.
    """
    if found.kind is None or found.wild or sub.vague or sub.closing or conn.phase is not Phase.LIVE:
        return None
    before = [state.deliveries[serial] for serial in found.deliveries]
    if found.kind.fanout:
        before = [delivery for delivery in before if delivery.sub == sub.serial]
    if not before:
        return None
    last = before[-1]
    if state.conns[last.conn].shaky:
        return None
    text = f"the message {found.frame.body[:40]!r} came again"
    if last.fate == "settled":
        if last.by.endswith("cumulative"):
            return blame(
                "ACKMODE-04", f"{text} after a cumulative ACK that covered it was receipted", also="ACKMODE-08"
            )
        return blame("ACKMODE-08", f"{text} after its ACK was receipted")
    if last.fate not in ("out", "acked"):
        return None
    why = f"{text} while its first delivery was still outstanding"
    if last.tx is not None:
        return blame("NACK-04", f"{why}: a transaction that is not committed holds its NACK", "MUST", also="MSG-10")
    nacked = [d for d in state.deliveries.values() if d.conn == last.conn and d.fate == "nacked"]
    if any(d.sub != last.sub for d in nacked):
        return blame("ACKMODE-07", f"{why}: a NACK on another subscription reached it", also="NACK-03")
    if nacked:
        return blame("NACK-03", f"{why}: a NACK of another delivery reached it")
    if last.mode != "auto" and state.elapsed_ms - last.at_ms >= LEASE_MS:
        return None
    return blame("MSG-10", why)


def _content(conn: Conn, frame: Frame, found: Message, lapses: list[Breach]) -> Breach | None:
    sent = found.frame
    if frame.get("destination") != found.destination:
        why = f"destination {frame.get('destination')!r:.60} is not the {found.destination!r:.60} of its SEND"
        lapses.append(blame("MSG-02", why))
    if frame.body != sent.body and not found.loose:
        return _body(frame, sent)
    if frame.body and frame.get("content-length") is None:
        lapses.append(blame("CLEN-05", "MESSAGE with a body but without content-length", also="MSG-07"))
    kind = sent.get("content-type")
    if kind is not None and frame.get("content-type") != kind:
        return blame("CTYPE-04", f"content-type {frame.get('content-type')!r:.60} is not the {kind!r:.60} of its SEND")
    if kind is None and frame.get("content-type") is not None and not MIME.match(frame.get("content-type")):
        return blame("CTYPE-02", f"content-type {frame.get('content-type')!r:.60} is no MIME type")
    if found.loose:
        return None
    seen: set[str] = set()
    for name, value in sent.headers:
        if name in RESERVED or name in seen:
            continue
        seen.add(name)
        if frame.get(name) != value:
            return _header(conn, frame, sent, name, value)
    return None


def _body(frame: Frame, sent: Frame) -> Breach:
    got, was = frame.body, sent.body
    why = f"the body is {got[:60]!r} ({len(got)} octets), sent was {was[:60]!r} ({len(was)} octets)"
    cut = sent.body.partition(b"\0")[0]
    if b"\0" in sent.body and frame.body == cut:
        if frame.get("content-length") is None:
            return blame("CLEN-04", why, also="BODY-02")
        return blame("CLEN-01", why, also="BODY-02")
    torn = b"\n\n" in frame.body and frame.get("content-length") is None
    if torn and any("\n" in name + str(value) for name, value in sent.headers):
        return blame("ENC-02", f"{why}; a line feed in a header ended the headers", also="BODY-02")
    if not sent.body:
        return blame("BODY-03", why)
    if not sent.body.isascii() and sent.body.startswith(frame.body):
        return blame("CLEN-06", why, also="BODY-02")
    return blame("BODY-02", why)


def _header(conn: Conn, frame: Frame, sent: Frame, name: str, value: str) -> Breach:
    """Which rule a user header breaks that was altered or lost."""
    got = frame.get(name)
    why = f"user header {name!r:.60} came as {got!r:.80}, sent was {value!r:.80}"
    later = [v for n, v in sent.headers if n == name][1:]
    if got in later:
        return blame("REPEAT-02", why)
    if got is not None:
        joined = any(v and v in got.removeprefix(value) for v in later)
        spoilt = "" if joined else "ENC-08" if value == "" else damage(value, got, conn.version)
        return blame(spoilt or "SEND-04", why, also="SEND-04 MSG-08" if spoilt else "MSG-08")
    if any(n.lower() == name.lower() and v == value for n, v in frame.headers):
        return blame("FRAME-05", f"{why}; it came under the name in other letter case", also="SEND-04 MSG-08")
    known = {n for n, _ in sent.headers} | RESERVED
    for other, text in frame.headers:
        if other in known:
            continue
        spoilt = renamed(name, value, other, text, conn.version)
        if spoilt:
            return blame(spoilt, f"{why}; {other!r:.60} came instead", also="SEND-04 MSG-08")
    return blame("SEND-04", why, also="MSG-08")


def _handles(state: State, number: int, conn: Conn, sub: Sub, frame: Frame, found: Message) -> Breach | None:
    """Breach if its message-id or ack value cannot tell it from another one on this connection."""
    ack, identity, sent = frame.get("ack"), frame.get("message-id"), found.frame
    if identity == sent.get("message-id") or (sub.ack != "auto" and ack is not None and ack == sent.get("ack")):
        return blame("SEND-09", "the sender's own message-id or ack replaced the server's")
    for other in state.deliveries.values():
        if other.conn != number or (found.wild and other.message == found.serial):
            continue
        if other.id == identity and other.message != found.serial:
            return blame("MSG-03", f"message-id {identity!r:.60} was given to two different messages on one connection")
        if (
            conn.version == "1.2"
            and sub.ack != "auto"
            and ack is not None
            and other.ack == ack
            and other.fate == "out"
            and other.mode != "auto"
        ):
            return blame("MSG-06", f"ack {ack!r:.60} stands for two deliveries that are both outstanding")
    return None


def _delivered(state: State, number: int, conn: Conn, sub: Sub, frame: Frame, found: Message) -> State:
    serial = state.serial + 1
    fate = "out" if conn.phase is Phase.LIVE and not sub.closing and not sub.vague else "freed"
    delivery = Delivery(
        serial,
        number,
        sub.serial,
        found.serial,
        frame.get("ack"),
        frame.get("message-id"),
        sub.ack,
        fate,
        at_ms=state.elapsed_ms,
    )
    due, waiting = state.due, state.waiting
    if due:
        due = tuple(pair for pair in due if pair != (found.serial, sub.serial))
    queue = waiting.get(found.destination)
    if queue and found.serial in queue:
        waiting = {**waiting, found.destination: tuple(other for other in queue if other != found.serial)}
    deliveries = state.deliveries
    if found.deliveries:  # it came again, and was allowed to: the earlier delivery may not be this client's any more
        fans_out = found.kind is not None and found.kind.fanout
        before = [deliveries[earlier] for earlier in found.deliveries]
        over = [d for d in before if d.fate == "out" and d.mode != "auto" and (d.sub == sub.serial or not fans_out)]
        deliveries = {**deliveries, **{d.serial: d._replace(fate="freed") for d in over}}
    return state._replace(
        serial=serial,
        due=due,
        waiting=waiting,
        deliveries={**deliveries, serial: delivery},
        messages={**state.messages, found.serial: found._replace(deliveries=(*found.deliveries, serial))},
    )
