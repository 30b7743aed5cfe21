"""What a run that makes a baseline estimates to be left to find."""

from __future__ import annotations

import pytest

from records.rows import RoundRow
from reports.left import QUIET_ROUNDS, left
from tests.summaries import judged, summed


def rounds(*seen: tuple[str, ...]) -> list[RoundRow]:
    return [RoundRow(round=n, plans=100, seen=each) for n, each in enumerate(seen, 1)]


def test_the_estimate_follows_from_what_was_seen_once_and_twice() -> None:
    found = left(rounds(("1 a", "1 b", "9 c"), ("1 d", "1 b", "3 e"), ()))
    assert found is not None
    assert (found.rounds, found.plans, found.sorts, found.once, found.twice, found.quiet) == (3, 300, 5, 2, 1, 1)
    assert found.unknown == pytest.approx(2 * 1 / (2 * 2))
    assert found.next_round == pytest.approx(1 / 2)  # Good-Turing says 2 / 3; a round without news says less
    assert not found.enough
    assert "2 seen once and 1 twice" in str(found)
    assert left([]) is None


def test_looking_on_ends_when_little_is_left_and_not_before() -> None:
    assert not left(rounds((), ())).enough, "what shows now and then is found out by repetition"
    assert left(rounds((), (), ())).enough
    assert left(rounds(("2 a",), (), ())).enough
    assert not left(rounds(("1 a",), (), ())).enough
    assert left(rounds(("1 a",), *[()] * QUIET_ROUNDS)).enough
    assert not left(rounds(*[()] * (QUIET_ROUNDS - 1), ("1 a",))).enough


def test_workers_hunt_in_the_same_round() -> None:
    both = [*rounds(("1 a",), ("1 b",)), *rounds(("1 a",), ())]
    found = left(both)
    assert (found.rounds, found.plans, found.once, found.twice, found.quiet) == (2, 400, 1, 1, 0)


@pytest.mark.parametrize("text", ["", "x", "-1 a", "９ a", "9" * 40 + " a", "1.5 a"])
def test_what_nobody_can_read_counts_nothing(text: str) -> None:
    assert left(rounds((text,))).once == 0


def test_a_summary_tells_it() -> None:
    summary = summed(judged(), *rounds(("1 A-01 x",)))
    assert summary.left is not None
    assert summary.left.sorts == 1
    assert summed(judged()).left is None
