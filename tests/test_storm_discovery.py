"""What is found out about a Storm component before it is judged."""

import pytest

from impls.drive import Setting, drive
from impls.link import MemoryGround
from impls.storm.host import HostSwitches
from impls.storm.host_memory import Hosts
from impls.storm.hosts import BoltHost, SpoutHost
from specs.events import Fact, Quiet
from specs.plan import Wait
from specs.protocol import find
from strategies.storm import discover

STORM = find("storm")


def found(role, play, profile="seed", **facts):
    return discover(play, lambda learnt: STORM.configure(role, profile, facts, learnt))


def notes(*calls):
    """A bolt that notes down calls, each so many milliseconds after the one before, as long as the plan waits."""

    def play(plan, config):
        left = sum(step.ms for step in plan.steps if isinstance(step, Wait))
        events = [Fact(0, "bolt", "observed", {"call": "initialize"})]
        for after in calls if left else calls[:1]:
            if after > left > 0:
                break
            left -= after
            events += [Quiet(after, after), Fact(0, "bolt", "observed", {"call": "process"})]
        return events, None

    return play


@pytest.mark.parametrize(
    ("calls", "serial"),
    [((5,), True), ((600,), True), ((5, 5), False), ((5, 900), False), ((600, 2200), False), ((1700, 1700), False)],
)
def test_a_slow_bolt_is_given_time_to_show_that_it_goes_on(calls, serial):
    assert found("bolt", notes(*calls), scripted=True)["serial"] is serial


@pytest.mark.parametrize(("role", "kind"), [("bolt-host", BoltHost), ("spout-host", SpoutHost)])
@pytest.mark.parametrize(("own_ms", "timed"), [(0, True), (30_000, False), (90_000, True)])
def test_a_host_shows_whether_its_timeout_is_that_of_conf(role, kind, own_ms, timed):
    ground = MemoryGround(lambda: Hosts(kind, frozenset(), HostSwitches(own_ms=own_ms)))

    def play(plan, config):
        recording = drive(plan, Setting(STORM, config, role, ground), "ask-")
        return tuple(recording.events), recording.judgement

    assert found(role, play) == {"timed": timed}


def test_a_host_that_claims_the_timing_of_storm_is_not_asked():
    assert found("bolt-host", None, "seed+x-hb-timing") == {}
