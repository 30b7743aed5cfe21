"""Starting again what has died, while the run ends."""

from __future__ import annotations

import socket
import threading
from types import SimpleNamespace

import pytest

from impls.driver.link import TcpTransport
from impls.launching.running import LaunchError
from specs.model import Judgement
from suites.deadline import Deadline
from suites.started import Started

WAIT_S = 10.0


class Program:
    """A program that ends when it is asked to, and tells what was done with it."""

    def __init__(self):
        self.done, self.gone, self.reviving, self.revive = [], False, threading.Event(), threading.Event()

    def alive(self):
        return not self.gone

    def ending(self):
        return "exit status 1"

    def log_tail(self, lines):
        return ""

    def restart(self):
        self.reviving.set()
        assert self.revive.wait(WAIT_S)
        self.done.append("restart")

    def stop(self):
        if not self.done or self.done[-1] != "stop":
            self.done.append("stop")
        self.gone = True


@pytest.fixture
def started(monkeypatch):
    """What runs such a program, and the program."""
    started = Started(
        SimpleNamespace(role="server", start=SimpleNamespace(kind="command")), SimpleNamespace(), Deadline(WAIT_S)
    )
    monkeypatch.setattr(Started, "_ready", lambda self, running: None)
    started._running, started.transport = Program(), TcpTransport(lambda: ("127.0.0.1", 1))
    return started, started._running


BROKEN_OFF = SimpleNamespace(refused="refused", judgement=Judgement("fail"))


def test_what_was_stopped_is_not_started_again_by_a_conversation_that_its_end_has_cut(started):
    started, program = started
    started.stop()
    assert started.settle(BROKEN_OFF) == ""
    started.start_anew()
    assert program.done == ["stop"]


def test_what_is_just_started_again_is_stopped_behind_that(started):
    started, program = started
    program.gone = True
    told = []
    settling = threading.Thread(target=lambda: told.append(started.settle(BROKEN_OFF)))
    settling.start()
    assert program.reviving.wait(WAIT_S)
    assert program.done == ["stop"]  # what is left of the life before
    stopping = threading.Thread(target=started.stop)
    stopping.start()
    stopping.join(0.05)
    assert program.done == ["stop"]
    program.revive.set()
    for thread in (settling, stopping):
        thread.join(WAIT_S)
    assert program.done == ["stop", "restart", "stop"]
    assert told[0].startswith("exit status 1 in this conversation")


@pytest.mark.parametrize("held", [True, False])
def test_what_finds_its_port_taken_is_started_at_another_one(started, monkeypatch, held):
    started, program = started
    started._impl.start.port = None
    with socket.create_server(("127.0.0.1", 0)) as other:
        program.address = other.getsockname()
        if not held:
            other.close()
        program.gone = True
        program.revive.set()
        turns = iter([LaunchError("ended before it was ready"), None])

        def ready(self, running):
            if (error := next(turns)) is not None:
                raise error

        monkeypatch.setattr(Started, "_ready", ready)
        if held:
            started._come_up(program)
        else:
            with pytest.raises(LaunchError):
                started._come_up(program)
    assert program.done == (["restart"] if held else [])
