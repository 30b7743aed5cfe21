"""Clients. Source: STOMP 1.2, all frames; 003_30478fd2f19f0da0.txt L43-212."""

from strategies.stomp import (
    serving,
    serving_badly,
    serving_more,
    serving_receipts,
    serving_rhythms,
    serving_tables,
    serving_twice,
)
from suites.table import hunts

ROLES = ("client",)

test_conversations = hunts(
    "Sending, subscribing and acknowledging, in every way.", serving.conversations(), serving.interpret, 2
)
test_sending = hunts(
    "Messages that the client sends, with headers and bodies that are easily spoilt.",
    serving.conversations("send", "words", "burst", most=6),
    serving.interpret,
)
test_receiving = hunts(
    "Messages that the client gets, with headers and bodies that are easily spoilt.",
    serving.conversations("message", "texts", "many", "alike", "eols", most=6),
    serving.interpret,
    2,
)
test_acknowledging = hunts(
    "Messages that are acknowledged, alone and with those before them, or not.",
    serving.conversations("ack", "nack", "again", "message", "two", most=6),
    serving.interpret,
)
test_transactions = hunts(
    "Transactions, one after the other and together.", serving.conversations("tx", most=3), serving.interpret
)
test_subscriptions = hunts(
    "Subscriptions that come and go.",
    serving.conversations("subscribe", "unsubscribe", "two", "message", most=6),
    serving.interpret,
)
test_opening = hunts("Sessions that are opened in every way.", serving.conversations("send", most=1), serving.interpret)
test_versions = hunts("Versions that are offered and chosen.", serving.negotiations(), serving.negotiating)
test_heart_beats = hunts(
    "Sessions in which time passes.", serving_rhythms.rhythms(), serving_rhythms.beating, always_calm=True, heavy=False
)
test_rhythms = hunts(
    "Heart-beats, and what is easily taken for them.",
    serving_rhythms.pointed(),
    serving_rhythms.keeping,
    3,
    always_calm=True,
    deals=serving_rhythms.ROW,
)
test_invalid_input = hunts(
    "What breaks a rule, and what comes behind it.",
    serving_badly.misuses(),
    serving_badly.misusing,
    2,
    deals=serving_badly.ROW,
)
test_connecting_again = hunts(
    "Sessions that come behind one that was cut.", serving_more.returns(), serving_more.returning
)
test_meanwhile = hunts(
    "What is said while the client waits for a RECEIPT.", serving_more.meetings(), serving_more.meeting
)
test_names_again = hunts(
    "Names that are used again, and what belongs to several subscriptions or transactions.",
    serving_twice.scenes(),
    serving_twice.showing,
    2,
    deals=serving_twice.ROW,
)
test_names_in_older_versions = hunts(
    "What belongs to several subscriptions, in sessions of versions before the newest that the client speaks.",
    serving_twice.scenes(),
    serving_twice.showing_older,
    deals=serving_twice.ROW,
)
test_leaving = hunts(
    "A RECEIPT of DISCONNECT that takes its time.", serving_twice.departures(), serving_twice.leaving, 0.3
)
test_receipts = hunts(
    "RECEIPTs that take their time, and what comes in place of one.",
    serving_receipts.waits(),
    serving_receipts.withholding,
    0.5,
    always_calm=True,
    deals=serving_receipts.ROW,
)
test_pieces = hunts("Large frames in many pieces.", serving_more.torn_ones(), serving_more.tearing)
test_tables = hunts(
    "Header values, names and bodies that are easily spoilt, one behind the other, both ways.",
    serving_tables.stretches(),
    serving_tables.interpret,
)
test_limits = hunts("Frames that are very large.", serving_badly.giants(), serving_badly.growing, 0.3)
