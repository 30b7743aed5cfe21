"""The classes of the JVM as an earlier job left them, in a file: a job that finds it starts and plans sooner.

The JVM itself writes the file as it ends, and reads it before it loads classes (JEP 350). It does without one that
another Java has written, or that is for other jars; the file of each pair of those has a name of its own.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER: Final = "WIREPROOF_SPARK_CLASSES"
"""The environment variable that names the folder of such files; without it there are none."""
WRITTEN_S: Final = 120.0
"""How long a process waits for its JVM to write one."""
QUIET: Final = "-Xlog:cds=off -Xlog:cds+dynamic=off"


def file(java: str) -> Path | None:
    """Where the classes of this Java and this PySpark are kept, or will be; None when nobody wants them kept."""
    folder, spec = os.environ.get(FOLDER, ""), find_spec("pyspark")
    if not folder or spec is None:
        return None
    origins = [Path(shutil.which(java) or java).resolve(), Path(str(spec.origin)).resolve()]
    told = "".join(f"{origin} {origin.stat().st_mtime_ns}\n" for origin in origins)
    return Path(folder).absolute() / f"spark-{hashlib.sha256(told.encode()).hexdigest()[:16]}.jsa"


def options(path: Path | None) -> str:
    """What the JVM is told, to read the file when it is there and to write it when it is not. Raises OSError when its
    folder can't be made."""
    if path is None:
        return ""
    if path.exists():
        return f'"-XX:SharedArchiveFile={path}" {QUIET}'
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob("*.part"):  # of a job that was killed
        if time.time() - left.stat().st_mtime > WRITTEN_S:
            left.unlink(missing_ok=True)
    return f'"-XX:ArchiveClassesAtExit={_part(path)}" {QUIET}'


def awaited(spark: SparkSession, path: Path | None) -> None:
    """Let this process end only when its JVM has written the file, or has had its time for it. It gets its name then:
    a JVM would not survive one that lacks its end."""
    if path is not None and not path.exists():
        jvm = getattr(spark.sparkContext._gateway, "proc", None)
        if jvm is not None:  # else it was not started by this process
            atexit.register(finish, jvm, path)


def finish(jvm: subprocess.Popen[bytes], path: Path) -> None:
    """End a JVM, and give what it has written its name when it was written to its end."""
    if jvm.stdin is not None:
        jvm.stdin.close()  # it ends at that
    try:
        ended = jvm.wait(WRITTEN_S) == 0
    except subprocess.TimeoutExpired:
        return  # it goes on without us, and what it writes is removed by a later job
    if ended and _part(path).exists():
        _part(path).replace(path)


def _part(path: Path) -> Path:
    return path.with_suffix(f".{os.getpid()}.part")
