"""Ways of writing frames that must not matter, and how a plan is written without each of them.

When a fault is gone from a plan that is the same but for one of these, the fault is that it matters
(`specs.protocol.Feature`). Source of what must not matter: STOMP 1.2, STOMP Frames, Value Encoding, CONNECT or STOMP
Frame, Repeated Header Entries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

from specs.plan import Control, Plan, Ref, Say, SendBytes, Step
from specs.protocol import Feature
from specs.stomp import ids
from specs.stomp.frames import CLIENT_COMMANDS, PLAIN_COMMANDS, Frame
from specs.stomp.headers import RESERVED, SPECIAL
from specs.stomp.states import PREFIX

_PLAIN_FOR_SPECIAL = str.maketrans({"\\": "b", "\r": "r", "\n": "l", ":": "c"})

_FIRST = ("accept-version", "host", "id", "message-id", "subscription", "destination", "ack", "transaction")
_ASKS = CLIENT_COMMANDS - {"CONNECT", "STOMP", "DISCONNECT"}
_LAST = ("content-type", "content-length", "receipt")
LINE_ENDS = "line ends"
"""The feature of plans that say line ends alone."""


def _whole(plan: Plan) -> Plan:
    """No frame is cut into segments."""
    steps: list[Step] = []
    for step in plan.steps:
        if isinstance(step, Say) and step.cuts:
            steps.append(replace(step, cuts=()))
        elif _goes_on(step) and steps and isinstance(steps[-1], SendBytes) and isinstance(steps[-1].data, tuple):
            steps[-1] = replace(steps[-1], data=(*steps[-1].data, *_parts(step)[1:]))
        else:
            steps.append(step)
    return replace(plan, steps=tuple(steps))


def _goes_on(step: Step) -> bool:
    """True for the second piece of a CONNECTED."""
    return _parts(step)[:1] == (Ref("parting"),)


def _parts(step: Step) -> tuple[bytes | Ref, ...]:
    """What a step of octets consists of."""
    if not isinstance(step, SendBytes):
        return ()
    return step.data if isinstance(step.data, tuple) else (step.data,)


def _apart(plan: Plan) -> Plan:
    """No frame for a client is joined to the next one."""
    if not any(isinstance(step, Control) for step in plan.steps):
        return plan
    return plan.each(lambda step: replace(step, when="now") if isinstance(step, Say) and step.when == "join" else step)


def _lf(plan: Plan) -> Plan:
    """Every line ends with LF alone."""
    return _styled(plan, eol=b"\n")


def _greeted_by_lf(plan: Plan) -> Plan:
    """Every line of CONNECTED, which is given as octets, ends with LF alone."""

    def change(step: Step) -> Step:
        if "crlf-connected" not in plan.features or not isinstance(step, SendBytes) or not isinstance(step.data, tuple):
            return step
        return replace(step, data=tuple(p.replace(b"\r\n", b"\n") if isinstance(p, bytes) else p for p in step.data))

    return plan.each(change)


def _unmeasured(plan: Plan) -> Plan:
    """No frame for a client has a content-length where it has no body to measure."""

    def change(frame: Frame) -> Frame:
        if frame.command in CLIENT_COMMANDS or frame.body:
            return frame
        return replace(frame, headers=tuple(pair for pair in frame.headers if pair[0] != "content-length"))

    return _framed(plan, change) if any(isinstance(step, Control) for step in plan.steps) else plan


def _no_eols(plan: Plan) -> Plan:
    """No line ends stand alone between frames."""
    if LINE_ENDS not in plan.features:
        return plan
    return replace(plan, steps=tuple(step for step in plan.steps if not _is_eols(step)))


def _is_eols(step: Step) -> bool:
    parts = _parts(step)
    return bool(parts) and all(
        part.name == "here" if isinstance(part, Ref) else not part.strip(b"\r\n") for part in parts
    )


def _bare(plan: Plan) -> Plan:
    """No EOL stands around a frame."""
    return _styled(plan, before=b"", after=b"")


def spared(plan: Plan, known: frozenset[str]) -> Plan:
    """No RECEIPT is asked for of a command of which a server is known to send none, and nothing is said that brings it
    down."""

    def change(step: Step) -> Step | None:
        if not isinstance(step, Say):
            return step
        if saying(step.frame) in known:
            return None
        if f"{ids.RECEIPT_01} receipt {step.frame.command}" not in known:
            return step
        headers = tuple(header for header in step.frame.headers if header[0] != "receipt")
        return replace(step, frame=replace(step.frame, headers=headers))

    changed = [change(step) for step in plan.steps]
    return replace(plan, steps=tuple(step for step in changed if step is not None))


def saying(frame: Frame) -> str:
    """A frame of a client by its command and the headers that it is about; "" for one that every session needs."""
    names = sorted({name for name, _ in frame.headers} & set(_FIRST))
    return " ".join((ids.ROB_01, frame.command, *names)) if frame.command in _ASKS else ""


def _styled(plan: Plan, **style: bytes) -> Plan:
    def change(step: Step) -> Step:
        return replace(step, style=replace(step.style, **style)) if isinstance(step, Say) and step.style else step

    return plan.each(change)


def _one_by_one(plan: Plan) -> Plan:
    """The tester waits for its turn before it says anything."""
    return plan.each(lambda step: replace(step, when="turn") if isinstance(step, (Say, SendBytes)) else step)


def _connect(plan: Plan) -> Plan:
    """Sessions are opened by CONNECT."""
    return _framed(plan, lambda frame: replace(frame, command="CONNECT") if frame.command == "STOMP" else frame)


def _sorted(plan: Plan) -> Plan:
    """Headers stand in their usual order: what a frame is about, the user's own, and what is said about the frame."""

    def rank(pair: tuple[str, object]) -> int:
        name = pair[0]
        return _FIRST.index(name) - len(_FIRST) if name in _FIRST else 1 + _LAST.index(name) if name in _LAST else 0

    def change(frame: Frame) -> Frame:
        return replace(frame, headers=tuple(sorted(frame.headers, key=rank)))

    return _framed(plan, change) if "order" in plan.features else plan


