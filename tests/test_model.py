"""The acceptor keeps every reading, and blames the watched role only when all of them do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specs.events import Closed, Fact, Noise, Quiet, Said
from specs.model import ANYTHING, MAX_STATES, Allow, Breach, Watcher, drift_of, judge

BLAMED = Breach("server", "R-1", "it did wrong")
OURS = Breach("client", "R-2", "we did wrong")


class Table:
    """A model given as {state: {word: outcomes}}; `drifts_to` and `owes` by state. No row is a hole."""

    def __init__(self, rows, drifts_to=None, owes=None):
        self.rows, self.owes = rows, owes or {}
        if drifts_to:
            self.drift = lambda state: drifts_to.get(state, ())

    def initial(self, config):
        return config

    def step(self, state, event):
        return iter(self.rows.get(state, {}).get(event.frame, ()))

    def owed(self, state, role):
        return (name for by, name in self.owes.get(state, ()) if by == role)


def say(*words):
    return tuple(Said(0, "server", word) for word in words)


def verdict(rows, *words, start="s", **more):
    return judge(Table(rows, **more), start, say(*words), "server")


def test_allowed_conversation_passes_and_counts_what_it_covers():
    found = verdict({"s": {"a": [Allow("s", ("R-1", "R-2"))], "b": [Allow("s", ("R-1",))]}}, "a", "b", "a")
    assert (found.verdict, found.faults, found.excused_from) == ("pass", (), None)
    assert found.covered == {"R-1": 3, "R-2": 2}


def test_breach_names_the_event_that_decided():
    found = verdict({"s": {"a": [Allow("s")], "b": [BLAMED]}}, "a", "b", "a")
    assert found.verdict == "fail"
    assert [(blame.breach, blame.at) for blame in found.blamed] == [(BLAMED, 1)]
    assert found.excused_from == 1


def test_nothing_is_judged_after_a_breach():
    assert verdict({"s": {"a": [BLAMED]}}, "a", "no rule for this").verdict == "fail"


def test_a_stated_consequence_is_judged_and_the_first_breach_stays():
    second = Breach("server", "R-9", "and again")
    rows = {"s": {"a": [Breach("server", "R-1", "", then="t")]}, "t": {"b": [Allow("t", ("R-3",))], "c": [second]}}
    assert verdict(rows, "a", "b").covered == {"R-3": 1}
    found = verdict(rows, "a", "b", "c")
    assert (found.verdict, found.blamed[0].breach.requirement, found.blamed[0].at) == ("fail", "R-1", 0)


def test_one_reading_that_allows_is_enough():
    rows = {"s": {"a": [Allow("t"), Allow("u")]}, "t": {"b": [BLAMED]}, "u": {"b": [Allow("u", ("R-5",))]}}
    found = verdict(rows, "a", "b")
    assert (found.verdict, found.blamed) == ("pass", ())
    assert found.covered == {"R-5": 1}


def test_every_reading_must_blame():
    rows = {"s": {"a": [Allow("t"), Allow("u")]}, "t": {"b": [BLAMED]}, "u": {"b": [BLAMED]}}
    assert verdict(rows, "a", "b").verdict == "fail"


@pytest.mark.parametrize("order", [(BLAMED, OURS), (OURS, BLAMED)])
def test_no_blame_when_one_reading_blames_our_own_side(order):
    found = verdict({"s": {"a": list(order)}}, "a")
    assert (found.verdict, found.blamed) == ("inconclusive", ())
    assert found.why == "our own side broke the protocol: we did wrong"


@pytest.mark.parametrize("order", [("t", "u"), ("u", "t")])
def test_the_reading_that_held_out_longest_says_what_was_broken(order):
    late = Breach("server", "R-7", "later")
    rows = {"s": {"a": [Allow(name) for name in order]}, "t": {"b": [BLAMED]}, "u": {"b": [Allow("u")], "c": [late]}}
    found = verdict(rows, "a", "b", "c")
    assert [(blame.breach.requirement, blame.at) for blame in found.blamed] == [("R-7", 2)]


def test_our_breach_with_a_stated_consequence_does_not_end_the_judging():
    rows = {"s": {"a": [Breach("client", "R-2", "", then="t")]}, "t": {"b": [Allow("t", ("R-3",))], "c": [BLAMED]}}
    model = Table(rows)
    ours = (Said(0, "client", "a"),)
    kept = judge(model, "s", ours + say("b"), "server")
    assert (kept.verdict, kept.covered) == ("pass", {"R-3": 1})
    assert judge(model, "s", ours + say("c"), "server").verdict == "fail"


def test_our_breach_without_one_is_inconclusive():
    found = verdict({"s": {"a": [OURS]}}, "a", "whatever")
    assert (found.verdict, found.excused_from) == ("inconclusive", 0)


def test_a_hole_is_an_error_of_ours():
    found = verdict({"s": {"a": [Allow("s", ("R-1",))]}}, "a", "b")
    assert found.verdict == "error"
    assert "no rule for Said" in found.why
    assert (found.blamed, found.excused_from) == ((), 1)


def test_a_hole_in_one_reading_is_a_hole():
    """Else the fault of a reading that has a rule would be blamed although another one has no opinion."""
    rows = {"s": {"a": [Allow("t"), Allow("u")]}, "t": {"b": [BLAMED]}, "u": {}}
    assert verdict(rows, "a", "b").verdict == "error"


def test_a_hole_after_anything_is_none():
    assert verdict({"s": {"a": [Allow(ANYTHING)]}}, "a", "b").verdict == "pass"


def test_excused_from_is_where_everything_was_allowed():
    rows = {"s": {"a": [Allow("s")], "x": [Allow(ANYTHING), Allow("t")]}, "t": {"a": [Allow(ANYTHING)]}}
    assert verdict(rows, "a", "x").excused_from is None
    found = verdict(rows, "a", "x", "a", "a")
    assert (found.verdict, found.excused_from) == ("pass", 2)


def test_too_many_readings_are_inconclusive():
    rows = {"s": {"a": [Allow(i) for i in range(MAX_STATES + 1)]}}
    found = verdict(rows, "a", "b")
    assert (found.verdict, found.why, found.blamed) == ("inconclusive", "too many readings", ())
    rows = {"s": {"a": [Allow(i) for i in range(MAX_STATES)]}}
    assert verdict(rows, "a").verdict == "pass"


def test_equal_readings_count_once():
    rows = {"s": {"a": [Allow("s")] * (MAX_STATES + 9)}}
    assert verdict(rows, "a", "a", "a").verdict == "pass"


def test_too_many_silent_moves_are_inconclusive():
    class Endless(Table):
        def drift(self, state):
            return (state + 1,)

    found = judge(Endless({}), 0, say("a"), "server")
    assert (found.verdict, found.why) == ("inconclusive", "too many readings")


@pytest.mark.parametrize("crowd", [lambda n: {"moves": {"full": range(n)}}, lambda n: {"allowed": range(n)}])
def test_too_many_readings_excuse_from_the_event_that_brought_them(crowd):
    """Whether the event itself or the silent moves after it made them too many."""
    found = crowd(MAX_STATES + 1)
    rows = {"s": {"a": [Allow("s")], "b": [Allow(state) for state in found.get("allowed", ["full"])]}}
    judged = verdict(rows, "a", "b", "a", drifts_to=found.get("moves", {"none": ()}))
    assert (judged.verdict, judged.excused_from) == ("inconclusive", 1)


def test_each_two_states_are_compared_once():
    compared = []

    class State(int):
        def __eq__(self, other):
            compared.append((int(self), int(other)))
            return int(self) == int(other)

        __hash__ = int.__hash__

    class Chain(Table):
        def drift(self, state):
            return (State(state + 1),) if state < MAX_STATES - 1 else ()

    watcher = Watcher(Chain({}), State(0), "server")
    assert not watcher.over
    assert len(compared) == len(set(compared)) == MAX_STATES * (MAX_STATES - 1) // 2


def test_silent_moves_are_followed_to_the_end():
    rows = {name: {"z": [BLAMED]} for name in "stu"} | {"v": {"z": [Allow("v")]}}
    moves = {"s": ("t", "s"), "t": ("u",), "u": ("v", "s")}
    assert verdict(rows, "z", drifts_to=moves).verdict == "pass"
    assert verdict(rows, "z", drifts_to={"s": ("t",)}).verdict == "fail"


def test_lapses_do_not_end_the_judging_and_are_faults():
    lapse = Breach("server", "R-4", "not nice", level="SHOULD")
    rows = {"s": {"a": [Allow("s", lapses=(lapse,))], "b": [BLAMED]}}
    found = verdict(rows, "a", "a")
    assert found.verdict == "pass"
    assert [blame.at for blame in found.lapses] == [0, 1]
    found = verdict(rows, "a", "b")
    assert (found.verdict, [blame.breach.requirement for blame in found.faults]) == ("fail", ["R-1", "R-4"])


def test_lapses_count_only_when_every_reading_has_them():
    lapse = Breach("server", "R-4", "not nice")
    assert verdict({"s": {"a": [Allow("s", lapses=(lapse,)), Allow("s")]}}, "a").lapses == ()
    assert verdict({"s": {"a": [Allow("t", lapses=(lapse,)), Allow("s")]}}, "a").lapses == ()


def test_lapses_of_our_own_side_are_not_reported():
    lapse = Breach("client", "R-4", "not nice")
    assert verdict({"s": {"a": [Allow("s", lapses=(lapse,))]}}, "a").lapses == ()


def test_owed_waits_for_every_living_reading():
    rows = {"s": {"a": [Allow("t"), Allow("u")], "b": [Allow("t")], "c": [BLAMED, Allow("t")], "d": [BLAMED]}}
    owes = {"t": (("server", "R-1"),), "u": (("client", "R-2"),)}

    def owed(word, role="server"):
        watcher = Watcher(Table(rows, owes=owes), "s", "server")
        watcher.feed(*say(word))
        return watcher.owed(role)

    assert not owed("a")
    assert owed("b")
    assert not owed("b", "client")
    assert owed("c"), "a reading that blames must not make the tester hurry"
    assert not owed("d")


def test_permits_ignores_readings_that_blame():
    rows = {"s": {"c": [BLAMED, Allow("t")]}, "t": {"d": [BLAMED], "e": [Allow("t")]}}
    watcher = Watcher(Table(rows), "s", "server")
    watcher.feed(*say("c"))
    assert not watcher.permits(*say("d"))
    assert watcher.permits(*say("e"))


# -- any model, any conversation -------------------------------------------------------------------------------------

WORDS = "abc"
STATES = "stu"
OUTCOMES = st.one_of(
    st.builds(Allow, st.sampled_from(STATES), st.sampled_from([(), ("R-1",), ("R-2", "R-3")])),
    st.builds(Allow, st.sampled_from(STATES), st.just(()), st.just((BLAMED,))),
    st.builds(Breach, st.sampled_from(["server", "client"]), st.sampled_from(["R-1", "R-2"]), st.just("")),
    st.builds(Breach, st.sampled_from(["server", "client"]), st.just("R-1"), st.just(""), st.sampled_from(STATES)),
    st.just(Allow(ANYTHING)),
)
ROWS = st.fixed_dictionaries(
    {s: st.fixed_dictionaries({w: st.lists(OUTCOMES, max_size=2) for w in WORDS}) for s in STATES}
)
MODELS = st.builds(
    Table, ROWS, st.dictionaries(st.sampled_from(STATES), st.sampled_from(STATES).map(tuple), max_size=2)
)
TALK = st.lists(st.sampled_from(WORDS), max_size=8).map(lambda words: say(*words))


@given(MODELS, TALK)
def test_judge_says_what_the_watcher_said_online(model, trace):
    watcher = Watcher(model, "s", "server")
    for event in trace:
        watcher.feed(event)
    assert watcher.judgement() == judge(model, "s", trace, "server")


@given(MODELS, TALK, st.sampled_from(WORDS))
def test_asking_changes_nothing(model, trace, word):
    asked, quiet = Watcher(model, "s", "server"), Watcher(model, "s", "server")
    for event in trace:
        asked.permits(*say(word))
        asked.owed("server")
        asked.judgement()
        asked.feed(event)
        quiet.feed(event)
    assert asked.judgement() == quiet.judgement()
    assert asked.over == quiet.over


@given(MODELS, TALK)
def test_a_settled_verdict_stays(model, trace):
    watcher = Watcher(model, "s", "server")
    settled = None
    for event in trace:
        if watcher.over and settled is None:
            settled = watcher.judgement()
        watcher.feed(event)
    if settled is not None:
        assert watcher.judgement() == settled


@given(MODELS, TALK)
def test_verdict_agrees_with_every_single_reading(model, trace):
    """Blame only if each path through the model that has a rule for everything blames the watched role."""
    found = judge(model, "s", trace, "server")
    blames = []  # for each path: the role of the breach that stands at its end, or None
    paths = [("s", None)]
    drift = drift_of(model) or (lambda state: ())

    def closed(state):
        return (state,) if state is ANYTHING else (state, *drift(state))

    for event in trace:
        after = []
        for state, blame in paths:
            for here in reached(state, closed):
                if here is ANYTHING:
                    after.append((here, blame))
                    continue
                for outcome in model.step(here, event):
                    if isinstance(outcome, Allow):
                        after.append((outcome.state, blame))
                    elif outcome.by != "server" and outcome.then is not ANYTHING:
                        after.append((outcome.then, blame))
                    else:
                        after.append((outcome.then, blame or outcome.by))
        paths = list(dict.fromkeys(after))
    blames = {blame for _, blame in paths}
    if found.verdict == "fail":
        assert blames == {"server"}
    elif found.verdict == "pass":
        assert None in blames
    elif found.verdict == "inconclusive":
        assert None not in blames
        assert "client" in blames


def reached(state, closed):
    seen, todo = [], [state]
    while todo:
        here = todo.pop()
        if here not in seen:
            seen.append(here)
            todo += [there for there in closed(here) if there is not here]
    return seen


@pytest.mark.parametrize(
    "event", [Noise(0, "server", b"", "x"), Closed(0, "server"), Quiet(1), Fact(0, "server", "n", 1)]
)
def test_every_kind_of_event_can_be_fed(event):
    class Open(Table):
        def step(self, state, event):
            return [Allow(state, (type(event).__name__,))]

    assert judge(Open({}), "s", (event,), "server").covered == {type(event).__name__: 1}
