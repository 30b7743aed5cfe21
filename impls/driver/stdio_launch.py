"""Implementations that are no servers: children on pipes, and hosts that start our relay as their child."""

from __future__ import annotations

import sys

from impls.driver.pipes import PipeTransport, Pool, environment
from impls.launching.manifest import Implementation
from impls.launching.printable import printable
from impls.launching.running import LaunchError

DEPTH = 3
"""Processes started ahead."""


def pool(impl: Implementation, depth: int = DEPTH) -> Pool:
    """Processes of the manifest's command. Raises LaunchError."""
    how = impl.start
    if how.kind != "command":
        raise LaunchError(
            f"{printable(impl.name)}: a {impl.role} of {impl.protocol} speaks on its stdin and stdout, so "
            f"start.{how.kind} cannot reach it; write start.command (or start.python for one in this process)"
        )
    if how.takes_port:
        raise LaunchError(f"{printable(impl.name)}: start.command holds {{port}}; the role {impl.role} listens on none")

    def filled(text: str) -> str:
        return text.replace("{python}", sys.executable)

    argv = [filled(part) for part in how.value]
    return Pool(printable(impl.name), argv, environment(how.env, filled), impl.folder, depth)


def transport(impl: Implementation, wire: str) -> PipeTransport:
    """Where conversations with it are opened; `wire` as in `specs.protocol.Protocol.wires`. Raises LaunchError."""
    if wire == "relay":
        from impls.driver.relay import RelayTransport  # noqa: PLC0415 - whoever judges no host needs no relay

        return RelayTransport(pool(impl))
    if wire == "lines":
        from impls.driver.lines import LineTransport  # noqa: PLC0415 - as above

        return LineTransport(pool(impl, depth=1))
    if wire == "caller":
        from impls.driver.client_harness import ClientHarnessTransport  # noqa: PLC0415 - as above

        return ClientHarnessTransport(pool(impl, depth=1))
    if wire == "serving":
        from impls.driver.server_harness import ServerHarnessTransport  # noqa: PLC0415 - as above

        return ServerHarnessTransport(pool(impl, depth=1))
    if wire == "callers":
        from impls.driver.client_harness_pool import ClientPoolTransport  # noqa: PLC0415 - as above

        return ClientPoolTransport(pool(impl), impl.protocol)
    return PipeTransport(pool(impl))
