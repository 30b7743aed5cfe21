"""Implementations in containers, through testcontainers.

Imported only when an image is asked for: everything else works without testcontainers and without an engine. Of
testcontainers only `core` is used, and of that only what makes and removes a container; its wait strategies look at
ports and logs, and an open port proves nothing (see `impls.launching.launch.wait_ready`).

Nothing that a run started outlives it:
* `stop` removes the container, whatever state it is in;
* what is left when Python ends in good order is removed then. conftest.py turns SIGTERM into KeyboardInterrupt, so
  that a CI job which is cancelled ends in good order too;
* when the run is killed outright, the process of impls.launching.reaper removes it. It stands in for testcontainers'
  own reaper ("Ryuk"), which is an image and cannot be had on a machine that reaches no registry; who wants that one
  sets TESTCONTAINERS_RYUK_DISABLED=false.
Only containers that carry the label of this run are ever removed.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from impls.launching.manifest import CATALOG, Implementation
from impls.launching.printable import printable
from impls.launching.running import LaunchError, Log, Running

# Read by testcontainers when it is imported first, so it has to be said before.
os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")

SETUP = "impls/catalog/setup.sh"
REAPER = Path(__file__).with_name("reaper.py")
LABEL = "wireproof.run"
RUN = uuid.uuid4().hex
"""Names this run in the label of its containers. Workers of one run are runs of their own here."""
KEPT_LINES = 200
"""How much of a container's log is remembered once it is gone."""
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
# The engine writes what a container prints to disk, without limit unless told.
LOG_LIMITS = {"Type": "json-file", "Config": {"max-size": "1m", "max-file": "2"}}


class Container(Running):
    """A running container that publishes one port, on loopback when the engine is on this machine.

    `image` is the name of the image that was chosen and `image_id` the engine's id of it.
    """

    def __init__(self, name: str, implementation: Implementation) -> None:
        super().__init__(name)
        self._implementation = implementation
        self._gone = ""
        self._last: list[str] = []
        self._address: tuple[str, int] | None = None
        self._container: Any = None
        self.image = self.image_id = ""
        with _engine_errors(name):
            self._start()

    @property
    def address(self) -> tuple[str, int]:
        if self._address is None:
            if self._container is None:
                raise LaunchError(f"{self.name}: has no address: {self._gone}")
            with _engine_errors(self.name):
                self._address = _address(self._container, _port(self._implementation))
        return self._address

    @property
    def id(self) -> str:
        """The engine's id of the container; empty once it is stopped."""
        return "" if self._container is None else str(self._container.get_container_id())

    def alive(self) -> bool:
        return not self.ending()

    def ending(self) -> str:
        if self._container is None or self._gone:
            return self._gone
        from docker.errors import NotFound  # noqa: PLC0415

        with _engine_errors(self.name):
            try:
                self._container.reload()
            except NotFound:
                self._gone = "its container was removed by somebody else"
                return self._gone
            state = self._container.get_wrapped_container().attrs["State"]
        if state["Status"] in ("running", "paused"):
            return ""
        memory = ", out of memory" if state.get("OOMKilled") else ""
        why = f" ({printable(state['Error'])})" if state.get("Error") else ""
        return f"its container is {state['Status']} with exit status {state['ExitCode']}{memory}{why}"

    def log_tail(self, lines: int = 20) -> str:
        return "\n".join(self._lines(lines)[-lines:]) if lines > 0 else ""

    def restart(self) -> None:
        """A new container of the same image: like a restarted command, it has forgotten everything."""
        self.stop()
        with _engine_errors(self.name):
            self._start()

    def stop(self) -> None:
        container = self._container
        if container is None:
            return
        with contextlib.suppress(LaunchError):  # the log is a courtesy, the removal is not
            self._last = self._lines(KEPT_LINES)
        self._container = None
        self._gone = self._gone or "it was stopped"
        with _engine_errors(self.name):
            _remove(container)

    def _lines(self, lines: int) -> list[str]:
        """The last lines as the engine has them, or as they were remembered."""
        if self._container is None or self._gone:
            return self._last
        log = Log()
        with _engine_errors(self.name):
            for chunk in self._container.get_wrapped_container().logs(stream=True, follow=False, tail=lines):
                log.write(chunk)
        return log.lines()

    def _start(self) -> None:
        from testcontainers.core.container import DockerContainer  # noqa: PLC0415

        start = self._implementation.start
        container = DockerContainer(str(start.value))
        client = container.get_docker_client().client
        self.image, self.image_id = _image(self.name, client, start.local, container.image)
        container.image = self.image
        host = ("127.0.0.1",) if container.get_docker_client().host() in LOCAL_HOSTS else None
        ports: dict[str, Any] = container.ports
        ports[str(_port(self._implementation))] = host
        for key, value in start.env.items():
            container.with_env(key, value)
        for path, text in start.files.items():
            container.with_copy_into_container(text.encode(), path)
        if start.run:
            container.with_command(list(start.run))
        container.with_kwargs(labels={LABEL: RUN}, log_config=LOG_LIMITS)
        _guard()
        try:
            container.start()
        except BaseException:  # Ctrl-C too: a container that was begun never outlives the run
            _remove(container)
            raise
        self._container, self._address, self._gone = container, None, ""