def _once(plan: Plan) -> Plan:
    """No header that the protocol defines is repeated in a frame."""

    def change(frame: Frame) -> Frame:
        names = [name for name, _ in frame.headers]
        kept = (pair for at, pair in enumerate(frame.headers) if pair[0] not in RESERVED or pair[0] not in names[:at])
        return replace(frame, headers=tuple(kept))

    return _framed(plan, change) if "repeat" in plan.features else plan


def _user_once(plan: Plan) -> Plan:
    """No user header is repeated in what is said to a client."""

    def change(frame: Frame) -> Frame:
        names = [name for name, _ in frame.headers]
        kept = (pair for at, pair in enumerate(frame.headers) if pair[0] in RESERVED or pair[0] not in names[:at])
        return frame if frame.command in CLIENT_COMMANDS else replace(frame, headers=tuple(kept))

    return _framed(plan, change) if any(isinstance(step, Control) for step in plan.steps) else plan


def _one_length(plan: Plan) -> Plan:
    """No frame that is given as octets repeats its content-length."""

    def change(step: Step) -> Step:
        if not isinstance(step, SendBytes) or not isinstance(step.data, tuple):
            return step
        lengths = [part for part in step.data if isinstance(part, bytes) and part.startswith(b"content-length:")]
        return replace(step, data=tuple(part for part in step.data if part not in lengths[1:]))

    return plan.each(change) if "lengths" in plan.features else plan


def _ascending(plan: Plan) -> Plan:
    """Versions are offered in ascending order."""

    def change(frame: Frame) -> Frame:
        return replace(
            frame, headers=tuple((n, _sorted_list(v) if n == "accept-version" else v) for n, v in frame.headers)
        )

    return _framed(plan, change)


