"""The whole MultiLangDaemon of KCL 3 beside a local Kinesis, with the reference child as its record processor.

    python impls/catalog/kcl/daemon.py RECORDINGS

Nothing is judged here: every child writes down what passes between it and the daemon, and `python -m suites.offline
kcl-3-daemon RECORDINGS` judges that. The daemon reads a stream of two shards; while it does, one of them is split, so
that a shard ends and others begin; then the daemon is asked to stop. What it must have done by then is observed, never
slept for: records that reached a child are found in the recordings.

Needs `setup.sh java` beside this file, Java, and moto with boto3 and hypercorn (the client speaks HTTP/2, and moto's
own server does not). Everything listens on loopback, and ends with this program.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
LIBRARY = HERE / ".lib" / "kcl3"
STREAM, APPLICATION, REGION = "words", "overheard", "us-east-1"
SERVER_S, RECORDS_S, STOP_S = 60.0, 180.0, 60.0
"""How long the server may take to answer, records to reach a child, and the daemon to stop."""
SECRETS = {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_REGION": REGION}
HEIRS = 2
"""Shards that take the place of one that was split."""
KEYS = ("plain", "caf\u00e9", "\u96ea", "\U0001f600", '"quoted"\\', "a b", "0", "k" * 256)
DATA = (b"x", bytes(range(256)), b'{"json": [1]}', "\u96ea\n".encode(), b"\0", b"y" * 50_000)
STATEMENTS = ({"wireproof": [{"op": "checkpoint", "at": None}]}, {"wireproof": [{"op": "print", "text": "noise\n"}]})
"""What some records tell the child to do."""


@contextlib.contextmanager
def program(command: list[str], log: Path, env: dict[str, str], grace_s: float) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a group of its own, which is gone in the end: asked first, then killed."""
    with log.open("wb") as words:
        started = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **env}, stdout=words, stderr=words, start_new_session=True
        )
        try:
            yield started
        finally:
            started.terminate()
            try:
                started.wait(grace_s)
            except subprocess.TimeoutExpired:
                print(f"{command[0]} did not end within {grace_s:.0f} s and was killed", file=sys.stderr)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
            started.wait()


def until(what: str, seconds: float, found: Callable[[], bool], *watched: subprocess.Popen[bytes]) -> None:
    """Look until `found`; SystemExit when a watched process ends or the time is up."""
    deadline = time.monotonic() + seconds
    while not found():
        if any(process.poll() is not None for process in watched):
            raise SystemExit(f"daemon.py: a process ended before {what}; see the logs beside the recordings")
        if time.monotonic() > deadline:
            raise SystemExit(f"daemon.py: not within {seconds:.0f} s: {what}; see the logs beside the recordings")
        time.sleep(0.1)


def free_port() -> int:
    """A port on loopback that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        port: int = door.getsockname()[1]
        return port


def properties(url: str, recordings: Path) -> str:
    """The daemon's configuration: it polls and sends no metrics, since a local Kinesis offers nothing else."""
    child = f"{sys.executable} -m impls.references.kcl child --profile kcl3 --record {recordings}"
    lines = {
        "executableName": child,
        "streamName": STREAM,
        "applicationName": APPLICATION,
        "AwsCredentialsProvider": "DefaultCredentialsProvider",
        "processingLanguage": "any",
        "initialPositionInStream": "TRIM_HORIZON",
        "regionName": REGION,
        "kinesisEndpoint": url,
        "dynamoDBEndpoint": url,
        "retrievalMode": "POLLING",
        "metricsLevel": "NONE",
        "idleTimeBetweenReadsInMillis": "250",
        "shardSyncIntervalMillis": "2000",
        "parentShardPollIntervalMillis": "1000",
        "shutdownGraceMillis": "30000",
        "clientVersionConfig": "CLIENT_VERSION_CONFIG_COMPATIBLE_WITH_2X",
    }
    return "".join(f"{name} = {value}\n" for name, value in lines.items())


def put(kinesis: Any, serial: int) -> list[tuple[bytes, str]]:
    """Every key with every kind of data; what was put."""
    sent = [(data, f"{key[:250]}{serial}") for key in KEYS for data in DATA]
    sent += [(json.dumps(told).encode(), f"told{serial}{n}") for n in range(4) for told in STATEMENTS]
    for data, key in sent:
        kinesis.put_record(StreamName=STREAM, Data=data, PartitionKey=key)
    return sent


