"""What has just been started and answers before all of it is there."""

from __future__ import annotations

from impls.driver.drive import Setting
from impls.driver.link import MemoryTransport
from impls.references.pulsar.reference import Broker
from impls.references.pulsar.schema import ENUMS
from impls.references.pulsar.session import Session
from impls.references.stomp.reference import Server
from specs.protocol import find
from suites.deadline import Deadline
from suites.waking import Waking


def setting(name, role, peer):
    protocol = find(name)
    facts = {key: fact.default for key, fact in protocol.facts.items()}
    config = protocol.configure(role, protocol.profiles[-1], facts, {})
    return Setting(protocol, config, role, MemoryTransport(lambda: peer))


def test_a_broker_may_serve_before_it_has_made_its_namespaces(monkeypatch):
    real, left = Session.partitioned, [2]

    def late(self, *given):
        if not left[0]:
            return real(self, *given)
        left[0] -= 1
        return {"response": 1, "error": ENUMS["ServerError"]["TopicNotFound"]}

    monkeypatch.setattr(Session, "partitioned", late)
    waking, broker = Waking(Deadline(1000)), setting("pulsar", "broker", Broker())
    assert [waking.over(broker) for _ in range(4)] == [False, False, True, True]
    left[0] = 2
    assert Waking(Deadline(0)).over(broker), "whoever goes on refusing is judged"


def test_nothing_is_asked_where_nothing_is_known_to_be_late():
    assert find("stomp").waking is None
    assert Waking(Deadline(1000)).over(setting("stomp", "server", Server()))
