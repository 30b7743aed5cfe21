"""How the project's own tests are shared out among the workers of pytest-xdist, and that none of them is timed."""

from __future__ import annotations

from pathlib import Path

import pytest
from echo import joined
from hypothesis import settings

from specs import protocol as protocols
from tests import made_up
from tests.browsing import browser, look  # noqa: F401 - fixtures of every module that opens pages

settings.register_profile("untimed", deadline=None)  # a machine under load is no failure
settings.load_profile("untimed")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Tests that need Spark share one worker, so that it is started once, and so do those of the wheel, which is
    installed once; all others go to whoever is free.

    `--dist loadgroup` would do, but it renames tests in a way that pytest does not take notice of since version 9.
    """
    from xdist.scheduler import LoadScopeScheduling  # noqa: PLC0415 - it is not there when nobody asks for workers

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return file if file in ("tests/test_spark.py", "tests/test_wheel.py") else nodeid

    return Together(config, log)


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
