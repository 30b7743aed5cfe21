"""Transactions. Source: 003_30478fd2f19f0da0.txt L96, L182-193; STOMP 1.2, BEGIN, COMMIT, ABORT."""

from strategies.stomp import misuse
from strategies.stomp.aimed import ACKING_IN_TX, TRANSACTIONS, TRANSACTIONS_AGAIN, misusing
from suites.table import hunts

ROLES = ("server",)

test_sends_in_transactions = hunts(
    "Transactions opened, interleaved, committed, aborted and lost.", TRANSACTIONS.programs, TRANSACTIONS.interpret
)
test_ids_used_again = hunts(
    "The same few ids, one transaction after the other.", TRANSACTIONS_AGAIN.programs, TRANSACTIONS_AGAIN.interpret
)
test_acknowledgements_in_transactions = hunts(
    "ACK and NACK count at COMMIT and never happened after ABORT.", ACKING_IN_TX.programs, ACKING_IN_TX.interpret
)
test_wrong_transactions = hunts(
    "BEGIN, COMMIT and ABORT that name nothing, or the wrong thing.",
    misuse.misuses(),
    misusing("INV-10", "INV-11", "INV-12", "INV-13"),
    avoids=True,
)
