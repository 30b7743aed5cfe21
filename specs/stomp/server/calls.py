"""What each client frame calls for: acceptance, a refusal, or either.

Source: 003_30478fd2f19f0da0.txt L77-193 and STOMP 1.2, sections SEND to ABORT, Value Encoding, Body, Protocol
Negotiation, Repeated Header Entries.

A frame that must be refused has a `Refusal`, one that the text leaves open a `Free`; both are declared in refusals.py.
A frame that must be accepted has claims: what is special about it, and must not matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from specs.stomp import ids
from specs.stomp.frames import CLIENT_COMMANDS, SERVER_COMMANDS, Frame
from specs.stomp.headers import BEATS, BODIES, SERVERS_OWN, SPECIAL, marks, repeats
from specs.stomp.machine import Phase
from specs.stomp.server import refusals
from specs.stomp.server.scarce import is_crowded
from specs.stomp.states import Conn, Delivery, Refusal, State, Tx, Verdict, as_read

_VERSIONS = re.compile(r"[0-9]+\.[0-9]+(,[0-9]+\.[0-9]+)*\Z", re.ASCII)
LONG_NAME = 100
"""Characters from which on a destination may be too long for a server: names are its own affair."""
MANY_TRANSACTIONS, MANY_SUBSCRIPTIONS = 10, 24
"""With so many open on a connection a server may refuse one more (docs/ambiguities.md, N-20a)."""
_GUESSED_LENGTH = re.compile(r"[ \t]*\+?[0-9]+[ \t]*\Z", re.ASCII)
_HOLDS = frozenset({"SEND", "ACK", "NACK"})
"""What a transaction may hold."""


def _late(call: Refusal) -> Refusal:
    """The refusal of a frame in an open transaction, which the server may look at as late as at COMMIT: until then a
    RECEIPT says no more than that the transaction holds it (docs/ambiguities.md, E-09)."""
    levels = {"MUST": "SHOULD"}
    accepted, ignored = call.accepted, call.ignored
    return replace(call, accepted=levels.get(accepted, accepted), ignored=levels.get(ignored, ignored))


# -- which of them a frame gets ----------------------------------------------------------------------------------------

Rule = tuple[Verdict, tuple[str, ...]]


def call(state: State, number: int, conn: Conn, frame: Frame) -> Rule:
    """What `frame` calls for on connection `number`, and its claims: the requirements that its acceptance shows."""
    command = frame.command
    if conn.phase is Phase.OPEN and command not in ("CONNECT", "STOMP"):
        return refusals.TOO_EARLY.because("a frame before CONNECT"), ()
    if frame.warts:
        return _warts(frame, conn), ()
    rule = _RULES.get(command)
    if rule is None:
        return _unknown(command), ()
    verdict, claims = rule(state, number, conn, frame)
    if isinstance(verdict, Refusal) and command in _HOLDS and frame.get("transaction") in conn.txs:
        verdict = _late(verdict)
    special = marks(frame, conn.version)
    claims = claims + special if claims and claims[0] in (ids.ACK_06, ids.NACK_04) else special + claims
    if verdict is None:
        verdict = _size(state, conn, frame, special)
    if verdict is None and len(frame.headers) > 1 and repeats(frame):
        repeated = [name for name, _ in frame.headers].count("content-length") > 1
        claims = ((ids.REPEAT_01, ids.INV_20) if repeated else (ids.REPEAT_01,)) + claims
    return verdict, claims


def _size(state: State, conn: Conn, frame: Frame, special: tuple[str, ...]) -> Verdict:
    """What a frame calls for whose parts are right by themselves."""
    command, length = frame.command, frame.get("content-length")
    if length is not None and length.startswith("0") and length != "0":
        return refusals.GUESSED
    if frame.body and command not in BODIES:
        # 1.0 forbids a body nowhere, and asks for one nowhere either
        return (
            refusals.BODY_IN_1_0 if conn.version == "1.0" else refusals.BODY.because(f"{command} must not have a body")
        )
    if conn.version == "1.0" and command not in ("CONNECT", "STOMP"):
        if ids.ENC_01 in special:
            return refusals.NOT_ASCII_IN_1_0  # the headers of 1.0 are US-ASCII
        if any(value == "" for _, value in frame.headers):
            return refusals.EMPTY_IN_1_0  # and none is empty
    if state.config.sizes.exceeded(frame):
        return refusals.BEYOND_LIMITS
    if command in refusals.TOO_LONG_A_NAME and len(frame.get("destination") or "") > LONG_NAME:
        return refusals.TOO_LONG_A_NAME[command]
    return None


def in_other_case(frame: Frame) -> bool:
    """True for a command, or for a header that the frame needs, in letters of another case."""
    command = frame.command.strip().upper()
    if command != frame.command and command in CLIENT_COMMANDS:
        return True
    needed = ("destination", "transaction", "id", "message-id", "subscription", "receipt", "ack")
    return any(name not in needed and name.strip().lower() in needed for name, _ in frame.headers)


def _unknown(command: str) -> Verdict:
    if command in SERVER_COMMANDS:
        return refusals.SERVERS_COMMAND
    return refusals.OTHER_CASE if command.strip().upper() in CLIENT_COMMANDS else refusals.UNKNOWN


def _warts(frame: Frame, conn: Conn) -> Verdict:
    warts = frame.warts
    if "undefined-escape" in warts:
        return _bad_escape(frame, conn)
    if "no-colon" in warts:
        return refusals.NO_COLON.because("a header line needs a colon")
    if "empty-name" in warts:
        return refusals.NO_NAME.because("a header name must not be empty")
    if "bad-content-length" in warts:
        value = frame.get("content-length") or ""
        return (
            refusals.GUESSED
            if _GUESSED_LENGTH.match(value)
            else refusals.BAD_LENGTH.because(f"{value!r:.40} is no number")
        )
    others = {"raw-colon": refusals.RAW_COLON, "bare-cr": refusals.BARE_CR, "cr-in-line-end": refusals.CR_AT_THE_END}
    return next((others[wart] for wart in others if wart in warts), refusals.NOT_UTF8)


def _bad_escape(frame: Frame, conn: Conn) -> Refusal:
    trailing = any(re.search(r"(?<!\\)(\\\\)*\\\Z", text) for pair in frame.headers for text in pair)
    others = any(re.search(r"\\[^nrc\\]", t.replace("\\\\", "")) for pair in frame.headers for t in pair)
    if conn.version == "1.1" and not trailing and not others:
        return refusals.CR_IN_1_1.because("\\r is no escape in a 1.1 session")
    declared = refusals.LONE_BACKSLASH if trailing else refusals.BAD_ESCAPE
    return declared.because("an undefined escape sequence is a fatal protocol error")


def offered(frame: Frame) -> tuple[str, ...] | None:
    """The versions that a CONNECT offers, () when none can be read, None when the list is not canonical."""
    text = frame.get("accept-version")
    if text is None:
        return ("1.0",)
    if not text:
        return ()
    return tuple(text.split(",")) if _VERSIONS.match(text) else None


def common(state: State, versions: tuple[str, ...]) -> str | None:
    """The highest version that both sides speak."""
    return max(set(versions) & state.config.supports, default=None)


def _connect(state: State, number: int, conn: Conn, frame: Frame) -> Rule:
    if conn.phase is not Phase.OPEN:
        return refusals.SECOND_CONNECT, ()
    versions = offered(frame)
    claims: tuple[str, ...] = (ids.CONNECT_05,) if frame.command == "STOMP" else ()
    verdict = _opening(state, number, frame, versions)
    if verdict is None and frame.command == "STOMP" and max(state.config.supports) < "1.1":
        return refusals.STOMP_IN_1_0, ()  # 1.0 knows no such command
    if isinstance(verdict, Refusal):
        return verdict, ()
    if verdict is not None or versions is None:
        return verdict, claims
    if list(versions) != sorted(versions):
        claims = (ids.NEGO_04, *claims)
    if any(version not in ("1.0", "1.1", "1.2") for version in versions):
        claims = (ids.NEGO_05, *claims)
    if frame.get("receipt") is not None:
        return refusals.RECEIPT_WANTED, claims
    return None, claims


_WHOLE = re.compile(r"[0-9]+,[0-9]+\Z")


def _opening(state: State, number: int, frame: Frame, versions: tuple[str, ...] | None) -> Verdict:
    """Whether a CONNECT must be refused, or may be."""
    config = state.config
    if versions is None:
        tokens = tuple(token.strip() for token in (frame.get("accept-version") or "").split(","))
        return refusals.ODD_LIST if common(state, tokens) else refusals.ODD_LIST_OF_OTHERS
    if common(state, versions) is None:
        if frame.get("accept-version") is None:
            return refusals.NOT_1_0.because("the server does not speak 1.0")
        return refusals.NONE_IN_COMMON.because("no version in common")
    beats = frame.get("heart-beat")
    if beats is not None and not BEATS.match(beats):
        if beats == "" or _WHOLE.match(beats) or common(state, versions) == "1.0":
            return refusals.GUESSED_BEATS  # an empty header may be as good as none, and a number too great for a server
        return refusals.BAD_BEATS.because(f"heart-beat {beats!r:.40} is not two integers")
    if frame.get("host") != config.host:
        return refusals.NO_HOST if frame.get("host") is None else refusals.OTHER_HOST
    if (frame.get("login") or "") != config.login or (frame.get("passcode") or "") != config.passcode:
        return refusals.OTHER_LOGIN
    return refusals.CROWDED if is_crowded(state, number) else None


def _send(state: State, number: int, conn: Conn, frame: Frame) -> Rule:
    destination = frame.get("destination")
    if destination is None:
        # 1.0 asks for the header, but for no ERROR when it is missing
        declared = refusals.SEND_NOWHERE_IN_1_0 if conn.version == "1.0" else refusals.SEND_NOWHERE
        return _lacking(frame, "destination", declared.because("SEND without destination")), ()
    if destination == "":
        return refusals.SEND_TO_NO_NAME, ()
    refused = _transaction(conn, frame)
    if refused is not None:
        return refused, ()
    if state.config.kind(destination) is None:
        return refusals.ANYWHERE_IN_1_0 if conn.version == "1.0" else refusals.SEND_ANYWHERE, ()
    claims: tuple[str, ...] = ()
    if conn.txs:
        claims = (ids.TXN_10,) if len(conn.txs) > 1 else (ids.TXN_11,) if frame.get("transaction") is None else ()
    if frame.has_any(SERVERS_OWN):
        return refusals.SERVERS_HEADER, claims
    return None, claims


def _lacking(frame: Frame, name: str, declared: Refusal) -> Refusal:
    """The refusal of a frame without header `name`; where it stands in other letter case, that must not help."""
    folded = any(key != name and key.strip().lower() == name for key, _ in frame.headers)
    return (
        replace(declared, requirement=refusals.IN_OTHER_CASE.requirement, also=(declared.requirement, *declared.also))
        if folded
        else declared
    )


def _transaction(conn: Conn, frame: Frame) -> Verdict:
    tx = frame.get("transaction")
    if tx is None or tx in conn.txs:
        return None
    if tx == "":
        return refusals.EMPTY_TX  # its BEGIN may have been accepted
    return refusals.NO_SUCH_TX.because(f"transaction {tx!r:.40} is not open")


def _subscribe(state: State, number: int, conn: Conn, frame: Frame) -> Rule:
    destination, sub = frame.get("destination"), frame.get("id")
    verdict = _bad_subscribe(conn, frame, destination, sub)
    if verdict is not None:
        return verdict, ()
    kind = state.config.kind(destination)
    if kind is None:
        return refusals.ANYWHERE_IN_1_0 if conn.version == "1.0" else refusals.SUBSCRIBE_ANYWHERE, ()
    if not kind.shared and _taken(state, destination):
        return refusals.TAKEN_IN_1_0 if conn.version == "1.0" else refusals.TAKEN, ()
    if len(conn.subs) >= MANY_SUBSCRIPTIONS:
        return refusals.MANY_OPEN["SUBSCRIBE"], ()
    claims: tuple[str, ...] = ()
    if sub in conn.old_subs:
        if conn.version != "1.2":
            return refusals.ID_USED_BEFORE, ()
        claims += (ids.SUB_11,)
    if any(sub in other.subs for key, other in state.conns.items() if key != number):
        claims += (ids.SUB_04,)
    if sub and (SPECIAL.search(sub) or not sub.isalnum()):
        claims += (ids.SUB_10,)
    return None, (*claims, ids.SUB_07) if frame.get("ack") is not None else claims


def _bad_subscribe(conn: Conn, frame: Frame, destination: str | None, sub: str | None) -> Verdict:
    if destination is None:
        declared = refusals.SUBSCRIBE_NOWHERE_IN_1_0 if conn.version == "1.0" else refusals.SUBSCRIBE_NOWHERE
        return _lacking(frame, "destination", declared.because("SUBSCRIBE without destination"))
    if sub == "":
        return refusals.EMPTY_ID  # nothing forbids the empty text as a name
    if sub is None and conn.version != "1.0":
        return _lacking(frame, "id", refusals.NO_ID.because("SUBSCRIBE without id"))
    if sub is not None and sub in conn.subs:
        if conn.subs[sub].closing or (conn.subs[sub].vague and conn.version != "1.2"):
            return refusals.ID_BEING_FREED
        return refusals.ID_IN_USE.because(f"subscription {sub!r:.40} is already open")
    mode = frame.get("ack")
    if mode == "":
        return refusals.EMPTY_MODE  # an empty header may be as good as none
    if mode not in (None, "auto", "client", "client-individual"):
        return refusals.BAD_MODE.because(f"there is no acknowledgement mode {mode!r:.40}")
    return refusals.NEW_MODE_IN_1_0 if mode == "client-individual" and conn.version == "1.0" else None


def _taken(state: State, destination: str) -> bool:
    """True when somebody subscribed to `destination` before; that it is over may not be known to the server yet."""
    before = [place for conn in state.conns.values() for sub in conn.subs.values() for place in sub.destinations]
    before += [place for conn in state.conns.values() for place, _ in conn.left_places]
    return as_read(destination, state.config) in {as_read(place, state.config) for place in before}


def sub_key(conn: Conn, frame: Frame) -> str | None:
    """Which subscription an UNSUBSCRIBE names; 1.0 allows its destination instead."""
    key: str | None = frame.get("id")
    if key is None and conn.version == "1.0" and frame.get("destination") is not None:
        return f"\0{frame.get('destination')}"
    return key


def _unsubscribe(state: State, number: int, conn: Conn, frame: Frame) -> Rule:
    key = sub_key(conn, frame)
    known = conn.subs.get(key or "")
    if known is not None and known.vague and (known.closing or conn.version != "1.2"):
        # the one before it may have been taken for something else, or have ended all subscriptions of its destination
        return refusals.MAYBE_SUBSCRIBED, ()
    if key is None or key not in conn.subs or conn.subs[key].closing:
        refused = refusals.NOT_SUBSCRIBED.because("UNSUBSCRIBE names no open subscription")
        return refused if key is not None else _lacking(frame, "id", refused), ()
    return None, (ids.UNSUB_02, ids.UNSUB_04) if frame.get("destination") is None else (ids.UNSUB_04,)


def delivery_named(state: State, number: int, conn: Conn, frame: Frame) -> Delivery | None:
    """The delivery that an ACK or NACK names in the version of its session; the latest when several match."""
    named, sub = deliveries_named(state, number, conn, frame), frame.get("subscription")
    if conn.version != "1.2":
        there = {s.serial: s.id for s in conn.subs.values()}
        mine = [d for d in named if d.sub in there and (sub in (None, there[d.sub]) or there[d.sub].startswith("\0"))]
        named = mine or named
    return named[0] if named else None


def deliveries_named(state: State, number: int, conn: Conn, frame: Frame) -> list[Delivery]:
    """All deliveries on the connection that an ACK or NACK may be taken to name, the latest first. In 1.2 there are
    several where a message that comes again has the ack value that it had before. In 1.1 a subscription id may also
    have been used before, and 1.0 asks for the message-id alone, which all copies of a message may share."""
    found = [d for d in [*state.deliveries.values()][::-1] if d.conn == number]
    if conn.version == "1.2":
        wanted = frame.get("id")
        return [d for d in found if d.ack == wanted] if wanted is not None else []
    wanted, sub = frame.get("message-id"), frame.get("subscription")
    names = {s.serial: s.id for s in conn.subs.values()}
    return [
        d
        for d in found
        if d.id == wanted is not None and (conn.version == "1.0" or sub is None or names.get(d.sub, sub) == sub)
    ]


def _ack(state: State, number: int, conn: Conn, frame: Frame) -> Rule:
    refused = _transaction(conn, frame)
    if refused is not None:
        return refused, ()
    if frame.get("id") is None and conn.version == "1.2":
        declared = refusals.ACK_OF_1_1 if frame.get("message-id") is not None else refusals.ACK_WITHOUT_ID
        return _lacking(frame, "id", declared.because(f"{frame.command} without id")), ()
    delivery, others = delivery_named(state, number, conn, frame), deliveries_named(state, number, conn, frame)
    if delivery is None:
        declared = refusals.NO_DELIVERY_IN_1_0 if conn.version == "1.0" else refusals.NO_DELIVERY
        return declared.because(f"{frame.command} names no delivery on this connection"), ()
    if delivery.mode == "auto":
        return refusals.AUTO_MODE, ()
    sub = next((s for s in conn.subs.values() if s.serial == delivery.sub), None)
    if sub is None or sub.closing:
        return refusals.SUB_ENDED, ()
    if conn.version == "1.0" and any(d.fate == "out" and d.mode != "auto" and d is not delivery for d in others):
        return refusals.NACKED, ()  # it may be the other one that is acknowledged, or both
    if delivery.fate == "out" and delivery.tx is None:
        before = _acked_before(state, delivery, conn)
        within, plain = (ids.ACK_06, ids.ACK_01) if frame.command == "ACK" else (ids.NACK_04, ids.NACK_01)
        if frame.get("transaction") is not None:
            return None, (within, *before, plain)
        if frame.command == "NACK" or conn.version != "1.2":
            return None, (*before, plain)
        return None, (*before, plain, ids.ACK_07)
    if delivery.tx is not None:
        return refusals.HELD_BY_TX, ()
    if any(d.fate in ("nacked", "freed") or d.mode == "auto" or d.sub != delivery.sub for d in others):
        # it may have come again meanwhile, under the same ack value; or its name is that of another one as well, whose
        # ACK may be taken: of a subscription that has ended, say
        return refusals.NACKED, ()
    return refusals.SETTLED.because(f"{frame.command} of a delivery that is already settled"), ()


def _acked_before(state: State, delivery: Delivery, conn: Conn) -> tuple[str, ...]:
    """What an acknowledgement that must be accepted shows, given the ones before it. What most likely has settled the
    delivery, if any has, stands first: that of a later one on the same subscription, as if all were cumulative; then
    that of one on another subscription."""
    ranked: list[tuple[int, str]] = []
    for other in state.deliveries.values():
        if (
            other.conn != delivery.conn
            or other.serial == delivery.serial
            or other.fate not in ("acked", "settled", "nacked")
        ):
            continue
        if other.sub != delivery.sub:
            ranked.append((1, ids.ACKMODE_07))
            continue
        rank = 0 if other.serial > delivery.serial else 2
        if other.fate == "nacked":
            ranked.append((rank, ids.NACK_03))
        else:
            ranked.append((rank, ids.ACKMODE_05 if delivery.mode == "client-individual" else ids.ACKMODE_04))
    claims = [name for _, name in sorted(ranked, key=lambda pair: pair[0])]
    if delivery.by == "abort":  # that an ACK is part of its transaction is a recommendation, so it is named first
        claims.insert(0, ids.ACK_06)
    if conn.version == "1.2":
        special = delivery.ack is not None and (SPECIAL.search(delivery.ack) or not delivery.ack.isascii())
        claims += [ids.ACK_07] if special else []
    else:
        claims.append(ids.NEGO_06)
    return tuple(dict.fromkeys(claims))


def _begin(state: State, number: int, conn: Conn, frame: Frame) -> Rule:
    tx = frame.get("transaction")
    if tx is None:
        return _lacking(frame, "transaction", refusals.BEGIN_WITHOUT_ID.because("BEGIN without a transaction id")), ()
    if tx == "":
        return refusals.BEGIN_OF_NO_NAME, ()  # nothing forbids the empty text as a name
    if tx in conn.txs:
        return refusals.BEGUN_TWICE.because(f"transaction {tx!r:.40} is already open"), ()
    known = any(tx in (*other.txs, *other.old_txs) for other in state.conns.values())
    if known and conn.version != "1.2":
        return refusals.NAME_USED_BEFORE, ()
    if len(conn.txs) >= MANY_TRANSACTIONS:
        return refusals.MANY_OPEN["BEGIN"], ()
    claims: tuple[str, ...] = ()
    if tx in conn.old_txs:
        claims += (ids.TXN_09,)
    if any(tx in other.txs for key, other in state.conns.items() if key != number):
        claims += (ids.TXN_07,)
    if conn.txs:
        claims += (ids.TXN_10,)
    return None, claims


def _end(state: State, number: int, conn: Conn, frame: Frame) -> Rule:
    tx = frame.get("transaction")
    if tx is None:
        declared = refusals.END_WITHOUT_ID_IN_1_0 if conn.version == "1.0" else refusals.END_WITHOUT_ID
        return _lacking(frame, "transaction", declared.because(f"{frame.command} without a transaction id")), ()
    if tx == "":
        return refusals.END_OF_NO_NAME, ()
    if tx not in conn.txs:
        # a RECEIPT of 1.0 says no more than that the frame has come
        declared = refusals.NOT_BEGUN_IN_1_0 if conn.version == "1.0" else refusals.NOT_BEGUN
        return declared.because(f"{frame.command} of a transaction that is not open"), ()
    if frame.command == "COMMIT" and (conn.txs[tx].doubtful or _overtaken(state, conn.txs[tx])):
        return refusals.COMMIT_MAY_FAIL, ()
    others = any(tx in (*other.txs, *other.old_txs) for key, other in state.conns.items() if key != number)
    claims: tuple[str, ...] = (ids.TXN_07,) if others and conn.version == "1.2" else ()
    if conn.txs[tx].reused:
        claims += (ids.TXN_09,)
    if len(conn.txs) > 1:
        claims += (ids.TXN_10,)
    return None, (*claims, ids.TXN_03 if frame.command == "COMMIT" else ids.TXN_04)


def _overtaken(state: State, tx: Tx) -> bool:
    """True when a delivery that the transaction acknowledges may have met another fate meanwhile: by a cumulative
    acknowledgement outside, or because its subscription has ended. A server notices that at COMMIT at the latest."""
    return any(state.deliveries[serial].fate != "out" for serial, _ in tx.acks)


def _disconnect(state: State, number: int, conn: Conn, frame: Frame) -> Rule:
    if conn.version == "1.1" and not frame.headers:
        return refusals.NO_HEADER_IN_1_1, ()
    return None, (ids.DISC_03,) if frame.get("receipt") is not None else ()


_RULES: dict[str, Callable[[State, int, Conn, Frame], Rule]] = {
    "CONNECT": _connect,
    "STOMP": _connect,
    "SEND": _send,
    "SUBSCRIBE": _subscribe,
    "UNSUBSCRIBE": _unsubscribe,
    "ACK": _ack,
    "NACK": _ack,
    "BEGIN": _begin,
    "COMMIT": _end,
    "ABORT": _end,
    "DISCONNECT": _disconnect,
}
