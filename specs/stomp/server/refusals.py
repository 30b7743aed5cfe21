"""What a server may be asked to refuse, and what it may take or refuse: all answers that a client frame may call for.

Source: as in calls.py, which says which of them a frame gets. Many sentences bind the client only; what a server does
with a client that breaks them is then a recommendation (`lenient` below), except where claiming success contradicts
the text. Every requirement that an answer names is declared here.
"""

from __future__ import annotations

from typing import Any

from specs.stomp import ids
from specs.stomp.registry import REQUIREMENTS
from specs.stomp.states import Free, Pending, Refusal, State, as_read

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


TOO_EARLY = refusal(ids.CONNECT_11, ids.INV_32, ignored="SHOULD", silent="")
BAD_ESCAPE, LONE_BACKSLASH = (
    refusal("STOMP-1.2-ENC-04", "STOMP-1.2-INV-14"),
    refusal("STOMP-1.2-ENC-05", "STOMP-1.2-INV-15"),
)
CR_IN_1_1 = refusal("STOMP-1.2-ENC-11", ids.INV_43)
NO_COLON, NO_NAME = lenient(ids.ENC_09, "STOMP-1.2-INV-21"), lenient(ids.ENC_09, "STOMP-1.2-INV-22")
UNREADABLE = frozenset(each.requirement for each in (BAD_ESCAPE, LONE_BACKSLASH, CR_IN_1_1, NO_COLON, NO_NAME))
"""What is wrong with a frame whose headers cannot be read to their end."""
BAD_LENGTH, GUESSED = lenient("STOMP-1.2-CLEN-09", "STOMP-1.2-INV-17"), free(ids.INV_18)
RAW_COLON, BARE_CR, CR_AT_THE_END, NOT_UTF8 = free(ids.INV_23), free(ids.INV_24), free(ids.INV_43), free(ids.INV_26)
BODY, BODY_IN_1_0 = lenient(ids.BODY_01, ids.INV_31), free(ids.BODY_01, ids.INV_31)
SERVERS_COMMAND, UNKNOWN, OTHER_CASE = (
    free(ids.INV_28),
    free(ids.INV_27, ids.FRAME_07),
    free(ids.INV_27, ids.FRAME_07),
)
BEYOND_LIMITS = free(ids.LIMIT_02, ids.LIMIT_01, ids.FRAME_09, ids.INV_39, silent="SHOULD", plain=True)
TOO_LONG_A_NAME = {
    "SEND": free(ids.SEND_06, silent="SHOULD", plain=True),
    "SUBSCRIBE": free(ids.SUB_06, silent="SHOULD", plain=True),
}
NOT_ASCII_IN_1_0, EMPTY_IN_1_0, NO_HEADER_IN_1_1 = free(ids.ENC_01), free(ids.ENC_08), free(ids.FRAME_04)

SECOND_CONNECT = free(ids.INV_33)
ODD_LIST, ODD_LIST_OF_OTHERS = free(ids.NEGO_05, ids.INV_34), free(ids.NEGO_03, ids.INV_34)
NOT_1_0 = refusal(ids.NEGO_02, silent="", ignored="SHOULD")
NONE_IN_COMMON = refusal(ids.NEGO_03, ids.INV_34, silent="MUST")
BAD_BEATS, GUESSED_BEATS = lenient(ids.INV_37, ids.HB_01), free(ids.INV_37)
NO_HOST, OTHER_HOST = free(ids.CONNECT_08, ids.CONNECT_09, ids.INV_35), free(ids.CONNECT_09)
OTHER_LOGIN = free(ids.CONNECT_03, silent="SHOULD", requirement=ids.CONNECT_04)
CROWDED = free(ids.CONNECT_03, silent="SHOULD", requirement=ids.CONNECT_04)
STOMP_IN_1_0 = free(ids.CONNECT_03)
RECEIPT_WANTED = free(ids.INV_36)

SEND_NOWHERE, SEND_NOWHERE_IN_1_0 = (
    refusal(ids.SEND_01, ids.SEND_06, ids.INV_01, silent="MUST"),
    lenient(ids.SEND_01, ids.SEND_06, ids.INV_01),
)
SEND_TO_NO_NAME = free("STOMP-1.2-INV-02", silent="SHOULD")
SEND_ANYWHERE = free(ids.SEND_03, ids.INV_03, silent="MUST", requirement=ids.SEND_06)
ANYWHERE_IN_1_0, TAKEN_IN_1_0 = free(ids.SEND_03), free(ids.SUB_06, plain=True)
SERVERS_HEADER = free(ids.SEND_09, plain=True)
NO_SUCH_TX, EMPTY_TX = lenient(ids.TXN_12, "STOMP-1.2-INV-13"), free(ids.TXN_12)

