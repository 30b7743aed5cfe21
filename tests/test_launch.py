"""Starting commands: what goes wrong is said, what floods is bounded, and nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from impls.launching import launch, process, running
from impls.launching.launch import LaunchError, no_answer, start, wait_ready
from impls.launching.manifest import Implementation, Start
from impls.launching.running import Log

SERVER = """
import os, signal, socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as door:
    while True:
        conn, _ = door.accept()
        with conn:
            conn.sendall(b"hello")
"""


def _implementation(folder: Path, kind: str = "command", value: object = (), **fields: object) -> Implementation:
    how = Start(kind, value, **fields)  # type: ignore[arg-type]
    return Implementation("it", "fake", "server", "", "1", how, {}, {}, None, folder)


def _hello(host: str, port: int) -> bool:
    with socket.create_connection((host, port), 2) as conn:
        return conn.recv(5) == b"hello"


def _gone(pid: int) -> bool:
    """True when the process does not exist, or is a zombie that its parent has not looked at yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):  # it may go between the opening and the reading
        return True


def _until(condition, seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return bool(found)


@pytest.fixture
def program(tmp_path):
    """Makes an implementation of a Python program's text; stops whatever of them was started."""
    with contextlib.ExitStack() as stack:

        def made(text: str, *arguments: str, grace_s: float | None = None, **fields: object):
            (tmp_path / "program.py").write_text(textwrap.dedent(text))
            argv = ("{python}", "program.py", *(arguments or ("{port}",)))
            if grace_s is None:
                return stack.enter_context(start(_implementation(tmp_path, value=argv, **fields)))

            def plan(port: int):
                return [part.format(python=sys.executable, port=port) for part in argv], os.environ

            return stack.enter_context(process.Process("it", plan, tmp_path, launch.unused_port, grace_s))

        yield made


# --- starting ---------------------------------------------------------------------------------------------------------


def test_a_command_is_started_in_the_manifests_folder_and_answers(program, tmp_path):
    it = program("import os; print(os.getcwd(), os.environ['KEY'], flush=True)\n" + SERVER, env={"KEY": "v{port}"})
    assert wait_ready(it, _hello, 10) < 10
    host, port = it.address
    assert host == "127.0.0.1"
    assert it.alive()
    assert it.ending() == ""
    assert it.log_tail() == f"{tmp_path} v{port}"
    it.stop()
    assert not it.alive()
    assert it.ending() == "it was ended by SIGTERM"
    assert _gone(it.pid)
    it.stop()  # the second time nothing happens


def test_its_session_is_its_own_and_it_reads_nothing(program):
    it = program("import os, sys; print(os.getsid(0) == os.getpid(), sys.stdin.read() == '', flush=True)\n" + SERVER)
    wait_ready(it, _hello, 10)
    assert it.log_tail() == "True True"
    assert it.pid != os.getsid(0)


def test_it_inherits_nothing_but_its_three_files(program):
    it = program("import os, sys; print(sorted(os.listdir('/proc/self/fd')), flush=True)\n" + SERVER)
    wait_ready(it, _hello, 10)
    assert it.log_tail() == "['0', '1', '2', '3']"  # 3 is the folder being listed


def test_restart_gives_a_new_process_and_keeps_the_log(program):
    it = program("print('begun', flush=True)\n" + SERVER)
    wait_ready(it, _hello, 10)
    first, address = it.pid, it.address
    it.restart()
    wait_ready(it, _hello, 10)
    assert it.pid != first
    assert it.address != address
    assert _gone(first)
    assert it.log_tail() == "begun\n[started again]\nbegun"


def test_a_dead_one_can_be_restarted(program, tmp_path):
    it = program(
        f"import pathlib\np = pathlib.Path('mark')\nif not p.exists(): p.touch(); raise SystemExit(1)\n{SERVER}"
    )
    assert _until(lambda: not it.alive())
    it.restart()
    wait_ready(it, _hello, 10)


def test_the_port_is_the_callers_choice_or_the_manifests(tmp_path):
    argv = (sys.executable, "-c", "import time; time.sleep(60)", "{port}")
    with start(_implementation(tmp_path, value=argv), port_free=lambda: 4711) as it:
        assert it.address == ("127.0.0.1", 4711)
    with start(_implementation(tmp_path, value=argv[:3], port=4712), port_free=lambda: 4711) as it:
        assert it.address == ("127.0.0.1", 4712)


def test_an_address_is_neither_started_nor_stopped(tmp_path):
    with start(_implementation(tmp_path, "address", "[::1]:7")) as it:
        assert it.address == ("::1", 7)
        assert it.log_tail() == ""
        with pytest.raises(LaunchError, match=r"^it: was running already, .*; give a manifest with start.command"):
            it.restart()
    assert it.alive()


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (
            "command",
            ("nope", "{port}"),
            (
                "it: start.command: 'nope' cannot be run (No such file or directory); "
                "install the program or correct start.command"
            ),
        ),
        (
            "command",
            ("/", "{port}"),
            "it: start.command: '/' cannot be run (Permission denied); install the program or correct start.command",
        ),
        (
            "command",
            ("true",),
            (
                "it: start.command does not say where it listens; write {port} where it takes its port, or start.port "
                "when the port is always the same (what speaks on stdin and stdout is not launched here)"
            ),
        ),
        (
            "python",
            "a:b",
            "it: start.python runs in this process and is not launched; open a link to it instead",
        ),
    ],
)
def test_what_cannot_be_started_says_why(tmp_path, kind, value, message):
    with pytest.raises(LaunchError) as caught:
        start(_implementation(tmp_path, kind, value))
    assert str(caught.value) == message