def delivered(recordings: Path) -> set[tuple[bytes, str]]:
    """The records that have reached a child."""
    found = set()
    for message in messages(recordings):
        for record in message.get("records", ()):
            found.add((base64.b64decode(record["data"]), record["partitionKey"]))
    return found


def messages(recordings: Path) -> Iterator[dict[str, Any]]:
    """What the daemon has said to its children, without what cannot be read: that is for the judge."""
    for path in recordings.glob("*.jsonl"):
        for line in path.read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n") and (piece := json.loads(line))["by"] == "host" and "hex" in piece:
                with contextlib.suppress(ValueError):
                    yield json.loads(bytes.fromhex(piece["hex"]))


def run(recordings: Path) -> None:
    """One daemon from its start to its end."""
    url = f"http://127.0.0.1:{free_port()}"
    (recordings / "daemon.properties").write_text(properties(url, recordings), "utf-8")
    server = [sys.executable, "-m", "hypercorn", "-b", url.removeprefix("http://"), "wsgi:local_kinesis:app"]
    env = {**SECRETS, "PYTHONPATH": f"{HERE}{os.pathsep}{ROOT}"}
    daemon = [
        "java", "-Daws.cborEnabled=false", "-Xmx512m", "-cp", f"{LIBRARY}/jars/*",
        "software.amazon.kinesis.multilang.MultiLangDaemon",
        "--properties-file", str(recordings / "daemon.properties"),
    ]  # fmt: skip
    with program(server, recordings / "server.log", env, 5.0) as kinesis_process:
        kinesis = boto3.client(
            "kinesis",
            endpoint_url=url,
            region_name=REGION,
            aws_access_key_id=SECRETS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=SECRETS["AWS_SECRET_ACCESS_KEY"],
            config=Config(connect_timeout=2, read_timeout=10, retries={"total_max_attempts": 1}),
        )
        until("the server answers", SERVER_S, lambda: answers(kinesis), kinesis_process)
        kinesis.create_stream(StreamName=STREAM, ShardCount=2)
        sent = put(kinesis, 0)
        with program(daemon, recordings / "daemon.log", env, STOP_S) as running:
            both = (kinesis_process, running)
            until("all records reached a child", RECORDS_S, lambda: delivered(recordings) >= set(sent), *both)
            split(kinesis)
            sent += put(kinesis, 1)
            until("all records behind the split did", RECORDS_S, lambda: delivered(recordings) >= set(sent), *both)
            until("the end of a shard was told", RECORDS_S, lambda: told(recordings, "shardEnded"), *both)
            until("its heirs began", RECORDS_S, lambda: len(list(recordings.glob("*.jsonl"))) >= HEIRS + 2, *both)


def answers(kinesis: Any) -> bool:
    """True once the server does."""
    try:
        kinesis.list_streams()
    except (BotoCoreError, ClientError):
        return False
    return True


def split(kinesis: Any) -> None:
    """Split the first shard in the middle."""
    first = kinesis.list_shards(StreamName=STREAM)["Shards"][0]
    span = first["HashKeyRange"]
    middle = (int(span["StartingHashKey"]) + int(span["EndingHashKey"])) // 2
    kinesis.split_shard(StreamName=STREAM, ShardToSplit=first["ShardId"], NewStartingHashKey=str(middle))


def told(recordings: Path, action: str) -> bool:
    """True once a child was told that."""
    return any(message.get("action") == action for message in messages(recordings))


def main() -> int:
    """0; or an exit message naming what did not happen."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("recordings", type=Path, help="a folder to make; old recordings in it are removed")
    recordings: Path = parser.parse_args().recordings.resolve()
    if not LIBRARY.exists():
        raise SystemExit(f"daemon.py: no library in {LIBRARY}; run `sh {HERE.name}/setup.sh java` first")
    recordings.mkdir(parents=True, exist_ok=True)
    for old in recordings.glob("*.jsonl"):
        old.unlink()
    run(recordings)
    count = len(list(recordings.glob("*.jsonl")))
    print(f"{count} conversations, {len(delivered(recordings))} records, in {recordings}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
