"""The first session. A program that ends in it: a verdict when it lives until it is spoken to, else trouble. A server
whose first answer is wrong is judged, unless it is a refusal."""

import json
import sys
from pathlib import Path

import pytest
from test_cli import run

from impls.driver.link import MemoryTransport
from impls.launching.manifest import Implementation, Start, resolve
from impls.references.msgpack import reference as msgpack
from impls.references.stomp import reference as stomp
from records.reader import read
from records.rows import TroubleRow
from specs.protocol import find
from suites import calibration, ground
from suites.head import RunOptions
from suites.properties import properties
from suites.schedule import Share
from suites.session import Session

READS = "import sys; sys.stdin.readline(); sys.exit(3)"
SETUPS = {"storm": ("bolt", "seed"), "kcl": ("child", "kcl1-seed")}


def session(protocol, code, tmp_path, *, hunts=False):
    role, profile = SETUPS[protocol]
    start = Start("command", (sys.executable, "-I", "-S", "-c", code))
    impl = Implementation("it", protocol, role, "1", profile, start, {"scripted": True}, {}, None, tmp_path)
    opened = Session(impl, RunOptions(budget_s=1.0), tmp_path, "run")
    opened.open()
    if hunts:
        opened.hunt([], 0.0, lambda hunter: None)
    opened.close()
    return opened


@pytest.mark.parametrize("protocol", SETUPS)
def test_one_that_ends_when_it_is_spoken_to_is_judged(protocol, tmp_path):
    assert session(protocol, READS, tmp_path).trouble == ""


@pytest.mark.parametrize("protocol", SETUPS)
@pytest.mark.parametrize("code", ["import sys; sys.exit(3)", "import time; time.sleep(0.2)", "import no_such_module"])
def test_one_that_ends_by_itself_is_trouble(protocol, code, tmp_path):
    assert "closed the connection" in session(protocol, code, tmp_path).trouble


def test_it_is_told_how_the_program_ended_and_what_it_said_last(tmp_path):
    trouble = session(
        "storm", "import sys; sys.stderr.write('first\\nno such\\x1b[2Jmodule\\n'); sys.exit(4)", tmp_path
    ).trouble
    assert trouble.endswith("Its exit status was 4. Its last words: no such\\x1b[2Jmodule")
    assert "first\\n" not in trouble


READS_ON = "import sys, os\nfor line in sys.stdin: "
DUMB = {
    "everything stays in a buffer": READS_ON + 'sys.stdout.write(\'\\n{"action":"status","responseFor":"x"}\\n\')',
    "lines are not ended": READS_ON + "sys.stdout.write('{}'); sys.stdout.flush()",
}


@pytest.mark.parametrize("code", DUMB.values(), ids=DUMB)
def test_one_that_says_nothing_that_can_be_read_is_judged_and_no_pass_if_nothing_comes_of_it(code, tmp_path):
    opened = session("kcl", code, tmp_path, hunts=True)
    assert (opened.trouble, opened.dumb) == ("", True)
    assert [row for row in read(tmp_path).rows if isinstance(row, TroubleRow)]


@pytest.mark.parametrize("code", [READS_ON + "pass", "import time; time.sleep(60)"])
def test_one_that_shows_nothing_at_all_is_trouble(code, tmp_path):
    opened = session("kcl", code, tmp_path)
    assert opened.trouble
    assert not opened.dumb


def test_one_that_starts_slowly_is_not_taken_for_dumb(tmp_path):
    answer = 'print(\'\\n{"action":"status","responseFor":"initialize"}\', flush=True)'
    opened = session("kcl", f"import sys, time; time.sleep(1.2)\nfor line in sys.stdin: {answer}", tmp_path)
    assert not opened.dumb


OPENS = (
    'import sys\nsys.stdin.readline()\nprint(\'{"action":"status","responseFor":"initialize"}\', flush=True)\n'
    "sys.stdin.readline()\n"
)


@pytest.mark.parametrize("then", ["sys.exit(1)", "sys.stdin.read()"], ids=["it ends", "it says nothing more"])
def test_one_that_fails_behind_a_right_answer_is_judged_and_not_told_to_be_of_another_profile(then, tmp_path):
    assert session("kcl", OPENS + then, tmp_path).trouble == ""


# -- the first answer of a server --------------------------------------------------------------------------------------

FIRST = {
    "stomp": ("server", "1.2", {"host": "localhost"}),
    "msgpack": ("server", "core", {}),
}


class FaultyStomp(stomp.Session):
    """Says something wrong in CONNECTED."""

    wrong = ""

    def emit(self, command, headers=(), *more, **named):
        if command == "CONNECTED":
            headers = [(name, self.wrong if name == "version" else value) for name, value in headers]
            headers = [header for header in headers if header != ("version", "")]
        return super().emit(command, headers, *more, **named)


class OldStomp(FaultyStomp):
    wrong = "1.1"


class Nameless(stomp.Session):
    """Has another name for CONNECTED."""

    def emit(self, command, *more, **named):
        return super().emit("WELCOME" if command == "CONNECTED" else command, *more, **named)


class Refusing(stomp.Session):
    def on_connected(self, frame):
        self.fail("no such login", frame)


