"""What a hunt draws: every program once, about as many as asked, the same for the same seed, none after its time."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from echo import setting

from specs.plan import Plan
from strategies.common import programs
from suites.hunt import PROGRAMS, Hunter, Investigated, Property, Tally

KINDS = {"a": 1, "b": 2}


@pytest.fixture
def draw(house):
    """`draw(count)` answers the programs of one chunk; `fail` may raise on each."""

    def draw(count, *, seed=0, batch=0, deadline=math.inf, fail=lambda program: None):
        drawn = []

        def interpret(program, config, *, hurry):
            drawn.append(program)
            fail(program)
            return Plan(())

        prop = Property("drawn", programs(KINDS, head=2, most=4), interpret)
        where = setting(house, "server", house.reference.server)
        hunter = Hunter(replace(where, patience_ms=1.0), {}, investigate=lambda *_: Investigated(None), run_seed=seed)
        hunter._spent = 0.0
        tally = Tally()
        hunter._draw(prop, count, batch, tally, deadline)
        assert tally.plans == len(drawn)
        return drawn

    return draw


@pytest.mark.parametrize("count", [1, 2, 3, PROGRAMS - 1, PROGRAMS, PROGRAMS + 1, 40, 100])
def test_about_as_many_programs_are_drawn_as_asked(draw, count):
    drawn = draw(count)
    assert count * 2 // 3 <= len(drawn) <= count + 1  # Hypothesis repeats itself, which is not played again
    assert len(set(drawn)) > count // 2


def test_the_simplest_program_does_not_stand_for_all(draw):
    for count in (1, 3, 40):
        first, *others = draw(count)
        assert not any(first.head)
        assert any(any(other.head) for other in others)


def test_what_is_drawn_follows_the_seed_and_the_batch(draw):
    assert draw(30, seed=1, batch=2) == draw(30, seed=1, batch=2)
    assert draw(30, seed=1, batch=2)[1:] != draw(30, seed=2, batch=2)[1:]
    assert draw(30, seed=1, batch=2)[1:] != draw(30, seed=1, batch=3)[1:]


def test_nothing_is_played_when_the_time_is_up(draw):
    assert draw(30, deadline=-math.inf) == []


def test_an_error_of_ours_comes_out(draw):
    def fail(program):
        if any(program.head):
            raise RuntimeError("ours")

    with pytest.raises(RuntimeError, match="ours"):
        draw(30, fail=fail)
