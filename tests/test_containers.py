"""Images: which one is chosen, what reaches the container, and that none is left behind.

Tests that start a container use a local image of the catalogue; they are skipped, with one reason, when there is no
engine, and fail instead when REQUIRE_ENGINE=1.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from impls.launching import containers
from impls.launching.launch import LaunchError, start, wait_ready
from impls.launching.manifest import Implementation, Start, resolve

ROOT = Path(__file__).parents[1]
IMAGE = "local/activemq:stomp"
docker = pytest.importorskip("docker", reason="testcontainers is not installed")


def _implementation(image: str = "absent/broker:1", **fields: object) -> Implementation:
    how = Start("image", image, 61613, **fields)  # type: ignore[arg-type]
    return Implementation("it", "stomp", "server", "", "1.2", how, {}, {}, None, Path.cwd())


def _connect(host: str, port: int) -> bool:
    with socket.create_connection((host, port), 3) as conn:
        conn.sendall(b"CONNECT\naccept-version:1.2\nhost:localhost\n\n\0")
        return conn.recv(9) == b"CONNECTED"


def _until(condition, seconds: float = 15.0) -> bool:
    deadline = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(found)


# --- without an engine ------------------------------------------------------------------------------------------------


def test_whoever_asks_for_no_image_imports_no_testcontainers():
    script = "import impls.launching.launch, impls.launching.manifest, sys; sys.exit('testcontainers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0


def test_no_engine_is_an_error_that_names_the_script(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with pytest.raises(LaunchError) as caught:
        start(_implementation())
    assert str(caught.value).startswith("it: no container engine answers (")
    assert str(caught.value).endswith(
        "; start it, or run impls/catalog/setup.sh, or choose an implementation that is no image"
    )
    assert containers.engine().startswith("containers: no container engine answers (")


def test_errors_of_the_engine_never_pass_for_network_errors():
    # An APIError is an OSError, which whoever waits for a server takes for "not yet".
    for error in (docker.errors.APIError("refused"), docker.errors.DockerException("none"), ConnectionError("lost")):
        with pytest.raises(LaunchError, match="it: "), containers._engine_errors("it"):
            raise error


class _Images:
    """An engine's images; whatever is not there cannot be fetched."""

    def __init__(self, *names: str) -> None:
        self.images = self
        self._names = names

    def get(self, name: str):
        if name not in self._names:
            raise docker.errors.ImageNotFound(name)
        self.id = "sha256:" + name
        return self

    def pull(self, name: str):
        raise docker.errors.APIError("no", explanation="no \x1b route")


@pytest.mark.parametrize(
    ("present", "local", "chosen"),
    [
        (("local/x:1", "x:1"), "local/x:1", "local/x:1"),
        (("x:1",), "local/x:1", "x:1"),
        (("local/x:1", "x:1"), None, "x:1"),
    ],
)
def test_a_local_image_is_preferred(present, local, chosen):
    assert containers._image("it", _Images(*present), local, "x:1") == (chosen, "sha256:" + chosen)


@pytest.mark.parametrize(
    ("local", "cure"),
    [
        ("local/rabbitmq:stomp", "to build local/rabbitmq:stomp here, run: impls/catalog/setup.sh rabbitmq"),
        ("my/own:1", "to use a local image, run: docker build -t my/own:1 FOLDER"),
        (None, "load the image into the engine, or build it and name it in start.local"),
    ],
)
def test_a_missing_image_says_how_to_get_it(local, cure):
    with pytest.raises(LaunchError) as caught:
        containers._image("it", _Images(), local, "x:1")
    assert str(caught.value) == f"it: there is no image x:1 and it cannot be fetched (no \\x1b route); {cure}"


# --- with one ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def engine():
    why = containers.engine()
    if not why:
        client = docker.from_env()
        try:
            client.images.get(IMAGE)
        except docker.errors.ImageNotFound:
            why = f"there is no image {IMAGE}; run: impls/catalog/setup.sh activemq"
        else:
            yield client
        finally:
            client.close()
    if why and os.environ.get("REQUIRE_ENGINE") == "1":
        pytest.fail(why)
    if why:
        pytest.skip(why)


def _ours(client, run: str) -> list[object]:
    return client.containers.list(all=True, filters={"label": f"{containers.LABEL}={run}"}, ignore_removed=True)


