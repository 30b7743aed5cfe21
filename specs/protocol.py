"""The one bundle that a protocol hands to every other layer, and how bundles are found.

A protocol is a package under `specs` whose `protocol` attribute is a `Protocol`. Nothing else has to be registered: a
new protocol adds a folder to each layer and changes no existing file.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from typing import Protocol as Structural

import specs
from specs.codec import Decoder
from specs.events import Event
from specs.machine import Machine
from specs.model import Model
from specs.plan import Plan, Ref, Say, SendBytes
from specs.requirement import Registry
from specs.rules import Rulebook


class Memory(Structural):
    """What a running plan has learnt: resolves Refs. One instance for each time a plan is driven.

    Where a value is written in another way among raw octets, as with escapes, there is a method `octets(ref)` beside
    `resolve`.
    """

    def note(self, event: Event) -> None:
        """Take notice of an event of the conversation."""

    def resolve(self, ref: Ref) -> str | None:
        """The value, or None while (or because) it is not known."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A key that a manifest may carry in the table named after the protocol: the `kind` of its value, the `default`,
    and a sentence of `help`."""

    kind: type
    default: Any
    help: str


@dataclass(frozen=True, slots=True)
class Feature:
    """A property of how a plan is written that must not matter.

    When the shortest plan that shows a fault still needs the feature, the fault is that the feature matters, and
    `requirement` is to blame rather than whatever the model saw go wrong behind it; only where that is one of
    `instead_of`, unless it is empty. `without` answers the same plan without the feature. A feature of raw octets has
    no such function: its name stands in `Plan.features`, and simpler programs are tried. With the requirement "" it is
    nobody's fault that the feature matters, and it is only left out where it does not. `apart`, where one plan is not
    enough, answers every part of a plan that has not the feature: it matters only if none of them shows the fault.
    `octets`: it is about how frames are put into octets, whatever they say; such a feature is left out of a plan before
    anything else, so that a fault which needs it is named after it.
    """

    name: str
    requirement: str
    why: str
    instead_of: frozenset[str] = frozenset()
    without: Callable[[Plan], Plan] | None = None
    apart: Callable[[Plan], tuple[Plan, ...]] | None = None
    octets: bool = False


@dataclass(frozen=True, slots=True)
class Protocol:
    """Everything the core needs to know of one protocol.

    `profiles` are the dialects that an implementation may claim, or `valid_profile` says whether one is.
    `requirements` is the registry, `features` what must not matter in how a plan is written. `encode(frame, style)`
    makes octets, `describe(frame)` text for people, `to_json` and `from_json` keep frames in files. `schemes` are
    those of URLs. `roles` maps the role an implementation may play to the role that the tester then plays. `address`
    turns a URL such as `stomp://login:passcode@host:port/vhost` into (host, port, facts). `configure(role, profile,
    facts, learnt)` makes the model's config; `learnt` is what discovery found out. `decoder(role, config, session)`
    reads what `role` sends; `session` is a dict shared by both directions of one connection. `resolve(frame, memory)`
    fills in Refs and answers None when one is not known. `smoke` is the least that must work before anything is
    judged; `waking` asks for what an implementation may refuse when it has just been started, as nothing else makes it
    do. `crash` is the requirement that an implementation breaks when it dies, `hang` the one when it answers nothing
    any more, "" where no row says so: then it is what that leaves out of the simplest session. `wires` says for a role
    how it is reached when a command starts it: "tcp" (also when it is not named), "stdio" (its stdin and stdout are
    the protocol), "relay" (told on stdin what to do, it starts the suite's relay as its child), "lines", "caller" or
    "serving" (told on stdin what to serve, it answers with the port of that). `turns`: the model is turn-based, so a
    plan that does not wait for its turns is judged by `Lagged`, with the config that `hasty` makes of its own: what is
    seen beside the wire comes in an order of its own then. `replayed(sent, received)` splits what was sent into octets
    and (regular expression, n) pairs that find in other answers what the implementation made up itself: first group of
    the nth match. `beat(frame)` is true for what a peer says every so often of its own accord: it is no sign that an
    answer is under way. `spared(plan, known)` is the same plan without asking for what an implementation is known to
    leave out (`known` are duties, by `specs.model.Breach.duty`): what it shows then has nothing to do with that; and
    without saying what is in `known` because it brings the implementation down, by the name that `saying(frame)` gives
    to frames of a kind. `refuses(frame)` is true for a first answer by which the session is refused, as with
    credentials that are wrong: then there is nothing to judge. `states(frame, profile)` is true for a first frame that
    says itself that its session is one of `profile`, so that what is wrong with it is a fault. `books` are, for each
    role that can be judged, the rulebooks by which it is: what can credit or blame it. `machines` are the tables that
    its model executes, by a name for people. `written(role, step, data)` names what is special about how a step is put
    into octets while `role` is judged: it stands in the trace as a Fact "written", before what is said.
    """

    name: str
    roles: Mapping[str, str]
    profiles: tuple[str, ...]
    facts: Mapping[str, Fact]
    requirements: Registry
    model: Model
    decoder: Callable[[str, Any, dict[str, Any]], Decoder]
    encode: Callable[[Any, Any], bytes]
    resolve: Callable[[Any, Memory], Any]
    memory: Callable[[Any, str], Memory]
    configure: Callable[[str, str, Mapping[str, Any], Mapping[str, Any]], Any]
    describe: Callable[[Any], str]
    to_json: Callable[[Any], Any]
    from_json: Callable[[Any], Any]
    features: tuple[Feature, ...] = ()
    valid_profile: Callable[[str], bool] | None = None
    schemes: Mapping[str, Callable[[str], tuple[str, int, Mapping[str, Any]]]] = field(default_factory=dict)
    smoke: Callable[[Any], Plan] | None = None
    waking: Callable[[Any], Plan | None] | None = None
    crash: str = ""
    hang: str = ""
    wires: Mapping[str, str] = field(default_factory=dict)
    turns: bool = False
    hasty: Callable[[Any], Any] = lambda config: config
    replayed: Callable[[bytes, bytes], Sequence[bytes | tuple[str, int]]] | None = None
    beat: Callable[[Any], bool] = lambda frame: False
    spared: Callable[[Plan, frozenset[str]], Plan] = lambda plan, known: plan
    saying: Callable[[Any], str] = lambda frame: ""
    refuses: Callable[[Any], bool] = lambda frame: False
    states: Callable[[Any, str], bool] = lambda frame, profile: False
    books: Mapping[str, Sequence[Rulebook]] = field(default_factory=dict)
    machines: Mapping[str, Machine] = field(default_factory=dict)
    written: Callable[[str, Say | SendBytes, bytes], Sequence[str]] = lambda role, step, data: ()

    def claims(self, profile: str) -> bool:
        """True when `profile` is one that an implementation may claim."""
        return profile in self.profiles if self.valid_profile is None else self.valid_profile(profile)


def names() -> list[str]:
    """Protocols that this checkout knows."""
    return sorted(module.name for module in pkgutil.iter_modules(specs.__path__) if module.ispkg)


def find(name: str) -> Protocol:
    """The protocol called `name`. Raises LookupError naming those that exist, or the package that it lacks."""
    if name not in names():
        raise LookupError(f"unknown protocol {name!r}; known: {', '.join(names())}")
    try:
        found: Protocol = importlib.import_module(f"specs.{name}").protocol
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "specs"):
            raise
        raise LookupError(f"{name} needs the package {package}, which is not installed") from error
    return found
