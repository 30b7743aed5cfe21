"""The opening deck: stored programs that judge what the reference lets us judge, and who is turned to for the rest."""

from __future__ import annotations

import time

import pytest
from echo import setting

from impls.launching.manifest import resolve
from specs.plan import Plan
from strategies.common import Op, Program, programs
from suites.cards import Card, load, path_of
from suites.deadline import Deadline
from suites.deck import cover, judged_by, opened, ordered
from suites.hunt import Hunter, Investigated, Property
from suites.properties import properties
from suites.schedule import Share, hunt, pursuits

REFERENCES = resolve("reference")
MISSED = 0.9
"""Part of what a deck says that it judges that it must still judge; the deck is stale when it is less."""


@pytest.mark.parametrize("impl", REFERENCES, ids=lambda impl: f"{impl.protocol}-{impl.role}-{impl.name}")
def test_a_stored_deck_judges_what_it_says(impl, tmp_path):
    """Else: python -m suites.deck PROTOCOL"""
    deck = load(impl.protocol, impl.role, impl.profile)
    known = {prop.key: prop for prop, _ in properties(impl.protocol, impl.role)}
    assert deck, "no deck is stored"
    assert {card.key for card in deck} <= known.keys(), "the deck names a property that there is no more"
    session = opened(impl, tmp_path)
    hunter = session.hunter()
    found = frozenset().union(*(judged_by(hunter, known[card.key], card.program) for card in deck))
    session.close()
    said = frozenset().union(*(card.judges for card in deck))
    assert said <= set(session.protocol.requirements)
    assert len(found & said) >= MISSED * len(said), sorted(said - found)
    assert not hunter.faults


def test_a_deck_is_stored_for_each_role_that_has_a_reference():
    assert all(path_of(impl.protocol, impl.role).exists() for impl in REFERENCES)


def card(key, *judges, ops=1):
    return Card(key, Program((0,), (Op("a"),) * ops), frozenset(judges))


def test_a_cover_is_small_and_loses_nothing():
    cards = [card("one", "A"), card("two", "B"), card("both", "A", "B"), card("long", "A", "B", ops=5), card("c", "C")]
    assert [each.key for each in cover(cards)] == ["both", "c"]


def test_what_judges_most_for_its_cost_is_played_first_in_turns_with_the_rest_as_it_was():
    cards = [card("long", "A", "B", "C", ops=8), card("two", "A", "B"), card("c", "C", ops=2), card("a", "A")]
    assert [each.key for each in ordered(cards, lambda each: 1 + len(each.program.ops))] == ["two", "long", "c", "a"]


def hunted(house, monkeypatch, deck, *, single=False, judged=()):
    """Names of the properties in the order of their turns; a plan takes ten milliseconds."""
    played, now = [], [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def interpret(name):
        def interpret(program, config, *, hurry):
            played.append((name, program))
            now[0] += 0.01
            return Plan(())

        return interpret

    binding = {r.id: r for r in house.protocol.requirements.binding("server", "1")}
    where = setting(house, "server", house.reference.server)
    hunter = Hunter(where, binding, investigate=lambda *_: Investigated(None), deadline=Deadline(30, time.monotonic))
    hunter.judged.update(judged)
    shares = [
        Share(Property(name, programs({"a": 1}, head=1, most=1), interpret(name), key=name)) for name in ("x", "y", "z")
    ]
    hunt(hunter, pursuits(hunter, shares, 3.0), 3.0, lambda: None, deck, single=single)
    return played, binding


def test_the_deck_is_played_first_and_in_its_order(house, monkeypatch):
    any_id = next(iter(house.protocol.requirements))
    deck = [Card(key, Program((7,), (Op("a", (9,) * 5),)), frozenset({any_id})) for key in ("z", "y", "z")]
    played, _ = hunted(house, monkeypatch, deck)
    assert [name for name, _ in played[:3]] == ["z", "y", "z"]
    assert all(program == deck[0].program for _, program in played[:3])
    assert {name for name, _ in played} == {"x", "y", "z"}


def test_what_the_deck_should_have_judged_is_played_once_more(house, monkeypatch):
    """Of two programs for one requirement the first, and none of what is judged."""
    rows = [r.id for r in house.protocol.requirements.binding("server", "1")]
    deck = [Card("y", Program((nth,), (Op("b"),)), frozenset({row})) for nth, row in enumerate((*rows[:2], rows[0]), 7)]
    played, _ = hunted(house, monkeypatch, deck, judged=rows[1:])
    counts = [sum(program == card.program for _, program in played) for card in deck]
    assert counts == [2, 1, 1]


def test_what_reaches_what_is_unjudged_is_turned_to(house, monkeypatch):
    """Nothing that these play judges anything, so the property that could is asked more often than the others."""
    rows = [r.id for r in house.protocol.requirements.binding("server", "1")]
    deck = [Card("y", Program((0,), (Op("a"),)), frozenset({rows[0]}))]
    played, binding = hunted(house, monkeypatch, deck)
    count = {key: sum(name == key for name, _ in played) for key in "xyz"}
    assert count["y"] > 1.3 * max(count["x"], count["z"])
    played, _ = hunted(house, monkeypatch, deck, judged=binding)
    count = {key: sum(name == key for name, _ in played) for key in "xyz"}
    assert count["y"] < 1.3 * max(count["x"], count["z"])
    played, _ = hunted(house, monkeypatch, deck, judged=binding, single=True)
    count = {key: sum(name == key for name, _ in played) for key in "xyz"}
    assert count["y"] > 1.3 * max(count["x"], count["z"])
