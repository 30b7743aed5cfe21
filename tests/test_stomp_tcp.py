"""The reference STOMP server over TCP."""

import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.stomp_talk import CONVERSATION, read

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def port():
    process = subprocess.Popen(
        [sys.executable, "-m", "impls.references.stomp", "--port", "0", "--switch", "heart_beat=100,0"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    found = re.fullmatch(r"listening on 127\.0\.0\.1:(\d+)\n", process.stdout.readline())
    yield int(found[1])
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0


def until_end(sock):
    data = b""
    while piece := sock.recv(65536):
        data += piece
    return data


def test_tcp_conversation_ends_with_end_of_file(port):
    for cut in (len(CONVERSATION), 7):
        with socket.create_connection(("127.0.0.1", port), 5) as sock:
            for at in range(0, len(CONVERSATION), cut):
                sock.sendall(CONVERSATION[at : at + cut])
            frames = read(until_end(sock))
            assert frames[-1]["receipt-id"] == "4"


def test_tcp_error_is_read_before_the_end_and_others_go_on(port):
    with socket.create_connection(("127.0.0.1", port), 5) as other:
        for junk in (b"x" * 3_000_000, b"GET / HTTP/1.1\r\n\r\n", b"\0" * 1000, CONVERSATION[:40]):
            with socket.create_connection(("127.0.0.1", port), 5) as sock:
                sock.sendall(junk)
                sock.shutdown(socket.SHUT_WR)
                commands = [frame.command for frame in read(until_end(sock))]
                assert commands == ([] if junk in CONVERSATION else ["ERROR"])
        other.sendall(b"CONNECT\naccept-version:1.2\nhost:x\nheart-beat:0,100\n\n\0")
        start, data = time.monotonic(), b""
        while not data.endswith(b"\0\n\n\n"):
            data += other.recv(1000)
        assert 0.15 < time.monotonic() - start < 3


def test_tcp_reader_that_never_reads_is_not_read_either(port):
    with (
        socket.create_connection(("127.0.0.1", port), 5) as sock,
        socket.create_connection(("127.0.0.1", port), 5) as other,
    ):
        sock.sendall(b"CONNECT\naccept-version:1.2\nhost:x\n\n\0SUBSCRIBE\nid:0\ndestination:/queue/slow\n\n\0")
        sock.settimeout(0.5)
        endless = (b"SEND\ndestination:/queue/slow\n\n" + b"x" * 100_000 + b"\0") * 2000
        with pytest.raises(TimeoutError):
            sock.sendall(endless)
        other.sendall(CONVERSATION)
        assert read(until_end(other))[-1].command == "RECEIPT"
