"""What a campaign judges: an implementation as `--impl` names it, or correct peers that a module makes.

A source is text, so that a task can be sent anywhere: `rabbitmq-process`, `path/to/my.toml`, `stomp://host:61613`, or
`peers:MODULE:ROLE`, where MODULE has a `SOAK` as `tests/soaking.py` describes it: correct peers whose switches are
drawn by a number. `opened` is what a task does with it.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from campaigns.found import Order
from campaigns.scoring import FAULTS, names
from impls.driver.drive import Recording, Setting, drive
from impls.launching.fields import ManifestError
from impls.launching.manifest import Implementation, resolve
from specs import protocol as protocols
from specs.model import Blame
from specs.plan import Plan
from suites.calibration import CannotJudge
from suites.pursuit import Property
from suites.session import RunOptions, Session

PEERS = "peers:"
EACH = 25
"""Plans that are played with one correct peer, before others of its switches are drawn."""
Blamed = tuple[str, str, Blame]
"""A requirement, its level, and what was seen."""


class Target(Protocol):
    """What a task plays with."""

    protocol: protocols.Protocol
    role: str
    profile: str

    def play(self, prop: Property, plan_of: Any) -> Recording:
        """Play the plan that `plan_of(config)` makes."""

    def blamed(self, recording: Recording) -> list[Blamed]:
        """What counts against the implementation."""


class Judged:
    """An implementation that this machine can start or reach."""

    def __init__(self, session: Session, aside: frozenset[str]) -> None:
        self.protocol, self.role, self.profile = session.protocol, session.impl.role, session.impl.profile
        self.session, self.hunter = session, session.hunter()
        setting = self.hunter.setting
        self.hunter.setting = replace(setting, set_aside=setting.set_aside | aside)

    def play(self, prop: Property, plan_of: Any) -> Recording:
        plan: Plan = plan_of(self.hunter.setting.config)
        return self.hunter.play(plan)

    def blamed(self, recording: Recording) -> list[Blamed]:
        return self.hunter.blamed(recording)


class Peers:
    """Correct peers in memory, made anew every EACH plans: whatever they are blamed for is a false alarm."""

    def __init__(self, module: str, role: str, order: Order) -> None:
        self._soak: Any = importlib.import_module(module).SOAK
        self.protocol, self.role, self.profile = protocols.find(self._soak.protocol), role, "drawn"
        self._order, self._played, self._peer = order, 0, None

    def play(self, prop: Property, plan_of: Any) -> Recording:
        if self._played % EACH == 0:
            self.close()
            number = self._order.seed * 1_000_003 + self._played // EACH
            self._peer = self._soak.made(self.role, number, False)
        peer, self._played = self._peer, self._played + 1
        assert peer is not None
        setting = Setting(self.protocol, peer.config, self.role, peer.transport, peer.patience_ms)
        recording = drive(plan_of(peer.config), setting, f"c{self._order.task}n{self._played}-")
        crash = getattr(peer.transport, "crash", "")
        if crash:
            peer.transport.restart()
            raise RuntimeError(f"a peer with the switches {peer.name} raised {crash}")
        return recording

    def blamed(self, recording: Recording) -> list[Blamed]:
        found: list[Blamed] = []
        for blame in recording.judgement.faults:
            level = blame.breach.level or self.protocol.requirements[blame.breach.requirement].level
            if self._peer is not None and not self._peer.misses(blame.breach, level):
                found.append((blame.breach.requirement, level, blame))
        return found

    def close(self) -> None:
        """End what was started."""
        if self._peer is not None:
            self._peer.close()


def implementations(source: str) -> list[Implementation]:
    """What a source that `--impl` takes means. Raises ManifestError."""
    return resolve(source)


def check(source: str) -> str:
    """Why no task could be done with this source, or ""."""
    try:
        if source.startswith(PEERS):
            _, module, role = source.split(":")
            known = importlib.import_module(module).SOAK.roles
            return "" if role in known else f"{source}: the roles of {module} are {', '.join(known)}"
        if source.startswith(FAULTS):
            return "" if names(source) else f"{source}: no seeded fault matches that"
        found = implementations(source)
    except ManifestError as error:
        return str(error)
    except (ImportError, AttributeError, ValueError) as error:
        return (
            f"{source}: say peers:MODULE:ROLE or faults:MODULE:PATTERN, as docs/campaigns.md describes them ({error})"
        )
    return "" if len(found) == 1 else f"{source} means {len(found)} implementations; name one, such as {_first(found)}"


def _first(found: list[Implementation]) -> str:
    return str(found[0].path) if found else "a manifest"


@contextmanager
def opened(order: Order, aside: frozenset[str]) -> Iterator[Target]:
    """The target of a task, started and found out about. Raises CannotJudge when that cannot be done here."""
    if order.source.startswith(PEERS):
        _, module, role = order.source.split(":")
        peers = Peers(module, role, order)
        try:
            yield peers
        finally:
            peers.close()
        return
    (impl,) = implementations(order.source)
    with tempfile.TemporaryDirectory(prefix="wireproof-") as folder:
        options = RunOptions(asked=order.source, budget="campaign", budget_s=order.seconds, seed=order.seed)
        session = Session(impl, options, Path(folder), f"{order.campaign}-{order.task:08d}", spent_s=0.0)
        try:
            session.open()
            if session.trouble:
                raise CannotJudge(session.trouble)
            yield Judged(session, aside)
        finally:
            session.close()
