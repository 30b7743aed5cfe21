"""A corpus of a campaign, played by a run: the file, and what the run says of it."""

from __future__ import annotations

import json

import pytest

from records import reader
from records.rows import PropertyRow, RunRow
from strategies.common import Op, Program
from suites.cards import load as deck
from suites.corpus import CorpusError, Shown, load, written
from tests.test_cli import faulty, run  # noqa: F401 - a fixture

SERVER = ("stomp", "server")
ONE = Shown("test_x::test", Program((1, 2), (Op("send", (0, 7)), Op("ack", ()))), ("cell A b", "held STOMP-1.2-ACK-03"))
LEANT = Shown("test_y::test", Program((), ()), ("held STOMP-1.2-ACK-01 by E-3",))


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "corpus.json"
    path.write_text(written({SERVER: [ONE, LEANT], ("kcl", "child"): [LEANT]}), "ascii")
    found = load(path, [SERVER, ("storm", "bolt")])
    assert found.keys() == {SERVER}
    assert [(card.key, card.program) for card in found[SERVER]] == [(one.key, one.program) for one in (ONE, LEANT)]
    assert [card.judges for card in found[SERVER]] == [{"STOMP-1.2-ACK-03"}, {"STOMP-1.2-ACK-01"}]


def changed(**more):
    document = json.loads(written({SERVER: [ONE]}))
    return json.dumps({**document, **more})


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "no corpus"),
        ("[]", "no member `roles`"),
        ('{"schema": 1}', "no member `roles`"),
        (changed(schema=9), "newer release"),
        (changed(roles=[{"protocol": "stomp", "role": "server", "programs": [{"key": "k"}]}]), "no corpus"),
        (changed(roles=[{"protocol": "stomp", "role": "server",
                         "programs": [{"key": "k", "program": [["x"], []], "shows": []}]}]), "no corpus"),
        ('{"roles":' + "[" * 100_000, "no corpus"),
        (written({("kcl", "child"): [ONE]}), "only for a child of kcl"),
        (written({}), "only for nothing at all"),
    ],
)  # fmt: skip
def test_what_is_no_corpus_for_this_is_refused_with_a_remedy(tmp_path, text, word):
    path = tmp_path / "corpus.json"
    path.write_text(text, "utf-8")
    with pytest.raises(CorpusError, match=word) as refused:
        load(path, [SERVER])
    assert str(path) in str(refused.value)
    with pytest.raises(CorpusError, match="python -m campaigns corpus"):
        load(tmp_path / "nothing.json", [SERVER])


@pytest.fixture
def corpus(tmp_path):
    """Every program of the deck that judges NACK, one of each property, and one of a property that nobody knows."""
    cards = {card.key: card for card in deck(*SERVER, "1.2") if any("NACK" in name for name in card.judges)}
    shown = [Shown(card.key, card.program, tuple(f"held {name}" for name in card.judges)) for card in cards.values()]
    assert len(shown) > 2
    path = tmp_path / "corpus.json"
    path.write_text(written({SERVER: [*shown, ONE]}), "ascii")
    return path, len(shown)


def test_a_run_plays_the_corpus_and_nothing_else_and_is_done_when_it_is(faulty, corpus, tmp_path):  # noqa: F811
    path, count = corpus
    impl = faulty("Faulty")
    done = run("suites/stomp", f"--impl={impl}", f"--corpus={path}", "--budget=40", f"--results={tmp_path / 'r'}",
               cwd=tmp_path)  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{count} of {count + 1} programs of the corpus were played; 1 are of properties" in done.stdout
    assert "STOMP-1.2-NACK-01" in done.stdout
    rows = reader.gather(sorted((tmp_path / "r").rglob("*.jsonl"))).rows
    assert sum(row.plans for row in rows if isinstance(row, PropertyRow)) == count
    assert [row.partial for row in rows if isinstance(row, RunRow)] == [True]
    (end,) = [row for row in rows if row.kind == "end"]
    assert end.seconds < 30


def test_a_file_that_is_no_corpus_is_a_usage_error(tmp_path):
    done = run("suites/stomp", "--impl=reference", f"--corpus={tmp_path / 'none.json'}", f"--results={tmp_path / 'r'}")
    assert done.returncode == 4
    assert "none.json: this is no corpus (No such file or directory)" in done.stderr
    assert not (tmp_path / "r").exists()
