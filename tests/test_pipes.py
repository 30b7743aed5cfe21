"""Programs on pipes: whatever they do, a run goes on, is bounded, and leaves nothing behind."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import LinkError
from impls.driver.pipes import PipeTransport, Pool, environment
from impls.driver.program import Program, wait_for
from impls.driver.relay import CHILD, RelayTransport
from specs.events import Fact
from specs.protocol import find
from suites.lanes import Lanes

KCL = find("kcl")
ROOT = Path(__file__).resolve().parent.parent
ENV = environment({"PYTHONPATH": str(ROOT)}, str)


def judged(argv, role="child", patience_ms=4000.0):
    pool = Pool("it", argv, ENV, ROOT, depth=1)
    transport = RelayTransport(pool) if role == "host" else PipeTransport(pool)
    config = KCL.configure(role, "kcl1-seed", {"scripted": False}, {})
    try:
        return drive(KCL.smoke(config), Setting(KCL, config, role, transport, patience_ms), "t-")
    finally:
        transport.close()


def python(code):
    return [sys.executable, "-I", "-S", "-c", code]


def values(recording, name):
    return [event.value for event in recording.events if isinstance(event, Fact) and event.name == name]


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


def until_gone(pids, seconds=2.0):
    deadline = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return [pid for pid in pids if alive(pid)]


@pytest.mark.parametrize("role", ["child", "host"])
def test_the_reference_is_right_on_pipes(role):
    recording = judged([sys.executable, "-m", "impls.references.kcl", role], role, patience_ms=20_000.0)
    assert recording.judgement.verdict == "pass", recording.judgement
    assert not recording.judgement.faults


def test_the_line_that_names_the_error_is_told_however_much_follows():
    trace = "\n".join(f"\tat frame {number}" for number in range(200))
    program = SimpleNamespace(tail=bytearray(f"log\npanic: index out of range\n{trace}".encode()))
    words = Program.last_words(program)
    assert words.startswith("panic: index out of range ... ")
    assert words.endswith("at frame 199")
    program.tail = bytearray(trace.encode())
    assert Program.last_words(program).endswith("at frame 199")


def test_exit_status_and_last_words_are_facts():
    recording = judged(python("import sys; sys.stderr.write('so sorry'); sys.exit(7)"))
    assert values(recording, "exit") == [7]
    assert values(recording, "stderr") == ["so sorry"]


def test_a_command_that_does_not_exist_is_refused():
    recording = judged(["no-such-program"])
    assert "no-such-program" in recording.refused


def test_a_pool_says_so_as_well():
    pool = Pool("it", ["no-such-program"], ENV, ROOT, depth=1)
    try:
        with pytest.raises(LinkError, match="cannot be run"):
            pool.take()
    finally:
        pool.close()


@pytest.mark.parametrize(
    "code",
    [
        "pass",
        "print('banner')",
        "import time; time.sleep(99)",
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(99)",
        "import os, time\nif os.fork(): os._exit(0)\ntime.sleep(99)",
        "import os, time\nif not os.fork():\n os.setsid()\n time.sleep(99)\ntime.sleep(99)",
        "import os\nos.close(0)\nos.close(1)\nimport time; time.sleep(99)",
    ],
    ids=["exits", "banner", "silent", "deaf", "parent-dies", "daemon", "closed"],
)
def test_whatever_it_does_the_run_goes_on(code):
    begun = time.monotonic()
    recording = judged(python(code), patience_ms=300.0)
    assert recording.judgement.verdict in ("fail", "inconclusive"), recording.judgement
    assert time.monotonic() - begun < 20


def test_a_flood_without_a_newline_is_given_up():
    recording = judged(python("import os\nwhile True: os.write(1, b'x' * 65536)"), patience_ms=3000.0)
    assert recording.overflow or recording.judgement.verdict == "fail"


def test_a_flood_on_stderr_blocks_nobody():
    code = (
        "import sys, json\n"
        "for line in sys.stdin:\n"
        " sys.stderr.write('x' * 300000)\n"
        " print(json.dumps({'action': 'status', 'responseFor': json.loads(line)['action']}), flush=True)\n"
    )
    recording = judged(python(code), patience_ms=20_000.0)
    assert recording.judgement.verdict == "pass", recording.judgement


def test_nothing_is_left_behind(tmp_path):
    """Neither the programs, nor what they forked, nor the process that keeps them."""
    told = tmp_path / "pids"
    note = f"open({str(told)!r}, 'a').write(str(os.getpid()) + chr(10))"
    code = f"import os, time\nif not os.fork():\n os.setsid()\n{note}\ntime.sleep(99)"
    judged(python(code), patience_ms=500.0)
    pids = [int(pid) for pid in told.read_text().split()]
    assert len(set(pids)) >= 2
    assert until_gone(pids) == []


def test_a_run_that_is_killed_leaves_nothing_behind(tmp_path):
    told = tmp_path / "pids"
    child = f"import os, time; open({str(told)!r}, 'a').write(str(os.getpid()) + chr(10)); time.sleep(99)"
    code = (
        "import sys, time; from pathlib import Path; from impls.driver.pipes import Pool, environment\n"
        f"pool = Pool('it', [sys.executable, '-I', '-S', '-c', {child!r}], environment({{}}, str), Path('.'), 3)\n"
        "pool.take(); print(pool.folder(), flush=True); time.sleep(99)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE) as run:
        folder = Path(run.stdout.readline().decode().strip()).parent
        assert folder.is_dir()
        deadline = time.monotonic() + 20
        while len(told.read_text().split() if told.exists() else []) < 4 and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(run.pid, signal.SIGKILL)
    pids = [int(pid) for pid in told.read_text().split()]
    assert len(pids) == 4
    assert until_gone(pids) == []
    deadline = time.monotonic() + 20
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not folder.exists()


def test_what_a_program_leaves_in_its_temporary_folder_goes_with_the_run(tmp_path):
    code = "import tempfile; print(tempfile.mkdtemp(), flush=True)"
    pool = Pool("it", python(code), ENV, ROOT, depth=1)
    program = pool.take()
    while not (said := program.read()):
        assert said is not None
    left = Path(said.decode().strip())
    assert left.is_dir()
    pool.close()
    assert not left.parent.exists()


def test_a_relayed_child_reads_no_more_when_it_is_told_so():
    with socket.create_server(("127.0.0.1", 0)) as door:
        argv = [sys.executable, "-I", "-S", str(CHILD), str(door.getsockname()[1]), "token"]
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as relay:
            link, _ = door.accept()
            with link:
                assert link.recv(100).split() == [b"token", str(relay.pid).encode()]
                link.sendall(b"d\0\0\0\0" + b"o\0\0\0\1!")
                assert relay.stdout.read(1) == b"!"  # so it has been told by now
                relay.stdin.write(b"unheard")
                relay.stdin.flush()
                link.settimeout(0.05)
                with pytest.raises(TimeoutError):
                    link.recv(100)
                link.settimeout(20)
                link.sendall(b"h\0\0\0\0")
                assert link.recv(100) == b"unheard"
            assert relay.wait(20) == 0


def test_hosts_are_judged_beside_each_other():
    """Each conversation gets the relay that its own host has started."""
    pool = Pool("it", [sys.executable, "-m", "impls.references.kcl", "host"], ENV, ROOT, depth=3)
    transport = RelayTransport(pool)
    config = KCL.configure("host", "kcl1-seed", {"scripted": False}, {})
    lanes, found = Lanes(3), []
    try:
        for nth in range(3):
            setting = Setting(KCL, config, "host", transport, 20_000.0)
            lanes.submit(lambda setting=setting, nth=nth: drive(KCL.smoke(config), setting, f"t{nth}-"), found.append)
        while lanes.pending:
            lanes.wait(1.0)
            lanes.collect()
    finally:
        transport.close()
    assert [recording.judgement.verdict for recording in found] == ["pass"] * 3
    assert len({value["pid"] for recording in found for value in values(recording, "connected")}) == 3


@pytest.mark.parametrize(("warm_s", "verdict"), [(0.0, "fail"), (2.0, "pass")])
def test_a_new_program_has_the_time_of_a_start_for_its_first_answer(warm_s, verdict):
    """What it says later has the patience of the run alone."""
    slow = "import time, runpy, sys; time.sleep(1.0); sys.argv = ['kcl', 'child']; "
    slow += "runpy.run_module('impls.references.kcl', run_name='__main__')"
    pool = Pool("it", [sys.executable, "-c", slow], ENV, ROOT, depth=1)
    transport = PipeTransport(pool)
    config = KCL.configure("child", "kcl1-seed", {"scripted": False}, {})
    try:
        pool.warm_s = warm_s
        pool.take = lambda: fresh(pool)
        recording = drive(KCL.smoke(config), Setting(KCL, config, "child", transport, 300.0), "t-")
    finally:
        transport.close()
    assert recording.judgement.verdict == verdict


def fresh(pool):
    """A program that is spoken to as soon as it is started."""
    warm, pool.warm_s = pool.warm_s, 0.0
    try:
        return Pool.take(pool)
    finally:
        pool.warm_s = warm


def test_a_file_of_its_process_id_in_the_folder_of_the_program_goes_with_it(tmp_path):
    """One that is told of no folder for it may take the one where it runs. Other files there are the user's own."""
    code = "import os, sys\nopen(str(os.getpid()), 'w').close()\nopen('own', 'w').close()\nprint('made', flush=True)\n"
    pool = Pool("it", [sys.executable, "-I", "-S", "-c", code + "sys.stdin.read()"], dict(os.environ), tmp_path, 0)
    try:
        program = pool.take()
        deadline = time.monotonic() + 20
        while not program.read() and time.monotonic() < deadline:
            wait_for([program.stdout], 100)
        assert len(list(tmp_path.iterdir())) >= 2
        (tmp_path / "9999999").touch()  # of somebody else
    finally:
        pool.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["9999999", "own"]


def test_a_program_that_two_threads_end_at_once_is_ended_once(monkeypatch):
    """A conversation may be under way when the run is over: both end its program."""
    pool = Pool("it", python("input()"), ENV, ROOT, depth=1)
    program = pool.take()
    monkeypatch.setattr(program, "_tidy", lambda: [program.close(), program.finish()])
    program.close()
    assert program.closed
    pool.close()
