"""The runner of seeded faults knows those of every protocol, and hunts any of them."""

import pytest

from specs.protocol import names
from tests.mutants.hunted import ALL, key_of, score_one, summary


def test_every_protocol_has_mutants_and_each_a_key_of_its_own():
    assert {mutant.protocol for mutant in ALL} == set(names())
    assert len({key_of(mutant) for mutant in ALL}) == len(ALL)


@pytest.mark.parametrize("protocol", names())
def test_a_mutant_of_any_protocol_is_found(protocol):
    row = score_one(next(mutant for mutant in ALL if mutant.protocol == protocol and not mutant.unseen), budget_s=20)
    assert row.status == "killed", row
    assert summary([row])["killed"] == 1


@pytest.mark.parametrize("mutant", [mutant for mutant in ALL if mutant.unseen], ids=key_of)
def test_what_is_marked_as_unseen_is_not_found(mutant):
    """A mark that has become stale hides a fault that the suite finds."""
    row = score_one(mutant, budget_s=4)
    assert row.status not in ("killed", "late"), f"take the mark off: {row}"
