"""What has just been started and answers before all of it is there."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from impls.driver.drive import Setting
from impls.driver.link import MemoryTransport
from impls.launching.launch import LaunchError
from impls.references.pulsar import session as pulsar
from impls.references.pulsar.reference import Broker
from impls.references.pulsar.schema import ENUMS
from impls.references.stomp.reference import Server
from specs.protocol import find
from suites.deadline import Deadline
from suites.started import RESTARTS, Started
from suites.waking import Waking


def setting(name, role, peer):
    protocol = find(name)
    facts = {key: fact.default for key, fact in protocol.facts.items()}
    config = protocol.configure(role, protocol.profiles[-1], facts, {})
    return Setting(protocol, config, role, MemoryTransport(lambda: peer))


def test_a_broker_may_serve_before_it_has_made_its_namespaces(monkeypatch):
    real, left = pulsar.Session.partitioned, [2]

    def late(self, *given):
        if not left[0]:
            return real(self, *given)
        left[0] -= 1
        return {"response": 1, "error": ENUMS["ServerError"]["TopicNotFound"]}

    monkeypatch.setattr(pulsar.Session, "partitioned", late)
    waking, broker = Waking(Deadline(1000)), setting("pulsar", "broker", Broker())
    assert [waking.over(broker) for _ in range(4)] == [False, False, True, True]
    left[0] = 2
    assert Waking(Deadline(0)).over(broker), "whoever goes on refusing is judged"


def test_nothing_is_asked_where_nothing_is_known_to_be_late():
    assert find("stomp").waking is None
    assert Waking(Deadline(1000)).over(setting("stomp", "server", Server()))


@pytest.mark.parametrize(
    ("ends", "alive", "starts"), [(0, False, 1), (2, False, 3), (99, False, RESTARTS), (99, True, 1)]
)
def test_what_was_started_again_may_be_ended_by_what_is_still_under_way(ends, alive, starts):
    counted = []
    running = SimpleNamespace(restart=lambda: counted.append("start"), alive=lambda: alive)

    def ready(running):
        if len(counted) <= ends:
            raise LaunchError("ended before it was ready")

    started = SimpleNamespace(_ready=ready)
    if ends < RESTARTS:
        Started._restart(started, running)
    else:
        with pytest.raises(LaunchError):
            Started._restart(started, running)
    assert len(counted) == starts
