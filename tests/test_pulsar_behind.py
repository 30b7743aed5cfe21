"""What follows from a fault that is known is blamed on nothing else."""

from __future__ import annotations

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from tests.mutants.every import of_protocol
from tests.mutants.pulsar_kit import PULSAR

MUTANTS = of_protocol("pulsar")
BEHIND = [
    each for each in MUTANTS
    if not each.unseen and (each.role == "broker" or each.requirement.startswith("PULSAR-BAT"))
    and each.name not in ("receipts-in-turned-pairs", "batch-backwards")  # which are out of order in two ways
    and each.name != "one-buffer-for-batches"  # in what it hands over no message of the broker can be recognised
]  # fmt: skip


@pytest.mark.parametrize("mutant", BEHIND, ids=str)
def test_nothing_else_is_blamed_behind_a_known_fault(mutant):
    known, names = frozenset(), set()
    for _ in range(4):
        setting = Setting(PULSAR, mutant.config, mutant.role, MemoryTransport(mutant.make), set_aside=known)
        blamed = drive(mutant.witness(mutant.config), setting, "m-").judgement.faults
        names |= {blame.breach.requirement for blame in blamed}
        after = known | {part for blame in blamed for part in (blame.breach.fingerprint, blame.breach.duty) if part}
        if after == known:
            break
        known = after
    assert names
    assert names <= mutant.blames
