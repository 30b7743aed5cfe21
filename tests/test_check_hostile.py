"""`suites.check` and programs that do anything but what they should, in every role: one clear line each, and never more
than the time of a check."""

from __future__ import annotations

import pytest
from checks import check, manifest

PROGRAMS = {
    "is silent": "import time; time.sleep(60)",
    "reads and is silent": "import sys\nfor line in sys.stdin: pass",
    "floods": "import sys\nwhile True: sys.stdout.write('x' * 5000 + '\\n')",
    "floods without an end of line": "import sys\nwhile True: sys.stdout.write('x' * 5000)",
    "says garbage": "import sys\nfor line in sys.stdin: sys.stdout.buffer.write(bytes(range(256))); sys.stdout.flush()",
    "dies": "raise SystemExit('so it ends')",
    "dies when it is spoken to": "import sys; sys.stdin.readline(); raise SystemExit('so it ends')",
}
SERVE = """
import socket, sys, threading
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    peer, _ = listener.accept()
    try:
        {}
    except OSError:
        pass
"""
SERVERS = {
    "is silent": "threading.Thread(target=peer.recv, args=(1,)).start()",
    "floods": "while True: peer.sendall(b'\\xff' * 60000)",
    "says garbage": "peer.recv(100); peer.sendall(bytes(range(255, 0, -1)) * 3); peer.recv(100)",
    "hangs up": "peer.recv(100); peer.close()",
    "resets": "peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\\1\\0\\0\\0\\0\\0\\0\\0'); peer.close()",
    "dies": "peer.recv(100); sys.exit('so it ends')",
}
CHILDREN = [("kcl", "child"), ("storm", "bolt"), ("storm", "spout"), ("msgpack", "codec")]
TOLD = [("pulsar", "client"), ("kcl", "host"), ("storm", "spout-host"), ("msgpack", "client"), ("msgpack", "idl"),
        ("msgpack", "idl-server"), ("msgpack", "idl-client")]  # fmt: skip


def one_line(found, name):
    assert found.code == 1, found.text
    assert len(found.wrong) == 1, found.text
    assert "the check itself" not in found.text, found.text
    assert found.seconds < 10, found.text
    if name == "dies":
        assert "so it ends" in found.text, found.text


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("role", CHILDREN, ids="-".join)
def test_a_child_gets_one_line(role, name, tmp_path):
    (tmp_path / "child.py").write_text(PROGRAMS[name])
    one_line(check(manifest(tmp_path, *role, ["{python}", "child.py"]), within=10), name)


@pytest.mark.parametrize("name", ["is silent", "floods", "dies"])
@pytest.mark.parametrize("role", TOLD, ids="-".join)
def test_a_testee_gets_one_line(role, name, tmp_path):
    (tmp_path / "testee.py").write_text(PROGRAMS[name])
    one_line(check(manifest(tmp_path, *role, ["{python}", "testee.py"]), within=10), name)


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize("role", [("stomp", "server"), ("pulsar", "broker"), ("msgpack", "server")], ids="-".join)
def test_a_server_gets_one_line(role, name, tmp_path):
    (tmp_path / "server.py").write_text(SERVE.format(SERVERS[name]))
    server = manifest(tmp_path, *role, ["{python}", "server.py", "{port}"])
    found = check(server, within=10)
    if len(found.wrong) > 1 and found.wrong[0].startswith("there was no time"):
        found = check(server, within=10)  # a machine that was too busy for a moment: once more, by the same measure
    one_line(found, name)
