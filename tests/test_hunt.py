"""What a hunt draws: every program once, about as many as asked, the same for the same seed, none after its time."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest
from echo import setting
from hypothesis import find

from specs.events import Quiet
from specs.model import Blame, Breach
from specs.plan import Plan
from strategies.common import Program, programs
from suites.deadline import Deadline
from suites.draws import PROGRAMS, Draws, chunk
from suites.hunt import Hunter, Investigated, Property
from suites.suspects import BELIEVING_S, NO_TIME, SETTLING_S

KINDS = {"a": 1, "b": 2}
PROGRAMS_OF_TWO = programs(KINDS, head=2, most=4)


def draw(count, *, seed=0, batch=0):
    """The programs of one chunk."""
    return chunk(PROGRAMS_OF_TWO, f"{seed} drawn {batch}", count)


@pytest.fixture
def hunted(house):
    """`hunted(budget_s)` answers the programs that a hunt has played; `fail` may raise on each."""

    def hunted(budget_s, *, deadline=None, fail=lambda program: None):
        drawn = []

        def interpret(program, config, *, hurry):
            drawn.append(program)
            fail(program)
            return Plan(())

        where = setting(house, "server", house.reference.server)
        where = replace(where, patience_ms=1.0)
        hunter = Hunter(where, {}, investigate=lambda *_: Investigated(None), deadline=deadline)
        tally = hunter.hunt(Property("drawn", PROGRAMS_OF_TWO, interpret), budget_s)
        assert tally.plans == len(drawn)
        return drawn

    return hunted


@pytest.mark.parametrize("count", [1, 2, 3, PROGRAMS - 1, PROGRAMS, PROGRAMS + 1, 40, 100])
def test_about_as_many_programs_are_drawn_as_asked(count):
    drawn = draw(count)
    whole = min(PROGRAMS, count)  # an example of Hypothesis holds so many
    assert count * 2 // 3 <= len(drawn) < count + whole  # Hypothesis repeats itself, which is not played again
    assert len(set(drawn)) > count // 2


def test_the_simplest_program_is_left_out_in_each_chunk():
    simplest = find(PROGRAMS_OF_TWO, lambda program: True)
    for batch in range(20):
        for count in (1, 3, 40):
            assert simplest not in draw(count, batch=batch)


def test_what_is_drawn_follows_the_seed_and_the_batch():
    assert draw(30, seed=1, batch=2) == draw(30, seed=1, batch=2)
    assert draw(30, seed=1, batch=2)[1:] != draw(30, seed=2, batch=2)[1:]
    assert draw(30, seed=1, batch=2)[1:] != draw(30, seed=1, batch=3)[1:]


def test_draws_go_on_without_end_and_follow_the_seed():
    def first(count, **given):
        return list(islice(Draws(PROGRAMS_OF_TWO, "drawn", **given), count))

    assert first(200) == first(200)
    assert first(200, run_seed=1)[3:] != first(200)[3:]
    assert len(set(first(200))) > 100


def test_a_number_that_is_dealt_comes_in_turn_from_where_the_seed_says():
    def dealt(count, **given):
        return [program.head for program in islice(Draws(PROGRAMS_OF_TWO, "drawn", deals=0, **given), count)]

    numbers = [head[0] for head in dealt(600)]
    assert numbers == [(numbers[0] + n) % 256 for n in range(600)]
    assert [head[0] for head in dealt(3, run_seed=1)] != numbers[:3]
    drawn = [program.head[1:] for program in islice(Draws(PROGRAMS_OF_TWO, "drawn"), 600)]
    assert [head[1:] for head in dealt(600)] == drawn, "nothing else is touched"


def test_what_is_put_back_comes_next():
    draws = Draws(PROGRAMS_OF_TWO, "drawn")
    one, two = next(draws), next(draws)
    draws.put_back(two)
    draws.put_back(one)
    assert [next(draws), next(draws)] == [one, two]


def test_a_hunt_plays_what_is_drawn(hunted):
    played = hunted(0.2)
    assert played == list(islice(Draws(PROGRAMS_OF_TWO, "drawn False"), len(played)))


def test_nothing_is_played_when_the_time_is_up(hunted):
    assert hunted(0) == []
    assert hunted(10, deadline=Deadline(0)) == []


def test_an_error_of_ours_comes_out(hunted):
    def fail(program):
        if any(program.head):
            raise RuntimeError("ours")

    with pytest.raises(RuntimeError, match="ours"):
        hunted(10, fail=fail)


def standing_still(house, investigate, reported, *, looking_s=1.0):
    """A hunter that stands still for investigations, a function by which it looks into a requirement, and what that has
    suspected."""
    suspicions = {}
    where = setting(house, "server", house.reference.server)
    binding = {r.id: r for r in house.protocol.requirements.binding("server", "1")}
    hunter = Hunter(
        where, binding, investigate=investigate, deadline=Deadline(60), looking_s=looking_s, report=reported.append
    )
    prop = Property("one", programs({"a": 1}, head=1, most=1), lambda program, config, *, hurry: Plan(()))
    plan, program = Plan(()), Program((0,), ())

    def look(name, *, silent=False):
        recording = hunter.play(plan)
        if silent:
            recording = replace(recording, events=[*recording.events, Quiet(5000, final=True)])
        blame = Blame(Breach("server", name, "it was wrong"), 0)
        suspicions[name] = hunter.suspects.suspicion(prop, program, plan, recording, (name, "MUST", blame))
        hunter.suspects.look(prop, program, suspicions[name])

    return hunter, look, suspicions


def test_what_there_was_no_time_for_is_settled_when_the_hunt_is_over(house):
    """Where the hunt stands still for investigations, their share may be used up: the others wait for its end."""
    asked, reported = [], []

    def investigate(hunter, prop, program, name, after_s, silent, until):
        asked.append((name, until.left()))
        return Investigated(None, NO_TIME if len(asked) == 1 else "it was seen once")

    hunter, look, _ = standing_still(house, investigate, reported)
    name = next(iter(hunter.binding))
    look(name)
    assert (len(asked), reported) == (1, [])
    assert hunter.suspects.settling_s() > 0, "time is kept for it"
    hunter.finish()
    assert len(asked) == 2
    assert asked[1][1] > asked[0][1], "there is more time for it when nothing else is to be done"
    assert [(fault.requirement, fault.unsettled) for fault in reported] == [(name, "it was seen once")]
    assert hunter.suspects.settling_s() == 0.0


def test_what_was_cut_short_before_it_could_be_told_from_what_is_known_is_looked_into_again(house):
    """A plan that shows it only behind a known fault may be made shorter, once there is time. It comes behind those
    that nobody has looked into."""
    order, reported = [], []

    def investigate(hunter, prop, program, name, after_s, silent, until):
        order.append(name)
        known = replace(suspicions[name], verdict="inconclusive", unsettled="it was seen only behind another one")
        if len(order) == 1:
            until.end()
            return Investigated(known)
        return Investigated(replace(known, verdict="fail", unsettled=""))

    hunter, look, suspicions = standing_still(house, investigate, reported)
    first, second = list(hunter.binding)[:2]
    look(first)
    hunter.suspects.stood_still(60)
    look(second)
    assert (order, reported) == ([first], [])
    assert hunter.suspects.settling_s() == BELIEVING_S + SETTLING_S
    hunter.finish()
    assert order == [first, second, first]
    assert [(fault.requirement, fault.verdict) for fault in reported] == [(second, "fail"), (first, "fail")]


def test_of_silences_time_is_kept_for_one(house):
    reported = []
    hunter, look, _ = standing_still(house, lambda *given: Investigated(None, NO_TIME), reported, looking_s=0.0)
    for name in list(hunter.binding)[:3]:
        look(name, silent=True)
    assert hunter.suspects.settling_s() == BELIEVING_S
