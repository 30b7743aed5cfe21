"""The in-process references, as their manifests name them (see impls.driver.link.MemoryTransport)."""

from __future__ import annotations

from functools import partial

from impls.references.storm.host_memory import Hosts
from impls.references.storm.hosts import BoltHost, SpoutHost
from impls.references.storm.memory import Bolts, Spouts

ALL = frozenset(
    {"x-error", "x-need-task-ids", "x-anchor-string", "x-loglevel", "x-activate", "x-hb-any-message"}
    | {"x-hb-timing", "x-task0", "x-utf8", "x-tick"}
)
"""The extensions that the references have."""
BoltSeed = Bolts
SpoutSeed = Spouts
BoltNew = partial(Bolts, ALL)
SpoutNew = partial(Spouts, ALL)
BoltHostSeed = partial(Hosts, BoltHost)
SpoutHostSeed = partial(Hosts, SpoutHost)
BoltHostNew = partial(Hosts, BoltHost, ALL)
SpoutHostNew = partial(Hosts, SpoutHost, ALL)
