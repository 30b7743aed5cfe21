"""`suites.check`: the command line, servers and testees of STOMP, and programs that do anything but obey."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager

import pytest
from checks import check, manifest, program

from impls.driver.link import MemoryTransport
from impls.launching.manifest import load
from impls.references.stomp.reference import Server
from specs.protocol import find
from strategies.stomp import discovery
from suites.check import main
from suites.checking.look import Look
from suites.checking.report import Report
from suites.deadline import Deadline, TimeUp

STOMP = find("stomp")
REFERENCE = ["{python}", "-m", "impls.references.stomp"]
SERVER = [*REFERENCE, "--port", "{port}"]


# --- arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "required"),
        (["no-such-name"], "no manifest of that name"),
        (["no/such.toml"], "there is no such file"),
        (["http://localhost"], "unknown"),
        (["reference"], "implementations; name one of them"),
        (["stomp://localhost:1", "--profile=9"], "has the profiles"),
        (["stomp://localhost:1", "--role=nobody"], "leave out --role"),
    ],
)
def test_wrong_arguments_are_answered_by_4_and_one_message(arguments, word):
    found = check(*arguments, within=10)
    assert found.code == 4
    assert word in found.text


# --- servers ----------------------------------------------------------------------------------------------------------


def test_a_right_server_is_ready(tmp_path):
    found = check(manifest(tmp_path, "stomp", "server", SERVER, host="localhost"))
    assert (found.code, found.wrong) == (0, []), found.text
    assert "speaks STOMP 1.2, 1.1, 1.0" in found.text
    assert "gives each message to one subscriber" in found.text
    assert "gives each message to each subscriber" in found.text
    assert "ready: pytest --impl=" in found.text


def test_it_says_which_profile_to_claim(tmp_path):
    path = manifest(tmp_path, "stomp", "server", [*SERVER, "--switch", "versions=1.0,1.1"], host="localhost")
    found = check(path)
    assert (found.code, found.writes) == (1, ['[impl] profile = "1.1"']), found.text
    assert check(path, "--profile=1.1").code == 0


def test_it_says_which_host_is_taken(tmp_path):
    server = [*SERVER, "--switch", "unknown_host=refuse"]
    found = check(manifest(tmp_path, "stomp", "server", server, host="nowhere"))
    assert found.code == 1, found.text
    assert found.writes[0].startswith("[stomp] host = "), found.text


def test_queue_and_topic_that_are_exchanged(tmp_path):
    path = manifest(tmp_path, "stomp", "server", SERVER, host="localhost", queue="/topic/{name}", topic="/queue/{name}")
    found = check(path)
    assert found.code == 1
    assert "gives a message to every subscriber" in found.wrong[0]
    assert "gives a message to one subscriber only" in found.wrong[1]


def test_a_queue_that_takes_one_subscriber(tmp_path):
    server = [*SERVER, "--switch", "subscribers=one"]
    found = check(manifest(tmp_path, "stomp", "server", server, host="localhost"))
    assert (found.code, found.wrong) == (0, []), found.text
    assert "takes one subscriber at a time" in found.text


def test_a_command_that_listens_nowhere(tmp_path):
    found = check(manifest(tmp_path, "stomp", "server", ["sleep", "60", "{port}"]), within=10)
    assert found.code == 1
    assert len(found.wrong) == 1


def test_a_command_that_ends(tmp_path):
    code = "import sys; sys.exit('no licence')"
    found = check(manifest(tmp_path, "stomp", "server", ["{python}", "-c", code, "{port}"]))
    assert (found.code, len(found.wrong)) == (1, 1)
    assert "no licence" in found.wrong[0]


@contextmanager
def listening(serve):
    """A server that does anything but speak STOMP."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def run():
            while True:
                try:
                    peer, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=talk, args=(peer,), daemon=True).start()

        def talk(peer):
            with peer:
                try:
                    serve(peer)
                except OSError:
                    return

        threading.Thread(target=run, daemon=True).start()
        yield f"stomp://127.0.0.1:{listener.getsockname()[1]}"


def flood(peer):
    while True:
        peer.sendall(b"MESSAGE\n" + b"x" * 60_000)


def refuse(peer):
    peer.recv(1000)
    peer.sendall(b"ERROR\nmessage:Bad CONNECT\n\nno such user\0")


def drip(peer):
    for octet in b"CONNECTED\nversion:1.2" * 1000:
        peer.sendall(bytes([octet]))
        threading.Event().wait(0.2)


def hungup(peer):
    peer.recv(1000)


def silent(peer):
    while peer.recv(1000):
        pass


def only_connected(peer):
    peer.recv(1000)
    peer.sendall(b"CONNECTED\nversion:1.2\n\n\0")
    silent(peer)


def web(peer):
    peer.recv(1000)
    peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


