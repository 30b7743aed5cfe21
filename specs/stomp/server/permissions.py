"""What the text only permits a server to do with messages: of which use is made, and which is never held.

Source: 003_30478fd2f19f0da0.txt L94-106, L148-170, L239-242; STOMP 1.2, sections SEND, NACK, UNSUBSCRIBE, Repeated
Header Entries. Other permissions stand with the forms on CONNECTED, RECEIPT, ERROR and closes.
"""

from __future__ import annotations

from specs.stomp import ids
from specs.stomp.headers import RESERVED
from specs.stomp.server.book import BOOK
from specs.stomp.server.case import Case

OF_MESSAGES = "a freedom of MESSAGE"


@BOOK.tried("STOMP-1.2-HDR-03", on=OF_MESSAGES)
def has_headers_of_the_servers_own(case: Case) -> bool:
    """L239-242: a MESSAGE may have headers of the server's own."""
    return any(name not in RESERVED and case.message.frame.get(name) is None for name, _ in case.frame.headers)


@BOOK.tried("STOMP-1.2-SEND-05", on=OF_MESSAGES)
def takes_headers_of_the_applications_own(case: Case) -> bool:
    """L101-102: an application may put any header on a SEND. Who refuses that breaks ERROR-07."""
    return bool(case.user)


def _in_tx(case: Case) -> bool:
    return case.message.tx is not None


@BOOK.tried("STOMP-1.2-SEND-07", on=OF_MESSAGES, if_=_in_tx)
def takes_what_names_a_transaction(case: Case) -> bool:
    """L94-96: a SEND may be part of a transaction. What becomes of it there is TXN-02 to TXN-05."""
    return True


@BOOK.tried("STOMP-1.2-TXN-14", on=OF_MESSAGES, if_=_in_tx)
def shows_its_transaction(case: Case) -> bool:
    """STOMP 1.2, SEND: the transaction header is the sender's business."""
    return True


def _comes_again(case: Case) -> bool:
    return case.last is not None


@BOOK.tried("STOMP-1.2-ACKMODE-03", on=OF_MESSAGES, if_=_comes_again)
def comes_again_after_a_failure(case: Case) -> bool:
    """L152-154: what was not acknowledged when its connection failed may be delivered again."""
    return case.last is not None and case.last.fate == "freed" and not case.state.conns[case.last.conn].alive


@BOOK.tried(ids.NACK_02, on=OF_MESSAGES, if_=_comes_again)
def comes_again_after_a_nack(case: Case) -> bool:
    """STOMP 1.2, NACK: what becomes of the message is the server's choice."""
    return case.last is not None and case.last.fate == "nacked"


@BOOK.tried(ids.UNSUB_06, on=OF_MESSAGES, if_=_comes_again)
def comes_again_after_unsubscribe(case: Case) -> bool:
    """STOMP 1.2, UNSUBSCRIBE: what was not acknowledged by then may go anywhere."""
    return case.last is not None and case.last.fate == "freed" and case.state.conns[case.last.conn].alive


def _repeats_a_user_header(case: Case) -> bool:
    return len({name for name, _ in case.user}) < len(case.user)


@BOOK.tried("STOMP-1.2-REPEAT-03", on=OF_MESSAGES, if_=_repeats_a_user_header)
def drops_or_keeps_later_values(case: Case) -> bool:
    """STOMP 1.2, Repeated Header Entries: only the first counts; the others may be dropped."""
    return True


@BOOK.tried("STOMP-1.2-REPEAT-04", on=OF_MESSAGES, if_=_repeats_a_user_header)
def puts_values_of_its_own_first(case: Case) -> bool:
    """STOMP 1.2, Repeated Header Entries: a server may put a newer value before the older ones."""
    return True
