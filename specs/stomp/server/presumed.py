"""An end of a connection that is not seen yet, but shows in what the server does on another one.

Nothing is known of the order in which two connections were written to. A server that ends a connection, for a frame
that it should have taken or for none, gives what was not acknowledged there to somebody else, and that message may be
read before the ERROR or the close. What is broken then is what that end breaks (STOMP 1.2, ERROR), and not that the
message came again (L148-170). So there are two readings of a message that comes again elsewhere while frames of the
first connection are unanswered: it must not come, or that connection has ended. The second one is over when what it
presumes can no longer be so: then the message must not have come.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.stomp.machine import Phase
from specs.stomp.server.case import Case, of_message
from specs.stomp.server.causes_messages import TWICE
from specs.stomp.states import Conn, State

_KINDS = frozenset({"comes_once", *(cause.evidence.__name__ for cause in TWICE.ranked)})
"""Sorts of breach that are about a message that comes again."""


def or_it_has_ended(case: Case, found: Outcome) -> Iterable[Outcome]:
    """What a MESSAGE means, and, where it must not come again, that the connection which had it before has ended."""
    yield found
    if not isinstance(found, Breach) or found.kind not in _KINDS or not isinstance(found.behind, State):
        return
    last = of_message(case.state, case.number, case.conn, case.frame).last
    if last is not None and last.conn != case.number and last.fate != "settled" and _open(case.state.conns[last.conn]):
        breach = replace(found, then=ANYTHING, behind=None)
        yield Allow(found.behind._replace(presumed=(*case.state.presumed, (last.conn, breach))))


def _open(conn: Conn) -> bool:
    """True while the server may have ended it for a frame that it has not answered."""
    return conn.phase in (Phase.LIVE, Phase.CLOSING) and (bool(conn.pending) or conn.hushed)


def known_by_now(found: Outcome) -> Outcome:
    """The same outcome, once it is known that a connection has ended, or has not."""
    if not isinstance(found, Allow) or not isinstance(found.state, State) or not found.state.presumed:
        return found
    state: State = found.state
    left = tuple((number, breach) for number, breach in state.presumed if state.conns[number].alive)
    wrong = next((breach for number, breach in left if not _open(state.conns[number])), None)
    if wrong is not None:
        return wrong
    return found if left == state.presumed else replace(found, state=state._replace(presumed=left))


def at_silence(state: State) -> Breach | None:
    """The breach of a message that came again, where no end has come that would explain it."""
    return next((breach for _, breach in state.presumed), None)
