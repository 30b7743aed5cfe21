"""How frames are put into octets is tried first: a fault is named after a way of writing if it is gone without."""

from __future__ import annotations

import pytest

from impls.driver.drive import Setting
from impls.driver.link import MemoryTransport
from specs.plan import Say
from strategies.common import Program, programs
from strategies.stomp.desk import Serving
from strategies.stomp.writer import CRLF, CUTS, EOLS
from suites.deadline import TimeUp
from suites.hunt import Hunter, Property
from suites.investigate import Investigator
from tests.mutants.every import of_protocol
from tests.mutants.stomp_client_kit import STOMP, config_for

MUTANTS = {mutant.name: mutant for mutant in of_protocol("stomp") if mutant.role == "client"}
EVERY_WAY = CRLF | CUTS | EOLS


def special(wire):
    """A message that is special in many ways, of which those of `wire` are about its octets."""

    def interpret(program, config, *, hurry):
        s = Serving(config, (wire, 0, 0, 0))
        s.connect()
        s.given(s.ear(), b"a\0\xc3\xa9", [("k", "a:b\\\u00e9"), ("e", "")], style=wire)
        s.given(s.ear(), b"behind")
        s.end()
        return s.plan()

    return Property("one plan", programs({"none": 1}, head=1, most=1, least=0), interpret)


def reported(name, wire, investigate=None):
    """What is reported when the plan is played twice with a faulty client: settled, and not."""
    mutant = MUTANTS[name]
    found, config = [], config_for(mutant.profile)
    binding = {r.id: r for r in STOMP.requirements.binding("client", "1.2") if not r.untestable}
    setting = Setting(STOMP, config, "client", MemoryTransport(mutant.make))
    hunter = Hunter(setting, binding, investigate=investigate or Investigator(), report=found.append)
    pursuit = hunter.pursuit(special(wire))
    for _ in range(2):
        hunter.play_one(pursuit, Program((0,), ()))
    settled = [fault.requirement[10:] for fault in found if not fault.unsettled]
    return hunter, settled, [fault.requirement[10:] for fault in found if fault.unsettled]


@pytest.mark.parametrize(
    ("name", "requirement"),
    [("no-crlf", "FRAME-02"), ("whole-reads", "FRAME-06"), ("eols-behind", "FRAME-03"), ("cr-in-values", "FRAME-02")],
)
def test_a_fault_of_writing_is_named_after_that(name, requirement):
    hunter, faults, suspected = reported(name, EVERY_WAY)
    assert (faults, suspected) == ([requirement], [])
    assert hunter.suspects.unwritten == {"STOMP-1.2-" + requirement}


def test_what_a_frame_holds_is_blamed_where_its_writing_does_not_matter():
    _, faults, suspected = reported("body-ends-at-nul", EVERY_WAY)
    assert (faults, suspected) == (["CLEN-01"], [])


def test_a_known_way_of_writing_is_left_out_of_what_follows():
    hunter, _, _ = reported("no-crlf", EVERY_WAY)
    plan = special(EVERY_WAY).plan(Program((0,), ()), hunter.setting.config)
    said = [step for step in hunter.bare(plan).steps if isinstance(step, Say)]
    assert all(step.style.eol == b"\n" for step in said)
    assert any(step.cuts for step in said)


def test_it_is_named_so_even_if_there_is_no_time_to_shrink():
    class Hasty(Investigator):
        def _shortest(self, *given):
            raise TimeUp

    _, faults, suspected = reported("cr-in-values", EVERY_WAY, Hasty())
    assert (faults, suspected) == (["FRAME-02"], [])
