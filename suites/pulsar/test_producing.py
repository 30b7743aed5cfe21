"""Producer, Send, SendReceipt, CloseProducer. Source: 001_c0ea8805bb7ed422.txt."""

from strategies.pulsar import aimed
from suites.table import hunts

ROLES = ("broker",)

test_producing = hunts("Producers, sends and receipts.", aimed.PRODUCING.programs, aimed.PRODUCING.interpret)
test_batches = hunts("Batches: one entry, many messages.", aimed.BATCHES.programs, aimed.BATCHES.interpret)
