"""STOMP servers that do what few do and the text allows: found out before judging, and never blamed."""

from __future__ import annotations

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.stomp.reference import Broker, Server
from specs.protocol import find
from specs.stomp.states import FEWEST, MODEST, NORMAL
from strategies.stomp import discover
from suites.investigate import CONFIRM_MS
from tests.mutants.kit import server_of
from tests.mutants.stomp_delivery import OneCopyOnly
from tests.properties import properties
from tests.soaking import Count, Peer, play_batch

STOMP = find("stomp")
FACTS = {name: fact.default for name, fact in STOMP.facts.items()}


class TopicsOnly(Broker):
    """Every destination gives each message to every subscriber."""

    def is_topic(self, name):
        return True


class QueuesOnly(Broker):
    """Every destination gives each message to one subscriber."""

    def is_topic(self, name):
        return False


class Addresses(Broker):
    """A queue and a topic of the same local name are one address, of the kind by which it was first called."""

    def key(self, name):
        return super().key(name.removeprefix("/queue/").removeprefix("/topic/"))


def found(make):
    """What discovery makes of a server, with all that follows for the model."""

    def configure(learnt):
        return STOMP.configure("server", "1.2", FACTS, learnt)

    def play(plan, config):
        count.append(1)
        recording = drive(plan, Setting(STOMP, config, "server", MemoryTransport(make)), f"ask{len(count)}-")
        return tuple(recording.events), recording.judgement

    count = []
    return configure(discover(play, configure))


def faults(make, config, plans=6):
    """Requirements that are blamed over all properties."""
    count = Count()
    for number, (prop, _) in enumerate(properties("stomp", "server")):
        peer = Peer(MemoryTransport(make), config, "", patience_ms=CONFIRM_MS)
        play_batch(STOMP, "server", prop, peer, plans, number, count)
    return {alarm.partition(":")[0].removeprefix("STOMP-1.2-") for alarm, _ in count.alarms}


@pytest.mark.parametrize(
    ("part", "fanouts", "merges"),
    [(Broker, (False, True), False), (TopicsOnly, (True, True), False), (QueuesOnly, (False, False), False),
     (Addresses, (False, True), True)],
)  # fmt: skip
def test_which_kinds_of_destination_a_server_has_is_found_out(part, fanouts, merges):
    make = server_of(part)
    config = found(make)
    assert (config.queue.fanout, config.topic.fanout) == fanouts
    assert config.merges == merges
    assert faults(make, config) == set()


def test_a_topic_whose_second_subscriber_gets_nothing_is_no_queue():
    """Its server keeps messages in queues: a topic that is like a queue would keep them, too."""
    make = server_of(OneCopyOnly)
    config = found(make)
    assert config.topic.fanout
    assert "SUB-05" in faults(make, config)


@pytest.mark.parametrize(("most", "asked"), [(200, FEWEST), (1024, MODEST.body), (1 << 20, NORMAL.body)])
def test_how_large_a_body_a_server_takes_is_found_out(most, asked):
    """N-20: one that takes less than is asked of it elsewhere is not blamed for it."""

    def make():
        return Server(max_body=most)

    config = found(make)
    assert config.sizes.body == asked
    assert faults(make, config, plans=4) == set()
