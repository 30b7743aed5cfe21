"""What the play of a conversation of a baseline tells of the failure that it is kept for."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest

from reports.result import ENOUGH_PASSES
from specs.model import Blame, Breach, Judgement
from specs.plan import Plan
from suites.programs import Stored
from suites.replays import SETTLING, Replays

KEPT = Stored("X-1", "X-1 rule", "X-1 rule", "MUST", (), "x", "", Plan(()))
SHOWN = Judgement("fail", (Blame(Breach("server", "X-1", "x", kind="rule"), 3),))
SHOWN_OTHERWISE = Judgement(
    "fail", (Blame(Breach("server", "X-1", "waits", kind="rule waits", rivals=("X-1 rule",)), 3),)
)
HELD = Judgement("pass", covered=Counter({"X-1": 1}))
NOT_REACHED = Judgement("pass", covered=Counter({"X-2": 1}))
"""What a server does that is mended in another way than was thought of."""
ENDED_BEFORE = Judgement(
    "fail",
    (Blame(Breach("server", "X-2", "slow", kind="other", rivals=("X-1 rule",)), 1),),
    covered=Counter({"X-3": 1}),
)
ENDED_BEHIND = Judgement(
    "fail", (Blame(Breach("server", "X-2", "slow", kind="other"), 9),), covered=Counter({"X-1": 1})
)
UNDECIDED = Judgement("inconclusive")


class Hunter:
    """A hunter that plays nothing, and is told what was seen."""

    def __init__(self, *judgements):
        self.judgements = list(judgements)
        self.playing = SimpleNamespace(lanes=None)
        deadline = SimpleNamespace(over=lambda: False, within=lambda seconds: deadline)
        self.ground = SimpleNamespace(deadline=deadline)
        self.setting = SimpleNamespace(protocol=SimpleNamespace(crash="X-9"))
        self.suspects = SimpleNamespace(know=lambda fault: None, started=0.0)
        self.binding = {"X-1": SimpleNamespace(statement="x")}
        self.played = 0

    def aside(self, faults):
        return faults

    def play(self, plan, setting, alone=False):
        self.played += 1
        last = len(self.judgements) == 1
        return SimpleNamespace(judgement=self.judgements[0] if last else self.judgements.pop(0))

    def judge(self, *what):
        pass


def replayed(*judgements, settling=False, monkeypatch):
    """How the conversation went, with these judgements of its plays, the last of them again and again."""
    hunter = Hunter(*judgements)
    monkeypatch.setattr(Replays, "_pursuit", lambda self, stored: None)
    replays = Replays(hunter, [KEPT], settling=settling)
    replays.play(1.0)
    assert hunter.played <= max(ENOUGH_PASSES, SETTLING)
    (replay,) = replays.replays
    return replay.tried, replay.shown, replays.tally.judged["X-1"]


@pytest.mark.parametrize(
    ("judgements", "tried", "shown", "judged"),
    [
        ([SHOWN], 1, 1, 0),
        ([HELD], ENOUGH_PASSES, 0, 0),
        ([NOT_REACHED], ENOUGH_PASSES, 0, ENOUGH_PASSES),
        ([ENDED_BEHIND], ENOUGH_PASSES, 0, 0),
        ([ENDED_BEFORE], 0, 0, 0),
        ([UNDECIDED], 0, 0, 0),
        ([ENDED_BEFORE, ENDED_BEFORE, SHOWN], 1, 1, 0),
        ([SHOWN_OTHERWISE], 1, 1, 0),
        ([ENDED_BEFORE, NOT_REACHED], ENOUGH_PASSES - 1, 0, ENOUGH_PASSES - 1),
    ],
)
def test_a_play_that_ended_before_it_came_to_the_failure_tells_nothing(judgements, tried, shown, judged, monkeypatch):
    monkeypatch.setattr(Replays, "_fault", lambda self, replay: None)
    assert replayed(*judgements, monkeypatch=monkeypatch) == (tried, shown, judged)


def test_while_a_baseline_is_made_each_is_played_a_few_times_whatever_happens(monkeypatch):
    monkeypatch.setattr(Replays, "_fault", lambda self, replay: None)
    found = replayed(SHOWN, ENDED_BEFORE, SHOWN, settling=True, monkeypatch=monkeypatch)
    assert found == (SETTLING - 1, SETTLING - 1, 0)


def test_what_may_count_is_played_again_before_what_seems_to_be_gone(monkeypatch):
    """There is time for ten plays of eight conversations. One of them shows what counts only if it is always there."""
    monkeypatch.setattr(Replays, "_pursuit", lambda self, stored: None)
    monkeypatch.setattr(Replays, "_fault", lambda self, replay: None)
    gone = [replace(KEPT, requirement="X-5", fingerprint="X-5 rule", sort="X-5 rule")] * 7
    hunter = Hunter(NOT_REACHED)
    hunter.play = lambda plan, setting, alone=False: SimpleNamespace(judgement=plan)
    played = iter(range(13))
    hunter.ground.deadline.over = lambda: False
    hunter.ground.deadline.within = lambda seconds: SimpleNamespace(over=lambda: next(played, None) is None)
    kept = [replace(each, plan=NOT_REACHED) for each in gone] + [replace(KEPT, always=True, plan=SHOWN)]
    replays = Replays(hunter, kept)
    replays.play(1.0)
    assert {each.shown for each in replays.replays if each.stored.requirement == "X-1"} == {3}


def test_what_counts_only_if_it_is_always_there_is_asked_for_several_times_at_once(monkeypatch):
    """Behind the first plays there may be no time for more."""
    monkeypatch.setattr(Replays, "_pursuit", lambda self, stored: None)
    monkeypatch.setattr(Replays, "_fault", lambda self, replay: None)
    hunter, rounds = Hunter(SHOWN), []
    replays = Replays(hunter, [replace(KEPT, level="SHOULD"), replace(KEPT, always=True)])
    monkeypatch.setattr(Replays, "_round", lambda self, turns, over: rounds.append(turns))
    hunter.ground.deadline.within = lambda seconds: SimpleNamespace(over=lambda: bool(rounds))
    replays.play(1.0)
    assert [[each.stored.level for each in turns] for turns in rounds] == [["MUST", "SHOULD", "MUST", "MUST"]]


@pytest.mark.parametrize(
    ("before", "now", "verdict"),
    [
        ((0, 0), (2, 2), "inconclusive"),  # a file of an older release does not say how often it was played
        ((0, 0), (3, 3), "fail"),
        ((5, 5), (1, 1), "fail"),
        ((5, 5), (1, 2), "inconclusive"),
        ((4, 5), (3, 3), "inconclusive"),
        ((1, 1), (1, 1), "inconclusive"),
    ],
)
def test_what_counts_only_if_it_is_always_there_was_so_in_all_plays(before, now, verdict):
    kept = replace(KEPT, always=True, shown=before[0], tried=before[1])
    replays = Replays(Hunter(), [kept])
    (replay,) = replays.replays
    replay.shown, replay.tried = now
    replay.last = SimpleNamespace(), Blame(Breach("server", "X-1", "x", kind="rule"), 3)
    assert replays._fault(replay).verdict == verdict


@pytest.mark.parametrize(
    ("requirement", "duty", "rivals"),
    [("X-1", "", ("X-2 rule",)), ("X-7", "X-7 owed", ("X-1 rule",)), ("X-8", "X-7 owed", ())],
)
def test_what_may_be_the_reason_as_well_is_told_of_a_known_failure_too(requirement, duty, rivals):
    breach = Breach("server", "X-1", "x", also=("X-7",), kind="rule", duty=duty, rivals=("X-2 rule",))
    hunter = Hunter()
    hunter.binding[requirement] = SimpleNamespace(statement="x")
    replays = Replays(hunter, [replace(KEPT, requirement=requirement)])
    (replay,) = replays.replays
    replay.tried, replay.shown, replay.last = 1, 1, (SimpleNamespace(), Blame(breach, 3))
    assert replays._fault(replay).rivals == rivals
