"""Clients. Source: 001_c0ea8805bb7ed422.txt, Interactions."""

from strategies.pulsar import oddities, serving, serving_scenes
from suites.table import hunts

ROLES = ("client",)

test_conversations = hunts("Producers and consumers, in every way.", serving.conversations(), serving.interpret, 2)
test_producing = hunts(
    "Producers, sends, receipts.",
    serving.conversations("async", "send", "producer", "close", "ping"),
    serving.interpret,
)
test_consuming = hunts(
    "Messages, batches, acknowledgements.",
    serving.conversations("beside", "many", "receive", "consumer", "ping", "leave"),
    serving.interpret,
    2,
)
test_again = hunts(
    "Messages that the application wants again.",
    serving.conversations("again", "consumer", "receive", most=3),
    serving.interpret,
    0.5,
)
test_reconnecting = hunts(
    "Connections that are cut, producers and consumers that the broker closes.",
    serving.conversations("drop", "closed", "producer", "consumer", "send", "receive", most=5, evenly=True),
    serving.interpret,
    1.5,
)
test_scenes = hunts(
    "Short scenes in which one thing is open as another one ends.",
    serving_scenes.scenes(),
    serving_scenes.interpret,
    3,
    deals=serving_scenes.ROW,
)
test_parades = hunts("Such scenes one after the other.", serving_scenes.parades(), serving_scenes.parade, 3)
test_discovery = hunts(
    "Redirects, other addresses, partitions.",
    serving.conversations("redirect", "elsewhere", "partitioned", "send", most=3, evenly=True),
    serving.interpret,
)
test_invalid_messages = hunts(
    "Messages that cannot be read, and what must be ignored.",
    serving.conversations("spoiled", "strays", "receive", most=4, evenly=True),
    serving.interpret,
)
test_breaks = hunts(
    "What may end the connection, and never the client.",
    serving.conversations("broken", "receive", most=2, evenly=True),
    serving.interpret,
)
test_oddities = hunts("Old versions, small limits, octets that are no frame.", oddities.oddities(), oddities.oddly)
test_orders = hunts("Requests that are open together.", oddities.oddities(), oddities.out_of_order, 0.3)
test_unanswered = hunts(
    "PRODUCER that is not answered, brokers that fall silent.", oddities.oddities(), oddities.swallowing, 0.3
)
test_comes_again = hunts("Answers on one connection after the other.", oddities.oddities(), oddities.patient, 0.3)
test_silences = hunts("Brokers that do not answer PING.", oddities.oddities(), oddities.muted, 0.5)
test_large = hunts("A message of nearly 5 MiB.", oddities.oddities(), oddities.large, 0.3)
test_many = hunts("More messages of one producer than an octet counts.", oddities.oddities(), oddities.many_sends, 0.3)
