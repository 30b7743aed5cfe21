"""Each bench runs; what it measures is not asked here."""

import json

import pytest

from bench import corpus
from bench.__main__ import BENCHES, main
from bench.measure import Figure, Rate, in_turns, ratios, table


@pytest.mark.parametrize("name", BENCHES)
def test_bench_runs(name, capsys):
    if name == "spark":
        pytest.importorskip("duckdb", reason="what Spark is compared with is in the group bench")
    assert main([name, "--tiny"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{name} ...")
    assert "target" in out


def test_unknown_bench_is_refused(capsys):
    with pytest.raises(SystemExit) as raised:
        main(["nothing"])
    assert raised.value.code == 2
    assert "there are lockstep, turns" in capsys.readouterr().err


def test_works_are_measured_in_turns():
    order, now = [], iter(range(100))
    works = {"a": lambda n: order.append(("a", n)) or 2, "b": lambda n: order.append(("b", n)) or 1}
    rates = in_turns(works, 2, clock=lambda: next(now))
    assert order == [("a", -1), ("b", -1), ("a", 0), ("b", 0), ("a", 1), ("b", 1)]
    assert ratios(rates["a"], rates["b"]) == (2.0, 2.0)
    assert rates["a"] == Rate("a", "steps", (2.0, 2.0))
    assert ratios(rates["a"], Rate("c", "steps", (0.0, 1.0))) == (2.0,)


def test_targets_are_judged_by_the_median():
    assert Figure("b", "w", (1, 5, 6), 5).met
    assert not Figure("b", "w", (1, 4, 6), 5).met
    assert Figure("b", "w", (1, 5, 6), 5, at_most=True).met
    assert Figure("b", "w", (), 5).met is None
    assert Figure("b", "w", (1,)).met is None


def test_table_shows_what_was_missed_and_what_was_not_measured():
    text = table([Figure("b", "slow", (1, 2, 3), 5), Figure("b", "absent", (), 5), Figure("b", "fast", (9,), 5)])
    assert ">= 5 x: MISSED" in text
    assert "1 - 3" in text
    assert "not measured" in text
    assert ">= 5 x: met" in text


def test_a_corpus_is_compared_with_fresh_draws_on_the_rarest_faults(tmp_path, capsys):
    rows = [
        {"mutant": "stomp-server-abort-unknown-unheard", "status": "killed", "unseen": "", "plans": 5},
        {"mutant": "stomp-server-receipt-again-at-abort", "status": "killed", "unseen": "", "plans": 4},
    ]
    score = tmp_path / "score.json"
    score.write_text(json.dumps({"rows": rows}))
    assert (
        corpus.main([str(score), "--rarest", "1", "--seeds", "1", "--seconds", "20", "--corpus", "60", "-j", "1"]) == 0
    )
    said = capsys.readouterr().out
    assert "abort-unknown-unheard" in said
    assert "again-at-abort" not in said
    assert "fell, fresh draws (of 1) 100.0 %" in said
    assert "plans: median, fresh / corpus" in said
