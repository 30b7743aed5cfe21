"""Removes the containers of one run when the run is gone. Started by impls.launching.containers, never imported.

    python reaper.py RUN

It waits on standard input. A byte there says that the run ended in good order and nothing is left to do; the end of
file without it says that the run was killed (a CI job that timed out, say), and then every container that carries the
label wireproof.run=RUN is removed. No other container is touched.
"""

from __future__ import annotations

import os
import sys

LABEL = "wireproof.run"


def main() -> int:
    """0: nothing was left to do, or it was done."""
    if os.read(0, 1):
        return 0
    import docker  # noqa: PLC0415  (only now: a run that ends well never pays for it)

    client = docker.from_env()
    for container in client.containers.list(all=True, filters={"label": f"{LABEL}={sys.argv[1]}"}, ignore_removed=True):
        container.remove(force=True, v=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
