"""Pieces of a frame come apart: the next one is sent when the one before has been read."""

from __future__ import annotations

import os
import socket
import threading
from contextlib import suppress

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import TcpTransport
from impls.driver.unread import of_connection, of_pipe
from specs.plan import Plan, Say
from specs.protocol import find

STOMP = find("stomp")


def told(ours):
    """What the kernel says of a connection; a machine that tells nothing can't be tested."""
    found = of_connection(ours)
    if found is None:
        pytest.skip("this machine does not tell what is unread on a connection")
    return found


@pytest.mark.parametrize(("family", "host", "name"), [
    (socket.AF_INET, "127.0.0.1", "127.0.0.1"), (socket.AF_INET6, "::1", "::1"), (socket.AF_INET6, "::", "127.0.0.1"),
])  # fmt: skip
def test_what_a_peer_has_not_read_is_seen(family, host, name):
    try:
        door = socket.create_server((host, 0), family=family, dualstack_ipv6=host == "::")
    except OSError:
        pytest.skip(f"no {host} here")
    with door, socket.create_connection((name, door.getsockname()[1])) as ours:
        peer, _ = door.accept()
        with peer:
            assert told(ours) == 0
            ours.sendall(b"hello")
            assert told(ours) == 5
            assert peer.recv(2) == b"he"
            assert told(ours) == 3
            peer.sendall(b"more")
            assert of_connection(peer) == 4


def test_what_cannot_be_seen_is_told_as_such():
    with socket.socket() as nobody:
        assert of_connection(nobody) is None
    file, other = os.pipe()
    os.close(other)
    os.close(file)
    assert of_pipe(file) is None


def test_what_is_left_in_a_pipe_is_seen():
    theirs, ours = os.pipe()
    os.write(ours, b"hello")
    assert of_pipe(ours) == 5
    assert os.read(theirs, 2) == b"he"
    assert of_pipe(ours) == 3
    os.close(theirs)
    os.close(ours)


@pytest.fixture
def reader():
    """A port, and what was read on it by each call of `recv`; each CONNECT is answered."""
    door, reads = socket.create_server(("127.0.0.1", 0)), []

    def serve():
        with suppress(OSError):
            peer, _ = door.accept()
            with peer:
                while data := peer.recv(65536):
                    reads.append(data)
                    if b"\0" in data:
                        peer.sendall(b"CONNECTED\nversion:1.2\n\n\0")

    thread = threading.Thread(target=serve)
    thread.start()
    yield door, reads
    door.close()
    thread.join(10)


def test_each_piece_of_a_frame_is_read_apart(reader, monkeypatch):
    monkeypatch.setattr("impls.driver.drive.APART_MS", 10_000.0)  # a reader on a machine under load is late
    door, reads = reader
    with socket.create_server(("127.0.0.1", 0)) as other, socket.create_connection(other.getsockname()) as probe:
        told(probe)
    config = STOMP.configure("server", "1.2", {name: fact.default for name, fact in STOMP.facts.items()}, {})
    (connect, *_) = STOMP.smoke(config).steps
    assert isinstance(connect, Say)
    cuts = tuple(range(1, 21))
    plan = Plan((Say(0, connect.frame, cuts, style=connect.style),))
    drive(plan, Setting(STOMP, config, "server", TcpTransport(door.getsockname), 500), "w-")
    assert [len(each) for each in reads[:20]] == [1] * 20