class Swapped(msgpack.Session):
    """Puts the result where the error belongs."""

    def answer(self, number, error, result):
        super().answer(number, result, error)


class Renumbered(msgpack.Session):
    def answer(self, number, error, result):
        super().answer(number + 1, error, result)


def begun(protocol, made, tmp_path, seconds=2.0):
    role, profile, facts = FIRST[protocol]
    start = Start("python", f"{made.__module__}:{made.__name__}")
    known = {name: fact.default for name, fact in find(protocol).facts.items()}
    impl = Implementation("it", protocol, role, "1", profile, start, {**known, **facts}, {}, None, tmp_path)
    opened = Session(impl, RunOptions(budget_s=seconds), tmp_path, "run")
    opened.open()
    opened.close()
    return opened


def server(base, session_type):
    return type(session_type.__name__ + "Server", (base,), {"session_type": session_type, "__module__": __name__})


for _base, _kind in (
    *((stomp.Server, kind) for kind in (FaultyStomp, OldStomp, Nameless, Refusing)),
    *((msgpack.Server, kind) for kind in (Swapped, Renumbered)),
):
    globals()[f"{_kind.__name__}Server"] = server(_base, _kind)


@pytest.mark.parametrize(
    ("protocol", "name", "remark"),
    [
        ("stomp", "FaultyStompServer", "right in 1.0"),
        ("stomp", "OldStompServer", "right in 1.1"),
        ("stomp", "NamelessServer", ""),
        ("msgpack", "SwappedServer", ""),
        ("msgpack", "RenumberedServer", ""),
    ],
)
def test_a_server_whose_first_answer_is_wrong_is_judged(protocol, name, remark, tmp_path):
    opened = begun(protocol, globals()[name], tmp_path)
    assert opened.trouble == ""
    assert remark in " ".join(opened.remarks)
    assert bool(opened.remarks) == bool(remark)


def test_a_server_that_refuses_the_first_session_is_not_judged_by_it(tmp_path):
    trouble = begun("stomp", globals()["RefusingServer"], tmp_path).trouble
    assert "the first session was refused; are the [stomp] facts right?" in trouble


def test_what_lacks_its_version_fails_for_that_and_is_judged_on(tmp_path):
    manifest = tmp_path / "it.toml"
    manifest.write_text(
        '[impl]\nname = "it"\nprotocol = "stomp"\nrole = "server"\n'
        '[start]\npython = "test_first_session:FaultyStompServer"\n[stomp]\nhost = "localhost"\n'
    )
    done = run("suites/stomp", f"--impl={manifest}", "--budget=4", f"--results={tmp_path}/r", cwd=Path(__file__).parent)
    assert done.returncode == 1, done.stdout
    rows = json.loads((tmp_path / "r/summary.json").read_text("utf-8"))["requirements"]
    failing = {name for name, row in rows.items() if row["verdict"] == "fail"}
    assert failing == {"STOMP-1.2-CONNECTED-01", "STOMP-1.2-HDR-01"}  # the second says the same of all frames
    assert sum(row["judged"] > 0 for row in rows.values()) > 30  # and more where the machine has nothing else to do
    assert "judge it with --profile=1.0" in done.stdout
    trace = json.loads((tmp_path / "r/traces/STOMP-1.2-CONNECTED-01.json").read_text("utf-8"))
    assert len(trace["plan"]["steps"]) <= 2


def test_a_run_without_time_for_a_conversation_says_so(tmp_path):
    (impl,) = (each for each in resolve("reference") if (each.protocol, each.role) == ("msgpack", "codec"))
    opened = Session(impl, RunOptions(budget_s=1.0), tmp_path, "run")
    opened.open()
    opened.hunter()
    opened.deadline.end()
    prop = properties("msgpack", "codec")[0][0]
    opened.hunt([Share(prop, 1.0)], 1.0, lambda hunter: None)
    opened.close()
    assert "took all the time; --budget=" in " ".join(opened.remarks)


def test_no_name_is_used_again_by_a_run_that_looks_on(tmp_path, monkeypatch):
    (impl,) = (each for each in resolve("reference") if (each.protocol, each.role) == ("stomp", "server"))
    names, drive = [], ground.drive
    monkeypatch.setattr(
        ground, "drive", lambda plan, setting, fresh: (names.append(fresh), drive(plan, setting, fresh))[1]
    )
    opened = Session(impl, RunOptions(budget_s=60.0), tmp_path, "run")
    opened.open()
    for _ in range(3):
        for _ in range(12):
            opened.hunter().play(opened.hunter().smoke())
        opened._begin_anew()
    opened.close()
    assert not opened.trouble
    assert len(names) >= 36
    assert len(set(names)) == len(names)


def test_discovery_uses_names_of_its_own_in_each_run(monkeypatch):
    (impl,) = (each for each in resolve("reference") if (each.protocol, each.role) == ("stomp", "server"))
    names, drive = [], calibration.drive
    monkeypatch.setattr(
        calibration, "drive", lambda plan, setting, fresh: (names.append(fresh), drive(plan, setting, fresh))[1]
    )
    for _ in range(2):
        transport = MemoryTransport(stomp.Server)
        calibration.Calibration(impl, find("stomp"), transport, 1000.0).meet()
    half = len(names) // 2
    assert set(names[:half]).isdisjoint(names[half:])
