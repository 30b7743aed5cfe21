"""What takes long is begun first, and what takes a longer silence than a run has is told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from echo import setting

from impls.driver.pipes import PipeTransport
from impls.driver.recording import Recording
from specs.plan import Plan, Wait
from strategies.common import Op, Program, programs
from suites.cards import Card
from suites.hunt import Hunter, Investigated, Property
from suites.lanes import Lanes
from suites.playing import PROGRAMS
from suites.remarks import of_missed
from suites.rests import needed, rest_s
from suites.schedule import _long_first, _opening


def resting(program, config, *, hurry):
    """A plan that rests for as many seconds as the first number of its program says."""
    return Plan((Wait(program.head[0] * 1000), Wait(500)))


def a_property(key, *, heavy=False):
    return Property(key, programs({"a": 1}, head=1, most=1), resting, key=key, heavy=heavy)


def card(key, seconds, *judges):
    return Card(key, Program((seconds,), (Op("a"),)), frozenset(judges))


@pytest.fixture
def where(house):
    return replace(setting(house, "server", house.reference.server), transport=object())


def test_a_rest_is_what_a_plan_waits_for_on_a_real_clock(house, where):
    plan = Plan((Wait(2000), Wait(500)))
    assert rest_s(plan, where) == 2.5
    assert rest_s(plan, setting(house, "server", house.reference.server)) == 0, "in memory time is virtual"


def test_only_what_every_program_rests_too_long_for_is_told(where):
    known = {"x": a_property("x"), "y": a_property("y")}
    deck = [
        card("x", 60, "LONG", "SOMETIMES"),
        card("x", 90, "LONG"),
        card("y", 3, "SOMETIMES", "SHORT"),
        card("x", 90, "ELSEWHERE"),
        card("z", 1, "ELSEWHERE"),
    ]
    assert needed(["LONG", "SOMETIMES", "SHORT", "ELSEWHERE", "NOBODY"], deck, known, where, 10.0) == {"LONG": 60.5}
    assert needed(["LONG"], deck, known, where, 70.0) == {}, "there was time for one of them"


def test_what_was_put_off_or_cut_short_is_no_miss_of_the_implementation(house, where):
    """It may lack nothing but time: the run does not say that more of it will hardly help."""
    deck = [card("x", 1, "ONE", "BOTH"), card("x", 2, "BOTH", "TWO"), card("y", 1, "CUT")]
    names = ("ONE", "TWO", "BOTH", "CUT", "NOWHERE")
    hunter = Hunter(where, dict.fromkeys(names), investigate=lambda *_: Investigated(None))
    pursuit = hunter.pursuit(a_property("x"))
    hunter.judge(pursuit, deck[0].program, Plan(()), Recording())
    hunter.judge(hunter.pursuit(a_property("y")), deck[2].program, Plan(()), Recording(overflow="time"))
    assert [(row.requirement, row.programs) for row in of_missed(hunter, deck)] == [("ONE", 1)]
    hunter.judge(pursuit, deck[1].program, Plan(()), Recording())
    assert [(row.requirement, row.programs) for row in of_missed(hunter, deck)] == [("BOTH", 2), ("ONE", 1), ("TWO", 1)]


@pytest.mark.parametrize(
    ("lanes", "order"), [(Lanes(2), ["long", "heavy", "one", "two"]), (None, ["long", "one", "two", "heavy"])]
)
def test_what_rests_is_begun_first_and_what_is_large_too_where_it_goes_on_beside(where, lanes, order):
    hunter = Hunter(where, {}, investigate=lambda *_: Investigated(None), lanes=lanes)

    class Quick(Property):
        def plan(self, program, config, avoid=()):
            return Plan(())

    quick = [Quick(name, programs({"a": 1}, head=1, most=1), resting, key=name) for name in ("one", "two")]
    slow = [a_property("long"), replace(quick[0], name="heavy", key="heavy", heavy=True)]
    given = [quick[0], slow[0], quick[1], slow[1]]
    program = Program((1,), (Op("a"),))
    played = _opening(hunter, [(hunter.pursuit(prop), program) for prop in given])
    assert [pursuit.prop.key for pursuit, _ in played] == order


def test_rests_leave_a_lane_for_the_others(where):
    """With two lanes one plan rests, and the next one waits for its turn."""
    hunter = Hunter(where, {}, investigate=lambda *_: Investigated(None), lanes=Lanes(2))
    hunter.sound, began = True, []
    hunter.playing._beside = lambda pursuit, program, plan, *, rests=False: (
        began.append(pursuit.prop.key) or setattr(hunter.playing, "long", hunter.playing.long + rests)
    )
    one, two = (hunter.pursuit(a_property(key)) for key in ("one", "two"))
    hunter.until = hunter.ground.deadline
    for pursuit in (one, two):
        hunter.play_one(pursuit, Program((1,), (Op("a"),)))
    assert began == ["one"]
    assert (len(one.draws.at_hand), len(two.draws.at_hand)) == (0, 1), "it is played later"


def test_programs_that_rest_have_lanes_of_their_own(where):
    """One that is spoken to now and then takes nothing from the others."""
    programs_of = replace(where, transport=object.__new__(PipeTransport))
    for place, own in ((where, False), (programs_of, True)):
        playing = Hunter(place, {}, investigate=lambda *_: Investigated(None), lanes=Lanes(2)).playing
        assert (playing.patient is not playing.lanes) is own
        assert playing.patient.width == (PROGRAMS if own else 2)


def test_what_rests_has_its_first_turn_before_the_others(where):
    hunter = Hunter(where, {}, investigate=lambda *_: Investigated(None), lanes=Lanes(2))
    given = [hunter.pursuit(prop) for prop in (replace(a_property("heavy"), heavy=True), a_property("long"))]

    class Quick(Property):
        def plan(self, program, config, avoid=()):
            return Plan(())

    quick = hunter.pursuit(Quick("quick", programs({"a": 1}, head=1, most=1), resting, key="quick"))
    assert [each.prop.key for each in _long_first(hunter, [quick, *given])] == ["heavy", "long", "quick"]
    assert len(quick.draws.at_hand) > 0, "what was looked at is still to be played"
