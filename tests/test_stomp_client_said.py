"""What STOMP plans say in the name of a client: ids with escapes in raw frames, and the version that CONNECT lists."""

from __future__ import annotations

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.stomp.client import Caller, Channel
from specs.events import Noise
from specs.stomp.frames import Frame
from tests.mutants.stomp_client_kit import STOMP, client_of, config_for, misuse


def test_ids_that_need_escapes_have_them_in_raw_frames():
    class Odd(Caller):
        def subscription_id(self, channel, name, destination):
            return "a:b\\"

    made = type("Faulty", (client_of(Channel),), {"caller_type": Odd})
    setting = Setting(STOMP, config_for("1.2"), "client", MemoryTransport(made), 1000.0)
    found = drive(misuse("short")(config_for("1.2")), setting, "t-")
    (noise,) = [event for event in found.events if isinstance(event, Noise)]
    assert (noise.why, b"\nsubscription:a\\cb\\\\\n" in noise.data) == ("content-length-mismatch", True)


@pytest.mark.parametrize(
    ("name", "listed", "states"),
    [("accept-version", "1.0,1.2", True), ("Accept-Version", "1.2", True), ("accept-version", "1.20", False),
     ("accept-version", "1.1", False), ("version", "1.2", False)],
)  # fmt: skip
def test_a_connect_that_lists_the_version_is_judged_by_it(name, listed, states):
    """Whatever else is wrong with it: that is a fault, and no other version."""
    assert STOMP.states(Frame("CONNECT", ((name, listed),)), "1.2") is states
