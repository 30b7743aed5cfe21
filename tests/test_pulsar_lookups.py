"""Lookups that name another address: where they lead the tester, and where they lead a client."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import LinkError, MemoryTransport, TcpTransport
from impls.references.pulsar.reference import Refused, Session
from specs.events import Fact
from specs.plan import Plan, Reach, Ref
from strategies.common import Op
from strategies.pulsar import aimed, scenes
from strategies.pulsar.writer import Writer
from suites.trace import plan_from_json, plan_to_json
from tests.mutants.pulsar_kit import PULSAR, ROOT, broker_of

CONFIG = PULSAR.configure("broker", "modern", {name: fact.default for name, fact in PULSAR.facts.items()}, {})


def followed() -> Plan:
    writer = Writer(CONFIG)
    scenes.follow(writer, Op("follow", (0, 0, 0, 0, 0)), aimed.DISCOVERY)
    writer.wait()
    return writer.plan()


def played(*arguments):
    """The recording of a broker of these arguments, and its port."""
    command = [sys.executable, "-m", "impls.references.pulsar", "broker", "--port", "0", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            host, _, port = process.stdout.readline().split()[-1].rpartition(":")
            transport = TcpTransport(lambda: (host, int(port)))
            return drive(followed(), Setting(PULSAR, CONFIG, "broker", transport), "l-"), port
        finally:
            process.terminate()


def reached(recording):
    return [event.value for event in recording.events if isinstance(event, Fact) and event.name == "reach"]


def test_the_tester_goes_where_a_lookup_leads():
    recording, port = played("--second", "0")
    assert recording.judgement.verdict == "pass"
    assert "PULSAR-LOOK-08" in recording.judgement.covered
    (there,) = reached(recording)
    assert there.startswith("127.0.0.1:")
    assert not there.endswith(f":{port}")


def test_the_tester_goes_where_a_redirect_leads():
    recording, port = played("--switch", "lookup=redirect")
    assert recording.judgement.verdict == "pass"
    assert reached(recording) == [f"127.0.0.1:{port}"] * 2


@pytest.mark.parametrize("url", ["pulsar://127.0.0.1:1", "pulsar://elsewhere.invalid:6650", "pulsar://a:1,b:2"])
def test_an_address_that_is_meant_for_others_is_no_fault(url):
    recording, _ = played("--switch", f"url={url}")
    assert (recording.judgement.verdict, reached(recording)) == ("pass", [])


def test_only_the_machine_that_was_given_is_gone_to():
    for where in ("192.0.2.1:6650", "127.0.0.1:x"):
        with pytest.raises(LinkError):
            TcpTransport(lambda: ("localhost", 6650)).reach(where)


def test_a_plan_that_follows_a_lookup_is_kept_as_it_is():
    plan = followed()
    assert Reach(1, Ref("redirect", "away1")) in plan.steps
    assert plan_from_json(plan_to_json(plan, PULSAR), PULSAR) == plan


@pytest.mark.parametrize(("error", "blamed"), [("ServiceNotReady", set()), ("MetadataError", {"PULSAR-LOOK-08"})])
def test_who_is_led_to_a_topic_that_is_not_loaded_yet_may_be_asked_for_patience(error, blamed):
    """P-45. What is refused for good is not where the lookup said (LOOK-08)."""

    class NotYet(Session):
        def open_producer(self, body):
            raise Refused(error, "not yet")

    setting = Setting(PULSAR, CONFIG, "broker", MemoryTransport(partial(broker_of(NotYet), profile="modern")))
    assert {fault.breach.requirement for fault in drive(followed(), setting, "p-").judgement.faults} == blamed
