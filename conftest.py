"""pytest's hooks for Wireproof: options, fixtures and exit status. The work is done in suites/cli.py."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from suites.cli import DISCIPLINES, Cli
from suites.collected import SUITES, made
from suites.hunt import Hunter, Tally
from suites.options import add_options

CLI = pytest.StashKey[Cli]()


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "weight(n): share of the budget that a property gets (1 when absent)")
    config.addinivalue_line("markers", "container: needs a container engine")
    cli = config.stash.setdefault(CLI, Cli(config))
    if not cli.wants_suites():
        return
    if cli.controls:
        cli.junit_path, config.option.xmlpath = config.option.xmlpath, None  # one case for each requirement: ours
        signal.signal(signal.SIGTERM, _interrupt)  # a cancelled CI job still stops what it started


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt(f"signal {number}")


def pytest_cmdline_main(config: pytest.Config) -> int | None:
    cli = config.stash.setdefault(CLI, Cli(config))  # this hook comes before pytest_configure
    if not cli.wants_suites():
        return None
    if config.getoption("--list-requirements"):
        sys.stdout.write(cli.listing() + "\n")
        return 0
    if config.getoption("--explain"):
        sys.stdout.write(cli.explain())
        return 0
    if config.getoption("--replay"):
        text, status = cli.replay(config.getoption("--replay"))
        sys.stdout.write(text + "\n")
        return status
    return None


def pytest_sessionstart(session: pytest.Session) -> None:
    cli = session.config.stash[CLI]
    if cli.wants_suites() and not session.config.option.collectonly:
        cli.begin()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["wireproof"] = node.config.stash[CLI].invitation()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the suites of protocols that nothing is to be judged by."""
    cli = config.stash[CLI]
    if collection_path.parent != SUITES or not collection_path.is_dir() or not cli.sessions:
        return None
    known = {session.impl.protocol for session in cli.sessions}
    return True if collection_path.name not in known else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "hunting" not in metafunc.fixturenames:
        return
    cli = metafunc.config.stash[CLI]
    path = Path(str(metafunc.definition.path))
    folder = path.relative_to(SUITES).parts[0]
    roles = getattr(metafunc.module, "ROLES", None)
    cases, names = [], []
    for number, session in enumerate(cli.sessions):
        if folder != session.impl.protocol or (roles is not None and session.impl.role not in roles):
            continue
        for discipline in getattr(metafunc.module, "DISCIPLINES", DISCIPLINES):
            cases.append((number, discipline))
            names.append(
                discipline if len(cli.sessions) == 1 else f"{session.impl.name}-{session.impl.role}-{discipline}"
            )
    metafunc.parametrize("hunting", cases, ids=names)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cli = config.stash[CLI]
    if cli.sessions:
        items[:] = [item for item in items if _is_meant(item)]
        cli.share(items)


def _is_meant(item: pytest.Item) -> bool:
    """False for a property of a role that nothing here plays: it was given no case."""
    call = getattr(item, "callspec", None)
    return call is None or isinstance(call.params.get("hunting", ()), tuple)


@pytest.fixture
def hunting(request: pytest.FixtureRequest) -> Any:
    """(number of the session, discipline); see pytest_generate_tests."""
    return request.param


@pytest.fixture
def hunt(request: pytest.FixtureRequest, hunting: tuple[int, str]) -> Callable[..., Tally]:
    """Hunt with programs and their interpretation; fails the test for faults outside the baseline."""
    cli = request.config.stash[CLI]
    number, _ = hunting
    session = cli.sessions[number]

    def run(
        programs: Any, interpret: Any, *, avoids: bool = False, always_calm: bool = False, deals: int | None = None,
        heavy: bool = False,
    ) -> Tally:  # fmt: skip
        if session.trouble:
            pytest.skip(f"not judged: {session.trouble}")
        prop = made(request.node, programs, interpret, avoids, always_calm, deals, heavy)
        line = _Line(request.config)
        try:
            pursuit = cli.hunt(request.node, prop, session, line.say)
        finally:
            line.clear()
        if pursuit.error is not None:
            raise pursuit.error
        tally, faults = pursuit.tally, session.faults_of(prop.name)
        request.node.user_properties.append(("wireproof", f"{tally.plans:>7} plans  {len(faults)} faults"))
        fresh = session.outside(prop.name)
        if fresh:
            pytest.fail("; ".join(f"{f.requirement}: {f.why}" for f in fresh)[:2000], pytrace=False)
        return tally

    return run


class _Line:
    """One line on a terminal that says how far a run has come; nothing when the output is no terminal."""

    def __init__(self, config: pytest.Config) -> None:
        self._show = sys.__stderr__ is not None and sys.__stderr__.isatty() and not hasattr(config, "workerinput")
        self._capture = config.pluginmanager.getplugin("capturemanager")
        self._last = 0.0

    def say(self, hunter: Hunter) -> None:
        if self._show and time.monotonic() - self._last > 0.2:
            self._last = time.monotonic()
            left = hunter.until.left() or hunter.ground.deadline.left()
            faults = sum(fault.verdict == "fail" for fault in hunter.faults.values())
            self._write(
                f"\r\x1b[K  {len(hunter.judged)} of {len(hunter.binding)} requirements judged, {faults} fail; "
                f"{left:.0f} s left" + ("" if hunter.until.left() else " at most, for what is suspected")
            )

    def clear(self) -> None:
        if self._show:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        assert self._capture is not None
        with self._capture.global_and_fixture_disabled():
            assert sys.__stderr__ is not None
            sys.__stderr__.write(text)
            sys.__stderr__.flush()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    cli = session.config.stash[CLI]
    if cli.sessions:
        cli.interrupted = exitstatus == pytest.ExitCode.INTERRUPTED
        session.exitstatus = cli.end(int(exitstatus))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    config.stash[CLI].show(terminalreporter)