@pytest.mark.container
def test_a_container_gets_its_files_and_environment_and_answers(engine):
    fields = {"env": {"KEY": "v=1"}, "files": {"/tmp/made/it.txt": "[it].\n"}}
    with start(_implementation(local=IMAGE, **fields)) as it:
        wait_ready(it, _connect, 60)
        assert (it.image, it.address[0], it.alive(), it.ending()) == (IMAGE, "127.0.0.1", True, "")
        inside = engine.containers.get(it.id)
        assert inside.exec_run(["cat", "/tmp/made/it.txt"]).output == b"[it].\n"
        assert inside.exec_run(["printenv", "KEY"]).output == b"v=1\n"
        # Published on loopback whatever the daemon's own default is.
        assert {binding["HostIp"] for binding in inside.ports["61613/tcp"]} == {"127.0.0.1"}
        assert "log4j" in it.log_tail()
        first = it.id
        it.restart()
        wait_ready(it, _connect, 60)
        assert it.id != first
    assert not it.alive()
    assert it.ending() == "it was stopped"
    assert "log4j" in it.log_tail()
    assert _ours(engine, containers.RUN) == []
    it.stop()  # the second time nothing happens


@pytest.mark.container
def test_a_container_that_ends_at_once_is_noticed_at_once(engine):
    impl = _implementation(local=IMAGE, files={"/etc/wireproof/activemq.xml": "<broken"})
    begun = time.monotonic()
    with start(impl) as it, pytest.raises(LaunchError) as caught:
        wait_ready(it, _connect, 60)
    assert time.monotonic() - begun < 20
    assert str(caught.value).startswith(
        "it: ended before it was ready: its container is exited with exit status 1\nthe end of its log:\n  | "
    )
    assert "\x1b" not in str(caught.value)


@pytest.mark.container
def test_a_container_that_somebody_else_removed(engine):
    with start(_implementation(local=IMAGE)) as it:
        engine.containers.get(it.id).remove(force=True)
        assert not it.alive()
        assert it.ending() == "its container was removed by somebody else"
        with pytest.raises(LaunchError, match="ended before it was ready: its container was removed by somebody else"):
            wait_ready(it, _connect, 60)


@pytest.mark.container
def test_a_container_that_cannot_be_made_leaves_nothing(engine):
    with pytest.raises(LaunchError, match="it: the container engine refused: "):
        start(_implementation(local=IMAGE, env={"KEY": "a"}, files={"/etc/passwd/x": "x"}))
    assert _ours(engine, containers.RUN) == []


@pytest.mark.container
def test_a_sweep_takes_only_what_this_run_started(engine):
    stranger = engine.containers.create(IMAGE, labels={containers.LABEL: "another run", "org.testcontainers": "true"})
    try:
        it = start(_implementation(local=IMAGE))
        assert containers.sweep() == 1
        assert not it.alive()
        it.stop()
        assert containers.sweep() == 0
        stranger.reload()
    finally:
        stranger.remove(force=True)


@pytest.mark.container
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, 0])
def test_no_container_is_left_when_the_run_ends(engine, number):
    script = f"""
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs are born deaf to it
from pathlib import Path
from impls.launching import containers
from impls.launching import launch
from impls.launching import manifest
how = manifest.Start("image", "absent/x", 61613, local={IMAGE!r})
it = launch.start(manifest.Implementation("it", "stomp", "server", "", "1.2", how, {{}}, {{}}, None, Path()))
print(containers.RUN, flush=True)
time.sleep({600 if number else 0})
"""
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
        name = run.stdout.readline().strip()
        if number:
            assert len(_ours(engine, name)) == 1
            run.send_signal(number)
        try:
            run.wait(30)
        finally:
            run.kill()
    assert _until(lambda: _ours(engine, name) == [])


@pytest.mark.container
@pytest.mark.parametrize("name", ["activemq", "rabbitmq"])
def test_the_brokers_of_the_catalogue_answer(engine, name):
    (impl,) = resolve(name, (), "stomp")
    with contextlib.suppress(docker.errors.ImageNotFound):
        engine.images.get(impl.start.local)
        with start(impl) as it:
            facts = impl.facts

            def connect(host: str, port: int) -> bool:
                with socket.create_connection((host, port), 3) as conn:
                    conn.sendall("CONNECT\naccept-version:1.2\nhost:{host}\nlogin:{login}\n".format(**facts).encode())
                    conn.sendall("passcode:{passcode}\n\n\0".format(**facts).encode())
                    return conn.recv(9) == b"CONNECTED"

            wait_ready(it, connect, impl.start.ready_s)
        return
    pytest.skip(f"there is no image {impl.start.local}; run: impls/catalog/setup.sh {name}")