def test_a_folder_that_vanished_is_named(tmp_path):
    with pytest.raises(LaunchError, match=r"cannot be started in .*/absent"):
        start(_implementation(tmp_path / "absent", value=("true", "{port}")))


def test_failed_starts_leave_no_files_open(tmp_path):
    def opened() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    def attempt() -> None:
        with pytest.raises(LaunchError):
            start(_implementation(tmp_path, value=("nope", "{port}")))

    attempt()
    before = opened()
    for _ in range(3):
        attempt()
    assert opened() == before


def test_files_beyond_1023_are_no_obstacle(program):
    resource = pytest.importorskip("resource")
    with contextlib.ExitStack() as stack:
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        if limits[1] < 2000:
            pytest.skip("the limit of open files cannot be raised")
        resource.setrlimit(resource.RLIMIT_NOFILE, (2000, limits[1]))
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        for _ in range(1100):
            stack.enter_context(Path(os.devnull).open())
        it = program(SERVER)
        wait_ready(it, _hello, 10)
        it.stop()


# --- getting ready ----------------------------------------------------------------------------------------------------


def test_one_that_exits_at_once_is_noticed_at_once(program):
    it = program("import sys; print('no \\x1b[2J licence'); sys.exit(3)")
    begun = time.monotonic()
    with pytest.raises(LaunchError) as caught:
        wait_ready(it, _hello, 60)
    assert time.monotonic() - begun < 5
    assert str(caught.value) == (
        "it: ended before it was ready: it ended with exit status 3\nthe end of its log:\n  | no \\x1b[2J licence"
    )


