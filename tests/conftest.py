"""How the project's own tests are shared out among the workers of pytest-xdist, and that a busy machine fails none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from echo import joined
from hypothesis import settings

from specs import protocol as protocols
from tests import made_up
from tests.browsing import browser, look  # noqa: F401 - fixtures of every module that opens pages
from tests.sparking import FILES as SPARK
from tests.sparking import spark  # noqa: F401 - a fixture

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

settings.register_profile("untimed", deadline=None)  # a machine under load is no failure
settings.load_profile("untimed")


WAITS = (
    "tests/test_check.py",
    "tests/test_check_roles.py",
    "tests/test_check_hostile.py",
    "tests/test_ontime.py",
)
"""Files whose tests do little but wait."""
WORKERS = 3
"""Where there are so many workers, one of them takes files that wait, and no others: it leaves the processors to the
others."""


LONG = (
    *WAITS,
    *SPARK,
    "tests/test_obligations.py",
    "tests/test_wheel.py",
    "tests/test_site_browser.py",
    "tests/test_role_pages.py",
    "tests/test_kits.py",
    "tests/test_storm.py",
    "tests/test_docs_site.py",
    "tests/test_gate.py",
    "tests/test_one_name.py",
    "tests/test_now_and_then.py",
    "tests/test_msgpack.py",
    "tests/test_cli.py",
)
"""The files that take longest, the longest first: they are begun first, so that no worker is left alone with one."""


IN_TIME = frozenset(
    f"tests/test_{name}.py"
    for name in (
        "asking", "catalogue_kits", "check", "check_hostile", "check_roles", "cli", "compare", "containers",
        "docs_site", "drive", "dying", "gate", "kcl_children", "kits", "lanes", "launch", "named_at_home",
        "now_and_then", "one_name", "ontime", "pipes", "pulsar_walk", "role_pages", "site_browser",
        "stomp_tcp", "unread", "wheel",
    )
)  # fmt: skip
"""The files in which programs are judged against a real clock. On a machine that has too much else to do they may run
out of time, which says nothing of what they test: a test of theirs fails when it fails three times."""


def pytest_collection_modifyitems(items):
    rank = {name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: rank.get(item.nodeid.partition("::")[0], len(LONG)))
    for item in items:
        if item.nodeid.partition("::")[0] in IN_TIME:
            item.add_marker(pytest.mark.flaky(reruns=2))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A worker takes a whole file, so that what its tests share is made once. Those that need Spark count as one file.

    `--dist loadgroup` would do, but it renames tests in a way that pytest does not take notice of since version 9.
    """
    from xdist.scheduler import LoadScopeScheduling  # noqa: PLC0415 - it is not there when nobody asks for workers

    class Files(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return "spark" if file in SPARK else file

        def _of_its_kind(self, node: WorkerController) -> list[str]:
            """The files that are left for a worker: those that wait for the last of three or more, the others for the
            others."""
            if len(self.nodes) < WORKERS:
                return [*self.workqueue]
            return [scope for scope in self.workqueue if (scope in WAITS) is (node is self.nodes[-1])]

        def _assign_work_unit(self, node: WorkerController) -> None:
            for scope in self._of_its_kind(node)[:1]:
                self.workqueue.move_to_end(scope, last=False)
            super()._assign_work_unit(node)

        def _reschedule(self, node: WorkerController) -> None:
            if self._of_its_kind(node):
                super()._reschedule(node)
            else:
                node.shutdown()

    config.option.loadscopereorder = False  # the order is that of LONG
    return Files(config, log)


@pytest.fixture(scope="module")
def house():
    """The house with the miniature protocol in it."""
    with joined() as found:
        yield found


@pytest.fixture
def line(house):
    """A frame of the miniature protocol."""
    return house.frames.Line


@pytest.fixture
def two_protocols(monkeypatch):
    """There are two made-up protocols and no other."""
    monkeypatch.setattr(protocols, "names", lambda: sorted(made_up.PROTOCOLS))
    monkeypatch.setattr(protocols, "find", made_up.PROTOCOLS.__getitem__)


@pytest.fixture
def write(tmp_path):
    """Writes a manifest."""

    def written(text: str, name: str = "it.toml") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return written
