"""Why a SEND was refused and why a connection ended: asked only after a breach, the likeliest reason first.

Why a MESSAGE did not come is in `causes_missing`, what is wrong with one that came in `causes_messages`.
"""

from __future__ import annotations

from typing import Any

from specs.causes import Causes, Named
from specs.pulsar.broker.case import Case
from specs.pulsar.calls import Asked, Misuse, Trait
from specs.pulsar.machine import HANDSHAKE, Phase
from specs.pulsar.states import Fate

RECEIPT = "PULSAR-SEND-04"
ANY_CLIENT = "PULSAR-CONN-09"

# -- why a SEND was refused, or not answered ---------------------------------------------------------------------------

SENDING = Causes("sending")
_REFUSED = f"{RECEIPT} nothing_is_refused_for_no_reason"
"""What it is where repetitions do not show that it is about how the SEND was written."""
NOT_TAKEN = "a SEND was not taken"
"""How all of them begin: what a SEND that fails without it carries is not the reason."""


def _sent_in(trait: Trait) -> None:
    @SENDING.cause(trait.value, could=lambda case: trait in case.entry.traits, otherwise=_REFUSED)
    def it_matters_how_it_was_sent(case: Any) -> str:
        """A way of sending that must not matter."""
        return f"{NOT_TAKEN}: {case.entry.seq}, which was {WAYS[trait]}"


WAYS = {
    Trait.BARE: "without a checksum", Trait.UNKNOWN: "with an unknown field", Trait.BIG: "large",
    Trait.PIECES: "cut into segments", Trait.PROPERTIES: "with properties", Trait.COMPRESSED: "compressed",
    Trait.BATCHED: "a batch",
}  # fmt: skip
for _trait in (Trait.BARE, Trait.UNKNOWN, Trait.BIG, Trait.PIECES):
    _sent_in(_trait)


def _others_failed(case: Any) -> bool:
    entries = case.before.entries
    return any(
        each.source != case.entry.source and each.at < case.entry.at
        and each.fate in (Fate.CHECKSUM, Fate.SIZES, Fate.BEHIND_CLOSE, Fate.FAILED) for each in entries
    )  # fmt: skip


@SENDING.cause("PULSAR-SEND-13", could=_others_failed, otherwise=_REFUSED)
def another_producer_had_failed(case: Any) -> str:
    """A SEND of another producer was wrong."""
    return f"{NOT_TAKEN}: {case.entry.seq}, after one of another producer had failed"


# -- why a new connection is not served --------------------------------------------------------------------------------

AFTERMATH = Causes("aftermath")
GARBAGE = frozenset((Misuse.NO_FRAME, Misuse.NO_COMMAND, Misuse.NO_SUB_MESSAGE, Misuse.SIZES))
"""What cannot be parsed: that it does not end the broker is a requirement of its own."""


def robustness(misuse: Misuse) -> str:
    """The requirement by which a broker survives what was said: that of invalid input, where there is one."""
    return next((name for name in (misuse.requirement, *misuse.beside) if "-INV-" in name), misuse.requirement)


def _nobody_is_served_after(misuse: Misuse) -> None:
    @AFTERMATH.cause(robustness(misuse), could=lambda case: misuse in case.before.said)
    def it_does_not_survive_what_was_said(case: Any) -> str:
        """What was said last on another connection was wrong, and should have done no harm."""
        last = case.number >= 0 and case.before.latest is misuse and case.conn.misuse is not misuse
        return f"a new connection is not served, after {misuse.name.lower().replace('_', ' ')}" if last else ""


for _misuse in Misuse:
    if _misuse not in GARBAGE:
        _nobody_is_served_after(_misuse)


@AFTERMATH.cause(Misuse.NO_FRAME.requirement, could=lambda case: not GARBAGE.isdisjoint(case.before.said))
def garbage_ended_the_broker(case: Any) -> str:
    """What was said on another connection could not be parsed."""
    return "a new connection is not served, after octets that are no frame"


# -- why the broker ended a connection on which nothing was wrong ------------------------------------------------------

ENDED = Causes("ended")
ENDING = "the broker closed a connection on which nothing was wrong"
SIGNS = "PULSAR-KA-05"
IN_ANY_CASE = f"{SIGNS} a_connection_stays_on_which_nothing_is_wrong"
"""What an end is where repetitions do not show that it is about what stands beside it: a broker that closes connections
of its own accord closes one on which something is asked as well."""


@ENDED.cause(Asked.TOPICS.requirement, could=lambda case: any(case.conn.requests.values()))
def a_request_is_open(case: Case) -> str | Named:
    """Instead of an answer came the end."""
    waiting = next((each for each in case.conn.requests.values() if each), ())
    if not waiting:
        return ""
    asked = waiting[0].asked
    return Named(asked.requirement, f"{ENDING}: {asked.kind} is open", also=asked.beside, otherwise=IN_ANY_CASE)


@ENDED.cause(RECEIPT, could=lambda case: any(each.sends for each in case.conn.producers.values()))
def a_send_is_open(case: Case) -> str | Named:
    """Instead of a receipt came the end. It may have crossed a CLOSE_PRODUCER that the end has swallowed: once is not
    always."""
    for producer in case.conn.producers.values():
        for at in producer.sends:
            entry = case.before.entries[at]
            if entry.fate is Fate.SENT:
                trait = next(
                    (t for t in (Trait.BARE, Trait.UNKNOWN, Trait.BIG, Trait.PIECES) if t in entry.traits), None
                )
                why = f"{ENDING}: a SEND is open"
                return Named(trait.value if trait else RECEIPT, why, steady=trait is None, otherwise=IN_ANY_CASE)
    return ""


@ENDED.cause(HANDSHAKE, could=lambda case: case.phase is Phase.ASKED and bool(case.before.said))
def a_new_connection_is_not_served(case: Case) -> Named | str:
    """Something on another connection was wrong."""
    return AFTERMATH.likeliest(case) or ""


@ENDED.cause(Misuse.NO_FRAME.requirement, could=lambda case: case.before.bad, otherwise=IN_ANY_CASE)
def another_connection_was_misused(case: Case) -> str:
    """Something on another connection was wrong."""
    return ENDING


@ENDED.cause(ANY_CLIENT, could=lambda case: case.phase is Phase.ASKED and unusual(case.conn.client))
def client_version_was_looked_at(case: Case) -> str:
    """CONNECT had a client_version of an unusual form."""
    return f"{ENDING}: the client calls itself {case.conn.client!r:.60}"


def unusual(client: str) -> bool:
    """True for a client_version that is not plain."""
    return not (client.isascii() and client.replace("-", "").replace(".", "").isalnum())


@ENDED.cause(HANDSHAKE, could=lambda case: case.phase is Phase.ASKED)
def connect_is_open(case: Case) -> str:
    """Instead of CONNECTED came the end."""
    return ENDING


def _unanswered(case: Case) -> bool:
    """True for a connection on which PINGs were not answered, and other frames were said; at rest, where one lives."""
    keepalive = case.before.config.keepalive_ms
    if case.event is not None or not keepalive:
        return bool(keepalive) and case.conn.pinged > 0
    return any(
        conn.phase is Phase.LIVE and conn.pinged and conn.age > 2 * keepalive and conn.up < keepalive
        for conn in case.before.conns.values()
    )


@ENDED.cause("PULSAR-KA-06", could=_unanswered, otherwise=IN_ANY_CASE)
def frames_were_no_sign_of_life(case: Case) -> str:
    """Any frame counts as a sign of life (practice)."""
    return f"{ENDING}: it had no PONG, and other frames"
