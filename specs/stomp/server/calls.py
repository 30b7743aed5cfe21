"""What each client frame calls for: acceptance, a refusal, or either.

Source: 003_30478fd2f19f0da0.txt L77-193 and STOMP 1.2, sections SEND to ABORT, Value Encoding, Body, Protocol
Negotiation, Repeated Header Entries. Many sentences bind the client only; what a server does with a client that breaks
them is then a recommendation (`lenient` below), except where claiming success contradicts the text.

A frame that must be refused has a `Refusal`, one that the text leaves open a `Free`; both are declared here with every
requirement that they name. A frame that must be accepted has claims: what is special about it, and must not matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from specs.stomp import ids
from specs.stomp.frames import CLIENT_COMMANDS, SERVER_COMMANDS, Frame
from specs.stomp.headers import BEATS, BODIES, SERVERS_OWN, SPECIAL, marks, repeats
from specs.stomp.machine import Phase
from specs.stomp.server.book import REQUIREMENTS
from specs.stomp.states import Conn, Delivery, Free, Refusal, State, Tx, Verdict

_VERSIONS = re.compile(r"[0-9]+\.[0-9]+(,[0-9]+\.[0-9]+)*\Z", re.ASCII)
LONG_NAME = 200
"""Characters from which on a destination may be too long for a server: names are its own affair."""
_GUESSED_LENGTH = re.compile(r"[ \t]*\+?[0-9]+[ \t]*\Z", re.ASCII)
_HOLDS = frozenset({"SEND", "ACK", "NACK"})
"""What a transaction may hold."""

# -- what a server may be asked to refuse ------------------------------------------------------------------------------

REFUSALS: list[Refusal] = []
"""Every refusal that is declared below."""
FREEDOMS: list[Free] = []
"""Every freedom that is declared below."""


def refusal(requirement: str, *also: str, accepted: str = "MUST", ignored: str = "MUST", **more: Any) -> Refusal:
    """Declare that a frame should be refused, and how grave each way of not doing so is; `more` fields of `Refusal`."""
    REFUSALS.append(Refusal(requirement, accepted, ignored, also=also, **more))
    return REFUSALS[-1]


def lenient(requirement: str, *also: str, accepted: str = "SHOULD", **more: Any) -> Refusal:
    """Declare a frame by which the client breaks a rule of its own: refusing it is a recommendation."""
    return refusal(requirement, *also, accepted=accepted, ignored="SHOULD", **more)


def free(*covers: str, silent: str = "", requirement: str = "", plain: bool = False) -> Free:
    """Declare a frame that the server may accept or refuse. A close without ERROR breaks `requirement`."""
    FREEDOMS.append(Free(covers, silent, requirement or covers[0], plain))
    return FREEDOMS[-1]


_TOO_EARLY = refusal(ids.CONNECT_11, ids.INV_32, ignored="SHOULD", silent="")
_BAD_ESCAPE, _LONE_BACKSLASH = (
    refusal("STOMP-1.2-ENC-04", "STOMP-1.2-INV-14"),
    refusal("STOMP-1.2-ENC-05", "STOMP-1.2-INV-15"),
)
_CR_IN_1_1 = refusal("STOMP-1.2-ENC-11", ids.INV_43)
_NO_COLON, _NO_NAME = lenient(ids.ENC_09, "STOMP-1.2-INV-21"), lenient(ids.ENC_09, "STOMP-1.2-INV-22")
_BAD_LENGTH, _GUESSED = lenient("STOMP-1.2-CLEN-09", "STOMP-1.2-INV-17"), free(ids.INV_18)
_RAW_COLON, _BARE_CR, _CR_AT_THE_END, _NOT_UTF8 = free(ids.INV_23), free(ids.INV_24), free(ids.INV_43), free(ids.INV_26)
_BODY, _BODY_IN_1_0 = lenient(ids.BODY_01, ids.INV_31), free(ids.BODY_01, ids.INV_31)
_SERVERS_COMMAND, _UNKNOWN, _OTHER_CASE = (
    free(ids.INV_28),
    free(ids.INV_27, ids.FRAME_07),
    free(ids.INV_27, ids.FRAME_07),
)
_BEYOND_LIMITS = free(ids.LIMIT_02, ids.LIMIT_01, ids.FRAME_09, ids.INV_39, silent="SHOULD", plain=True)
_LONG_NAME = {
    "SEND": free(ids.SEND_06, silent="SHOULD", plain=True),
    "SUBSCRIBE": free(ids.SUB_06, silent="SHOULD", plain=True),
}
_NOT_ASCII_IN_1_0 = free(ids.ENC_01)

_SECOND_CONNECT = free(ids.INV_33)
_ODD_LIST, _ODD_LIST_OF_OTHERS = free(ids.NEGO_05, ids.INV_34), free(ids.NEGO_03, ids.INV_34)
_NOT_1_0 = refusal(ids.NEGO_02, silent="", ignored="SHOULD")
_NONE_IN_COMMON = refusal(ids.NEGO_03, ids.INV_34, silent="MUST")
_BAD_BEATS, _GUESSED_BEATS = lenient(ids.INV_37, ids.HB_01), free(ids.INV_37)
_NO_HOST, _OTHER_HOST = free(ids.CONNECT_08, ids.CONNECT_09, ids.INV_35), free(ids.CONNECT_09)
_OTHER_LOGIN = free(ids.CONNECT_03, silent="SHOULD", requirement=ids.CONNECT_04)
_CROWDED = free(ids.CONNECT_03, silent="SHOULD", requirement=ids.CONNECT_04)
_STOMP_IN_1_0 = free(ids.CONNECT_03)
_RECEIPT_WANTED = free(ids.INV_36)

_SEND_NOWHERE, _SEND_NOWHERE_IN_1_0 = (
    refusal(ids.SEND_01, ids.SEND_06, ids.INV_01, silent="MUST"),
    lenient(ids.SEND_01, ids.SEND_06, ids.INV_01),
)
_SEND_TO_NO_NAME = free("STOMP-1.2-INV-02", silent="SHOULD")
SEND_ANYWHERE = free(ids.SEND_03, ids.INV_03, silent="MUST", requirement=ids.SEND_06)
_SERVERS_HEADER = free(ids.SEND_09, plain=True)
_NO_SUCH_TX, _EMPTY_TX = lenient(ids.TXN_12, "STOMP-1.2-INV-13"), free(ids.TXN_12)

_SUBSCRIBE_NOWHERE = refusal(ids.SUB_01, ids.SUB_06, ids.INV_04, silent="MUST")
_SUBSCRIBE_NOWHERE_IN_1_0 = lenient(ids.SUB_01, ids.SUB_06, ids.INV_04)
_NO_ID, _EMPTY_ID = lenient(ids.SUB_02, ids.INV_05), free(ids.SUB_02, ids.INV_05)
_ID_IN_USE, _ID_BEING_FREED = lenient("STOMP-1.2-INV-06", forgives=True, spares=ids.SUB_03), free(ids.SUB_11)
_BAD_MODE, _EMPTY_MODE, _NEW_MODE_IN_1_0 = lenient(ids.INV_07), free(ids.INV_07), free(ids.INV_07)
_SUBSCRIBE_ANYWHERE = free(ids.SUB_06, silent="MUST")
_TAKEN = free(ids.SUB_06, silent="MUST", plain=True)
_NOT_SUBSCRIBED, _MAYBE_SUBSCRIBED = lenient(ids.UNSUB_01, ids.INV_08), free(ids.UNSUB_01, ids.INV_08)

_ACK_WITHOUT_ID, _ACK_OF_1_1 = lenient(ids.ACK_03, ids.INV_09, accepted="MUST"), lenient(ids.ACK_03, ids.INV_09)
_NO_DELIVERY = lenient(ids.ACK_03, ids.ACK_04, ids.INV_09, accepted="MUST")
_NO_DELIVERY_IN_1_0 = lenient(ids.ACK_03, ids.ACK_04, ids.INV_09)
_AUTO_MODE, _SUB_ENDED, _HELD_BY_TX = free(ids.ACK_05, ids.INV_09), free(ids.UNSUB_06), free(ids.ACK_06)
_NACKED, _SETTLED = free(ids.NACK_02), lenient(ids.ACK_03, ids.INV_09)

_BEGIN_WITHOUT_ID, _BEGIN_OF_NO_NAME = lenient(ids.TXN_01, ids.INV_10), free(ids.TXN_01, ids.INV_10)
_BEGUN_TWICE = lenient(ids.INV_11, forgives=True, spares=ids.TXN_06)
_END_WITHOUT_ID = lenient(ids.TXN_01, ids.INV_12, accepted="MUST")
_END_WITHOUT_ID_IN_1_0 = lenient(ids.TXN_01, ids.INV_12)
_END_OF_NO_NAME, _COMMIT_MAY_FAIL = free(ids.TXN_08, ids.INV_12), free(ids.TXN_03)
_NOT_BEGUN, _NOT_BEGUN_IN_1_0 = lenient(ids.TXN_08, ids.INV_12, accepted="MUST"), lenient(ids.TXN_08, ids.INV_12)

_IN_OTHER_CASE = refusal(ids.FRAME_05)
"""A frame that lacks a header which it has in other letter case: see `_lacking`."""


def named(call: Refusal, level: str, *, unanswered: bool = False) -> tuple[str, ...]:
    """The requirements that a refusal names where not refusing is as grave as `level`: those of that level first. What
    the client broke may be a MUST, and that it should be told so a recommendation of its own. Whoever is `unanswered`,
    neither agreed to nor refused, is looked for among the rows on invalid input: they say which answer it gets."""

    def rank(name: str) -> tuple[bool, bool]:
        return REQUIREMENTS[name].level != level, unanswered and "-INV-" not in name

    return tuple(sorted((call.requirement, *call.also), key=rank))


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
        return _TOO_EARLY.because("a frame before CONNECT"), ()
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
        return _GUESSED
    if frame.body and command not in BODIES:
        # 1.0 forbids a body nowhere, and asks for one nowhere either
        return _BODY_IN_1_0 if conn.version == "1.0" else _BODY.because(f"{command} must not have a body")
    if conn.version == "1.0" and ids.ENC_01 in special and command not in ("CONNECT", "STOMP"):
        return _NOT_ASCII_IN_1_0  # the headers of 1.0 are US-ASCII
    if state.config.sizes.exceeded(frame):
        return _BEYOND_LIMITS
    if command in _LONG_NAME and len(frame.get("destination") or "") > LONG_NAME:
        return _LONG_NAME[command]
    return None


def _unknown(command: str) -> Verdict:
    if command in SERVER_COMMANDS:
        return _SERVERS_COMMAND
    return _OTHER_CASE if command.strip().upper() in CLIENT_COMMANDS else _UNKNOWN


def _warts(frame: Frame, conn: Conn) -> Verdict:
    warts = frame.warts
    if "undefined-escape" in warts:
        return _bad_escape(frame, conn)
    if "no-colon" in warts:
        return _NO_COLON.because("a header line needs a colon")
    if "empty-name" in warts:
        return _NO_NAME.because("a header name must not be empty")
    if "bad-content-length" in warts:
        value = frame.get("content-length") or ""
        return _GUESSED if _GUESSED_LENGTH.match(value) else _BAD_LENGTH.because(f"{value!r:.40} is no number")
    others = {"raw-colon": _RAW_COLON, "bare-cr": _BARE_CR, "cr-in-line-end": _CR_AT_THE_END}
    return next((others[wart] for wart in others if wart in warts), _NOT_UTF8)


def _bad_escape(frame: Frame, conn: Conn) -> Refusal:
    trailing = any(re.search(r"(?<!\\)(\\\\)*\\\Z", text) for pair in frame.headers for text in pair)
    others = any(re.search(r"\\[^nrc\\]", t.replace("\\\\", "")) for pair in frame.headers for t in pair)
    if conn.version == "1.1" and not trailing and not others:
        return _CR_IN_1_1.because("\\r is no escape in a 1.1 session")
    declared = _LONE_BACKSLASH if trailing else _BAD_ESCAPE
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
        return _SECOND_CONNECT, ()
    versions = offered(frame)
    claims: tuple[str, ...] = (ids.CONNECT_05,) if frame.command == "STOMP" else ()
    verdict = _opening(state, frame, versions)
    if verdict is None and frame.command == "STOMP" and max(state.config.supports) < "1.1":
        return _STOMP_IN_1_0, ()  # 1.0 knows no such command
    if isinstance(verdict, Refusal):
        return verdict, ()
    if verdict is not None or versions is None:
        return verdict, claims
    if list(versions) != sorted(versions):
        claims = (ids.NEGO_04, *claims)
    if any(version not in ("1.0", "1.1", "1.2") for version in versions):
        claims = (ids.NEGO_05, *claims)
    if frame.get("receipt") is not None:
        return _RECEIPT_WANTED, claims
    return None, claims


def _opening(state: State, frame: Frame, versions: tuple[str, ...] | None) -> Verdict:
    """Whether a CONNECT must be refused, or may be."""
    config = state.config
    if versions is None:
        tokens = tuple(token.strip() for token in (frame.get("accept-version") or "").split(","))
        return _ODD_LIST if common(state, tokens) else _ODD_LIST_OF_OTHERS
    if common(state, versions) is None:
        if frame.get("accept-version") is None:
            return _NOT_1_0.because("the server does not speak 1.0")
        return _NONE_IN_COMMON.because("no version in common")
    beats = frame.get("heart-beat")
    if beats is not None and not BEATS.match(beats):
        if beats == "" or common(state, versions) == "1.0":
            return _GUESSED_BEATS  # an empty header may be as good as none
        return _BAD_BEATS.because(f"heart-beat {beats!r:.40} is not two integers")
    if frame.get("host") != config.host:
        return _NO_HOST if frame.get("host") is None else _OTHER_HOST
    if (frame.get("login") or "") != config.login or (frame.get("passcode") or "") != config.passcode:
        return _OTHER_LOGIN
    # a server may take few connections at once; those of earlier conversations may not be gone yet
    return _CROWDED if config.crowded else None


def _send(state: State, number: int, conn: Conn, frame: Frame) -> Rule:
    destination = frame.get("destination")
    if destination is None:
        # 1.0 asks for the header, but for no ERROR when it is missing
        declared = _SEND_NOWHERE_IN_1_0 if conn.version == "1.0" else _SEND_NOWHERE
        return _lacking(frame, "destination", declared.because("SEND without destination")), ()
    if destination == "":
        return _SEND_TO_NO_NAME, ()
    refused = _transaction(conn, frame)
    if refused is not None:
        return refused, ()
    if state.config.kind(destination) is None:
        return SEND_ANYWHERE, ()
    claims: tuple[str, ...] = ()
    if conn.txs:
        claims = (ids.TXN_10,) if len(conn.txs) > 1 else (ids.TXN_11,) if frame.get("transaction") is None else ()
    if any(name in SERVERS_OWN for name, _ in frame.headers):
        return _SERVERS_HEADER, claims
    return None, claims


def _lacking(frame: Frame, name: str, declared: Refusal) -> Refusal:
    """The refusal of a frame without header `name`; where it stands in other letter case, that must not help."""
    folded = any(key != name and key.strip().lower() == name for key, _ in frame.headers)
    return (
        replace(declared, requirement=_IN_OTHER_CASE.requirement, also=(declared.requirement, *declared.also))
        if folded
        else declared
    )


def _transaction(conn: Conn, frame: Frame) -> Verdict:
    tx = frame.get("transaction")
    if tx is None or tx in conn.txs:
        return None
    if tx == "":
        return _EMPTY_TX  # its BEGIN may have been accepted
    return _NO_SUCH_TX.because(f"transaction {tx!r:.40} is not open")


def _subscribe(state: State, number: int, conn: Conn, frame: Frame) -> Rule:
    destination, sub = frame.get("destination"), frame.get("id")
    verdict = _bad_subscribe(conn, frame, destination, sub)
    if verdict is not None:
        return verdict, ()
    kind = state.config.kind(destination)
    if kind is None:
        return _SUBSCRIBE_ANYWHERE, ()
    if not kind.shared and _taken(state, destination):
        return _TAKEN, ()
    claims: tuple[str, ...] = ()
    if sub in conn.old_subs:
        claims += (ids.SUB_11,)
    if any(sub in other.subs for key, other in state.conns.items() if key != number):
        claims += (ids.SUB_04,)
    if sub and (SPECIAL.search(sub) or not sub.isalnum()):
        claims += (ids.SUB_10,)
    return None, (*claims, ids.SUB_07) if frame.get("ack") is not None else claims


def _bad_subscribe(conn: Conn, frame: Frame, destination: str | None, sub: str | None) -> Verdict:
    if destination is None:
        declared = _SUBSCRIBE_NOWHERE_IN_1_0 if conn.version == "1.0" else _SUBSCRIBE_NOWHERE
        return _lacking(frame, "destination", declared.because("SUBSCRIBE without destination"))
    if sub == "":
        return _EMPTY_ID  # nothing forbids the empty text as a name
    if sub is None and conn.version != "1.0":
        return _lacking(frame, "id", _NO_ID.because("SUBSCRIBE without id"))
    if sub is not None and sub in conn.subs:
        if conn.subs[sub].closing:
            return _ID_BEING_FREED
        return _ID_IN_USE.because(f"subscription {sub!r:.40} is already open")
    mode = frame.get("ack")
    if mode == "":
        return _EMPTY_MODE  # an empty header may be as good as none
    if mode not in (None, "auto", "client", "client-individual"):
        return _BAD_MODE.because(f"there is no acknowledgement mode {mode!r:.40}")
    return _NEW_MODE_IN_1_0 if mode == "client-individual" and conn.version == "1.0" else None


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
        return _MAYBE_SUBSCRIBED, ()  # the one before it may have been taken for something else
    if key is None or key not in conn.subs or conn.subs[key].closing:
        refused = _NOT_SUBSCRIBED.because("UNSUBSCRIBE names no open subscription")
        return refused if key is not None else _lacking(frame, "id", refused), ()
    return None, (ids.UNSUB_02, ids.UNSUB_04) if frame.get("destination") is None else (ids.UNSUB_04,)


def delivery_named(state: State, number: int, conn: Conn, frame: Frame) -> Delivery | None:
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
        declared = _ACK_OF_1_1 if frame.get("message-id") is not None else _ACK_WITHOUT_ID
        return _lacking(frame, "id", declared.because(f"{frame.command} without id")), ()
    delivery = delivery_named(state, number, conn, frame)
    if delivery is None:
        declared = _NO_DELIVERY_IN_1_0 if conn.version == "1.0" else _NO_DELIVERY
        return declared.because(f"{frame.command} names no delivery on this connection"), ()
    if delivery.mode == "auto":
        return _AUTO_MODE, ()
    sub = next((s for s in conn.subs.values() if s.serial == delivery.sub), None)
    if sub is None or sub.closing:
        return _SUB_ENDED, ()
    if delivery.fate == "out" and delivery.tx is None:
        before = _acked_before(state, delivery, conn)
        if frame.get("transaction") is not None:
            return None, ((ids.ACK_06,) if frame.command == "ACK" else (ids.NACK_04,)) + before
        if frame.command == "NACK":
            return None, (*before, ids.NACK_01)
        return None, before + ((ids.ACK_01, ids.ACK_07) if conn.version == "1.2" else (ids.ACK_01,))
    if delivery.tx is not None:
        return _HELD_BY_TX, ()
    if delivery.fate in ("nacked", "freed"):
        return _NACKED, ()  # it may have come again meanwhile, under the same ack value
    return _SETTLED.because(f"{frame.command} of a delivery that is already settled"), ()


def _acked_before(state: State, delivery: Delivery, conn: Conn) -> tuple[str, ...]:
    """What an acknowledgement that must be accepted shows, given the ones before it."""
    claims: list[str] = []
    for other in state.deliveries.values():
        if (
            other.conn != delivery.conn
            or other.serial == delivery.serial
            or other.fate not in ("acked", "settled", "nacked")
        ):
            continue
        if other.sub != delivery.sub:
            claims.append(ids.ACKMODE_07)
        elif other.fate == "nacked":
            claims.append(ids.NACK_03)
        else:
            claims.append(ids.ACKMODE_05 if delivery.mode == "client-individual" else ids.ACKMODE_04)
    if delivery.by == "abort":
        claims.append(ids.ACK_06)
    if conn.version == "1.2":
        special = delivery.ack is not None and (SPECIAL.search(delivery.ack) or not delivery.ack.isascii())
        claims += [ids.ACK_07] if special else []
    else:
        claims.append(ids.NEGO_06)
    return tuple(dict.fromkeys(claims))


def _begin(state: State, number: int, conn: Conn, frame: Frame) -> Rule:
    tx = frame.get("transaction")
    if tx is None:
        return _lacking(frame, "transaction", _BEGIN_WITHOUT_ID.because("BEGIN without a transaction id")), ()
    if tx == "":
        return _BEGIN_OF_NO_NAME, ()  # nothing forbids the empty text as a name
    if tx in conn.txs:
        return _BEGUN_TWICE.because(f"transaction {tx!r:.40} is already open"), ()
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
        declared = _END_WITHOUT_ID_IN_1_0 if conn.version == "1.0" else _END_WITHOUT_ID
        return _lacking(frame, "transaction", declared.because(f"{frame.command} without a transaction id")), ()
    if tx == "":
        return _END_OF_NO_NAME, ()
    if tx not in conn.txs:
        # a RECEIPT of 1.0 says no more than that the frame has come
        declared = _NOT_BEGUN_IN_1_0 if conn.version == "1.0" else _NOT_BEGUN
        return declared.because(f"{frame.command} of a transaction that is not open"), ()
    if frame.command == "COMMIT" and (conn.txs[tx].doubtful or _overtaken(state, conn.txs[tx])):
        return _COMMIT_MAY_FAIL, ()
    others = any(tx in (*other.txs, *other.old_txs) for key, other in state.conns.items() if key != number)
    claims: tuple[str, ...] = (ids.TXN_07,) if others else ()
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