def engine() -> str:
    """Why no container engine can be used; empty when one answers."""
    try:
        with _engine_errors("containers"):
            from testcontainers.core.docker_client import DockerClient  # noqa: PLC0415

            client = DockerClient().client
            client.ping()
            client.close()
    except LaunchError as error:
        return str(error)
    return ""


def sweep() -> int:
    """Remove every container that this run started and has not stopped; how many there were. Raises LaunchError."""
    with _engine_errors("containers"):
        from testcontainers.core.docker_client import DockerClient  # noqa: PLC0415

        client = DockerClient().client
        try:
            left = client.containers.list(all=True, filters={"label": f"{LABEL}={RUN}"}, ignore_removed=True)
            for container in left:
                container.remove(force=True, v=True)
        finally:
            client.close()
        return len(left)


@contextlib.contextmanager
def _engine_errors(name: str) -> Iterator[None]:
    """Every error of the engine and the way to it as LaunchError: unnoticed, half of them would pass for OSErrors."""
    try:
        from docker.errors import APIError, DockerException  # noqa: PLC0415
    except ImportError as error:
        remedy = "pip install 'testcontainers>=4.15,<5'"
        raise LaunchError(f"{name}: an image needs testcontainers ({error}); {remedy}") from None
    try:
        yield
    except APIError as error:
        why = printable(str(error.explanation or error))
        raise LaunchError(f"{name}: the container engine refused: {why}") from error
    except (DockerException, OSError) as error:
        why = printable(str(error))
        remedy = f"start it, or run {SETUP}, or choose an implementation that is no image"
        raise LaunchError(f"{name}: no container engine answers ({why}); {remedy}") from error


def _image(name: str, client: Any, local: str | None, public: str) -> tuple[str, str]:
    """The name and id of the image to use: the local one, else the public one, fetched when the engine lacks it."""
    from docker.errors import APIError, ImageNotFound  # noqa: PLC0415

    for image in filter(None, (local, public)):
        with contextlib.suppress(ImageNotFound):
            return image, str(client.images.get(image).id)
    try:
        return public, str(client.images.pull(public).id)
    except APIError as error:
        why = printable(str(error.explanation or error))
        what = f"there is no image {public} and it cannot be fetched ({why})"
        raise LaunchError(f"{name}: {what}; {_cure(local)}") from error


def _cure(local: str | None) -> str:
    """How to get an image on a machine that reaches no registry."""
    if local is None:
        return "load the image into the engine, or build it and name it in start.local"
    broker = local.removeprefix("local/").partition(":")[0]
    if (CATALOG / "images" / broker / "Dockerfile").is_file():
        return f"to build {local} here, run: {SETUP} {broker}"
    return f"to use a local image, run: docker build -t {local} FOLDER"


def _port(implementation: Implementation) -> int:
    assert implementation.start.port is not None, "manifests of images have a port"
    return implementation.start.port


def _address(container: Any, port: int) -> tuple[str, int]:
    from testcontainers.core.config import ConnectionMode, testcontainers_config  # noqa: PLC0415

    client = container.get_docker_client()
    mode = testcontainers_config.connection_mode_override or client.get_connection_mode()
    if mode is ConnectionMode.bridge_ip:
        return str(client.bridge_ip(container.get_container_id())), port
    # "gateway" is testcontainers' guess when a file /.dockerenv exists; what is published on loopback is not there.
    host = client.host()
    return "127.0.0.1" if host in LOCAL_HOSTS else host, int(client.port(container.get_container_id(), port))


def _remove(container: Any) -> None:
    from docker.errors import NotFound  # noqa: PLC0415

    try:
        with contextlib.suppress(NotFound):  # somebody else removed it
            container.stop()
    finally:
        container.get_docker_client().client.close()


_reaper: subprocess.Popen[bytes] | None = None


def _guard() -> None:
    """Have the containers of this run removed when it ends, however it ends."""
    global _reaper  # noqa: PLW0603  (one for each process)
    if _reaper is None:
        _reaper = subprocess.Popen(
            [sys.executable, str(REAPER), RUN],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C on the terminal is not for it
        )
        atexit.register(_dismiss, _reaper)


def _dismiss(reaper: subprocess.Popen[bytes]) -> None:
    assert reaper.stdin is not None
    with contextlib.suppress(LaunchError):  # the engine is gone: the reaper tries once more
        sweep()
        with contextlib.suppress(BrokenPipeError):
            reaper.stdin.write(b"x")
    with contextlib.suppress(BrokenPipeError):
        reaper.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        reaper.wait(10)
