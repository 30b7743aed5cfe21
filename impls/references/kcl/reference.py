"""The in-process references, as their manifests name them (see impls.driver.link.MemoryTransport)."""

from __future__ import annotations

from functools import partial

from impls.references.kcl.host import Hosts
from impls.references.kcl.memory import Children

ChildSeed = partial(Children, "kcl1-seed")
ChildSeq = partial(Children, "kcl1-seq")
ChildNew = partial(Children, "kcl3")
HostSeed = partial(Hosts, "kcl1-seed")
HostSeq = partial(Hosts, "kcl1-seq")
HostNew = partial(Hosts, "kcl3")
