"""How a value of Storm is told in a sentence."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specs.storm.values import shown

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
