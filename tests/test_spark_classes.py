"""The classes of the JVM are kept from job to job where somebody asks for that, and only whole."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

pytest.importorskip("pyspark")

from reports.spark import classes
from reports.spark.session import NoSpark, missing, start

ENDS = (
    "import sys, pathlib; sys.stdin.read(); pathlib.Path(sys.argv[1]).write_text('classes'); sys.exit(int(sys.argv[2]))"
)


def jvm(path, status=0):
    """Writes what it is told as soon as its STDIN ends, as a JVM does."""
    return subprocess.Popen([sys.executable, "-c", ENDS, str(path), str(status)], stdin=subprocess.PIPE)


def test_nothing_is_kept_unless_a_folder_is_named(monkeypatch):
    monkeypatch.delenv(classes.FOLDER, raising=False)
    assert classes.file(sys.executable) is None
    assert classes.options(None) == ""


def test_each_java_has_a_file_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv(classes.FOLDER, str(tmp_path / "kept"))
    others = [tmp_path / "java", tmp_path / "other"]
    for other in others:
        other.touch()
    found = [classes.file(str(other)) for other in others]
    assert len({*found}) == 2
    assert all(path.parent == tmp_path / "kept" for path in found)
    os.utime(others[0], (1, 1))
    assert classes.file(str(others[0])) != found[0], "it was replaced by another one"


@pytest.mark.parametrize(("status", "kept"), [(0, True), (1, False)])
def test_the_first_job_writes_and_the_next_one_reads_what_is_whole(status, kept, tmp_path):
    path = tmp_path / "made" / "spark.jsa"
    first = classes.options(path)
    part = classes._part(path)
    assert f'"-XX:ArchiveClassesAtExit={part}"' in first
    classes.finish(jvm(part, status), path)
    assert path.exists() is kept
    assert (f'"-XX:SharedArchiveFile={path}"' in classes.options(path)) is kept


def test_what_a_killed_job_has_left_is_removed_and_what_another_one_writes_is_not(tmp_path):
    left, written = tmp_path / "spark.1.part", tmp_path / "spark.2.part"
    for part in (left, written):
        part.touch()
    old = time.time() - classes.WRITTEN_S - 1
    os.utime(left, (old, old))
    classes.options(tmp_path / "spark.jsa")
    assert [*tmp_path.iterdir()] == [written]


@pytest.mark.skipif(bool(missing()), reason="Spark cannot run here")
def test_a_folder_that_cannot_be_made_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv(classes.FOLDER, str(tmp_path / "file" / "kept"))
    with pytest.raises(NoSpark, match=f"{classes.FOLDER} must name a folder"):
        start()
