"""Transactions. Source: 003_30478fd2f19f0da0.txt L96, L182-193; STOMP 1.2, BEGIN, COMMIT, ABORT."""

from strategies.stomp import misuse
from strategies.stomp.aimed import ACKING_IN_TX, TRANSACTIONS, TRANSACTIONS_AGAIN, misusing

ROLES = ("server",)


def test_sends_in_transactions(hunt):
    """Transactions opened, interleaved, committed, aborted and lost."""
    hunt(TRANSACTIONS.programs, TRANSACTIONS.interpret)


def test_ids_used_again(hunt):
    """The same few ids, one transaction after the other."""
    hunt(TRANSACTIONS_AGAIN.programs, TRANSACTIONS_AGAIN.interpret)


def test_acknowledgements_in_transactions(hunt):
    """ACK and NACK count at COMMIT and never happened after ABORT."""
    hunt(ACKING_IN_TX.programs, ACKING_IN_TX.interpret)


def test_wrong_transactions(hunt):
    """BEGIN, COMMIT and ABORT that name nothing, or the wrong thing."""
    hunt(misuse.misuses(), misusing("INV-10", "INV-11", "INV-12", "INV-13"), avoids=True)
