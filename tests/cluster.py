"""A real Spark cluster on loopback, from the jars that PySpark brings: a master and workers, processes of their own.

    python -m tests.cluster [--kills N]     a campaign, and N more in which a worker is killed in between: equal rows?
                            [--connect]     and one through a Spark Connect server: equal rows?
    python -m tests.cluster --scaling       conversations a second with two workers against one

`Cluster` is a context manager. Everything that it starts it ends, by process id.
"""

from __future__ import annotations

import argparse
import os
import queue
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import pyspark

from campaigns.job import SETTINGS

ROOT = Path(__file__).resolve().parent.parent
SPARK = Path(pyspark.__file__).parent
STARTING_S = 120.0
WANTED = 1.7
"""How many times the conversations of one worker two have to play."""
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
PLAYED = ["peers:tests.faulty_peers:server", "--plans", "800", "--each", "50", "--wide", "8"]
STOMP = ["peers:tests.soak:server", "--each", "500", "--wide", "32", "--plans"]
"""The STOMP reference in memory, with all its switches."""


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

    def connect(self) -> str:
        """A Spark Connect server on this cluster: its URL, as --remote takes it."""
        settings = {
            **SETTINGS, "spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": "0",
            "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
            "spark.executorEnv.PYTHONPATH": str(ROOT),
        }  # fmt: skip
        told = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
        server = self._run("spark-submit", "--class", CONNECT, "--master", self.url, *told, "spark-internal")
        return "sc://" + self._says(server, r"Spark Connect server started at: (\S+)")

    def kill_worker(self) -> None:
        """The oldest worker and its executor are gone at once, as when a machine loses power."""
        worker = self.workers.pop(0)
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait(30)

    def _start(self, what: str, *arguments: str) -> subprocess.Popen[str]:
        """A daemon of Spark."""
        return self._run("spark-class", f"org.apache.spark.deploy.{what}", "--host", "127.0.0.1", *arguments)

    def _run(self, program: str, *arguments: str) -> subprocess.Popen[str]:
        """A program of Spark in a process group of its own, which its executors belong to."""
        process = subprocess.Popen(
            [str(SPARK / "bin" / program), *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(SPARK),
                 "PYSPARK_PYTHON": sys.executable},
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


def campaign(where: Sequence[str], warehouse: Path, played: Sequence[str] = PLAYED) -> subprocess.Popen[str]:
    """A campaign as a process of its own; `where` is --master or --remote with its URL."""
    command = [sys.executable, "-m", "campaigns", *played, "--warehouse", str(warehouse), *where]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def rows(warehouse: Path) -> list[tuple[object, ...]]:
    """What a campaign has found, in an order of its own: all columns of what is committed, but for when it was."""
    import pyarrow.dataset as ds  # noqa: PLC0415

    commits = ds.dataset(warehouse / "commits", format="parquet").to_table().to_pylist()
    gone = {name for commit in commits for name in commit["replaces"]}
    parts = [
        warehouse / "found" / f"batch={commit['batch']}"
        for commit in commits
        if "found" in commit["tables"] and commit["batch"] not in gone
    ]
    tables = [ds.dataset(part, format="parquet").to_table().to_pylist() for part in parts]
    found = [row for table in tables for row in table if row["kind"] not in ("wave", "ended")]
    return sorted((tuple(sorted(row.items())) for row in found), key=repr)


def begun(running: subprocess.Popen[str], warehouse: Path) -> float:
    """When a campaign has begun to write its first wave."""
    until = time.monotonic() + 300
    while not list((warehouse / "found").glob("batch=*")) and running.poll() is None and time.monotonic() < until:
        time.sleep(0.1)
    return time.monotonic()


def disturbed(cluster: Cluster, warehouse: Path, after_s: float) -> tuple[int, bool]:
    """A campaign in which a worker is killed `after_s` seconds after it began; another one takes its place. Its exit
    status, and whether it went on by then."""
    running = campaign(["--master", cluster.url], warehouse)
    begun(running, warehouse)
    time.sleep(after_s)  # the moment is drawn: there is nothing to wait for
    hit = running.poll() is None
    cluster.kill_worker()
    cluster.add_worker()
    return finished(running, 1)[0], hit


def finished(running: subprocess.Popen[str], wanted: int) -> tuple[int, str]:
    """How a campaign ended, and its line of result; what it complained of is shown when it ended otherwise."""
    told, complaints = running.communicate(timeout=1200)
    if running.returncode != wanted:
        sys.stderr.write(f"{told}\n{complaints[-3000:]}\n")
    return running.returncode, told.strip()


def kills(folder: Path, count: int, seed: int, *, connect: bool) -> int:
    """0 when all disturbed campaigns, and the one by Spark Connect, have found what the undisturbed one has."""
    chance, status = random.Random(seed), 0
    with Cluster(2, folder) as cluster:
        whole = campaign(["--master", cluster.url], folder / "whole")
        first = begun(whole, folder / "whole")
        code, _ = finished(whole, 1)  # it finds the fault
        took = time.monotonic() - first
        expected = rows(folder / "whole")
        print(f"undisturbed: exit {code}, {len(expected)} rows in {took:.0f} s{load()}", flush=True)
        status |= code != 1 or not expected
        for nth in range(count):
            after = chance.uniform(0, took * 0.8)
            code, hit = disturbed(cluster, folder / f"killed{nth}", after)
            same = code == 1 and rows(folder / f"killed{nth}") == expected
            told = ("equal" if same else "OTHER") + ("" if hit else " (it was over by then)")
            print(
                f"a worker killed {after:.1f} s after the first wave began: exit {code}, {told} rows{load()}",
                flush=True,
            )
            status |= not same or code != 1
        if connect:
            code, _ = finished(campaign(["--remote", cluster.connect()], folder / "connect"), 1)
            same = code == 1 and rows(folder / "connect") == expected
            print(f"by Spark Connect: exit {code}, {'equal' if same else 'OTHER'} rows{load()}", flush=True)
            status |= not same or code != 1
    return status


def scaling(folder: Path, plans: int, turns: int) -> int:
    """0 when two workers play at least WANTED times the conversations of one, in turns of both."""
    took: dict[int, list[float]] = {1: [], 2: []}
    for nth in range(turns):
        for workers in (1, 2):
            with Cluster(workers, folder) as cluster:
                running = campaign(["--master", cluster.url], folder / f"scaling-{nth}-{workers}", [*STOMP, str(plans)])
                code, told = finished(running, 0)
            found = re.search(r"; (\d+) s, (\d+)% of it", told)
            if code or found is None:
                return 1
            took[workers].append(int(found.group(1)))
            rate = plans / took[workers][-1]
            print(
                f"{workers} workers: {rate:.0f} conversations a second, {found.group(2)} % the driver's own{load()}",
                flush=True,
            )
    ratio = statistics.median(took[1]) / statistics.median(took[2])
    print(f"two workers play {ratio:.2f} times what one plays")
    return int(ratio < WANTED)


def load() -> str:
    """How busy the machine is, to be told beside a figure."""
    return f" (load {os.getloadavg()[0]:.1f})"


def main() -> int:
    """0 when what was tried went as it should."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=1, help="campaigns in which a worker is killed")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    parser.add_argument(
        "--connect", action=argparse.BooleanOptionalAction, default=True, help="one by Spark Connect, too"
    )
    parser.add_argument("--scaling", action="store_true", help="two workers against one instead")
    parser.add_argument("--plans", type=int, default=16_000, help="for --scaling")
    parser.add_argument("--turns", type=int, default=2, help="for --scaling")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wireproof-") as name:
        if chosen.scaling:
            return scaling(Path(name), chosen.plans, chosen.turns)
        return kills(Path(name), chosen.kills, chosen.seed, connect=chosen.connect)


if __name__ == "__main__":
    sys.exit(main())
