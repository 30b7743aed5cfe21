"""A peer that ends connections of its own accord, now and then: that is what fails, and not what stood beside it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from impls.driver.drive import Setting
from impls.driver.link import MemoryTransport
from impls.references.pulsar.session import Session
from impls.references.stomp.client import Channel, Phase
from specs.protocol import find
from suites.hunt import Hunter
from suites.investigate import Investigator
from tests.mutants import hunted
from tests.mutants.pulsar_kit import broker_of
from tests.mutants.stomp_client_kit import client_of
from tests.properties import properties

PLANS = 350
EVERY = 60
"""One frame in so many."""


def failing(protocol, role, make, seed):
    """What fails as a MUST in so many conversations with such a peer."""
    mutant, found = next(each for each in hunted.ALL if (each.protocol, each.role) == (protocol, role)), []
    given, config = find(protocol), hunted.hunter_for(mutant, found.append, seed).setting.config
    binding = {r.id: r for r in given.requirements.binding(role, mutant.profile) if not r.untestable}
    setting = Setting(given, config, role, MemoryTransport(make))
    hunter = Hunter(setting, binding, investigate=Investigator(shrink_s=0.1), run_seed=seed, report=found.append)
    hunter.prepare()
    pursuits = [hunter.pursuit(prop) for prop, _ in properties(protocol, role)]
    while sum(pursuit.tally.plans for pursuit in pursuits) < PLANS:
        for pursuit in pursuits:
            hunter.play_one(pursuit, next(pursuit.draws))
    hunter.finish()
    return {fault.requirement for fault in found if fault.verdict == "fail" and fault.level == "MUST"}


@pytest.mark.parametrize("seed", [1, 2])
def test_a_stomp_client_that_hangs_up_now_and_then(seed):
    chance = random.Random(seed)

    class Leaves(Channel):
        def on_frame(self, frame: Any) -> None:
            super().on_frame(frame)
            if self.phase is Phase.LIVE and chance.random() * EVERY < 1:
                self.end("tired")

    assert failing("stomp", "client", client_of(Leaves), seed) == {"STOMP-1.2-CLI-15"}


@pytest.mark.parametrize("seed", [1, 2])
def test_a_pulsar_broker_that_hangs_up_now_and_then(seed):
    chance = random.Random(seed)

    class Leaves(Session):
        def handle(self, frame: Any) -> None:
            super().handle(frame)
            if chance.random() * EVERY < 1:
                self.end()

    assert failing("pulsar", "broker", broker_of(Leaves), seed) == {"PULSAR-KA-05"}
