"""Clients that are given credentials, and the names by which they call topics: docs/ambiguities.md, P-65 and P-66."""

from __future__ import annotations

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.pulsar.client_memory import Client
from specs.plan import Control
from specs.protocol import find
from specs.pulsar.client.forms_commands import _COMPLETE
from strategies.common import Op, Program
from strategies.pulsar import serving
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
