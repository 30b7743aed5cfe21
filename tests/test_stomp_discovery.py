"""What a STOMP server is found to be able to do, although it dies or is busy when it is asked."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest

from impls.driver.drive import drive
from impls.driver.link import MemoryTransport
from impls.launching.manifest import Implementation, Start
from impls.references.stomp.reference import Server, Session
from specs.events import Closed, Quiet, Said
from specs.model import Judgement, judge
from specs.plan import Plan, Say, TooLong, Wait
from specs.protocol import find
from specs.stomp.frames import Frame
from strategies.stomp.discovery import RESTS_MS, _rested, _speaks
from suites.calibration import Calibration
from suites.deadline import TimeUp

STOMP = find("stomp")
FACTS = {name: fact.default for name, fact in STOMP.facts.items()}
CONNECTED = Said(0, "server", Frame("CONNECTED", (("version", "1.0"),), b""))
REFUSED = Said(0, "server", Frame("ERROR", (("message", "no"),), b""))
SILENCE = Quiet(True, 250.0)


def configure(learnt):
    return STOMP.configure("server", "1.2", FACTS, learnt)


@pytest.mark.parametrize(
    ("answers", "speaks"),
    [
        ([CONNECTED], True),
        ([REFUSED], False),
        ([Closed(0, "server")], False),
        ([SILENCE, CONNECTED], True),
        ([SILENCE, SILENCE, REFUSED], False),
        ([SILENCE, SILENCE, SILENCE], True),
    ],
)
def test_only_who_refuses_a_version_does_not_speak_it(answers, speaks):
    """Who was silent may have been busy: a CONNECTED that comes in time later is no fault."""
    given = iter(answers)
    assert _speaks(lambda plan, config: ((next(given),), Judgement("pass")), configure, "1.0") is speaks
    assert next(given, None) is None


class Mortal(Server):
    """Dies of the first client that offers 1.0 alone, and serves nobody from then on."""

    dead = False

    class Frail(Session):
        def send(self, data):
            if b"accept-version:1.0\n" in data:
                self.server.dead = True
                raise RuntimeError("it is dead")
            super().send(data)

    session_type = Frail

    def open(self):
        if self.dead:
            raise ConnectionRefusedError
        return super().open()


def test_who_dies_of_one_question_is_asked_the_others():
    transport = MemoryTransport(Mortal)

    def settle(recording):
        died, transport.crash = transport.crash, ""
        if died:
            transport.restart()
        return died

    impl = Implementation("it", "stomp", "server", "1", "1.2", Start("python", "it:Mortal"), FACTS, {}, None, None)
    meeting = Calibration(impl, STOMP, transport, 60.0, settle=settle)
    meeting.meet()
    assert "1.0" not in meeting.learnt["supports"]
    assert meeting.learnt["topic"]["fanout"]


def test_what_less_was_known_of_is_judged_anew_only_where_it_is_whole():
    """By another config a conversation means something if nothing more would have been waited for."""
    impl = Implementation("it", "stomp", "server", "1", "1.2", Start("python", "it:Server"), FACTS, {}, None, None)
    meeting = Calibration(impl, STOMP, MemoryTransport(Server), 60.0)
    before, after = (STOMP.configure("server", "1.2", FACTS, learnt) for learnt in ({}, {"supports": ("1.1", "1.2")}))
    recording = drive(STOMP.smoke(before), replace(meeting.setting(), config=before), "anew-")
    trace, judgement = tuple(recording.events), recording.judgement
    assert judgement.verdict == "pass"
    assert meeting._anew((trace, judgement), after) == judge(STOMP.model, after, trace, "server")
    answers = [at for at, event in enumerate(trace) if getattr(event, "by", "") == "server"]
    assert meeting._anew((trace[: answers[0]], judgement), after) is None, "CONNECTED would have been waited for"
    assert meeting._anew((trace, replace(judgement, verdict="inconclusive")), after) is None
    silent = (*trace[: answers[0]], Quiet(60, final=True))
    broken = judge(STOMP.model, before, silent, "server")
    assert broken.verdict == "fail"
    assert meeting._anew((silent, broken), after) == judge(STOMP.model, after, silent, "server")
    assert meeting._anew((silent[:-1], broken), after) is None
    ended = (*silent[:-1], Quiet(0, final=True))
    assert meeting._anew((ended, judge(STOMP.model, before, ended, "server")), after) is None, "nobody has waited"


def met(make):
    """What is learnt of a server in memory."""
    impl = Implementation("it", "stomp", "server", "1", "1.2", Start("python", "it:Server"), FACTS, {}, None, None)
    meeting = Calibration(impl, STOMP, MemoryTransport(make), 60.0)
    meeting.meet()
    return meeting.learnt


@pytest.mark.parametrize(("connections", "crowded", "room"), [
    ("any", False, {None}), ("three", True, {0}), ("thirty", False, {0, 1}),
])  # fmt: skip
@pytest.mark.parametrize("destinations", ["exact", "any-case", "trimmed"])
def test_names_that_are_one_to_the_server_are_found_out(destinations, connections, crowded, room):
    """Also where a message comes long after the RECEIPT of its SEND, and connections that ended count for a while."""
    for seed in range(4):
        switches = {"destinations": destinations, "connections": connections, "disconnect": "client-closes"}
        late = {"output_delay_ms": 20, "work_delay_ms": 20, "receipt_order": "before"}
        learnt = met(lambda: Server(seed=seed, **switches, **late))  # noqa: B023
        assert (learnt["folds"], learnt["trims"]) == (destinations == "any-case", destinations == "trimmed")
        assert learnt["crowded"] is crowded
        assert learnt.get("room") in room  # who has just left may be counted
        assert ("places" in learnt) == (connections != "any")
        assert learnt["merges"] is False


@pytest.mark.parametrize(("places", "open_", "blamed"), [
    (0, 6, True), (10, 5, True), (10, 6, False), (30, 10, True), (30, 11, False),
])  # fmt: skip
def test_a_server_with_few_places_may_count_those_that_have_ended(places, open_, blamed):
    """N-18a: of a conversation, and of the one before it, more than half of what it takes."""
    config = STOMP.configure("server", "1.2", FACTS, {"places": places})
    connect = Frame("CONNECT", (("accept-version", "1.2"), ("host", "/")))
    events = []
    for number in range(open_ - 1):
        events += [Said(number, "client", connect), Said(number, "server", Frame("CONNECTED", (("version", "1.2"),)))]
    events += [Said(open_, "client", connect), Said(open_, "server", Frame("ERROR", (("message", "too many"),)))]
    found = {blame.breach.requirement for blame in judge(STOMP.model, config, tuple(events), "server").faults}
    assert bool(found) == blamed


@pytest.mark.parametrize(("turned_away", "speaks"), [(1, True), (3, True), (4, False)])
def test_who_counts_clients_that_have_left_has_refused_no_version(turned_away, speaks):
    """It is asked again after longer and longer rests; one that refuses each time does not speak the version."""
    given, rests = iter([REFUSED, Closed(0, "server")] * turned_away), []

    def play(plan, config):
        rests.append(sum(step.ms for step in plan.steps if isinstance(step, Wait)))
        return tuple(islice(given, 2)) or (CONNECTED,), Judgement("pass")

    assert _speaks(_rested(play, RESTS_MS), configure, "1.0") is speaks
    assert rests == [0, *RESTS_MS][: turned_away + speaks]


def test_what_was_refused_is_not_asked_again_where_there_is_no_time_for_a_rest():
    def play(plan, config):
        if isinstance(plan.steps[0], Wait):
            raise TooLong
        return (REFUSED,), Judgement("pass")

    connect = Plan((Say(0, Frame("CONNECT", (), b"")),))
    assert _rested(play, (100, 300))(connect, configure({})) == ((REFUSED,), Judgement("pass"))


def test_a_question_that_rests_for_longer_than_there_is_takes_all_the_time(monkeypatch):
    """The run says that it could not be judged: that is no error of ours."""

    def asks(play, configure):
        raise TooLong

    monkeypatch.setattr("suites.calibration._discovery", lambda protocol: asks)
    with pytest.raises(TimeUp):
        met(Server)
