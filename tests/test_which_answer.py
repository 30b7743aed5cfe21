"""Which of two frames an answer was for may be open: a missing one is no matter of how they are written."""

from __future__ import annotations

from dataclasses import replace

from impls.references.stomp.reference import Session
from strategies.common import Program
from strategies.stomp.writer import Writer
from tests.investigating import Later, blamed_on, hunting
from tests.mutants.kit import server_of


class OnlyOnce(Session):
    """It answers after a moment, and no receipt id twice."""

    had: frozenset[str] = frozenset()

    def receipt(self, receipt: str) -> None:
        if receipt not in self.had:
            self.had |= {receipt}
            self.server.later.append((self.server.now + 3, lambda: super(OnlyOnce, self).receipt(receipt)))


def repeats_a_header(config):
    writer = Writer(config, wire=0, hurry=True)
    line = writer.connect(0)
    writer.say(line, "BEGIN", [("transaction", "t0"), ("receipt", "again"), ("transaction", "other")])
    writer.say(line, "ABORT", [("transaction", "t0"), ("receipt", "again")])
    return replace(writer.plan(), features=frozenset({"repeat"}))


def test_a_missing_receipt_is_none_of_a_repeated_header_where_it_is_missing_without_that():
    hunter, prop, found = hunting(lambda writer: None, server_of(OnlyOnce, Later))
    prop = replace(prop, interpret=lambda program, config, *, hurry: repeats_a_header(config), hurry=True)
    program = Program((0,), ())
    plan = prop.plan(program, hunter.setting.config)
    recording = hunter.play(plan)
    (seen,) = hunter.blamed(recording)
    assert (seen[0], seen[1]) == ("STOMP-1.2-REPEAT-01", "SHOULD")
    hunter.suspects.look(prop, program, hunter.suspects.suspicion(prop, program, plan, recording, seen))
    assert [(blamed_on(fault), fault.level, fault.verdict) for fault in found] == [("RECEIPT-08", "MUST", "fail")]
