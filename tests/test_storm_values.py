"""How a value of Storm is told in a sentence."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specs.storm.values import apart, same, shown

PLAIN = st.text("xy\n", max_size=150) | st.none() | st.booleans() | st.integers(-1000, 1000)
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text("ab"), inner), max_leaves=30)


@given(VALUES, st.integers(1, 120))
def test_it_is_the_beginning_of_what_the_value_is(value, limit):
    text = repr(value)
    assert shown(value, limit) == (text if len(text) <= limit else f"{text[:limit]}…")


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value", ["x" * (1 << 24), {"msg": ["x" * (1 << 24)] * 50}, list(range(1_000_000)), nested(900)]
)
def test_no_more_is_looked_at_than_is_told(value):
    """A duty that names a message is asked for after each event."""
    begun = time.process_time()
    for _ in range(50):
        assert len(shown(value)) == 101
    assert time.process_time() - begun < 2.0  # to show all of it takes a minute and more


@pytest.mark.parametrize(
    ("due", "got", "told"),
    [
        (["a", "x\U0010ffff"], ["a", "x\ufffd"], "[1] is '\\ufffd' from its character 1 on, not '\\U0010ffff'"),
        (["word"], ["words"], "[0] is 's' from its character 4 on, not ''"),
        ([{"a": [1, {"b": None}]}], [{"a": [1, {"b": 0}]}], "[0]['a'][1]['b'] is 0, not None"),
        ([{"a": 1}], [{"a": 1, "b": 2}], "[0]['b'] is not due"),
        ([{"a": 1}], [{}], "[0]['a'] is missing"),
        ([1, 2], [1], "the list has 1 values, not 2"),
        (["1"], [1], "[0] is 1, not '1'"),
        ([1], None, "it is None, not [1]"),
    ],
)
def test_where_values_differ_is_told(due, got, told):
    assert not same(due, got)
    assert apart(due, got) == told
