"""How KCL is read: its values and frames, and what is waited for."""

import json

from impls.driver.drive import Recording, Setting
from impls.driver.link import MemoryTransport
from impls.references.kcl.child import Child, Switches
from impls.references.kcl.memory import Children
from specs.events import Fact, Said
from specs.kcl.frames import message, read
from specs.kcl.states import Numbers
from strategies.kcl import hosting
from suites.calibration import _slowest
from suites.hunt import Hunter, Investigated, Property
from tests.kcl_plays import KCL, config_of


def test_numbers_are_values():
    one = Numbers().union(["1", "2"])
    left, right = one.union(["3"]), one.union(["4"])
    assert ("3" in left, "3" in right, "4" in left, "3" in one) == (True, False, False, False)
    assert (list(left), list(right), len(one)) == (["1", "2", "3"], ["1", "2", "4"], 2)
    assert left == Numbers().union(["1", "2", "3"]) != right
    assert (left.place("3"), right.place("4"), one.place("3"), one.place(None)) == (2, 2, -1, -1)


def test_escaped_message_survives_json():
    frame = read(json.dumps({"action": "x", "k": "é"}).encode())
    assert frame.escaped
    again = KCL.from_json(KCL.to_json(frame))
    assert (again, again.escaped) == (frame, True)
    assert not read(b'{"action":"x"}').escaped


def test_answers_beside_the_wire_are_waited_for_as_well():
    events = [
        Fact(0, "child", "start", {}),
        Fact(0, "host", "connected", {}),
        Fact(0, "host", "answer", {}),
        Said(0, "host", message("initialize", shardId="s")),
        Said(0, "child", message("status", responseFor="initialize")),
        Fact(0, "host", "answer", {}),
    ]
    assert _slowest(Recording(events=events, stamps=[0.0, 50.0, 300.0, 310.0, 320.0, 330.0]), "host") == 300.0


def test_what_was_only_slow_is_given_more_time():
    class Slow(Child):
        def status(self, action):
            self.switches = Switches(delay_ms=900)
            yield from super().status(action)

    config = config_of("child")
    binding = {r.id: r for r in KCL.requirements.binding("child", "kcl1-seed") if not r.untestable}
    setting = Setting(KCL, config, "child", MemoryTransport(lambda: Children(child=Slow)), 250.0)
    hunter = Hunter(setting, binding, investigate=lambda *_: Investigated(None))
    prop = Property("one", hosting.sessions(), lambda program, config, hurry: KCL.smoke(config))
    for _ in range(50):  # a hunt may be over before it has begun where the machine is busy
        if hunter.setting.patience_ms < 900:
            hunter.hunt(prop, 0.1)
    assert hunter.setting.patience_ms > 900
    assert not hunter.faults
