"""What a campaign judges: an implementation as `--impl` names it, or correct peers that a module makes.

A source is text, so that a task can be sent anywhere: `rabbitmq-process`, `path/to/my.toml`, `stomp://host:61613`, or
`peers:MODULE:ROLE`, where MODULE has a `SOAK` as `tests/soaking.py` describes it: correct peers whose switches are
drawn by a number. `opened` is what a task does with it.
"""

from __future__ import annotations

import importlib
import re
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from campaigns.found import Order
from campaigns.scoring import FAULTS, names
from impls.driver.drive import Setting, drive
from impls.launching.fields import ManifestError
from impls.launching.manifest import Implementation, resolve
from specs import protocol as protocols
from specs.model import Blame, Judgement
from specs.plan import Plan
from suites.calibration import CannotJudge
from suites.head import RunOptions
from suites.pursuit import Property
from suites.session import Session

PEERS = "peers:"
EACH = 25
"""Plans that are played with one correct peer, before others of its switches are drawn."""
ABOUT = 120
"""Characters by which sorts of alarm are told apart."""
Spoken = tuple[str, str]
"""A protocol and a role."""
Blamed = tuple[str, str, Blame]
"""A requirement, its level, and what was seen."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """What should never happen and is no verdict on a requirement: `crash`, a correct peer raised an exception; `hole`,
    the specification had no answer; `raised`, our own side raised an exception. `about` tells sorts of them apart."""

    name: str
    about: str
    why: str


@dataclass(frozen=True, slots=True)
class Played:
    """What one conversation showed: what counts against the implementation, and what against ourselves."""

    judgement: Judgement
    blamed: Sequence[Blamed] = ()
    alarms: Sequence[Alarm] = ()


class Target(Protocol):
    """What a task plays with."""

    protocol: protocols.Protocol
    role: str
    profile: str

    def play(self, prop: Property, plan_of: Any) -> Played:
        """Play the plan that `plan_of(config)` makes."""

    def weight(self, prop: Property) -> float:
        """How many of its plans a property gets, beside what it gets in every run."""


class Judged:
    """An implementation that this machine can start or reach."""

    def __init__(self, session: Session, aside: frozenset[str]) -> None:
        self.protocol, self.role, self.profile = session.protocol, session.impl.role, session.impl.profile
        self.session, self.hunter = session, session.hunter()
        setting = self.hunter.setting
        self.hunter.setting = replace(setting, set_aside=setting.set_aside | aside)

    def play(self, prop: Property, plan_of: Any) -> Played:
        plan: Plan = plan_of(self.hunter.setting.config)
        recording = self.hunter.play(plan)
        return Played(recording.judgement, self.hunter.blamed(recording), _holes(recording.judgement))

    def weight(self, prop: Property) -> float:
        return 1.0


class Peers:
    """Correct peers in memory, made anew every EACH plans: whatever they are blamed for is a false alarm. All that
    takes part is ours, so an exception, of a peer or of our side, is an alarm and not the end of the task."""

    def __init__(self, module: str, role: str, order: Order) -> None:
        self._soak: Any = importlib.import_module(module).SOAK
        self.protocol, self.role, self.profile = protocols.find(self._soak.protocol), role, "drawn"
        self._order, self._played = order, 0
        self._peer: Any = None

    def play(self, prop: Property, plan_of: Any) -> Played:
        nth, self._played = self._played, self._played + 1
        try:
            peer = self._peer if self._peer is not None and nth % EACH else self._anew(nth // EACH)
            setting = Setting(self.protocol, peer.config, self.role, peer.transport, peer.patience_ms)
            judgement = drive(plan_of(peer.config), setting, f"c{self._order.task}n{nth}-").judgement
        except Exception as error:  # noqa: BLE001 - told as an alarm, with the program that led to it
            kind, place = type(error).__name__, traceback.extract_tb(error.__traceback__)[-1]
            at = f"{Path(place.filename).name}:{place.lineno}"
            return self._alarmed("raised", f"{kind} in {place.name}", f"{kind}: {error} ({at})")
        crash = getattr(peer.transport, "crash", "")
        if crash:  # what such a peer goes on to say, or does not say, is no verdict on anything
            return self._alarmed("crash", crash.removeprefix("raised ").partition(":")[0], crash)
        return Played(judgement, self._blamed(judgement), _holes(judgement))

    def weight(self, prop: Property) -> float:
        share: float = self._soak.share(prop.name, False)
        return share

    def _anew(self, number: int) -> Any:
        """The peer with this number, as it is at first."""
        self.close()
        self._peer = self._soak.made(self.role, self._order.seed * 1_000_003 + number, False)
        return self._peer

    def _alarmed(self, name: str, about: str, why: str) -> Played:
        """What an exception comes to; the next plan gets a peer that is whole."""
        peer = self._peer.name if self._peer is not None else "a peer that could not be made"
        self.close()
        return Played(Judgement("error", why=why), (), (Alarm(name, about, f"{why} ({peer})"),))

    def _blamed(self, judgement: Judgement) -> list[Blamed]:
        found: list[Blamed] = []
        for blame in judgement.faults:
            level = blame.breach.level or self.protocol.requirements[blame.breach.requirement].level
            if self._peer is not None and not self._peer.misses(blame.breach, level):
                found.append((blame.breach.requirement, level, blame))
        return found

    def close(self) -> None:
        """End what was started."""
        peer, self._peer = self._peer, None
        if peer is not None:
            peer.close()


def _holes(judgement: Judgement) -> Sequence[Alarm]:
    if judgement.verdict != "error":
        return ()
    return (Alarm("hole", re.sub(r"[0-9]+", "n", judgement.why)[:ABOUT], judgement.why),)


def implementations(source: str) -> list[Implementation]:
    """What a source that `--impl` takes means. Raises ManifestError."""
    return resolve(source)


@cache
def spoken(source: str) -> Spoken:
    """The protocol and the role of a source that `check` has nothing against."""
    if source.startswith(PEERS):
        _, module, role = source.split(":")
        return importlib.import_module(module).SOAK.protocol, role
    (impl,) = implementations(source)
    return impl.protocol, impl.role


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
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != source.split(":")[1].partition(".")[0]:
            return f"{source}: the Python package {error.name} is not installed"
        return (
            f"{source}: there is no module {error.name!r} here. Correct peers and seeded faults (tests.soak, "
            "tests.mutants.hunted and others) come with a checkout of Wireproof and not with what is installed: run "
            "`python -m campaigns` in one, or name a module of your own, as docs/campaigns.md describes it: "
            "peers:MODULE:ROLE, faults:MODULE:PATTERN"
        )
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
