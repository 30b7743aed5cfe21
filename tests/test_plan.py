"""Plans are data: nothing changes them, and a pipelined one says the same."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specs.plan import Close, Plan, Ref, Say, SendBytes, Wait

WHENS = st.sampled_from(["turn", "now", "join"])
STEPS = st.one_of(
    st.builds(Say, st.integers(0, 2), st.text(), st.tuples(st.integers(0, 9)), WHENS, st.none()),
    st.builds(SendBytes, st.integers(0, 2), st.binary() | st.just((b"a", Ref("queue", 1))), WHENS),
    st.builds(Wait, st.integers(0, 99)),
    st.builds(Close, st.integers(0, 2), st.sampled_from(["close", "reset"])),
)
PLANS = st.builds(Plan, st.lists(STEPS).map(tuple), st.frozensets(st.sampled_from(["cuts", "crlf"])))


@given(PLANS)
def test_pipelined_waits_for_no_turn_and_changes_nothing_else(plan):
    hurried = plan.pipelined()
    assert not any(getattr(step, "when", "") == "turn" for step in hurried.steps)
    assert hurried.features == plan.features
    assert len(hurried.steps) == len(plan.steps)
    for before, after in zip(plan.steps, hurried.steps, strict=True):
        assert type(before) is type(after)
        if getattr(before, "when", "now") != "turn":
            assert after is before
        for name in set(type(before).__slots__) - {"when"}:
            assert getattr(after, name) == getattr(before, name)


@given(PLANS)
def test_pipelined_twice_is_pipelined_once(plan):
    assert plan.pipelined().pipelined() == plan.pipelined()


@given(PLANS)
def test_plan_is_a_value(plan):
    copy = pickle.loads(pickle.dumps(plan))
    assert copy == plan
    assert hash(copy) == hash(plan)
    assert plan.each(lambda step: step) == plan
    with pytest.raises(FrozenInstanceError):
        plan.steps = ()


def test_each_sees_every_step_in_order():
    steps = (Say(0, "a"), Wait(3), Close(0))
    seen = []
    Plan(steps).each(lambda step: seen.append(step) or step)
    assert tuple(seen) == steps