def test_one_that_is_killed_says_by_what(program):
    it = program("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    with pytest.raises(LaunchError, match="it was ended by SIGSEGV"):
        wait_ready(it, _hello, 60)


def test_an_open_port_is_not_ready(program):
    it = program("print('up', flush=True)\n" + SERVER.replace("hello", "howdy"))
    with pytest.raises(LaunchError) as caught:
        wait_ready(it, _hello, 0.5)
    host, port = it.address
    assert str(caught.value) == (
        f"it: did not answer the protocol at {host}:{port} within 0.5 s; last: its answer was not the expected one; "
        "if it needs longer, raise start.ready_s\nthe end of its log:\n  | up"
    )
    assert it.alive()


def test_one_that_never_listens_gives_the_last_reason(program):
    it = program("import time; time.sleep(60)")
    told = r"nobody listens at \S+, after 0.3 s: \[Errno 111\] Connection refused; it must be started and listen there"
    with pytest.raises(LaunchError, match=told):
        wait_ready(it, _hello, 0.3)


def test_a_fault_of_the_probe_is_not_hidden(program):
    def faulty(host: str, port: int) -> bool:
        raise ValueError("a fault of ours")

    with pytest.raises(ValueError, match="a fault of ours"):
        wait_ready(program(SERVER), faulty, 10)


# --- what it writes ---------------------------------------------------------------------------------------------------


def test_a_flood_is_read_and_mostly_forgotten(program):
    it = program(
        """
        import sys
        print("first line", flush=True)
        for _ in range(200):
            sys.stdout.buffer.write(b"x" * 999_999 + b"\\n")
        print("last line", flush=True)
        """
    )
    assert _until(lambda: not it.alive(), 30)
    it.stop()
    lines = it._log.lines()
    assert lines[0] == "first line"
    assert lines[-1] == "last line"
    assert any(line.startswith("[… ") and line.endswith(" bytes left out …]") for line in lines)
    kept = len(it._log._head) + it._log._tail_bytes
    assert kept <= running.HEAD_BYTES + running.TAIL_BYTES + 65536


def test_a_flood_without_end_can_be_stopped(program):
    it = program("while True: print('y' * 1000)")
    time.sleep(0.2)
    begun = time.monotonic()
    it.stop()
    assert time.monotonic() - begun < 5


def test_a_log_keeps_all_of_little_and_the_ends_of_much():
    log = Log()
    log.write(b"a\xff\x1b[0m\r\n\n")
    log.write("b\u202e\n".encode())
    assert log.lines() == ["a\\xff\\x1b[0m", "b\\u202e"]
    assert log.tail(1) == "b\\u202e"
    assert log.tail(0) == ""
    for number in range(100_000):
        log.write(b"%07d\n" % number)
    kept = len(log._head) + log._tail_bytes
    assert kept + log._dropped == 800_000 + len(b"a\xff\x1b[0m\r\n\n") + len("b\u202e\n".encode())
    assert log.tail(1) == "0099999"


# --- ending -----------------------------------------------------------------------------------------------------------


def test_one_that_ignores_sigterm_is_killed(program):
    deaf = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    it = program(deaf + "print('deaf', flush=True)\ntime.sleep(600)", grace_s=0.3)
    assert _until(lambda: it.log_tail() == "deaf")
    begun = time.monotonic()
    it.stop()
    assert 0.25 < time.monotonic() - begun < 5
    assert it.ending() == "it was ended by SIGKILL"
    assert _gone(it.pid)


FORKS = """
import os, signal, sys, time
def fork(leave, deaf):
    if os.fork() == 0:
        if leave:
            os.setsid()
            if os.fork(): os._exit(0)  # a daemon: its parent ends at once
        if deaf: signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with open("pids", "a") as file: file.write(f"{os.getpid()}\\n")
        time.sleep(600)
        os._exit(0)
for leave in (False, True):
    for deaf in (False, True):
        fork(leave, deaf)
"""


@pytest.mark.parametrize("ending", ["stopped", "ends by itself", "is killed"])
def test_nothing_that_it_forked_is_left(program, tmp_path, ending):
    it = program(FORKS + "time.sleep(0.3 if sys.argv[1] == 'ends by itself' else 600)", ending, "{port}", grace_s=0.5)
    pids = tmp_path / "pids"
    assert _until(lambda: pids.exists() and len(pids.read_text().split()) == 4)
    family = [int(text) for text in pids.read_text().split()]
    assert not any(_gone(pid) for pid in family)
    if ending == "is killed":
        os.kill(it.pid, signal.SIGKILL)
    if ending != "stopped":
        assert _until(lambda: not it.alive(), 5)
        assert _until(lambda: all(_gone(pid) for pid in family), 5)  # without being asked
    it.stop()
    assert _until(lambda: all(_gone(pid) for pid in [*family, it.pid]), 5)


def test_when_its_keeper_is_killed_the_program_goes_too(program):
    it = program(SERVER)
    wait_ready(it, _hello, 10)
    os.kill(it._subreaper.pid, signal.SIGKILL)
    assert _until(lambda: not it.alive())
    assert it.ending() == "the process that kept it was killed"
    assert _until(lambda: _gone(it.pid))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_when_the_run_is_killed(tmp_path, number):
    (tmp_path / "server.py").write_text(FORKS + SERVER)
    script = f"""
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs are born deaf to it
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from pathlib import Path
from impls.launching import launch
from impls.launching import process
argv = [sys.executable, "server.py"]
it = process.Process("it", lambda port: ([*argv, str(port)], {{}}), Path({str(tmp_path)!r}), launch.unused_port, 0.5)
if {number == signal.SIGKILL}:
    # A child of the run that is not ours holds the lifeline open: the run's death is noticed all the same.
    import os
    if os.fork() == 0:
        time.sleep(3)
        os._exit(0)
print(it.pid, flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
        pid = int(run.stdout.readline())
        pids = tmp_path / "pids"
        assert _until(lambda: pids.exists() and len(pids.read_text().split()) == 4)
        family = [pid, *map(int, pids.read_text().split())]
        os.kill(run.pid, number)
        try:
            run.wait(10)
        finally:
            run.kill()
        assert _until(lambda: all(_gone(each) for each in family))


def test_a_daemon_that_is_deaf_does_not_delay_the_news_of_the_end(program):
    it = program(FORKS + "time.sleep(0.2)", grace_s=2.5)
    begun = time.monotonic()
    assert _until(lambda: not it.alive())
    assert time.monotonic() - begun < 2


@pytest.mark.parametrize(
    ("said", "ended", "hint"),
    [
        (b"\x15\x03\x03\x00\x02\x02\x46", True, "it speaks TLS"),
        (b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", True, "it speaks HTTP ('HTTP/1.1 400 Bad Request')"),
        (b"SSH-2.0-x\r\n", False, r"what it said is not this protocol: b'SSH-2.0-x\r\n'"),
        (b"", True, "it closed the connection without a word"),
        (b"", False, "it took the connection and said nothing"),
    ],
)
def test_another_protocol_is_named(said, ended, hint):
    assert hint in no_answer(said, ended=ended)
