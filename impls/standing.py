"""Implementations that are no servers: children on pipes, and hosts that start our relay as their child."""

from __future__ import annotations

import sys

from impls.manifest import Implementation
from impls.pipes import PipeGround, Pool, environment
from impls.printable import printable
from impls.running import LaunchError

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


def ground(impl: Implementation, wire: str) -> PipeGround:
    """Where conversations with it are opened; `wire` as in `specs.protocol.Protocol.wires`. Raises LaunchError."""
    if wire == "relay":
        from impls.relay import RelayGround  # noqa: PLC0415 - whoever judges no host needs no relay

        return RelayGround(pool(impl))
    if wire == "lines":
        from impls.lines import LineGround  # noqa: PLC0415 - as above

        return LineGround(pool(impl, depth=1))
    if wire == "caller":
        from impls.caller import CallerGround  # noqa: PLC0415 - as above

        return CallerGround(pool(impl, depth=1))
    if wire == "serving":
        from impls.serving import ServingGround  # noqa: PLC0415 - as above

        return ServingGround(pool(impl, depth=1))
    if wire == "callers":
        from impls.callers import CallersGround  # noqa: PLC0415 - as above

        return CallersGround(pool(impl), impl.protocol)
    return PipeGround(pool(impl))