def _sorted_list(text: str) -> str:
    return ",".join(sorted(text.split(",")))


def _unescaped(plan: Plan) -> Plan:
    """No header holds a character that must be escaped."""
    return plan if _literal(plan) else _ordinary(plan)


def _not_literal(plan: Plan) -> Plan:
    """No header holds a character that versions with escapes would escape."""
    return _ordinary(plan) if _literal(plan) else plan


def _literal(plan: Plan) -> bool:
    """True when every session is one of 1.0, which has no escapes."""
    if any(isinstance(step, Control) for step in plan.steps):
        return False  # a client's session, of which the plan does not know the version
    opened = [s.frame for s in plan.steps if isinstance(s, Say) and s.frame.command in ("CONNECT", "STOMP")]
    return all(frame.get("accept-version") in (None, "1.0") for frame in opened)


def _ordinary(plan: Plan) -> Plan:
    return _worded(plan, lambda text: text.translate(_PLAIN_FOR_SPECIAL) if SPECIAL.search(text) else text)


def _ascii(plan: Plan) -> Plan:
    """No header holds a character beyond ASCII."""

    def change(text: str) -> str:
        return text if text.isascii() else "".join(c if c < "\x80" else chr(97 + ord(c) % 26) for c in text)

    return _worded(plan, change)


def _trimmed(plan: Plan) -> Plan:
    """No header name or value has blanks at its ends."""

    def change(text: str) -> str:
        lead, tail = len(text) - len(text.lstrip(" \t")), len(text) - len(text.rstrip(" \t"))
        return "d" * len(text) if lead == len(text) else "d" * lead + text.strip(" \t") + "d" * tail

    return _worded(plan, change)


def _filled(plan: Plan) -> Plan:
    """No user header is empty."""

    def change(frame: Frame) -> Frame:
        headers = tuple((n, "x" if v == "" and n not in RESERVED else v) for n, v in frame.headers)
        return replace(frame, headers=headers)

    return _framed(plan, change)


def _spelt(plan: Plan) -> Plan:
    """No header has a name of the protocol in other letter case."""

    def change(frame: Frame) -> Frame:
        return replace(
            frame, headers=tuple(h for h in frame.headers if h[0] in RESERVED or h[0].lower() not in RESERVED)
        )

    return _framed(plan, change)


def _usual(plan: Plan) -> Plan:
    """Only SEND has headers that the protocol does not know."""

    def change(frame: Frame) -> Frame:
        if frame.command == "SEND":
            return frame
        return replace(frame, headers=tuple(header for header in frame.headers if header[0] in RESERVED))

    return _framed(plan, change)


def _at_once(plan: Plan) -> Plan:
    """Nothing is part of a transaction."""

    def change(frame: Frame) -> Frame:
        if frame.command not in ("SEND", "ACK", "NACK"):
            return frame
        return replace(frame, headers=tuple(pair for pair in frame.headers if pair[0] != "transaction"))

    return _framed(plan, change)


def _asking(plan: Plan) -> Plan:
    """Every frame that may asks for a receipt, so that an answer tells which frame it is about."""
    numbers = count()

    def change(frame: Frame) -> Frame:
        if frame.command not in _ASKS or frame.get("receipt") is not None:
            return frame
        return replace(frame, headers=(*frame.headers, ("receipt", f"asked{next(numbers)}")))

    return _framed(plan, change)


