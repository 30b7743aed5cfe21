"""The script of a conversation, which runs without us."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from reports import script
from tests.summaries import TRACE, harmless


def test_the_script_plays_the_conversation(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(TRACE))
    path = script.write(tmp_path / "x.json", TRACE)
    heard = bytearray()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            conn, _ = server.accept()
            with conn:
                heard.extend(conn.recv(100))
                conn.sendall(b"id:one\x1b[31m\nid:two\n")
                while data := conn.recv(100):
                    heard.extend(data)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        done = subprocess.run(
            [sys.executable, "-I", path, address], capture_output=True, text=True, timeout=30, check=False
        )
        thread.join(10)
    assert done.returncode == 0, done.stderr
    assert bytes(heard) == b"SUB\nACK two\n"
    assert "#0 <-- id:one\\x1b[31m\\nid:two" in done.stdout
    assert "#0 --> AC\n" in done.stdout
    harmless(done.stdout)


def test_the_script_goes_where_the_implementation_said_that_it_is(tmp_path: Path) -> None:
    heard: dict[int, bytes] = {}
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:

        def serve(nth: int, server: socket.socket) -> None:
            conn, _ = server.accept()
            with conn:
                heard[nth] = conn.recv(100)

        threads = [threading.Thread(target=serve, args=each, daemon=True) for each in enumerate((first, second))]
        for thread in threads:
            thread.start()
        there = f"127.0.0.1:{second.getsockname()[1]}"
        steps = [{"do": "send", "conn": 0, "parts": [{"hex": "61"}]}, {"do": "reach", "conn": 1, "where": there},
                 {"do": "send", "conn": 1, "parts": [{"hex": "62"}]}]  # fmt: skip
        path = script.write(tmp_path / "x.json", {"script": steps})
        done = subprocess.run(
            [sys.executable, "-I", path, f"127.0.0.1:{first.getsockname()[1]}"],
            capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip
        for thread in threads:
            thread.join(10)
    assert done.returncode == 0, done.stderr
    assert heard == {0: b"a", 1: b"b"}


@pytest.mark.parametrize("where", ["", "x", "127.0.0.1:99999", "127.0.0.1:²", 7])
def test_an_address_that_is_none_ends_the_script_with_a_sentence(tmp_path: Path, where: object) -> None:
    path = script.write(tmp_path / "x.json", {"script": [{"do": "reach", "conn": 0, "where": where}]})
    done = subprocess.run(
        [sys.executable, "-I", path, "127.0.0.1:1"], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 1
    assert "is no HOST:PORT" in done.stderr


def test_the_script_says_how_it_is_used_and_when_nobody_is_there(tmp_path: Path) -> None:
    path = script.write(tmp_path / "x.json", TRACE)
    for arguments, says in (([], "usage:"), (["x"], "usage:"), (["127.0.0.1:1"], "no connection to 127.0.0.1:1")):
        done = subprocess.run(
            [sys.executable, "-I", path, *arguments], capture_output=True, text=True, timeout=30, check=False
        )
        assert done.returncode == 1
        assert says in done.stderr


@pytest.mark.parametrize(("pattern", "says"), [("(", "is no regular expression"), ("x(.)", "has no match number 0")])
def test_the_script_ends_with_a_sentence_when_a_value_never_comes(tmp_path: Path, pattern: str, says: str) -> None:
    send = {"do": "send", "conn": 0, "parts": [{"match": pattern}]}
    path = script.write(tmp_path / "x.json", {"script": [send]})
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            conn, _ = server.accept()
            conn.close()

        threading.Thread(target=hang_up, daemon=True).start()
        done = subprocess.run(
            [sys.executable, "-I", path, f"127.0.0.1:{server.getsockname()[1]}"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    assert done.returncode == 1
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_what_was_said_at_once_is_said_at_once() -> None:
    send = {"do": "send", "conn": 0, "parts": [{"hex": "61"}]}
    say = {"do": "say"}
    assert script.render({"script": [send, send]}).count('("turn",)') == 1
    assert script.render({"script": [send, {**send, "when": "now"}]}).count('("turn",)') == 0
    pipelined = {"script": [send, send], "plan": {"steps": [say, {"do": "wait"}, {**say, "when": "now"}]}}
    assert script.render(pipelined).count('("turn",)') == 0
    assert script.render({"script": [send, send], "plan": {"steps": [{**say, "when": "now"}]}}).count('("turn",)') == 1


def test_a_megabyte_of_one_octet_is_one_line() -> None:
    text = script.render({"script": [{"do": "send", "conn": 0, "parts": [{"hex": "61" * 10**6 + "6263"}]}]})
    assert "b'a' * 1000000" in text
    assert len(text) < 10_000
