"""What is found out about a Storm component before it is judged."""

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.storm.child import Bolt, Spout
from impls.references.storm.host import HostSwitches
from impls.references.storm.host_memory import Hosts
from impls.references.storm.hosts import BoltHost, SpoutHost
from impls.references.storm.memory import Children
from specs.events import Fact, Quiet
from specs.plan import TooLong, Wait
from specs.protocol import find
from strategies.storm import discover

STORM = find("storm")


def found(role, play, profile="seed", **facts):
    return discover(play, lambda learnt: STORM.configure(role, profile, facts, learnt))


def on(transport, role):
    def play(plan, config):
        recording = drive(plan, Setting(STORM, config, role, transport), "ask-")
        return tuple(recording.events), recording.judgement

    return play


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


def test_a_bolt_that_never_calls_user_code_is_asked_no_longer_than_there_is_time():
    """It would be asked for 1.5, 7.5 and 12 seconds."""

    def play(plan, config):
        if any(step.ms > 1500 for step in plan.steps if isinstance(step, Wait)):
            raise TooLong
        return [Fact(0, "bolt", "observed", {"call": "initialize"})], None

    assert found("bolt", play, scripted=True) == {"noted": True}


class Counts(Bolt):
    """User code that notes down what it sees and does something of its own."""

    def obey(self, steps, name):
        yield from self.emit({"tuple": [len(steps)], "anchor": True}, name)
        self.settle("ack", name)


@pytest.mark.parametrize(("kind", "scripted"), [(Bolt, True), (Spout, True), (Counts, False)])
def test_user_code_is_scripted_when_it_does_what_it_is_told(kind, scripted):
    role = "spout" if kind is Spout else "bolt"
    assert found(role, on(MemoryTransport(lambda: Children(kind)), role))["scripted"] is scripted


@pytest.mark.parametrize(("role", "kind"), [("bolt-host", BoltHost), ("spout-host", SpoutHost)])
@pytest.mark.parametrize(("own_ms", "timed"), [(0, True), (30_000, False), (90_000, True)])
def test_a_host_shows_whether_its_timeout_is_that_of_conf(role, kind, own_ms, timed):
    transport = MemoryTransport(lambda: Hosts(kind, frozenset(), HostSwitches(own_ms=own_ms)))
    assert found(role, on(transport, role)) == {"timed": timed}


def test_a_host_that_claims_the_timing_of_storm_is_not_asked():
    assert found("bolt-host", None, "seed+x-hb-timing") == {}