HOSTILE = {
    flood: "does not speak stomp",
    refuse: "refuses a session without a login: Bad CONNECT / no such user",
    drip: "does not speak stomp",
    hungup: "closed the connection without a word",
    silent: "took the connection and said nothing",
    only_connected: "SUBSCRIBE is not answered",
    web: "it speaks HTTP",
    lambda peer: peer.sendall(b"\x16\x03\x01\x02"): "it speaks TLS",
    lambda peer: peer.sendall(bytes(range(200))): "what it said is not this protocol",
}


QUIET = (silent, only_connected, drip, flood)


@pytest.mark.parametrize("serve", HOSTILE, ids=lambda serve: serve.__name__)
def test_servers_that_speak_something_else_get_one_line(serve):
    with listening(serve) as url:
        found = check(url, within=10 if serve in QUIET else 60)
    assert found.code == 1
    assert HOSTILE[serve] in found.wrong[0], found.text
    assert len(found.wrong) == 1 + (serve is only_connected), found.text


def test_nobody_listens():
    found = check("stomp://127.0.0.1:1")
    assert (found.code, len(found.wrong)) == (1, 1)
    assert "nobody listens at 127.0.0.1:1" in found.wrong[0]


@pytest.mark.parametrize("serve", [flood, drip, silent], ids=lambda serve: serve.__name__)
def test_a_check_ends_in_its_time(serve):
    with listening(serve) as url:
        found = program(url)
    assert (found.code, len(found.wrong)) == (1, 1), found.text


# --- programs that are told what to do --------------------------------------------------------------------------------


def test_a_right_testee_is_ready(tmp_path):
    found = check(manifest(tmp_path, "stomp", "client", [*REFERENCE, "client"]))
    assert (found.code, found.wrong) == (0, []), found.text
    assert "connects to a correct server, in STOMP 1.2, 1.1, 1.0" in found.text
    assert "carries out every op" in found.text


LOOP = """
import json, sys
def say(value, end="\\n"):
    sys.stdout.write(json.dumps(value) + end); sys.stdout.flush()
for line in sys.stdin:
    asked = json.loads(line); op = asked["op"]; id = asked["id"]
"""
UNKNOWN = '    say({"id": id, "error": "unsupported"})\n'
PIECES = """
import json, os
while True:
    id = json.loads(os.read(0, 100000))["id"]
    os.write(1, json.dumps({"id": id, "error": "unsupported"}).encode() + b"\\n")
"""
DEAF = LOOP.replace("for line in sys.stdin:", "while True:\n    line = sys.stdin.readline(60000)") + UNKNOWN
CROOKED = {
    "silent": ("import time; time.sleep(60)", "did not read its stdin"),
    "floods": ("while True: print('x' * 5000)", "floods its stdout"),
    "dies": ("raise SystemExit('sorry')", "ended with exit status 1"),
    "talks": (LOOP + '    print("hello", flush=True)\n' + UNKNOWN, "no JSON object: hello"),
    "reads and is silent": ("import sys\nfor line in sys.stdin: pass", "did not answer"),
    "says nothing else": ("import sys\nfor line in sys.stdin: print('hello', flush=True)", "did not answer"),
    "keeps back": (LOOP.replace("sys.stdout.flush()", "0") + UNKNOWN, "only when its stdin had ended"),
    "does not end lines": (LOOP.replace('"\\n"', '""') + UNKNOWN, "did not end the line"),
    "claims everything": (LOOP + '    say({"id": id, "ok": True})\n', "an op that does not exist"),
    "other words": (LOOP + '    say({"id": id, "error": "what?"})\n', "by the error 'what?'"),
    "no id": (LOOP + '    say({"error": "unsupported"})\n' + UNKNOWN, "answers without an id"),
    "id as text": (LOOP + '    say({"id": str(id), "error": "unsupported"})\n', "where the id was 1"),
    "twice": (LOOP + UNKNOWN + UNKNOWN, "answers an id that is not open"),
    "both": (LOOP + '    say({"id": id, "ok": 1, "error": "unsupported"})\n', "by ok"),
    "no text": (LOOP + '    say({"id": id, "error": {"why": "unsupported"}})\n', "error that is no text"),
    "pieces": (PIECES, "ended with exit status 1"),
    "short lines": (DEAF, "ended with exit status 1"),
    "dies of errors": (LOOP + '    assert op != "connect"\n' + UNKNOWN, "ended with exit status 1"),
}


@pytest.mark.parametrize("code", [CROOKED[name][0] for name in ("silent", "floods", "keeps back")])
def test_a_check_of_a_testee_ends_in_its_time(code, tmp_path):
    (tmp_path / "testee.py").write_text(code)
    found = program(manifest(tmp_path, "stomp", "client", ["{python}", "testee.py"]))
    assert (found.code, len(found.wrong)) == (1, 1), found.text


def test_one_that_chatters_and_stops_in_a_line_is_told_once(tmp_path):
    (tmp_path / "testee.py").write_text(
        "import time; print('starting'); print('still star', end='', flush=True); time.sleep(99)"
    )
    found = program(manifest(tmp_path, "stomp", "client", ["{python}", "testee.py"]), "--within=5")
    assert (found.code, len(found.wrong)) == (1, 1), found.text
    assert "it writes to stdout what is no JSON object: starting" in found.text


