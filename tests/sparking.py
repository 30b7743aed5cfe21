"""One Spark for all tests of a process: starting it costs more than most of what is asked of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from reports.spark import session

FILES = ("tests/test_spark.py", "tests/test_versions.py", "tests/test_campaigns.py")
"""The tests that share it: they run in one worker of pytest-xdist (tests/conftest.py)."""


SMALL = {
    # Tables of a few rows: one partition holds them, and code that is made for a query is never run often enough to
    # earn what making it costs. Runs of the nightly report in other tests have both.
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""What tests ask of Spark beside what every job of ours does."""


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A Spark of this machine; without Java the test is skipped, unless REQUIRE_JAVA=1 says that there must be one."""
    why = session.missing()
    if why and os.environ.get("REQUIRE_JAVA") != "1":
        pytest.skip(why)
    started = session.start(name="tests", settings=SMALL)
    yield started
    started.stop()


class Kept:
    """A Spark that goes on when a command stops it."""

    def __init__(self, spark: Any) -> None:
        self._spark = spark

    def __getattr__(self, name: str) -> Any:
        return getattr(self._spark, name)

    def stop(self) -> None:
        """Nothing: others still use it."""


@contextmanager
def commands_use(spark: Any) -> Iterator[None]:
    """Commands that are called in this process find this Spark where they would start one."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(session, "start", lambda **_: Kept(spark))
        yield
