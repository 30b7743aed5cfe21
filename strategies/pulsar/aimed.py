"""Conversations aimed at one family of requirements: a fault that needs certain ops finds them more often."""

from __future__ import annotations

from strategies.pulsar.sessions import Aim
from strategies.pulsar.writer import CUTS, JOIN

SESSIONS = Aim()
PRODUCING = Aim(
    {
        "producer": 4,
        "send": 10,
        "batch": 2,
        "burst": 4,
        "close_producer": 4,
        "ping": 1,
        "subscribe": 1,
        "flow": 1,
        "crowd": 1,
        "cut": 1,
    },
    slots=3,
    ends=("",),
    most=14,
)
DELIVERY = Aim(
    {"send": 8, "batch": 2, "burst": 2, "flow": 3, "subscribe": 1},
    start="permits",
    kinds=(0, 0, 1, 2),
    topics=1,
    slots=2,
)
TOPIC_NAMES = Aim({"producer": 4, "send": 8, "subscribe": 6, "flow": 6}, topics=6, subs=8, slots=2, kinds=(0, 1))
PERMITS = Aim(
    {"send": 6, "flow": 8, "burst": 2, "ack": 2, "subscribe": 1, "ping": 1, "redeliver": 1},
    start="sub",
    topics=1,
    subs=1,
    ends=("", "redeliver"),
    permits=(1, 2, 3, 1, 5, 10, 65536, 65537),
)
RATIONS = Aim(
    {
        "send": 5,
        "burst": 4,
        "batch": 1,
        "ack": 3,
        "flow": 8,
        "subscribe": 1,
        "ping": 1,
        "redeliver": 2,
        "close_consumer": 1,
    },
    kinds=(1, 1, 2, 0),
    start="sub",
    crowd=3,
    topics=1,
    subs=1,
    slots=3,
    ends=("", "redeliver"),
    permits=(1, 2, 3, 1),
)
BATCHES = Aim(
    {"batch": 8, "send": 2, "flow": 5, "ack": 2, "redeliver": 3},
    kinds=(0, 1, 1, 2),
    start="sub",
    topics=1,
    subs=1,
    permits=(1, 1, 2, 3, 5),
)
SHARED = Aim(
    {"subscribe": 3, "send": 8, "flow": 6, "ack": 4, "some_again": 2, "gap": 1, "redeliver": 2, "close_consumer": 2},
    kinds=(1,),
    topics=1,
    subs=1,
    slots=3,
    start="permits",
    crowd=3,
)
FAILOVER = Aim(
    {"subscribe": 5, "send": 8, "flow": 6, "ack": 3, "gap": 1, "redeliver": 1, "close_consumer": 3, "unsubscribe": 1},
    kinds=(2,),
    topics=1,
    subs=1,
    slots=3,
    start="permits",
    crowd=3,
)
SUBSCRIPTIONS = Aim(
    {"subscribe": 10, "send": 4, "flow": 4, "ack": 2, "close_consumer": 3, "unsubscribe": 3}, topics=1, subs=3
)
ACKS = Aim(
    {
        "send": 6,
        "batch": 2,
        "burst": 2,
        "ack": 10,
        "cumulative": 3,
        "spent": 2,
        "gap": 3,
        "listed": 2,
        "odd_ack": 3,
        "redeliver": 1,
        "subscribe": 1,
    },
    start="permits",
    topics=1,
    ends=("redeliver", "close"),
)
REDELIVERY = Aim(
    {
        "send": 6,
        "batch": 2,
        "burst": 2,
        "ack": 4,
        "redeliver": 5,
        "some_again": 2,
        "spent": 2,
        "flow": 3,
        "subscribe": 1,
        "odd_ack": 1,
    },
    start="permits",
    topics=1,
    crowd=2,
    ends=("redeliver", "close"),
)
CLOSING = Aim(
    {"send": 5, "flow": 3, "subscribe": 3, "close_consumer": 4, "close_producer": 3, "unsubscribe": 2, "cut": 2},
    topics=1,
    start="permits",
)
THREES = Aim({"three": 1}, least=1, most=2, ends=("",))
REMEMBERED = Aim({"remembers": 1}, least=1, most=2, ends=("",))
PIECES = Aim({"send": 6, "batch": 1, "burst": 1, "ping": 2, "flow": 2, "subscribe": 1, "ack": 1, "lookup": 1},
             wires=(CUTS, CUTS | JOIN, JOIN), start="permits", most=8)  # fmt: skip
DISCOVERY = Aim({"lookup": 4, "partitions": 4, "follow": 2, "producer": 1, "subscribe": 1, "ping": 1},
                slots=2, ends=("",), topics=4)  # fmt: skip
MODERN = Aim(
    {
        "ask": 4,
        "waiting": 3,
        "seek": 4,
        "part": 3,
        "several": 2,
        "listed": 3,
        "send": 6,
        "flow": 4,
        "ack": 3,
        "redeliver": 1,
        "close_consumer": 1,
        "subscribe": 2,
    },
    start="permits",
    topics=1,
    subs=1,
    ends=("", "", "redeliver", "close"),
)
REQUESTS = Aim(
    {"producer": 4, "subscribe": 4, "lookup": 3, "partitions": 2, "ping": 1, "close_consumer": 2, "close_producer": 2},
    ends=("",),
    slots=2,
)
LOST = Aim(
    {
        "producer": 4,
        "send": 10,
        "batch": 2,
        "burst": 2,
        "subscribe": 8,
        "flow": 6,
        "ack": 6,
        "redeliver": 1,
        "close_consumer": 1,
    },
    topics=6,
    subs=2,
    slots=4,
    least=12,
    most=40,
    ends=("cut", "lose"),
)
