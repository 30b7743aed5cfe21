"""Consumer: Subscribe, Flow, Message. Source: 001_c0ea8805bb7ed422.txt."""

from strategies.pulsar import aimed
from suites.table import hunts

ROLES = ("broker",)

test_subscriptions = hunts(
    "Subscriptions of every type that are taken, shared, left and given up.",
    aimed.SUBSCRIPTIONS.programs,
    aimed.SUBSCRIPTIONS.interpret,
)
test_permits = hunts("Permits in small and large pieces.", aimed.PERMITS.programs, aimed.PERMITS.interpret)
test_rations = hunts(
    "Consumers with a few permits each, and more messages than that.", aimed.RATIONS.programs, aimed.RATIONS.interpret
)
test_delivery = hunts("What is published is delivered, as it was.", aimed.DELIVERY.programs, aimed.DELIVERY.interpret)
test_shared = hunts("Many consumers of one subscription.", aimed.SHARED.programs, aimed.SHARED.interpret)
test_failover = hunts("One consumer receives, the others stand by.", aimed.FAILOVER.programs, aimed.FAILOVER.interpret)
test_threes = hunts("Three and more of a kind, of which one goes.", aimed.THREES.programs, aimed.THREES.interpret, 0.7)
test_remembered = hunts(
    "What is remembered of somebody who is gone, was refused, or is of another version.",
    aimed.REMEMBERED.programs, aimed.REMEMBERED.interpret, 0.7,
)  # fmt: skip
test_names = hunts(
    "Topics and subscriptions whose names are easily confused.", aimed.TOPIC_NAMES.programs, aimed.TOPIC_NAMES.interpret
)
