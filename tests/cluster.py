"""A real Spark cluster on loopback, from the jars that PySpark brings: a master and workers, processes of their own.

    python -m tests.cluster [--kills N]     a campaign, and N more in which a worker is killed in between: equal rows?

`Cluster` is a context manager. Everything that it starts it ends, by process id.
"""

from __future__ import annotations

import argparse
import os
import queue
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType

import pyspark

ROOT = Path(__file__).resolve().parent.parent
SPARK = Path(pyspark.__file__).parent
STARTING_S = 60.0
SOURCE = "peers:tests.faulty_peers:server"
PLANS = ["--plans", "800", "--each", "50", "--wide", "8"]


class Cluster:
    """`workers` workers of one core each; `url` is where the master listens."""

    def __init__(self, workers: int, folder: Path) -> None:
        self._folder, self.url = folder, ""
        self._processes: list[subprocess.Popen[str]] = []
        self._wanted = workers
        self.workers: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Cluster:
        try:
            master = self._start("master.Master", "--port", "0", "--webui-port", "0")
            self.url = self._says(master, r"Starting Spark master at (spark://\S+)")
            for _ in range(self._wanted):
                self.add_worker()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self._processes):
            _end(process)

    def add_worker(self) -> None:
        """One more worker, which the master knows when this returns."""
        folder = self._folder / f"worker{len(self._processes)}"
        worker = self._start(
            "worker.Worker", self.url, "--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(folder)
        )
        self._says(worker, r"Successfully registered with master")
        self.workers.append(worker)

    def kill_worker(self) -> None:
        """The oldest worker and its executor are gone at once, as when a machine loses power."""
        worker = self.workers.pop(0)
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait(30)

    def _start(self, what: str, *arguments: str) -> subprocess.Popen[str]:
        """A daemon of Spark in a process group of its own, which its executors belong to."""
        process = subprocess.Popen(
            [str(SPARK / "bin" / "spark-class"), f"org.apache.spark.deploy.{what}", "--host", "127.0.0.1", *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(SPARK)},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
        self._processes.append(process)
        return process

    def _says(self, process: subprocess.Popen[str], pattern: str) -> str:
        """What a daemon says that matches, its first group or all of it. Raises TimeoutError."""
        lines: queue.Queue[str] = queue.Queue()

        def read() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                lines.put(line)

        threading.Thread(target=read, daemon=True).start()
        until, heard = time.monotonic() + STARTING_S, ""
        while (left := until - time.monotonic()) > 0 and process.poll() is None:
            try:
                line = lines.get(timeout=min(left, 1.0))
            except queue.Empty:
                continue
            heard += line
            if found := re.search(pattern, line):
                return found.group(found.lastindex or 0)
        raise TimeoutError(f"no {pattern!r} in {STARTING_S:.0f} s:\n{heard[-2000:]}")


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)
    if process.stdout is not None:
        process.stdout.close()


def campaign(master: str, warehouse: Path) -> subprocess.Popen[str]:
    """A campaign of its own process."""
    command = [sys.executable, "-m", "campaigns", SOURCE, *PLANS, "--warehouse", str(warehouse), "--master", master]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def rows(warehouse: Path) -> list[tuple[object, ...]]:
    """What a campaign has found, in an order of its own: all columns of what is committed."""
    import pyarrow.dataset as ds  # noqa: PLC0415

    commits = ds.dataset(warehouse / "commits", format="parquet").to_table().to_pylist()
    gone = {name for commit in commits for name in commit["replaces"]}
    parts = [
        warehouse / "found" / f"batch={commit['batch']}"
        for commit in commits
        if "found" in commit["tables"] and commit["batch"] not in gone
    ]
    tables = [ds.dataset(part, format="parquet").to_table().to_pylist() for part in parts]
    return sorted((tuple(sorted(row.items())) for table in tables for row in table), key=repr)


def disturbed(cluster: Cluster, warehouse: Path, after_s: float) -> int:
    """A campaign in which a worker is killed `after_s` seconds after its first wave; another one takes its place."""
    running = campaign(cluster.url, warehouse)
    until = time.monotonic() + 300
    while not list((warehouse / "found").glob("batch=*")) and running.poll() is None and time.monotonic() < until:
        time.sleep(0.2)
    time.sleep(after_s)  # the moment is drawn: there is nothing to wait for
    cluster.kill_worker()
    cluster.add_worker()
    told, complaints = running.communicate(timeout=600)
    if running.returncode != 1:  # it finds the fault
        sys.stderr.write(f"{told}\n{complaints[-3000:]}\n")
    return running.returncode


def main() -> int:
    """0 when all disturbed campaigns have found what the undisturbed one has."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=1, help="campaigns in which a worker is killed")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    chosen = parser.parse_args()
    chance, status = random.Random(chosen.seed), 0
    with tempfile.TemporaryDirectory(prefix="wireproof-") as name, Cluster(2, Path(name)) as cluster:
        begun = time.monotonic()
        whole = campaign(cluster.url, Path(name) / "whole")
        whole.communicate(timeout=600)
        took = time.monotonic() - begun
        expected = rows(Path(name) / "whole")
        print(f"undisturbed: exit {whole.returncode}, {len(expected)} rows in {took:.0f} s")
        for nth in range(chosen.kills):
            after = chance.uniform(0, took / 2)
            code = disturbed(cluster, Path(name) / f"killed{nth}", after)
            same = rows(Path(name) / f"killed{nth}") == expected
            told = "equal" if same else "OTHER"
            print(f"a worker killed {after:.1f} s after the first wave began: exit {code}, {told} rows", flush=True)
            status |= not same or code != whole.returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
