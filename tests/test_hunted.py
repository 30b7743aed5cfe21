"""The runner of seeded faults knows those of every protocol, and hunts any of them."""

import pytest

from specs.protocol import names
from tests.mutants.hunted import ALL, key_of, score_one, summary
from tests.mutants.page import joined, page


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


def test_the_page_counts_the_faults_of_each_role_and_requirement():
    one, other = (next(m for m in ALL if m.role == role and m.protocol == "stomp") for role in ("server", "client"))
    row = {"requirement": one.requirement, "seconds": 0.5, "others": []}
    rows = [
        row | {"mutant": key_of(one), "status": "killed"},
        row | {"mutant": key_of(other), "requirement": other.requirement, "status": "wrong", "others": ["X-1"]},
    ]
    told = page({"budget_s": 10.0, "rows": rows})
    assert "| stomp, server | 1 | 1 | 0 | 0 | 0 | 0.5 |" in told
    assert "| **all** | 2 | 1 | 0 | 1 | 0 | 0.5 |" in told
    assert f"| {key_of(other)} | {other.requirement} | X-1 |" in told


def test_scores_of_several_protocols_are_one_only_where_the_faults_had_the_same_time():
    one, other = ({"budget_s": 10.0, "rows": [name]} for name in ("a", "b"))
    assert joined([one, other])["rows"] == ["a", "b"]
    with pytest.raises(ValueError, match="different budgets"):
        joined([one, {**other, "budget_s": 5.0}])
