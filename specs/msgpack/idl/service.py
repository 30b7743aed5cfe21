"""Which function of which version a call reaches, and what it must come to.

Source: 004_4ca5b084f7ea0751.txt, services (server and client side), meta service, use without a scope. A call names
`function:scope:version`. A function that is not implemented in a version is that of the nearest older version that has
one of its name, whatever that is at the time of the call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from specs.msgpack.idl.promises import Promise
from specs.msgpack.idl.semantics import META_SCOPE, read
from specs.msgpack.idl.tree import Application, Function, Service
from specs.msgpack.idl.wire import Types, types_of

_PREFIX = re.compile(r"\s*\+?[0-9]")


class Slot(NamedTuple):
    """A function of a version of a service in a scope. `unsure`: nobody says whether it may be called."""

    scope: str
    version: int
    function: Function
    unsure: bool = False

    @property
    def key(self) -> str:
        """As behaviours name it."""
        return f"{self.scope}/{self.version}/{self.function.name}"


class Mounted(NamedTuple):
    """One scope: the versions of its service that are declared, and the one that the application names."""

    service: str
    versions: Mapping[int, Mapping[str, Function]]
    declared: int
    default: bool


class Served(NamedTuple):
    """An application of a document. `inherited` are the functions of each version of the interfaces in use. `loose`:
    the document may be refused."""

    scopes: Mapping[str, Mounted]
    types: Types
    paths: Mapping[str, str]
    anonymous: bool = False
    inherited: Mapping[int, frozenset[str]] = {}
    loose: bool = False

    def mounted(self, scope: str) -> Mounted | None:
        """What is in a scope."""
        return self.scopes.get(scope)

    def foreign(self, digits: str) -> frozenset[str]:
        """The functions of interfaces whose version these digits are."""
        return self.inherited.get(int(digits[:12]), frozenset())

    @property
    def default(self) -> str | None:
        """The default scope."""
        return next((name for name, each in self.scopes.items() if each.default), None)

    def slot(self, scope: str, version: int, name: str) -> Slot | None:
        """What `name:scope:version` reaches; None for nothing."""
        mounted = self.scopes.get(scope)
        if mounted is None or name not in mounted.versions.get(version, {}):
            return None
        return Slot(scope, version, mounted.versions[version][name], unsure=version > mounted.declared)

    def answering(self, slot: Slot, behaviours: Mapping[str, Any]) -> Slot | str:
        """The slot whose behaviour answers for `slot`; "none" when nothing is implemented, "open" when it is not said
        whether an older version is reached: past a version that lacks the function."""
        mounted = self.scopes[slot.scope]
        skipped = False
        for version in sorted((v for v in mounted.versions if v <= slot.version), reverse=True):
            function = mounted.versions[version].get(slot.function.name)
            if function is None:
                skipped = True
                continue
            here = Slot(slot.scope, version, function)
            if behaviours.get(here.key, {"do": "default"}).get("do") != "default":
                return "open" if skipped else here
        return "none"


@lru_cache(maxsize=256)
def served(idl: str, application: str, extensions: frozenset[str], layout: str, raw: bool) -> Served | None:
    """An application of a document; None when the document is none or has no such application."""
    reading = read(idl, extensions)
    if reading.faults or reading.deep:
        return None
    services: dict[str, dict[int, Mapping[str, Function]]] = {}
    found: Application | None = None
    for each in reading.definitions:
        if isinstance(each, Service) and each.kind == "service":
            services.setdefault(each.name, {})[each.version] = {f.name: f for f in each.functions}
        elif isinstance(each, Application) and each.name == application:
            found = each
    given = {(e.name, e.version): e for e in reading.definitions if isinstance(e, Service) and e.kind == "interface"}
    used = {use[:2] for e in reading.definitions if isinstance(e, Service) for use in e.implements}
    inherited: dict[int, frozenset[str]] = {}
    for name, version in used & given.keys():
        names = frozenset(function.name for function in given[name, version].functions)
        inherited[version] = inherited.get(version, frozenset()) | names
    types = types_of(reading, layout, raw=raw)
    if found is not None:
        scopes = {
            e.scope: Mounted(e.service, services.get(e.service, {}), e.version or 0, e.default) for e in found.entries
        }
        return Served(scopes, types, reading.paths, False, inherited, bool(reading.freedoms))
    if application in services and "nosc" in extensions:
        versions = services[application]
        scopes = {"": Mounted(application, versions, max(versions), default=True)}
        return Served(scopes, types, reading.paths, True, inherited, bool(reading.freedoms))
    return None


class Target(NamedTuple):
    """What a method name means. `slots`: any of them may be meant. `refused`: it may also, or must when there is no
    slot, be answered by an error. `rule` is broken by whoever answers otherwise."""

    slots: tuple[Slot, ...]
    refused: bool
    rule: Promise | None
    meta: bool = False


def target(app: Served, method: str, extensions: frozenset[str]) -> Target:
    """What a call of `method` may reach."""
    parts = method.split(":")
    if any(part != part.strip() for part in parts):
        return Target((), True, None)  # blanks around a piece may be passed over; ML-17
    if parts[0] and not parts[-1]:  # an empty piece at the end is dropped by many who split texts; ML-17
        found = target(app, method.rstrip(":"), extensions)
        return Target((), True, None) if found.meta else found._replace(refused=True)
    if "meta" in extensions and method == f"getVersion:{META_SCOPE}:0":
        return Target((), False, Promise.NEWEST, meta=True)
    if len(parts) == 3:
        name, scope, digits = parts
        if not (digits.isascii() and digits.isdigit()) or not name or (len(digits) > 1 and digits[0] == "0"):
            loose = _PREFIX.match(digits) and bool(name)  # ML-17: many readers of numbers stop at the first other sign
            return Target((), True, None if loose else Promise.NO_FUNCTION)
        slot = app.slot(scope, int(digits), name) if len(digits) < 12 else None
        if slot is None:
            mounted = app.mounted(scope)
            dropped = mounted is not None and any(name in of for of in mounted.versions.values())
            if mounted is not None and int(digits[:12]) not in mounted.versions and name in app.foreign(digits):
                return Target((), True, Promise.INTERFACE_VERSION)
            return Target((), True, Promise.NOT_LISTED if dropped else Promise.UNKNOWN)
        if app.anonymous:
            return Target((slot,), True, Promise.UNSCOPED)
        return Target(
            (slot,),
            slot.unsure,
            Promise.OLDER_VERSIONS if slot.version < app.scopes[scope].declared else Promise.REACHED,
        )
    if len(parts) == 1 and parts[0]:
        return _short(app, parts[0], app.default, None)
    if len(parts) == 2 and all(parts):
        if parts[1].isascii() and parts[1].isdigit():
            return _short(app, parts[0], app.default, int(parts[1][:9]))
        return _short(app, parts[0], parts[1], None)
    return Target((), True, Promise.NO_FUNCTION)


def _short(app: Served, name: str, scope: str | None, version: int | None) -> Target:
    """A name without its scope or its version: it may be refused, or mean the default scope or any version."""
    if scope is None:
        scope = next(iter(app.scopes), "")
    mounted = app.mounted(scope)
    if mounted is None:
        return Target((), True, Promise.UNKNOWN)
    versions = [version] if version is not None else sorted(mounted.versions)
    slots = [slot for each in versions if (slot := app.slot(scope, each, name)) is not None]
    if version is None:  # the declared version, or the newest
        wanted = {mounted.declared, max(mounted.versions, default=0)}
        slots = [slot for slot in slots if slot.version in wanted] or slots  # or the newest that has it; ML-17
    if not slots and version in mounted.versions and any(name in functions for functions in mounted.versions.values()):
        return Target((), True, Promise.NOT_LISTED)
    return Target(tuple(slots), True, Promise.UNSCOPED if app.anonymous else Promise.DEFAULT_SCOPE)