def _told_apart(plan: Plan) -> Plan:
    """No subscription id is used on two connections."""
    users: dict[str, set[int]] = {}
    for step in plan.steps:
        if isinstance(step, Say) and step.frame.command == "SUBSCRIBE" and isinstance(step.frame.get("id"), str):
            users.setdefault(step.frame.get("id"), set()).add(step.conn)
    shared = {name for name, conns in users.items() if len(conns) > 1}

    def renamed(conn: int, command: str, header: str, value: str | Ref) -> str | Ref:
        if isinstance(value, Ref) and isinstance(value.key, tuple) and value.key[1] in shared:
            return replace(value, key=(value.key[0], f"{value.key[1]}c{value.key[0]}", *value.key[2:]))
        names = header == "id" if command in ("SUBSCRIBE", "UNSUBSCRIBE") else header == "subscription"
        return f"{value}c{conn}" if names and value in shared and command not in PLAIN_COMMANDS else value

    def change(step: Step) -> Step:
        if not isinstance(step, Say):
            return step
        frame = step.frame
        headers = tuple((name, renamed(step.conn, frame.command, name, value)) for name, value in frame.headers)
        return replace(step, frame=replace(frame, headers=headers))

    return plan.each(change) if shared else plan


def _without_nul(plan: Plan) -> Plan:
    """No body holds a NUL."""
    return _framed(plan, lambda frame: replace(frame, body=frame.body.replace(b"\0", b"0")))


def _framed(plan: Plan, change: Callable[[Frame], Frame]) -> Plan:
    return plan.each(lambda step: replace(step, frame=change(step.frame)) if isinstance(step, Say) else step)


def _worded(plan: Plan, change: Callable[[str], str]) -> Plan:
    """Every text of a header that is escaped, changed alike wherever it stands. Where two ids would become one, the
    plan stays as it is: it would mean something else."""
    if _confused(plan, change):
        return plan

    def value(given: str | Ref) -> str | Ref:
        if isinstance(given, str):
            return change(given)
        if isinstance(given.key, tuple):  # an acknowledgement is found by the id of its subscription
            return replace(given, key=tuple(change(part) if isinstance(part, str) else part for part in given.key))
        return given

    def frame(given: Frame) -> Frame:
        if given.command in PLAIN_COMMANDS or given.command == "STOMP":
            return given
        return replace(given, headers=tuple((change(n), value(v)) for n, v in given.headers))

    return _framed(plan, frame)


def _confused(plan: Plan, change: Callable[[str], str]) -> bool:
    """True when a change makes one of two ids."""
    for kind in ("id", "transaction", "receipt"):
        headers = [pair for step in plan.steps if isinstance(step, Say) for pair in step.frame.headers]
        texts = {value for name, value in headers if name == kind and isinstance(value, str)}
        if len({change(text) for text in texts}) < len(texts):
            return True
    return False


def _among(short: str) -> frozenset[str]:
    """Full ids of requirements, which lack what all begin with."""
    return frozenset(PREFIX + name for name in short.split())


_TEXT_MATTERS = _among(
    """
    ERROR-07 SEND-02 SEND-04 SEND-09 MSG-02 MSG-03 MSG-04 MSG-08 MSG-09 MSG-10 SUB-04 SUB-05 SUB-08 SUB-09
    SUB-10 SUB-11 UNSUB-02 UNSUB-03 UNSUB-04 UNSUB-05 BODY-02 BODY-03 CTYPE-04 HDR-05 CLEN-06 CLEN-07
    FRAME-01 RECEIPT-01 RECEIPT-06 RECEIPT-08 TXN-02 TXN-03 TXN-04 TXN-07 TXN-09 TXN-10 TXN-11 DISC-07 ACK-01
    BODY-01 RECEIPT-07 ACK-02 ACK-03 NACK-01 SUB-03 UNSUB-01 TXN-06 TXN-08 TXN-12 SUB-07 RECEIPT-03
    RECEIPT-04 RECEIPT-05 ACKMODE-01 CTYPE-01 INV-06 INV-07 INV-11 DISC-09
    """
)
"""What text that a server cannot handle looks like from outside."""
_ORDER_MATTERS = _among(
    """
    RECEIPT-01 RECEIPT-02 RECEIPT-08 CONNECT-02 DISC-03 FRAME-01 BODY-02 SUB-05 SUB-08 SUB-09 ERROR-07
    CLEN-07 HDR-05 TXN-03 TXN-09 TXN-10 TXN-11 ENC-01 ENC-03 ENC-07 RECEIPT-05
    """
)
"""What octets that are lost between two frames look like from outside."""

