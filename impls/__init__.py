"""Implementations under test, in four rooms.

driver      conversations with what runs: links, transports, and the player of plans
launching   what is said of an implementation, how it is started, and that nothing of it is left
references  correct peers of our own, one folder for each protocol
catalog     manifests of real programs, and the small programs around libraries

What was told as `impls.stomp` or `impls.link` before there were rooms is found there: manifests and scripts of other
people say `python -m impls.stomp` and `impls.kcl.reference:ChildNew`.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

ROOMS = ("driver", "launching", "references")
RENAMED = {
    "caller": "client_harness",
    "callers": "client_harness_pool",
    "keeper": "subreaper",
    "nursery": "spawner",
    "serving": "server_harness",
    "standing": "stdio_launch",
}
"""Modules that have another name in their room."""


class _FormerNames(MetaPathFinder):
    """Finds `impls.NAME` and what is below it in the room where NAME is now."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, rest = fullname.partition(".")
        first, _, below = rest.partition(".")
        if package != __name__ or not first or first in ROOMS or below.endswith("__main__"):
            return None
        here = PathFinder.find_spec(f"{__name__}.{first}", __path__)
        if here is not None and here.origin is not None:
            return None  # somebody has put a package of this name beside the rooms
        for room in ROOMS:
            now = f"{__name__}.{room}.{RENAMED.get(first, first)}"
            if importlib.util.find_spec(now) is not None:
                found = importlib.util.find_spec(f"{now}.{below}") if below else importlib.util.find_spec(now)
                return found and _spec(fullname, found)
        return None


def _spec(fullname: str, found: ModuleSpec) -> ModuleSpec:
    spec = ModuleSpec(fullname, _Now(found.name), is_package=found.submodule_search_locations is not None)
    spec.submodule_search_locations = found.submodule_search_locations
    return spec


class _Now(Loader):
    """Answers a former name with the module itself, so that there is one of it and not two."""

    def __init__(self, now: str) -> None:
        self._now = now

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._now)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


sys.meta_path.insert(0, _FormerNames())