SUBSCRIBE_NOWHERE = refusal(ids.SUB_01, ids.SUB_06, ids.INV_04, silent="MUST")
SUBSCRIBE_NOWHERE_IN_1_0 = lenient(ids.SUB_01, ids.SUB_06, ids.INV_04)
NO_ID, EMPTY_ID = lenient(ids.SUB_02, ids.INV_05), free(ids.SUB_02, ids.INV_05)
ID_USED_BEFORE = free(ids.SUB_11, plain=True)
ID_IN_USE, ID_BEING_FREED = lenient("STOMP-1.2-INV-06", forgives=True, spares=ids.SUB_03), free(ids.SUB_11)
BAD_MODE, EMPTY_MODE, NEW_MODE_IN_1_0 = lenient(ids.INV_07), free(ids.INV_07), free(ids.INV_07)
SUBSCRIBE_ANYWHERE = free(ids.SUB_06, silent="MUST")
TAKEN = free(ids.SUB_06, silent="MUST", plain=True)
NOT_SUBSCRIBED, MAYBE_SUBSCRIBED = lenient(ids.UNSUB_01, ids.INV_08), free(ids.UNSUB_01, ids.INV_08)

ACK_WITHOUT_ID, ACK_OF_1_1 = lenient(ids.ACK_03, ids.INV_09, accepted="MUST"), lenient(ids.ACK_03, ids.INV_09)
NO_DELIVERY = lenient(ids.ACK_03, ids.ACK_04, ids.INV_09, accepted="MUST")
NO_DELIVERY_IN_1_0 = lenient(ids.ACK_03, ids.ACK_04, ids.INV_09)
AUTO_MODE, SUB_ENDED, HELD_BY_TX = free(ids.ACK_05, ids.INV_09), free(ids.UNSUB_06), free(ids.ACK_06)
NACKED, SETTLED = free(ids.NACK_02), lenient(ids.ACK_03, ids.INV_09)

MANY_OPEN = {
    "SUBSCRIBE": free(ids.SUB_06, silent="SHOULD", plain=True),
    "BEGIN": free(ids.TXN_10, silent="SHOULD", plain=True),
}
NAME_USED_BEFORE = free(ids.TXN_09, ids.TXN_07, plain=True)
BEGIN_WITHOUT_ID, BEGIN_OF_NO_NAME = lenient(ids.TXN_01, ids.INV_10), free(ids.TXN_01, ids.INV_10)
BEGUN_TWICE = lenient("STOMP-1.2-INV-11", forgives=True, spares=ids.TXN_06)
END_WITHOUT_ID = lenient(ids.TXN_01, ids.INV_12, accepted="MUST")
END_WITHOUT_ID_IN_1_0 = lenient(ids.TXN_01, ids.INV_12)
END_OF_NO_NAME, COMMIT_MAY_FAIL = free(ids.TXN_08, ids.INV_12), free(ids.TXN_03)
NOT_BEGUN, NOT_BEGUN_IN_1_0 = lenient(ids.TXN_08, ids.INV_12, accepted="MUST"), lenient(ids.TXN_08, ids.INV_12)

IN_OTHER_CASE = refusal(ids.FRAME_05)
"""A frame that lacks a header which it has in other letter case: see `_lacking`."""


def named(call: Refusal, level: str, *, unanswered: bool = False) -> tuple[str, ...]:
    """The requirements that a refusal names where not refusing is as grave as `level`: those of that level first. What
    the client broke may be a MUST, and that it should be told so a recommendation of its own. Whoever is `unanswered`,
    neither agreed to nor refused, is looked for among the rows on invalid input: they say which answer it gets."""

    def rank(name: str) -> tuple[bool, bool]:
        return REQUIREMENTS[name].level != level, unanswered and "-INV-" not in name

    return tuple(sorted((call.requirement, *call.also), key=rank))


def contested(state: State, number: int, destination: str) -> State:
    """The state after connection `number` has subscribed to a destination that takes one subscriber: a SUBSCRIBE of
    another connection that is not answered yet may come to the server behind this one (docs/ambiguities.md, N-01)."""
    place = as_read(destination, state.config)

    def is_rival(pending: Pending) -> bool:
        frame = pending.frame
        to = as_read(frame.get("destination") or "", state.config)
        return pending.call is None and frame.command == "SUBSCRIBE" and to == place

    conns = dict(state.conns)
    for other, conn in state.conns.items():
        if other != number and any(map(is_rival, conn.pending)):
            taken = TAKEN_IN_1_0 if conn.version == "1.0" else TAKEN
            pending = tuple(p._replace(call=taken) if is_rival(p) else p for p in conn.pending)
            conns[other] = conn._replace(pending=pending)
    return state._replace(conns=conns)
