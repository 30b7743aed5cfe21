"""Programs: every drawing means something, and shrinking only ever goes down."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies.common import ARGS, Op, Program, programs, simpler

KINDS = {"send": 8, "sub": 5, "rare": 1}
OPS = st.builds(Op, st.sampled_from(sorted(KINDS)), st.tuples(*[st.integers(0, 255)] * ARGS))
PROGRAMS = st.builds(Program, st.tuples(*[st.integers(0, 255)] * 2), st.lists(OPS, max_size=16).map(tuple))


def valid(program: Program) -> bool:
    return (
        isinstance(program, Program)
        and len(program.head) == 2
        and all(0 <= value <= 255 for value in program.head)
        and all(isinstance(op, Op) and op.kind in KINDS and len(op.args) == ARGS for op in program.ops)
        and all(0 <= value <= 255 for op in program.ops for value in op.args)
    )


def size(program: Program) -> tuple[int, int]:
    """What shrinking lowers: first the number of ops, then the sum of the numbers."""
    return len(program.ops), sum(program.head) + sum(sum(op.args) for op in program.ops)


@given(programs(KINDS, head=2, most=9, least=2))
def test_every_drawing_is_a_program(program):
    assert valid(program)
    assert 2 <= len(program.ops) <= 9


@given(st.data(), st.integers(0, 4), st.integers(1, 20), st.integers(0, 19))
def test_lengths_are_kept(data, head, most, less):
    least = max(0, most - less)
    program = data.draw(programs(KINDS, head=head, most=most, least=least))
    assert len(program.head) == head
    assert least <= len(program.ops) <= most


@pytest.mark.parametrize("kinds", [{"a": 1}, KINDS, {"a": 1, "b": 255}, dict.fromkeys("abcdefghijklmnop", 1)])
def test_kinds_come_in_proportion_to_their_weights(kinds):
    from strategies.common import _wheel  # noqa: PLC0415 - what is drawn from is this list, octet by octet

    wheel = _wheel(kinds)
    assert len(wheel) == 256
    for kind, weight in kinds.items():
        assert abs(wheel.count(kind) - 256 * weight / sum(kinds.values())) < 1
        assert kind in wheel


@pytest.mark.parametrize(
    "kinds",
    [
        {"a": 10_000, "b": 1},
        {"b": 1, "a": 10_000},
        {"a": 1, "b": 9_999, "c": 1, "d": 9_999, "e": 1},
        {"z": 9_999} | {f"k{n}": 1 for n in range(255)},
        {f"k{n}": 1 for n in range(255)} | {"z": 9_999},
    ],
)
def test_no_kind_is_too_rare_to_be_drawn(kinds):
    from strategies.common import _wheel  # noqa: PLC0415 - as above

    wheel = _wheel(kinds)
    assert len(wheel) == 256
    assert set(wheel) == set(kinds)


@pytest.mark.parametrize("kinds", [{}, {"a": 1, "b": 0}, {f"k{n}": 1 for n in range(257)}])
def test_kinds_that_could_not_be_drawn_are_refused(kinds):
    with pytest.raises(ValueError, match="1 to 256 kinds"):
        programs(kinds, head=1, most=1)


@settings(max_examples=50)
@given(PROGRAMS)
def test_each_simpler_program_is_valid_and_simpler(program):
    for other in simpler(program):
        assert valid(other)
        assert size(other) < size(program)


@settings(max_examples=50)
@given(PROGRAMS)
def test_every_single_op_is_offered_for_deletion_and_every_number_for_lowering(program):
    offers = set(simpler(program))
    if len(program.ops) > 1:
        for i in range(len(program.ops)):
            assert Program(program.head, program.ops[:i] + program.ops[i + 1 :]) in offers
    for i, op in enumerate(program.ops):
        for j, value in enumerate(op.args):
            if value:
                lower = Op(op.kind, (*op.args[:j], value - 1, *op.args[j + 1 :]))
                assert Program(program.head, (*program.ops[:i], lower, *program.ops[i + 1 :])) in offers


@settings(max_examples=50)
@given(PROGRAMS)
def test_greedy_shrinking_ends_at_the_simplest_program(program):
    steps = 0
    while (smaller := next(simpler(program), None)) is not None:
        program = smaller
        steps += 1
        assert steps < 1000
    assert program.ops == ()
    assert not any(program.head)


@settings(max_examples=30)
@given(PROGRAMS.filter(lambda program: any(op.kind == "rare" and op.args[0] > 3 for op in program.ops)))
def test_greedy_shrinking_finds_the_least_that_still_shows_it(program):
    def shows(other):
        return any(op.kind == "rare" and op.args[0] > 3 for op in other.ops)

    while (smaller := next((other for other in simpler(program) if shows(other)), None)) is not None:
        program = smaller
    assert program == Program((0, 0), (Op("rare", (4, 0, 0, 0, 0)),))


def test_shrinking_a_long_program_offers_a_bounded_number():
    program = Program((255,) * 3, tuple(Op("send", (255,) * ARGS) for _ in range(40)))
    assert sum(1 for _ in simpler(program)) < 5000
