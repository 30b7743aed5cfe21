"""Runs Apache Pulsar's broker in the foreground, from what pulsar_setup.sh has fetched.

    python pulsar_process.py PORT

A standalone broker with a bookie in the same process and its metadata in RocksDB, all in a folder of its own, which is
removed at the end; it listens on loopback only. Any number of them run side by side. SIGTERM ends it. Exit status: the
broker's own; 69 when it is not there. WIREPROOF_PULSAR names another folder of jars; WIREPROOF_PULSAR_CONF is put at
the end of the configuration, a semicolon ending a line.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

STOP_S = 8.0
"""How long the broker may take to end after SIGTERM; less than what whoever started this script allows it."""
HERE = Path(__file__).resolve().parent
CONF = """\
clusterName=standalone
bindAddress=127.0.0.1
advertisedAddress=127.0.0.1
listeningInterface=lo
allowLoopback=true
brokerServicePort={port}
webServicePort={web}
managedLedgerDefaultEnsembleSize=1
managedLedgerDefaultWriteQuorum=1
managedLedgerDefaultAckQuorum=1
numIOThreads=2
numHttpServerThreads=4
keepAliveIntervalSeconds=2
activeConsumerFailoverDelayTimeMillis=0
acknowledgmentAtBatchIndexLevelEnabled=true
brokerDeleteInactiveTopicsEnabled=false
loadBalancerEnabled=false
systemTopicEnabled=false
topicLevelPoliciesEnabled=false
journalSyncData=false
"""
JAVA = [
    "-Xmx512m", "-XX:MaxDirectMemorySize=512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
    "-Dio.netty.tryReflectionSetAccessible=true", "--add-opens", "java.base/sun.net=ALL-UNNAMED",
    "--add-opens", "java.base/java.lang=ALL-UNNAMED", "--add-opens", "java.base/java.nio=ALL-UNNAMED",
    "--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED",
]  # fmt: skip


def main(port: int) -> int:
    """Serve until the broker ends or a signal asks for the end."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _leave)
    jars = os.environ.get("WIREPROOF_PULSAR") or next(
        (str(path) for path in sorted(HERE.glob(".lib/pulsar-*/jars"), reverse=True)), ""
    )
    java = shutil.which("java")
    if not jars or java is None:
        print("Pulsar is not here; pulsar_setup.sh broker fetches it, and it needs Java 17 or newer", file=sys.stderr)
        return 69
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wireproof-", ignore_cleanup_errors=True)))
        extra = os.environ.get("WIREPROOF_PULSAR_CONF", "").replace(";", "\n")
        (folder / "broker.conf").write_text(CONF.format(port=port, web=_unused_port()) + extra + "\n")
        argv = [java, *JAVA, f"-Djava.io.tmpdir={folder}", "-cp", f"{jars}/*"]
        argv += ["org.apache.pulsar.PulsarStandaloneStarter", "--config", "broker.conf", "-nfw", "-nss", "--wipe-data"]
        argv += ["--metadata-dir", "metadata", "--bookkeeper-dir", "bookkeeper", "-a", "127.0.0.1"]
        argv += ["--bookkeeper-port", str(_unused_port())]
        child = subprocess.Popen(argv, cwd=folder, stdin=subprocess.DEVNULL)
        try:
            return child.wait()
        finally:
            child.terminate()
            try:
                child.wait(STOP_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def _leave(number: int, frame: object) -> None:
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # once is enough: the ending itself must not be interrupted
    sys.exit(128 + number)


def _unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
