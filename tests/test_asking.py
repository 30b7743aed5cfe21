"""Questions of a discovery, asked at once: what is learnt is what asking one after the other teaches."""

from __future__ import annotations

import itertools
import threading

import pytest

from specs.model import Judgement
from specs.plan import Plan, SendBytes, TooLong, Wait
from suites.asking import LONG_MS, WIDE, at_once

GUESS = ((), Judgement("inconclusive"))
ANSWERS = {"a": 1, "b": 0, "a again": 5, "after b": 7}


def question(name, rests_ms=0):
    """A plan that goes by this name, and rests at its end."""
    return Plan((SendBytes(0, name.encode()), *([Wait(rests_ms)] if rests_ms else [])))


def name_of(plan):
    return plan.steps[0].data.decode()


def ask_of(asked):
    """Answers questions and notes them down; the nth answer to the same question says so."""
    lock = threading.Lock()

    def ask(plan, config):
        name = name_of(plan)
        with lock:
            asked.append(name)
            return (ANSWERS.get(name, 0), name, asked.count(name), config), Judgement("pass")

    return ask


def discover(ask, configure):
    """Two questions that depend on nothing, one that depends on an answer, and one that is asked three times."""
    a = ask(question("a"), configure({}))[0]
    b = ask(question("b"), configure({}))[0]
    more = ask(question("after b" if b and not b[0] else "never"), configure({"a": a}))[0]
    several = [ask(question("flickers"), None)[0] for _ in range(3)]
    return {"a": a, "b": b, "more": more, "several": several}


def test_what_is_learnt_is_the_same_and_each_question_is_asked_as_often():
    one_by_one, together = [], []
    plain = discover(ask_of(one_by_one), dict)
    found = at_once(discover, dict, ask_of(together), GUESS, 4)
    several = found.pop("several")
    assert sorted(plain.pop("several")) == sorted(several)
    assert found == plain
    assert sorted(each for each in together if each != "never") == sorted(one_by_one)


@pytest.mark.parametrize("alone", range(8))
def test_what_has_been_asked_on_the_spot_is_not_asked_again(alone, monkeypatch):
    """After so many questions one by one the others are asked at once; a clock ticks once for each."""
    clock = itertools.count()
    monkeypatch.setattr("suites.asking.time.monotonic", lambda: next(clock))
    one_by_one, mixed = [], []
    plain = discover(ask_of(one_by_one), dict)
    found = at_once(discover, dict, ask_of(mixed), GUESS, 4, alone)
    assert {name: sorted(each) if name == "several" else each for name, each in found.items()} == plain
    assert mixed[: max(0, alone - 1)] == one_by_one[: max(0, alone - 1)]
    assert sorted(each for each in mixed if each != "never") == sorted(one_by_one)


def test_questions_that_do_not_depend_on_each_other_are_asked_at_once():
    both = threading.Barrier(2, timeout=10)

    def ask(plan, config):
        both.wait()
        return (name_of(plan),), Judgement("pass")

    found = at_once(lambda ask, configure: {n: ask(question(n), None)[0] for n in ("a", "b")}, dict, ask, GUESS, 2)
    assert found == {"a": ("a",), "b": ("b",)}


def test_a_question_that_rests_for_long_is_asked_only_when_it_has_to_be():
    def careful(ask, configure):
        short, _ = ask(question("a"), None)
        return {"a": short, "long": () if short and short[0] else ask(question("long", LONG_MS + 1), None)[0]}

    asked = []
    assert at_once(careful, dict, ask_of(asked), GUESS, 4)["long"] == ()
    assert asked == ["a"]


@pytest.mark.parametrize("place", range(3))
def test_a_question_with_very_many_connections_is_asked_alone(place):
    """Others would be turned away meanwhile, and that would be taken for an answer of theirs."""
    crowd = Plan(tuple(SendBytes(number, b"crowd") for number in range(WIDE + 1)))
    plans = [question(name) for name in ("a", "b")]
    plans.insert(place, crowd)
    lock, going, beside = threading.Lock(), set(), set()
    met = threading.Barrier(2, timeout=10)

    def ask(plan, config):
        with lock:
            going.add(name_of(plan))
        if plan is not crowd:
            met.wait()  # the two others are asked at once
        with lock:
            if "crowd" in going:
                beside.update(going)
            going.remove(name_of(plan))
        return (name_of(plan),), Judgement("pass")

    found = at_once(lambda ask, configure: {n: ask(plan, None)[0] for n, plan in enumerate(plans)}, dict, ask, GUESS, 4)
    assert [each for (each,) in found.values()] == [name_of(plan) for plan in plans]
    assert beside == {"crowd"}


def test_an_error_without_answers_is_no_error_and_one_with_all_of_them_is():
    def picky(ask, configure):
        trace, _ = ask(question("a"), None)
        return {"first": trace[0]}

    assert at_once(picky, dict, ask_of([]), GUESS, 4) == {"first": 1}
    with pytest.raises(IndexError):
        at_once(picky, dict, lambda plan, config: GUESS, GUESS, 4)


def test_an_error_of_a_conversation_comes_out():
    def ask(plan, config):
        raise RuntimeError("ours")

    with pytest.raises(RuntimeError, match="ours"):
        at_once(discover, dict, ask, GUESS, 4)


@pytest.mark.parametrize("width", [1, 4])
def test_a_question_for_which_there_is_no_time_is_told_so(width):
    def careful(ask, configure):
        try:
            return {"long": ask(question("long", 40_000), None)[0]}
        except TooLong:
            return {"long": "no time"}

    def ask(plan, config):
        raise TooLong

    assert at_once(careful, dict, ask, GUESS, width) == {"long": "no time"}


def once_more(ask, configure):
    """The same question twice with a config that grows by what is learnt, and once more with that."""
    b = ask(question("b"), configure({}))[0]
    shown = [ask(question("a"), configure({"b": b[0] if b else None}))[1].verdict for _ in range(2)]
    return {"b": b[0] if b else None, "shown": shown}


@pytest.mark.parametrize("anew", [True, False])
def test_what_was_asked_when_less_was_known_is_judged_anew_where_that_can_be_done(anew):
    asked, judged = [], []

    def again(answer, config):
        judged.append((answer[0][:2], config))
        return Judgement("fail") if anew else None

    found = at_once(once_more, dict, ask_of(asked), GUESS, 4, 0.0, again)
    assert found == {"b": 0, "shown": ["fail"] * 2 if anew else ["pass"] * 2}
    assert sorted(asked) == (["a", "a", "b"] if anew else ["a"] * 4 + ["b"])
    assert ((1, "a"), {"b": 0}) in judged, "what is judged is the conversation, with what is known by now"


def test_each_time_that_a_question_is_asked_again_another_conversation_is_judged_anew():
    seen = []

    def again(answer, config):
        seen.append(answer[0][2])
        return answer[1]

    at_once(once_more, dict, ask_of([]), GUESS, 4, 0.0, again)
    assert sorted(seen) == [1, 2]
