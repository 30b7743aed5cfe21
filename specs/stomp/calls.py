"""What each client frame calls for: acceptance, a refusal, or either.

Source: 003_30478fd2f19f0da0.txt L77-193 and STOMP 1.2, sections SEND to ABORT, Value Encoding, Body, Protocol
Negotiation, Repeated Header Entries. Many sentences bind the client only; what a server does with a client that breaks
them is then a recommendation (level SHOULD below), except where claiming success contradicts the text.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from specs.stomp.frames import CLIENT_COMMANDS, SERVER_COMMANDS, Frame
from specs.stomp.headers import BEATS, BODIES, SERVERS_OWN, SPECIAL, ids, marks, repeats
from specs.stomp.states import PREFIX, Conn, Delivery, Free, Phase, Refusal, State, Tx, Verdict

_VERSIONS = re.compile(r"[0-9]+\.[0-9]+(,[0-9]+\.[0-9]+)*\Z", re.ASCII)
LONG_NAME = 48
"""Characters from which on a destination may be too long for a server: names are its own affair."""
_NAMING = {"SEND": "SEND-06", "SUBSCRIBE": "SUB-06"}
_GUESSED_LENGTH = re.compile(r"[ \t]*\+?[0-9]+[ \t]*\Z", re.ASCII)


_IN_A_TRANSACTION = frozenset(ids("ACK-06 NACK-04"))
_HOLDS = frozenset({"SEND", "ACK", "NACK"})
"""What a transaction may hold."""


@lru_cache(maxsize=256)
def _refusal(
    names: str,
    accepted: str = "MUST",
    ignored: str = "MUST",
    silent: str = "SHOULD",
    why: str = "",
    forgives: bool = False,
) -> Refusal:
    first, *also = ids(names)
    return Refusal(first, accepted, ignored, silent, also=tuple(also), why=why, forgives=forgives)


def lenient(names: str, why: str, accepted: str = "SHOULD", forgives: bool = False) -> Refusal:
    """A frame by which the client breaks a rule of its own: refusing it is a recommendation."""
    return _refusal(names, accepted, "SHOULD", "SHOULD", why, forgives)


def _claimed(version: str) -> str:
    """How grave a RECEIPT for what cannot have been carried out is: in 1.0 it only says that the frame came."""
    return "SHOULD" if version == "1.0" else "MUST"


def _late(refusal: Refusal) -> Refusal:
    """The refusal of a frame in an open transaction, which the server may look at as late as at COMMIT: until then a
    RECEIPT says no more than that the transaction holds it (docs/ambiguities.md, E-09)."""
    levels = {"MUST": "SHOULD"}
    accepted, ignored = refusal.accepted, refusal.ignored
    return replace(refusal, accepted=levels.get(accepted, accepted), ignored=levels.get(ignored, ignored))


def _free(names: str, silent: str = "") -> Free:
    found = ids(names)
    return Free(found, silent, found[0])


def call(state: State, number: int, conn: Conn, frame: Frame) -> tuple[Verdict, tuple[str, ...]]:
    """What `frame` calls for on connection `number`, and the requirements that its acceptance shows."""
    command = frame.command
    if conn.phase is Phase.OPEN and command not in ("CONNECT", "STOMP"):
        return _refusal("CONNECT-11 INV-32", ignored="SHOULD", silent="", why="a frame before CONNECT"), ()
    if frame.warts:
        return _warts(frame, conn), ()
    rule = _RULES.get(command)
    if rule is None:
        return _unknown(command), ()
    verdict, proves = rule(state, number, conn, frame)
    if isinstance(verdict, Refusal) and command in _HOLDS and frame.get("transaction") in conn.txs:
        verdict = _late(verdict)
    special = marks(frame, conn.version)
    proves = proves + special if proves and proves[0] in _IN_A_TRANSACTION else special + proves
    length = frame.get("content-length")
    if verdict is None and length is not None and length.startswith("0") and length != "0":
        verdict = _free("INV-18")
    if verdict is None and frame.body and command not in BODIES:
        verdict = _body(command, conn.version)
    if (
        verdict is None
        and conn.version == "1.0"
        and PREFIX + "ENC-01" in special
        and command not in ("CONNECT", "STOMP")
    ):
        verdict = _free("ENC-01")  # the headers of 1.0 are US-ASCII
    if verdict is None and state.config.sizes.exceeded(frame):
        verdict = Free(ids("LIMIT-02 LIMIT-01 FRAME-09 INV-39"), "SHOULD", PREFIX + "LIMIT-02", plain=True)
    if verdict is None and command in _NAMING and len(frame.get("destination") or "") > LONG_NAME:
        verdict = Free(ids(_NAMING[command]), "SHOULD", ids(_NAMING[command])[0], plain=True)
    if verdict is None and len(frame.headers) > 1 and repeats(frame):
        repeated = [name for name, _ in frame.headers].count("content-length") > 1
        proves = ids("REPEAT-01 INV-20" if repeated else "REPEAT-01") + proves
    return verdict, proves


def _body(command: str, version: str) -> Verdict:
    """A body where later versions allow none: 1.0 forbids it nowhere, and asks for it nowhere either."""
    if version == "1.0":
        return _free("BODY-01 INV-31")
    return lenient("BODY-01 INV-31", f"{command} must not have a body")


def _unknown(command: str) -> Verdict:
    if command in SERVER_COMMANDS:
        return _free("INV-28")
    if command.strip().upper() in CLIENT_COMMANDS:
        return _free("INV-27 FRAME-05 FRAME-07")
    return _free("INV-27 FRAME-07")


def _warts(frame: Frame, conn: Conn) -> Verdict:
    warts = frame.warts
    if "undefined-escape" in warts:
        trailing = any(re.search(r"(?<!\\)(\\\\)*\\\Z", text) for pair in frame.headers for text in pair)
        if conn.version == "1.1":
            only_cr = not any(re.search(r"\\[^nrc\\]", t.replace("\\\\", "")) for pair in frame.headers for t in pair)
            if only_cr and not trailing:
                return lenient("ENC-11 INV-43", "\\r is no escape in a 1.1 session")
        name = "ENC-05 INV-15" if trailing else "ENC-04 INV-14"
        return _refusal(name, why="an undefined escape sequence is a fatal protocol error")
    if "no-colon" in warts:
        return lenient("ENC-09 INV-21", "a header line needs a colon")
    if "empty-name" in warts:
        return lenient("ENC-09 INV-22", "a header name must not be empty")
    if "bad-content-length" in warts:
        value = frame.get("content-length") or ""
        if _GUESSED_LENGTH.match(value):
            return _free("INV-18")
        return lenient("CLEN-09 INV-17", f"content-length {value!r:.40} is no number")
    if "raw-colon" in warts:
        return _free("INV-23 ENC-10")
    if "bare-cr" in warts:
        return _free("INV-24")
    if "cr-in-line-end" in warts:
        return _free("INV-43")
    return _free("INV-26")


Rule = tuple[Verdict, tuple[str, ...]]


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
        return _free("INV-33"), ()
    config, versions = state.config, offered(frame)
    proves = ids("CONNECT-05") if frame.command == "STOMP" else ()
    if versions is None:
        tokens = tuple(token.strip() for token in (frame.get("accept-version") or "").split(","))
        return _free("NEGO-05 INV-34" if common(state, tokens) else "NEGO-03 INV-34"), proves
    if common(state, versions) is None:
        if frame.get("accept-version") is None:
            return _refusal("NEGO-02", silent="", ignored="SHOULD", why="the server does not speak 1.0"), ()
        return _refusal("NEGO-03 INV-34", silent="MUST", why="no version in common"), ()
    beats = frame.get("heart-beat")
    if beats is not None and not BEATS.match(beats):
        if beats == "" or common(state, versions) == "1.0":
            return _free("INV-37"), proves  # an empty header may be as good as none
        return lenient("INV-37 HB-01", f"heart-beat {beats!r:.40} is not two integers"), ()
    if frame.get("host") != config.host:
        return _free("CONNECT-09 INV-35 CONNECT-08" if frame.get("host") is None else "CONNECT-09"), proves
    if (frame.get("login") or "") != config.login or (frame.get("passcode") or "") != config.passcode:
        return _free("CONNECT-03 CONNECT-10 CONNECT-04", "SHOULD"), proves
    if config.crowded:  # it takes few connections at once; those of earlier conversations may not be gone yet
        return _free("CONNECT-02", "SHOULD"), proves
    if config.login == "":
        proves += ids("CONNECT-10")
    if list(versions) != sorted(versions):
        proves = ids("NEGO-04") + proves
    if any(version not in ("1.0", "1.1", "1.2") for version in versions):
        proves = ids("NEGO-05") + proves
    if frame.get("receipt") is not None:
        return _free("INV-36 CONNECT-12"), proves
    return None, proves


def _send(state: State, number: int, conn: Conn, frame: Frame) -> Rule:
    destination = frame.get("destination")
    if destination is None:
        names = _lacking(frame, "destination", "SEND-01 SEND-06 INV-01")
        return _nowhere(names, conn.version, "SEND without destination"), ()
    if destination == "":
        return _free("INV-02"), ()
    refused = _transaction(conn, frame)
    if refused is not None:
        return refused, ()
    if state.config.kind(destination) is None:
        return Free(ids("SEND-03 INV-03"), "MUST", PREFIX + "SEND-06"), ()
    proves: tuple[str, ...] = ()
    if conn.txs:
        proves = ids("TXN-10") if len(conn.txs) > 1 else ids("TXN-11") if frame.get("transaction") is None else ()
    if len(frame.headers) > 1:
        proves += ids("SEND-05")
    if any(name in SERVERS_OWN for name, _ in frame.headers):
        return Free(ids("SEND-09"), "", PREFIX + "SEND-09", plain=True), proves
    return None, proves


def _lacking(frame: Frame, name: str, names: str) -> str:
    """The requirements of a frame without header `name`; where it stands in other letter case, that must not help."""
    folded = any(key != name and key.strip().lower() == name for key, _ in frame.headers)
    return f"FRAME-05 {names}" if folded else names


def _nowhere(names: str, version: str, why: str) -> Refusal:
    """A frame without the destination that it needs. 1.0 asks for the header, but for no ERROR when it is missing."""
    return lenient(names, why) if version == "1.0" else _refusal(names, silent="MUST", why=why)


def _transaction(conn: Conn, frame: Frame) -> Verdict:
    tx = frame.get("transaction")
    if tx is None or tx in conn.txs:
        return None
    if tx == "":
        return _free("TXN-12")  # its BEGIN may have been accepted
    return lenient("TXN-12 INV-13", f"transaction {tx!r:.40} is not open")


def _subscribe(state: State, number: int, conn: Conn, frame: Frame) -> Rule:
    destination, sub = frame.get("destination"), frame.get("id")
    if destination is None:
        names = _lacking(frame, "destination", "SUB-01 SUB-06 INV-04")
        return _nowhere(names, conn.version, "SUBSCRIBE without destination"), ()
    if sub == "":
        return _free("SUB-02 INV-05"), ()  # nothing forbids the empty text as a name
    if sub is None and conn.version != "1.0":
        return lenient(_lacking(frame, "id", "SUB-02 INV-05"), "SUBSCRIBE without id"), ()
    if sub in conn.subs:
        if conn.subs[sub].closing:
            return _free("SUB-11"), ()
        return lenient("SUB-03 INV-06", f"subscription {sub!r:.40} is already open", forgives=True), ()
    mode = frame.get("ack")
    if mode == "":
        return _free("SUB-07 INV-07"), ()  # an empty header may be as good as none
    if mode not in (None, "auto", "client", "client-individual"):
        return lenient("SUB-07 INV-07", f"there is no acknowledgement mode {mode!r:.40}"), ()
    if mode == "client-individual" and conn.version == "1.0":
        return _free("SUB-07"), ()
    kind = state.config.kind(destination)
    if kind is None:
        return _free("SUB-06", "MUST"), ()
    if not kind.shared and _taken(state, destination):
        return Free(ids("SUB-06"), "MUST", PREFIX + "SUB-06", plain=True), ()
    proves: tuple[str, ...] = ()
    if sub in conn.old_subs:
        proves += ids("SUB-11")
    if any(sub in other.subs for key, other in state.conns.items() if key != number):
        proves += ids("SUB-04")
    if sub and (SPECIAL.search(sub) or not sub.isalnum()):
        proves += ids("SUB-10")
    return None, proves


def _taken(state: State, destination: str) -> bool:
    """True when somebody subscribed to `destination` before; that it is over may not be known to the server yet."""
    return any(
        any(destination in sub.destinations for sub in conn.subs.values())
        or any(place == destination for place, _ in conn.left_places)
        for conn in state.conns.values()
    )


def sub_key(conn: Conn, frame: Frame) -> str | None:
    """Which subscription an UNSUBSCRIBE names; 1.0 allows its destination instead."""
    key: str | None = frame.get("id")
    if key is None and conn.version == "1.0" and frame.get("destination") is not None:
        return f"\0{frame.get('destination')}"
    return key


def _unsubscribe(state: State, number: int, conn: Conn, frame: Frame) -> Rule:
    key = sub_key(conn, frame)
    if key is not None and key in conn.subs and conn.subs[key].closing and conn.subs[key].vague:
        return _free("UNSUB-01 INV-08"), ()  # the one before it may have been taken for something else
    if key is None or key not in conn.subs or conn.subs[key].closing:
        names = "UNSUB-01 INV-08" if key is not None else _lacking(frame, "id", "UNSUB-01 INV-08")
        return lenient(names, "UNSUBSCRIBE names no open subscription"), ()
    return None, ids("UNSUB-02 UNSUB-04" if frame.get("destination") is None else "UNSUB-04")


def named(state: State, number: int, conn: Conn, frame: Frame) -> Delivery | None:
    """The delivery that an ACK or NACK names in the version of its session; the latest when several match."""
    if conn.version == "1.2":
        wanted = frame.get("id")
        for delivery in reversed(list(state.deliveries.values())):
            if delivery.conn == number and delivery.ack == wanted and wanted is not None:
                return delivery
        return None
    wanted, sub = frame.get("message-id"), frame.get("subscription")
    for delivery in reversed(list(state.deliveries.values())):
        if delivery.conn == number and delivery.id == wanted and wanted is not None:
            key = next((s.id for s in conn.subs.values() if s.serial == delivery.sub), sub)
            if sub is None or key in (sub, None) or key.startswith("\0"):
                return delivery
    return None


def _ack(state: State, number: int, conn: Conn, frame: Frame) -> Rule:
    refused = _transaction(conn, frame)
    if refused is not None:
        return refused, ()
    if frame.get("id") is None and conn.version == "1.2":
        old = frame.get("message-id") is not None
        names = _lacking(frame, "id", "ACK-03 INV-09")
        return lenient(names, f"{frame.command} without id", "SHOULD" if old else "MUST"), ()
    delivery = named(state, number, conn, frame)
    if delivery is None:
        why = f"{frame.command} names no delivery on this connection"
        return lenient("ACK-03 ACK-04 INV-09", why, _claimed(conn.version)), ()
    if delivery.mode == "auto":
        return _free("ACK-05 INV-09"), ()
    sub = next((s for s in conn.subs.values() if s.serial == delivery.sub), None)
    if sub is None or sub.closing:
        return _free("UNSUB-06"), ()
    if delivery.fate == "out" and delivery.tx is None:
        if frame.get("transaction") is not None:
            return None, ids("ACK-06" if frame.command == "ACK" else "NACK-04") + _acked_before(state, delivery, conn)
        own = "ACK-01 ACK-07" if conn.version == "1.2" else "ACK-01"
        return None, _acked_before(state, delivery, conn) + ids(own if frame.command == "ACK" else "NACK-01")
    if delivery.tx is not None:
        return _free("ACK-06"), ()
    if delivery.fate in ("nacked", "freed"):
        return _free("NACK-02"), ()  # it may have come again meanwhile, under the same ack value
    return lenient("ACK-03 INV-09", f"{frame.command} of a delivery that is already settled"), ()


def _acked_before(state: State, delivery: Delivery, conn: Conn) -> tuple[str, ...]:
    """What an acknowledgement that must be accepted shows, given the ones before it."""
    proves: list[str] = []
    for other in state.deliveries.values():
        if (
            other.conn != delivery.conn
            or other.serial == delivery.serial
            or other.fate not in ("acked", "settled", "nacked")
        ):
            continue
        if other.sub != delivery.sub:
            proves.append("ACKMODE-07")
        elif delivery.mode == "client-individual":
            proves.append("NACK-03" if other.fate == "nacked" else "ACKMODE-05")
        else:
            proves.append("NACK-03" if other.fate == "nacked" else "ACKMODE-04")
    if delivery.by == "abort":
        proves.append("ACK-06")
    if conn.version == "1.2":
        special = delivery.ack is not None and (SPECIAL.search(delivery.ack) or not delivery.ack.isascii())
        proves += ["ACK-07"] if special else []
    else:
        proves.append("NEGO-06")
    return ids(" ".join(dict.fromkeys(proves)))


def _begin(state: State, number: int, conn: Conn, frame: Frame) -> Rule:
    tx = frame.get("transaction")
    if tx is None:
        return lenient(_lacking(frame, "transaction", "TXN-01 INV-10"), "BEGIN without a transaction id"), ()
    if tx == "":
        return _free("TXN-01 INV-10"), ()  # nothing forbids the empty text as a name
    if tx in conn.txs:
        return lenient("TXN-06 INV-11", f"transaction {tx!r:.40} is already open", forgives=True), ()
    proves: tuple[str, ...] = ()
    if tx in conn.old_txs:
        proves += ids("TXN-09")
    if any(tx in other.txs for key, other in state.conns.items() if key != number):
        proves += ids("TXN-07")
    if conn.txs:
        proves += ids("TXN-10")
    return None, proves


def _end(state: State, number: int, conn: Conn, frame: Frame) -> Rule:
    tx = frame.get("transaction")
    if tx is None:
        names = _lacking(frame, "transaction", "TXN-01 INV-12")
        return lenient(names, f"{frame.command} without a transaction id", _claimed(conn.version)), ()
    if tx == "":
        return _free("TXN-08 INV-12"), ()
    if tx not in conn.txs:
        why = f"{frame.command} of a transaction that is not open"
        return lenient("TXN-08 INV-12", why, _claimed(conn.version)), ()
    if frame.command == "COMMIT" and (conn.txs[tx].doubtful or _overtaken(state, conn.txs[tx])):
        return _free("TXN-03"), ()
    others = any(tx in (*other.txs, *other.old_txs) for key, other in state.conns.items() if key != number)
    proves = ids("TXN-07") if others else ()
    if conn.txs[tx].reused:
        proves += ids("TXN-09")
    if len(conn.txs) > 1:
        proves += ids("TXN-10")
    return None, proves + ids("TXN-03" if frame.command == "COMMIT" else "TXN-04")


def _overtaken(state: State, tx: Tx) -> bool:
    """True when a delivery that the transaction acknowledges may have met another fate meanwhile: by a cumulative
    acknowledgement outside, or because its subscription has ended. A server notices that at COMMIT at the latest."""
    return any(state.deliveries[serial].fate != "out" for serial, _ in tx.acks)


def _disconnect(state: State, number: int, conn: Conn, frame: Frame) -> Rule:
    return None, ids("DISC-03") if frame.get("receipt") is not None else ()


_RULES = {
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