@pytest.mark.parametrize("name", CROOKED)
def test_each_way_to_break_the_contract_is_told(name, tmp_path):
    code, words = CROOKED[name]
    (tmp_path / "testee.py").write_text(code)
    silent = words.startswith(("did not", "only when"))
    found = check(manifest(tmp_path, "stomp", "client", ["{python}", "testee.py"]), within=10 if silent else 60)
    assert found.code == 1, found.text
    assert any(words in line for line in found.wrong), found.text
    assert len(found.wrong) <= 2, found.text
    assert all(line for line in found.writes)


WRAPPED = """
import json, subprocess, sys
from threading import Thread
child = subprocess.Popen([sys.executable, "-m", "impls.references.stomp", "client"], text=True,
    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for line in sys.stdin:
    asked = json.loads(line)
    BEFORE
    child.stdin.write(json.dumps(asked) + "\\n"); child.stdin.flush()
    said = json.loads(child.stdout.readline())
    AFTER
    print(json.dumps(said), flush=True)
END
"""
OK = 'ok = said.get("ok")\n    if isinstance(ok, dict): '
KEEPS = """op = asked["op"]
    if op == "send":
        print(json.dumps({"id": asked["id"], "ok": True}), flush=True)
        continue
"""
FAULTS = {
    "a body that is changed": ("", OK + 'ok.update(body_hex="00")', "the body"),
    "no headers": ("", OK + 'ok.pop("headers", None)', "it has no 'headers'"),
    "numbers in headers": ("", OK + 'ok.get("headers", {}).update(n=1)', "not every header is a text"),
    "its own name for subscriptions": ("", OK + 'ok.update(sub="0")', "not what subscribe was told"),
    "null is an error": (
        "",
        'said = {"id": said["id"], "error": "empty"} if said.get("ok", 0) is None else said',
        "no message is left",
    ),
    "errors are ok": ("", 'said = {"id": said["id"], "ok": said.get("ok")} if asked["op"] in OPS else said', "by ok"),
    "goes on": ("", "", "after its stdin has ended"),
    "sends nothing": (KEEPS, "", "a message was under way"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_a_testee_makes_of_the_library_is_told(name, tmp_path):
    before, after, words = FAULTS[name]
    end = "import time; time.sleep(30)" if name == "goes on" else ""
    ops = 'OPS = ("send", "ack", "connect", "disconnect")\n'
    code = ops + WRAPPED.replace("BEFORE", before or "pass").replace("AFTER", after or "pass").replace("END", end)
    (tmp_path / "testee.py").write_text(code)
    found = check(manifest(tmp_path, "stomp", "client", ["{python}", "testee.py"]))
    assert found.code == 1, found.text
    assert any(words in line for line in found.wrong), found.text


@pytest.mark.parametrize("text", ["soon", "0", "-1", "1e9", "nan"])
def test_how_long_a_check_may_take_is_a_number_of_seconds(text, capsys):
    assert main(["stomp://127.0.0.1:1", f"--within={text}"]) == 4
    assert "--within" in capsys.readouterr().err


def test_one_that_is_slow_is_not_taken_for_one_that_keeps_back(tmp_path):
    slow = LOOP + "    import time; time.sleep(0.1 if id == 1 else 2.4)\n" + UNKNOWN
    (tmp_path / "testee.py").write_text(slow)
    found = check(manifest(tmp_path, "stomp", "client", ["{python}", "testee.py"]), within=7)
    assert found.code == 1
    assert "stdin had ended" not in found.text, found.text


def test_what_the_time_cuts_short_is_no_conclusion(tmp_path):
    slow = LOOP + "    import time; time.sleep(1.5)\n" + UNKNOWN
    (tmp_path / "testee.py").write_text(slow)
    found = check(manifest(tmp_path, "stomp", "client", ["{python}", "testee.py"]), within=7)
    assert found.code == 1
    assert "there was no time to find out more" in found.text, found.text
    assert found.writes[-1].startswith("--within="), found.text


def test_what_there_was_no_time_for_is_nothing_to_be_mended(capsys):
    report = Report()
    report.unasked("there was no time to find out more", "--within=60")
    report.end("judge it")
    assert (report.failed, report.unsettled) == (False, True)
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["OPEN", "write:", "not"]
    report.wrong("it keeps no queue", "a queue")
    report.end("judge it")
    assert "not ready" in capsys.readouterr().out


def test_what_a_server_did_not_say_in_time_is_not_told(tmp_path):
    impl = load(manifest(tmp_path, "stomp", "server", ["{python}"]))
    look = Look(impl, Report(), Deadline(0.0))
    look.transport = MemoryTransport(Server)
    config = STOMP.configure("server", "1.2", {name: fact.default for name, fact in STOMP.facts.items()}, {})
    with pytest.raises(TimeUp):
        look.asked(discovery.own(config, 0), config)
