"""Runs a broker from Debian's packages in the foreground, without a container engine.

    python broker_process.py rabbitmq|activemq PORT

Everything it needs and writes is in a folder of its own, which is removed at the end; it listens on loopback only; it
does not touch a broker that the machine runs as a service, and any number of them run side by side. Works as root and
as an ordinary user. SIGTERM ends the broker and all that was started for it. Exit status: the broker's own; 69 when
it is not installed.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NoReturn

STOP_S = 8.0
"""How long a broker may take to end after SIGTERM; less than what whoever started this script allows it."""
RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
ACTIVEMQ = Path("/usr/share/activemq")
ACTIVEMQ_XML = Path(__file__).resolve().parent / "images" / "activemq" / "activemq.xml"


def main(broker: str, port: int) -> int:
    """Serve until the broker ends or a signal asks for the end."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _leave)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wireproof-", ignore_cleanup_errors=True)))
        serve = {"rabbitmq": _rabbitmq, "activemq": _activemq}[broker]
        return serve(stack, folder, port).wait()


def _leave(number: int, frame: object) -> None:
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # once is enough: the ending itself must not be interrupted
    sys.exit(128 + number)


def _rabbitmq(stack: ExitStack, folder: Path, port: int) -> subprocess.Popen[bytes]:
    epmd_program = shutil.which("epmd")
    if not RABBITMQ.exists() or epmd_program is None:
        _missing("RabbitMQ", "rabbitmq-server")
    epmd_port, dist_port = _unused_ports(2)
    (folder / "enabled_plugins").write_text("[rabbitmq_stomp].\n")
    (folder / "rabbitmq.conf").write_text(
        f"listeners.tcp = none\nstomp.listeners.tcp.1 = 127.0.0.1:{port}\nloopback_users = none\n"
    )
    ours = {
        "HOME": folder,  # the cookie that nodes know each other by
        "ERL_CRASH_DUMP": folder / "crash.dump",
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "ERL_EPMD_PORT": epmd_port,
        "RABBITMQ_NODENAME": f"wireproof-{port}@localhost",
        "RABBITMQ_DIST_PORT": dist_port,
        "RABBITMQ_CONF_ENV_FILE": "/dev/null",
        "RABBITMQ_CONFIG_FILE": folder / "rabbitmq.conf",
        "RABBITMQ_ENABLED_PLUGINS_FILE": folder / "enabled_plugins",
        "RABBITMQ_MNESIA_BASE": folder / "mnesia",
        "RABBITMQ_SCHEMA_DIR": folder / "schema",
        "RABBITMQ_LOG_BASE": folder / "log",
        "RABBITMQ_LOGS": "-",
        # Schedulers that wait busily would take the tester's processor time.
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +sbwtdcpu none",
        "RUNNING_UNDER_SYSTEMD": "1",  # its script then becomes the virtual machine instead of waiting for it
    }
    others = {key: value for key, value in os.environ.items() if not key.startswith(("RABBITMQ_", "ERL_"))}
    env = {**others, **{key: str(value) for key, value in ours.items()}}
    # The virtual machine would start this as a daemon that outlives it; ours is there first, and in the foreground.
    epmd = stack.enter_context(_running([epmd_program, "-port", str(epmd_port), "-address", "127.0.0.1"], env, folder))
    _wait_for(epmd, epmd_port)
    return stack.enter_context(_running([str(RABBITMQ)], env, folder))


def _activemq(stack: ExitStack, folder: Path, port: int) -> subprocess.Popen[bytes]:
    jar, java = ACTIVEMQ / "bin" / "activemq.jar", shutil.which("java")
    if not jar.exists() or java is None:
        _missing("ActiveMQ", "activemq openjdk-17-jre-headless")
    settings = {
        "activemq.home": ACTIVEMQ,
        "activemq.base": folder,
        "activemq.data": folder,
        "java.io.tmpdir": folder,
        "stomp.address": f"127.0.0.1:{port}",
    }
    argv = [java, "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
    argv += [f"-D{key}={value}" for key, value in settings.items()]
    argv += ["-jar", str(jar), "start", f"xbean:file:{ACTIVEMQ_XML}"]
    return stack.enter_context(_running(argv, os.environ, folder))


def _missing(broker: str, packages: str) -> NoReturn:
    print(f"{broker} is not installed here; apt-get install {packages}", file=sys.stderr)
    sys.exit(69)


def _unused_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _wait_for(program: subprocess.Popen[bytes], port: int) -> None:
    """Until the port mapper listens; it has no protocol that we could ask more cheaply. Exits when it does not."""
    deadline = time.monotonic() + 5
    while program.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)
    sys.exit("epmd, Erlang's port mapper, did not come up")


@contextmanager
def _running(argv: Sequence[str], env: Mapping[str, str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A child that is asked to end, then made to, when the block is left."""
    child = subprocess.Popen(argv, env=env, cwd=folder, stdin=subprocess.DEVNULL)
    try:
        yield child
    finally:
        child.terminate()
        try:
            child.wait(STOP_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
