"""Starting what a manifest describes, and waiting until it answers its protocol.

Four kinds of start lead to one interface, `Running`. What goes wrong here is a `LaunchError`: our fault or the
environment's, never a verdict on the implementation.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from impls.launching.manifest import Implementation, split_address
from impls.launching.printable import printable
from impls.launching.process import Process
from impls.launching.running import Elsewhere, LaunchError, Log, Running

__all__ = ["LaunchError", "Log", "Running", "no_answer", "start", "taken", "unused_port", "wait_ready"]

POLL_S = 0.05
_TLS = (b"\x15", b"\x16")
"""How a record of TLS begins: an alert, or a handshake."""
Probe = Callable[[str, int], bool]


def unused_port() -> int:
    """A TCP port on loopback that nobody uses at this moment. Another program may take it before the one it is for."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def taken(address: tuple[str, int]) -> bool:
    """True when somebody listens at an address of this machine: what was to listen there itself could not."""
    try:
        socket.create_server(address).close()
    except OSError as error:
        return error.errno == errno.EADDRINUSE
    return False


def start(implementation: Implementation, *, port_free: Callable[[], int] = unused_port) -> Running:
    """Start it, unless it is running already. It is not ready yet: see `wait_ready`. Raises LaunchError."""
    name, kind = printable(implementation.name), implementation.start.kind
    if kind == "address":
        return Elsewhere(name, split_address(str(implementation.start.value)))
    if kind == "command":
        return _command(name, implementation, port_free)
    if kind == "image":
        from impls.launching.containers import Container  # noqa: PLC0415  (whoever asks for no image needs no testcontainers)

        return Container(name, implementation)
    raise LaunchError(f"{name}: start.{kind} runs in this process and is not launched; open a link to it instead")


def _command(name: str, implementation: Implementation, port_free: Callable[[], int]) -> Process:
    how = implementation.start
    fixed = how.port
    if fixed is None and not how.takes_port:
        raise LaunchError(
            f"{name}: start.command does not say where it listens; write {{port}} where it takes its port, "
            "or start.port when the port is always the same (what speaks on stdin and stdout is not launched here)"
        )

    def plan(port: int) -> tuple[Sequence[str], Mapping[str, str]]:
        def filled(text: str) -> str:
            return text.replace("{port}", str(port)).replace("{python}", sys.executable)

        env = dict(os.environ)
        if sys.prefix != sys.base_prefix:  # what is installed beside us is found, as in an activated environment
            env["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), env.get("PATH", os.defpath)])
        env.update((key, filled(value)) for key, value in how.env.items())
        return [filled(part) for part in how.value], env

    return Process(name, plan, implementation.folder, port_free if fixed is None else lambda: fixed)


def wait_ready(running: Running, probe: Probe, ready_s: float) -> float:
    """Ask `probe(host, port)` until it answers True; the seconds that took.

    `probe` is the protocol's own handshake: an open port proves nothing, since a port forwarder opens it long before
    the server does. It has to end by itself within a few seconds; False, OSError and EOFError mean "not yet". Raises
    LaunchError with the log's tail as soon as the implementation has ended, or when it is not ready in `ready_s`
    seconds.
    """
    begun = time.monotonic()
    why = ""
    while running.alive():  # outside of the try: an engine's own errors are OSErrors too
        host, port = running.address
        try:
            ready = probe(host, port)
            why = "its answer was not the expected one"
        except (OSError, EOFError) as error:
            ready = False
            why = printable(str(error)) or why or type(error).__name__  # one without a text tells nothing new
        if ready and running.alive():
            return time.monotonic() - begun
        left = begun + ready_s - time.monotonic()
        if left <= 0:
            raise LaunchError(_not_ready(running, f"{host}:{port}", ready_s, why))
        time.sleep(min(POLL_S, left))
    raise LaunchError(f"{running.name}: ended before it was ready: {running.ending()}{_said(running)}")


def _not_ready(running: Running, where: str, ready_s: float, why: str) -> str:
    """What to tell of an implementation that did not become ready, by what its last answer was."""
    if "refused" in why.lower():
        told = f"{running.name}: nobody listens at {where}, after {ready_s:.3g} s: {why}; "
        told += "it must be started and listen there; "
    else:
        told = f"{running.name}: did not answer the protocol at {where} within {ready_s:.3g} s; "
        told += f"last: {why or 'it was not asked'}; "
    return f"{told}if it needs longer, raise start.ready_s{_said(running)}"


def no_answer(said: bytes, *, ended: bool) -> str:
    """What to tell a user whose server did not answer our first words in its protocol: what it `said` instead, whether
    it then `ended` the connection, and what is probably meant."""
    if said[:1] in _TLS and said[1:2] == b"\3":
        return "it speaks TLS, and this suite does not; give the port on which it listens without"
    if said.startswith(b"HTTP/"):
        return f"it speaks HTTP ({said.splitlines()[0].decode('latin-1')!r:.60}); is the port right?"
    if said:
        return f"what it said is not this protocol: {said[:60]!r}; are the port and the protocol right?"
    if ended:
        return "it closed the connection without a word; is the port right, and is it one without TLS?"
    return "it took the connection and said nothing; is the port right, and is it one without TLS?"


def _said(running: Running) -> str:
    tail = running.log_tail()
    return "\nthe end of its log:\n" + "\n".join(f"  | {line}" for line in tail.splitlines()) if tail else ""
