"""An implementation that is only slow may still be wrong: with patience its conversation shows another fault."""

from __future__ import annotations

import pytest

from impls.references.stomp.reference import Session
from strategies.common import Program
from suites.pursuit import NO_TIME
from tests.investigating import QUEUE, Later, blamed_on, hunting, reported
from tests.mutants.kit import server_of
from tests.test_confirming import until_played

SLOW_MS = 3_000


class Late(Session):
    """Its receipts come late."""

    def receipt(self, receipt: str) -> None:
        self.server.later.append((self.server.now + SLOW_MS, lambda: super(Late, self).receipt(self.known_as(receipt))))

    def known_as(self, receipt: str) -> str:
        return receipt


class LateAndWrong(Late):
    """They are about something else as well."""

    def known_as(self, receipt: str) -> str:
        return receipt + "0"


def sends(w):
    w.send(w.connect(0), QUEUE, b"x", receipt=w.receipt())


@pytest.mark.parametrize(("part", "names"), [(Late, []), (LateAndWrong, ["RECEIPT-02"])])
def test_what_comes_late_is_judged(part, names):
    found = reported(sends, server_of(part, Later))
    assert [(blamed_on(fault), fault.verdict) for fault in found] == [(name, "fail") for name in names]
    assert all((fault.reproduced, fault.tried) == (3, 3) for fault in found)


@pytest.mark.parametrize(("plans", "verdict"), [(5, ""), (6, "inconclusive"), (8, "fail")])
def test_what_there_is_no_time_to_confirm_is_suspected(monkeypatch, plans, verdict):
    hunter, prop, _ = hunting(sends, server_of(LateAndWrong, Later))
    hunter.sound, program = True, Program((0,), ())
    (seen,) = hunter.blamed(hunter.play(prop.plan(program, hunter.setting.config)))
    found = hunter.suspects.investigate(hunter, prop, program, seen[0], 0.0, True, until_played(monkeypatch, plans))
    assert (found.fault.verdict if found.fault is not None else "") == verdict
    assert (found.fault.unsettled if found.fault is not None else found.unsettled) == (
        "" if verdict == "fail" else NO_TIME
    )