FEATURES = (
    Feature(
        "repeat", ids.REPEAT_01, "a repeated header counts although it is not the first", without=_once, octets=True
    ),
    Feature(
        "repeated user headers",
        "STOMP-1.2-CLI-05",
        "it matters whether a user header is repeated",
        without=_user_once,
        octets=True,
    ),
    Feature("lengths", ids.REPEAT_01, "a repeated header counts although it is not the first", without=_one_length),
    Feature(
        "cuts", ids.FRAME_06, "it matters where the octet stream is cut into segments", without=_whole, octets=True
    ),
    Feature("joined", ids.FRAME_06, "it matters whether frames come in one segment", without=_apart, octets=True),
    Feature("crlf", ids.FRAME_02, "it matters whether lines end with CR LF or LF", without=_lf, octets=True),
    Feature(
        "crlf-connected",
        ids.FRAME_02,
        "it matters whether lines end with CR LF or LF",
        without=_greeted_by_lf,
        octets=True,
    ),
    Feature("eols", ids.FRAME_03, "EOLs after a frame change what follows", without=_bare, octets=True),
    Feature(
        LINE_ENDS, "STOMP-1.2-CLI-06", "line ends between frames change what follows", without=_no_eols, octets=True
    ),
    Feature("stomp", ids.CONNECT_05, "STOMP is not handled like CONNECT", without=_connect),
    Feature("order", "STOMP-1.2-HDR-04", "the order of headers matters", without=_sorted),
    Feature(
        "versions",
        ids.NEGO_04,
        "the order of the versions that a client offers matters",
        _among("NEGO-05 NEGO-01 CONNECT-02 CONNECT-14"),
        _ascending,
    ),
    Feature(
        "together",
        ids.FRAME_06,
        "it matters whether frames are sent together or one after the other",
        _ORDER_MATTERS,
        _one_by_one,
    ),
    Feature(
        "pieces",
        ids.FRAME_06,
        "it matters that a frame comes in several segments",
        _among("ERROR-07 RECEIPT-01 CLEN-08"),
    ),
    Feature(
        "escapes",
        ids.ENC_03,
        "it matters whether headers hold characters that are escaped",
        _TEXT_MATTERS,
        _unescaped,
    ),
    Feature(
        "literal",
        ids.ENC_12,
        "it matters whether headers of 1.0 hold characters that later versions escape",
        _TEXT_MATTERS,
        _not_literal,
    ),
    Feature("letters", ids.ENC_01, "it matters whether headers are ASCII", _TEXT_MATTERS, _ascii),
    Feature("blanks", ids.ENC_07, "it matters whether headers begin or end with blanks", _TEXT_MATTERS, _trimmed),
    Feature("empty", ids.ENC_08, "it matters whether a user header is empty", _TEXT_MATTERS, _filled),
    Feature(
        "nul",
        ids.CLEN_01,
        "it matters whether a body holds a NUL",
        _among("ERROR-07 SUB-05 BODY-02 CLEN-02 FRAME-01 RECEIPT-01"),
        _without_nul,
    ),
    Feature(
        "ids",
        ids.SUB_04,
        "it matters whether subscriptions of other connections have the same id",
        _among("SUB-05 SUB-03 MSG-04 MSG-09 ERROR-07 UNSUB-03 UNSUB-05 SUB-08"),
        _told_apart,
    ),
    Feature(
        "measured",
        ids.CLEN_07,
        "it matters whether a frame without a body has a content-length",
        _among("CLI-03 CLI-15"),
        _unmeasured,
    ),
    Feature("spelling", "", "", without=_spelt),
    Feature("extra", "", "", without=_usual),
    Feature("transactions", "", "", without=_at_once),
    Feature("receipts", "", "", without=_asking),
)
"""The ways of writing frames that must not matter, the plainest first."""
