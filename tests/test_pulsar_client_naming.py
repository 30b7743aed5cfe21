"""Clients that are given credentials, the names by which they call topics, what is acknowledged twice, and keys beside
batches: docs/ambiguities.md, P-65, P-66, P-68 and P-69."""

from __future__ import annotations

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.pulsar.client_memory import Client
from specs.plan import Control
from specs.protocol import find
from specs.pulsar.batches import unbatch
from specs.pulsar.client.forms_making import _COMPLETE
from strategies.common import Op, Program
from strategies.pulsar import consuming, serving
from strategies.pulsar.desk import Desk

PULSAR = find("pulsar")
LOGIN = "PULSAR-AUTH-03"
SENDS = Program((2, 2, 0), (Op("send", (0, 0, 0, 0, 0)), Op("drop", (0, 0, 0, 0, 0))))


def config(auth=""):
    facts = {name: fact.default for name, fact in PULSAR.facts.items()} | {"auth": auth}
    return PULSAR.configure("client", "modern", facts, {})


def judged(auth="token:a:b", program=SENDS, **switches):
    plan = serving.interpret(program, config(auth))
    transport = MemoryTransport(lambda: Client(profile="modern", **switches))
    return drive(plan, Setting(PULSAR, config(auth), "client", transport), "n-").judgement


def test_each_connect_shows_the_credentials():
    found = judged()
    assert (found.verdict, found.faults) == ("pass", ())
    assert found.covered[LOGIN] == 2  # the connection was cut once


def test_a_client_whose_manifest_names_none_is_given_none():
    found = judged("")
    assert (found.verdict, found.faults) == ("pass", ())
    assert LOGIN not in found.covered


@pytest.mark.parametrize("how", ["unsupported", "fail"])
def test_a_client_that_takes_no_such_credentials_is_not_blamed(how):
    found = judged(credentials=how)
    assert (found.verdict, found.faults) == ("pass", ())
    assert LOGIN not in found.covered


def test_half_of_the_conversations_are_without_credentials():
    told = [Desk(config("token:a:b"), (0, 0, number)).steps[0] for number in range(64)]
    given = [step.value for step in told if isinstance(step, Control)]
    assert {str(value) for value in given} == {"{}", "{'auth_method': 'token', 'auth_data': 'a:b'}"}
    assert sum(not value for value in given) == 32


@pytest.mark.parametrize(
    ("name", "complete"),
    [
        ("persistent://tenant/namespace/topic", True),
        ("persistent://property/cluster/namespace/topic", True),
        ("non-persistent://tenant/namespace/topic-partition-3", True),
        ("persistent://tenant/namespace/a/b c:d", True),
        ("tenant/namespace/topic", False),
        ("topic", False),
        ("persistent://topic", False),
        ("persistent://tenant/topic", False),
        ("", False),
    ],
)
def test_a_complete_name(name, complete):
    assert bool(_COMPLETE.fullmatch(name)) is complete


def receiving(*numbers):
    return Program((2, 2, 0), (Op("receive", numbers), Op("receive", (0, 0, 0, 0, 0))))


@pytest.mark.parametrize("how", ["ignore", "again", "fail"])
@pytest.mark.parametrize("kind", [0, 2, 7])
def test_what_is_acknowledged_twice_may_be_acknowledged_again_or_not(how, kind):
    found = judged("", receiving(0, kind, 0, consuming.TWICE, 0), acked_before=how)
    assert (found.verdict, found.faults) == ("pass", ())


def pushed(program):
    plan = serving.interpret(program, config())
    return [step.frame for step in plan.steps if getattr(getattr(step, "frame", None), "kind", "") == "MESSAGE"]


def test_a_batch_may_have_a_key_beside_those_of_its_messages():
    (batch, *_) = pushed(receiving(0, 7, 0, 0, 0))
    assert batch.meta["partition_key"] == "outer"
    assert [single.meta.partition_key for single in unbatch(batch.payload, 3)] == ["K0", "K1", "K2"]
    (plain, *_) = pushed(receiving(0, 3, 0, 0, 0))
    assert "partition_key" not in plain.meta
    assert [single.meta.partition_key for single in unbatch(plain.payload, 3)] == ["", "K1", ""]
    assert judged("", receiving(0, 7, 0, 0, 0)).covered["PULSAR-BAT-07"] >= 3
