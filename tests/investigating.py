"""One plan against one faulty server, for tests of investigations: what is reported of it."""

from impls.driver.drive import Setting
from impls.driver.link import MemoryTransport
from impls.references.stomp.reference import Frame, Server, Session
from specs.protocol import find
from strategies.common import Program, programs
from strategies.stomp.writer import PLACES, Writer
from suites.hunt import Hunter, Property
from suites.investigate import Investigator
from tests.mutants.kit import server_of

STOMP = find("stomp")
LEARNT = {
    "supports": ("1.0", "1.1", "1.2"),
    "queue": {"keeps": True, "redelivers": True},
    "topic": {"own": True},
}
QUEUE = PLACES[0]


def config_for():
    return STOMP.configure("server", "1.2", {name: fact.default for name, fact in STOMP.facts.items()}, LEARNT)


def hunted(write, *parts, wire=0):
    """The one fault that is reported when a plan is played against a server made of faulty parts."""
    found = reported(write, server_of(*parts), wire=wire)
    assert len(found) == 1, found
    return found[0]


def hunting(write, make, wire=0):
    """A hunter of a server, the property whose only plan is this one, and what will be reported."""
    found = []

    def interpret(program, config, *, hurry):
        writer = Writer(config, wire=wire, hurry=hurry)
        write(writer)
        return writer.plan()

    binding = {r.id: r for r in STOMP.requirements.binding("server", "1.2") if not r.untestable}
    setting = Setting(STOMP, config_for(), "server", MemoryTransport(make))
    hunter = Hunter(setting, binding, investigate=Investigator(), report=found.append)
    return hunter, Property("one plan", programs({"none": 1}, head=1, most=1, least=0), interpret), found


def reported(write, make, *, wire=0):
    """The faults that are reported, and settled, when a plan is played against a server."""
    hunter, prop, found = hunting(write, make, wire)
    hunter.sound = not hunter.blamed(hunter.play(hunter.smoke()))
    program = Program((0,), ())
    plan = prop.plan(program, hunter.setting.config)
    recording = hunter.play(plan)
    for seen in hunter.blamed(recording)[:1]:
        hunter.suspects.look(prop, program, hunter.suspects.suspicion(prop, program, plan, recording, seen))
    return [fault for fault in found if not fault.unsettled]


def tried(write, make, times=1):
    """What is reported when a hunter tries a plan so many times, confirmed or not."""
    hunter, prop, found = hunting(write, make)
    for _ in range(times):
        hunter.play_one(hunter.pursuit(prop), Program((0,), ()))
    return found


def blamed_on(fault):
    return fault.requirement.removeprefix("STOMP-1.2-")


class LosesEmpty(Session):
    """User headers without a value are left out."""

    def pass_through(self, frame: Frame) -> list[tuple[str, str]]:
        return [pair for pair in super().pass_through(frame) if pair[1]]


class Later(Server):
    """What its sessions put off is done when its time, in ms, has come."""

    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self.later = []

    def advance(self, ms):
        super().advance(ms)
        for due in [each for each in self.later if each[0] <= self.now]:
            self.later.remove(due)
            due[1]()


def message(headers, style=0):
    """A message to oneself with other things around it that do not matter."""

    def write(w):
        other, line = w.line(1), w.line()
        w.subscribe(other, PLACES[1], receipt=w.receipt())
        w.send(other, PLACES[1], receipt=w.receipt())
        w.subscribe(line, QUEUE, receipt=w.receipt())
        w.send(line, QUEUE, headers=headers, style=style, receipt=w.receipt())

    return write
