"""What a STOMP server is found to be able to do, although it dies or is busy when it is asked."""

from __future__ import annotations

import pytest

from impls.driver.link import MemoryTransport
from impls.launching.manifest import Implementation, Start
from impls.references.stomp.reference import Server, Session
from specs.events import Closed, Quiet, Said
from specs.model import Judgement
from specs.protocol import find
from specs.stomp.frames import Frame
from strategies.stomp.discovery import _speaks
from suites.calibration import Calibration

STOMP = find("stomp")
FACTS = {name: fact.default for name, fact in STOMP.facts.items()}
CONNECTED = Said(0, "server", Frame("CONNECTED", (("version", "1.0"),), b""))
REFUSED = Said(0, "server", Frame("ERROR", (("message", "no"),), b""))
SILENCE = Quiet(True, 250.0)


def configure(learnt):
    return STOMP.configure("server", "1.2", FACTS, learnt)


@pytest.mark.parametrize(
    ("answers", "speaks"),
    [
        ([CONNECTED], True),
        ([REFUSED], False),
        ([Closed(0, "server")], False),
        ([SILENCE, CONNECTED], True),
        ([SILENCE, SILENCE, REFUSED], False),
        ([SILENCE, SILENCE, SILENCE], True),
    ],
)
def test_only_who_refuses_a_version_does_not_speak_it(answers, speaks):
    """Who was silent may have been busy: a CONNECTED that comes in time later is no fault."""
    given = iter(answers)
    assert _speaks(lambda plan, config: ((next(given),), Judgement("pass")), configure, "1.0") is speaks
    assert next(given, None) is None


class Mortal(Server):
    """Dies of the first client that offers 1.0 alone, and serves nobody from then on."""

    dead = False

    class Frail(Session):
        def send(self, data):
            if b"accept-version:1.0\n" in data:
                self.server.dead = True
                raise RuntimeError("it is dead")
            super().send(data)

    session_type = Frail

    def open(self):
        if self.dead:
            raise ConnectionRefusedError
        return super().open()


def test_who_dies_of_one_question_is_asked_the_others():
    transport = MemoryTransport(Mortal)

    def settle(recording):
        died, transport.crash = transport.crash, ""
        if died:
            transport.restart()
        return died

    impl = Implementation("it", "stomp", "server", "1", "1.2", Start("python", "it:Mortal"), FACTS, {}, None, None)
    meeting = Calibration(impl, STOMP, transport, 60.0, settle=settle)
    meeting.meet()
    assert "1.0" not in meeting.learnt["supports"]
    assert meeting.learnt["topic"]["fanout"]
