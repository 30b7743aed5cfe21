"""The small TOML file that describes an implementation under test, and how `--impl` finds it.

What a manifest may say is the contract in docs/implementations.md. Names of fields may be added here, never changed:
other people's manifests live outside this repository. A manifest is written by hand, so everything wrong with one is
answered by a single `ManifestError` that names the file, the field and the remedy.
"""

from __future__ import annotations

import contextlib
import math
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from impls.launching import fields
from impls.launching.fields import ManifestError, Table, fail
from impls.launching.printable import printable, quoted
from specs import protocol as protocols
from specs.protocol import Protocol

IMPLS = Path(__file__).resolve().parents[1]
CATALOG = IMPLS / "catalog"
REFERENCES = IMPLS / "references"
REFERENCE = "reference"
"""The name that stands for the references of every protocol, whatever files exist."""
KINDS = ("address", "command", "image", "python")
READY_S = 30.0
"""How long an implementation may take until it answers the protocol, when its manifest does not say."""
MAX_READY_S = 3600.0
MAX_MANIFEST_BYTES = 1 << 20
MAX_FILES_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Start:
    """How to get hold of the implementation.

    `value` is HOST:PORT for an address, the argument vector for a command, an image's name, or MODULE:ATTRIBUTE for
    what runs in process. `port` is the port inside a container, or the one that a command always uses; None with a
    command means that `{port}` in it (or in `env`) stands for a free one. `ready_s` is in seconds. Images only:
    `local` is the name of a locally built image that is preferred when the engine has it, and `files` maps absolute
    paths inside the container to the text that is put there before it starts; `run` is what the container runs
    instead of what its image says.
    """

    kind: str
    value: str | tuple[str, ...]
    port: int | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    ready_s: float = READY_S
    local: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    run: tuple[str, ...] = ()

    @property
    def takes_port(self) -> bool:
        """True when a command is told a port by `{port}`."""
        said = (self.value,) if isinstance(self.value, str) else self.value
        return self.kind == "command" and any("{port}" in text for text in (*said, *self.env.values()))


@dataclass(frozen=True, slots=True)
class Deviation:
    """A known and accepted failure. After the day `expires` (None: never) it is accepted no longer. `sometimes`: it
    does not show in every run, so that a run without it does not make the entry stale. `fingerprints`: the sorts of
    failure that are accepted, as `--update-baseline` writes them; none: any."""

    reason: str
    issue: str
    expires: date | None = None
    clause: str = ""
    trace: str = ""
    sometimes: bool = False
    fingerprints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Implementation:
    """One implementation under test. `facts` holds a value for every fact that its protocol knows.

    `path` is the manifest, or None when a URL described it; `folder` is where its command runs.
    """

    name: str
    protocol: str
    role: str
    version: str
    profile: str
    start: Start
    facts: Mapping[str, object]
    deviations: Mapping[str, Deviation]
    path: Path | None
    folder: Path


# --- reading one file -------------------------------------------------------------------------------------------------


def load(path: Path | str) -> Implementation:
    """Read one manifest. Raises ManifestError naming the file, the field and the remedy."""
    path = Path(path)
    document = _document(path)
    where = printable(str(path))
    impl = fields.table(where, document, "impl", required=True)
    fields.only(where, "impl", impl, ("name", "protocol", "role", "version", "profile"))
    bundle = _protocol(where, impl)
    others = [name for name in protocols.names() if name in document and name != bundle.name]
    if others:
        fail(where, f"[{others[0]}]", f"belongs to another protocol; this is a manifest for {bundle.name}: remove it")
    fields.only(where, "", document, ("impl", "start", bundle.name, "deviations"))
    role = fields.text(where, "impl.role", impl, choices=tuple(bundle.roles))
    return Implementation(
        name=fields.text(where, "impl.name", impl),
        protocol=bundle.name,
        role=role,
        version=fields.text(where, "impl.version", impl, default=""),
        profile=_profile(where, bundle, impl),
        start=_start(where, fields.table(where, document, "start", required=True)),
        facts=_facts(where, bundle, fields.table(where, document, bundle.name)),
        deviations=deviations(where, bundle, fields.table(where, document, "deviations")),
        path=path.resolve(),
        folder=path.resolve().parent,
    )


def _document(path: Path) -> Table:
    where = printable(str(path))
    try:
        with path.open("rb") as file:
            data = file.read(MAX_MANIFEST_BYTES + 1)
    except FileNotFoundError:
        remedy = "give the path of a manifest or its name, or a URL"
        raise ManifestError(f"{where}: there is no such file; {remedy}") from None
    except (OSError, ValueError) as error:  # ValueError: a path that no file system could hold
        reason = getattr(error, "strerror", None) or str(error)
        raise ManifestError(f"{where}: cannot be read ({reason}); give the path of a manifest") from None
    if len(data) > MAX_MANIFEST_BYTES:
        raise ManifestError(f"{where}: is larger than 1 MiB, so it is no manifest; give the path of a manifest")
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ManifestError(f"{where}: is not UTF-8 text at byte {error.start}; save the file as UTF-8") from None
    except ValueError as error:  # TOMLDecodeError, or a number with more digits than Python reads
        raise ManifestError(f"{where}: is not valid TOML: {printable(str(error))}; correct the file there") from None
    except RecursionError:
        raise ManifestError(f"{where}: is nested too deeply to be a manifest; correct the file") from None


def _protocol(where: str, impl: Table) -> Protocol:
    name = fields.text(where, "impl.protocol", impl, choices=tuple(protocols.names()))
    return _found(where, name)


def _found(where: str, name: str) -> Protocol:
    """The protocol of this name. Raises ManifestError, naming `where`, when a package that it needs is missing."""
    try:
        return protocols.find(name)
    except LookupError as error:
        raise ManifestError(f"{where}: {error}; pip install '.[{name}]' in a clone of Wireproof brings it") from None


def _profile(where: str, bundle: Protocol, impl: Table) -> str:
    profile = fields.text(where, "impl.profile", impl, default=bundle.profiles[0])
    if not bundle.claims(profile):
        known = ", ".join(bundle.profiles)
        meant = fields.meant(profile, bundle.profiles)
        fail(where, "impl.profile", f"{quoted(profile)} is no profile of {bundle.name}{meant}; write one of: {known}")
    return profile


def _start(where: str, table: Table) -> Start:
    fields.only(where, "start", table, (*KINDS, "port", "env", "ready_s", "local", "files", "run"))
    kinds = [kind for kind in KINDS if kind in table]
    if len(kinds) != 1:
        found = f"has {' and '.join(kinds)}" if kinds else "does not say how to start it"
        fail(where, "[start]", f"{found}; give exactly one of: {', '.join(KINDS)}")
    (kind,) = kinds
    both, image = ("command", "image"), ("image",)
    meant_for: dict[str, tuple[str, ...]] = {"env": both, "port": both, "local": image, "files": image, "run": image}
    for name, allowed in meant_for.items():
        if name in table and kind not in allowed:
            why = f"means nothing beside start.{kind}; remove it (it is for {fields.either(allowed)})"
            fail(where, f"start.{name}", why)
    port = None if "port" not in table else _port(where, table["port"])
    value = _vector(where, kind, table[kind]) if kind == "command" else fields.text(where, f"start.{kind}", table)
    files = fields.strings(where, "start.files", table.get("files", {}))
    for name in files:
        if not name.startswith("/"):
            fail(where, f"start.files.{quoted(name)}", "must be an absolute path inside the container, such as /etc/x")
    if sum(len(text) for text in files.values()) > MAX_FILES_BYTES:
        fail(where, "start.files", "holds more than 1 MiB; put large files into an image of your own")
    start = Start(
        kind=kind,
        value=value,
        port=port,
        env=fields.strings(where, "start.env", table.get("env", {})),
        ready_s=_ready(where, table.get("ready_s", READY_S)),
        local=None if "local" not in table else fields.text(where, "start.local", table),
        files=files,
        run=_vector(where, "run", table["run"]) if "run" in table else (),
    )
    if kind == "address":
        split_address(str(value), f"{where}: start.address")
    elif kind == "python" and not re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*", str(value)):
        fail(
            where,
            "start.python",
            f"{quoted(value)} is not MODULE:ATTRIBUTE, such as impls.references.stomp.reference:Server",
        )
    elif kind == "image" and port is None:
        fail(where, "start.port", "is missing; an image needs the port that it listens on inside the container")
    elif start.takes_port and port is not None:
        fail(where, "start.port", "and {port} in the command exclude each other; remove one of them")
    return start


def _vector(where: str, name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        remedy = f"must be a list, one entry for each argument: {quoted(value.split() or ['program'])}"
        fail(where, f"start.{name}", remedy)
    if not isinstance(value, list) or not value or not all(isinstance(part, str) for part in value):
        fail(where, f"start.{name}", 'must be a list of texts that is not empty, such as ["server", "{port}"]')
    if not value[0].strip():
        fail(where, f"start.{name}", "begins with an empty text; write the program's name first")
    if any("\0" in part for part in value):
        fail(where, f"start.{name}", "holds a NUL character, which no argument can carry; remove it")
    return tuple(value)


def _ready(where: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        fail(where, "start.ready_s", f"must be a number of seconds, not {fields.kind(value)}; write for instance 30")
    if not math.isfinite(value) or not 0 < value <= MAX_READY_S:
        fail(where, "start.ready_s", f"is {quoted(value)}; write seconds above 0 and up to {MAX_READY_S:.0f}")
    return float(value)


def _port(where: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        fail(where, "start.port", f"must be a whole number, not {fields.kind(value)}; write for instance 61613")
    if not 1 <= value <= 65535:
        fail(where, "start.port", f"is {quoted(value)}; write a port from 1 to 65535")
    return value


def split_address(text: str, where: str = "address") -> tuple[str, int]:
    """The host and port of HOST:PORT, an IPv6 host in brackets. Raises ManifestError beginning with `where`."""
    found = re.fullmatch(r"(?:\[(?P<six>[^\[\]\s]+)\]|(?P<host>[^\[\]:/@\s]+)):(?P<port>[0-9]{1,5})", text)
    if not found or not 1 <= int(found["port"]) <= 65535:
        remedy = "write for instance 127.0.0.1:61613 or [::1]:61613"
        raise ManifestError(f"{where}: {quoted(text)} is not HOST:PORT; {remedy}")
    return found["six"] or found["host"], int(found["port"])


def _facts(where: str, bundle: Protocol, table: Table) -> dict[str, object]:
    fields.only(where, bundle.name, table, tuple(bundle.facts))
    facts: dict[str, object] = {name: fact.default for name, fact in bundle.facts.items()}
    for name, given in table.items():
        fact, at = bundle.facts[name], f"{bundle.name}.{name}"
        value = float(given) if fact.kind is float and type(given) is int else given
        # bool is a kind of int in Python, but not to the person who writes the manifest.
        if not isinstance(value, fact.kind) or (isinstance(value, bool) and fact.kind is not bool):
            fail(where, at, f"must be {fields.noun(fact.kind)}, not {fields.kind(value)}; it is {fact.help}")
        for placeholder in re.findall(r"\{\w+\}", fact.default) if isinstance(fact.default, str) else ():
            if placeholder not in str(value):
                remedy = f"it is replaced by a fresh value each time; write for instance {quoted(fact.default)}"
                fail(where, at, f"{quoted(value)} lacks {placeholder}; {remedy}")
        facts[name] = value
    return facts


def deviations(where: str, bundle: Protocol, table: Table) -> dict[str, Deviation]:
    """The table of known failures in a manifest or baseline. Raises ManifestError; `where` names the file."""
    found = {}
    for requirement, entry in table.items():
        at = f"deviations.{quoted(requirement)}"
        if requirement not in bundle.requirements:
            meant = fields.meant(requirement, bundle.requirements)
            fail(where, at, f"names no requirement of {bundle.name}{meant}; correct the id or remove the entry")
        if not isinstance(entry, dict):
            fail(where, at, 'must be a table: { reason = "…", issue = "https://…", expires = 2030-12-31 }')
        fields.only(where, at, entry, ("reason", "issue", "expires", "clause", "trace", "sometimes", "fingerprints"))
        expires = entry.get("expires")
        # In Python a date with a time is a date too.
        if expires is not None and (isinstance(expires, datetime) or not isinstance(expires, date)):
            why = f"must be a day, not {fields.kind(expires)}; write 2030-12-31 without quotes, or leave it out"
            fail(where, f"{at}.expires", why)
        found[requirement] = Deviation(
            reason=fields.text(where, f"{at}.reason", entry),
            issue=fields.text(where, f"{at}.issue", entry),
            expires=expires,
            clause=fields.text(where, f"{at}.clause", entry, default=""),
            trace=fields.text(where, f"{at}.trace", entry, default=""),
            sometimes=_sometimes(where, f"{at}.sometimes", entry.get("sometimes", False)),
            fingerprints=_fingerprints(where, f"{at}.fingerprints", entry.get("fingerprints", [])),
        )
    return found


def _fingerprints(where: str, at: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        fail(where, at, "must be a list of texts, as --update-baseline writes it; leave it out to accept any failure")
    return tuple(value)


def _sometimes(where: str, at: str, value: object) -> bool:
    if not isinstance(value, bool):
        fail(where, at, f"must be true or false, not {fields.kind(value)}")
    return value


# --- finding what --impl names ----------------------------------------------------------------------------------------


def resolve(text: str, search: Sequence[Path] = (), protocol: str | None = None) -> list[Implementation]:
    """The implementations that the value of `--impl` names: one, or for `reference` one for each reference manifest.

    A URL is reached as it stands; PROTOCOL-ROLE:COMMAND is started; a text with a slash or ending in .toml is a
    path; anything else is a name, looked for in the current folder, then in `search`, then in the catalogue. With
    `protocol`, an implementation of another one is an error (references of others are left out). Raises
    ManifestError.
    """
    command = re.fullmatch(r"([a-z]+)-([a-z-]+):(?!//)(.+)", text, re.DOTALL)
    if command and command[1] in protocols.names():
        found = [_from_command(text, command[1], command[2], command[3])]
    elif "://" in text:
        found = [_from_url(text, protocol)]
    elif text == REFERENCE:
        found = [load(path) for path in _references(protocol) if protocol or _usable(path.parent.name)]
    elif "/" in text or text.endswith(".toml"):
        found = [load(_former(Path(text)))]
    else:
        found = [load(_by_name(text, search))]
    for impl in found:
        if protocol is not None and impl.protocol != protocol:
            where = printable(str(impl.path)) if impl.path else printable(impl.name)
            remedy = f"run the suites of {impl.protocol}, or give an implementation of {protocol}"
            raise ManifestError(f"{where}: impl.protocol: is {impl.protocol}, but {protocol} is judged; {remedy}")
    return found


def _from_url(url: str, protocol: str | None) -> Implementation:
    shown = printable(re.sub(r"(?<=://).*@", "***@", url, flags=re.DOTALL))  # it may hold a password
    scheme = url.partition("://")[0].lower()
    named = [name for name in protocols.names() if protocol in (None, name)]
    if scheme in named:  # else a package that it needs could be missing without a word
        _found(f"--impl {shown}", scheme)
    bundles = [protocols.find(name) for name in named if _usable(name)]
    reader = {name: bundle for bundle in bundles for name in bundle.schemes}
    if scheme not in reader:
        meant = fields.meant(scheme, reader)
        known = ", ".join(f"{name}://" for name in sorted(reader)) or "none for this protocol; give a manifest"
        raise ManifestError(f"--impl {shown}: the scheme {quoted(scheme)} is unknown{meant}; write one of: {known}")
    bundle = reader[scheme]
    try:
        host, port, given = bundle.schemes[scheme](url)
    except ValueError as error:
        raise ManifestError(f"--impl {shown}: {printable(str(error))}; write {scheme}://HOST:PORT") from None
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    split_address(place, f"--impl {shown}")
    return Implementation(
        name=place,
        protocol=bundle.name,
        # Only what listens has a URL, and a protocol names the role that listens first.
        role=next(iter(bundle.roles)),
        version="",
        profile=bundle.profiles[0],
        start=Start(kind="address", value=place),
        facts={**{name: fact.default for name, fact in bundle.facts.items()}, **given},
        deviations={},
        path=None,
        folder=Path.cwd(),
    )


def _from_command(text: str, name: str, role: str, command: str) -> Implementation:
    """What `kcl-child:python my_processor.py` describes: a command, and nothing else is said of it."""
    where = f"--impl {printable(text)}"
    bundle = _found(where, name)
    if role not in bundle.roles:
        known = ", ".join(bundle.roles)
        raise ManifestError(f"{where}: {quoted(role)} is no role of {name}{fields.meant(role, bundle.roles)}: {known}")
    if bundle.wires.get(role, "tcp") == "tcp":
        raise ManifestError(f"{where}: a {role} of {name} listens; write a manifest with start.command, or its address")
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise ManifestError(f"{where}: the command cannot be split into words ({error}); close its quotes") from None
    if not argv:
        raise ManifestError(f"{where}: the command is missing; write for instance {name}-{role}:python my_program.py")
    return Implementation(
        name=Path(argv[-1]).name or argv[0],
        protocol=name,
        role=role,
        version="",
        profile=bundle.profiles[0],
        start=Start(kind="command", value=tuple(argv)),
        facts={key: fact.default for key, fact in bundle.facts.items()},
        deviations={},
        path=None,
        folder=Path.cwd(),
    )


def _usable(name: str) -> bool:
    """False for a protocol that needs a package which is not installed."""
    try:
        protocols.find(name)
    except LookupError:
        return False
    return True


def _references(protocol: str | None) -> list[Path]:
    """Manifests of references. Those of other protocols are not even read: they may be work in progress."""
    named = f"{protocol or '*'}/{REFERENCE}*.toml"
    paths = sorted([*REFERENCES.glob(named), *IMPLS.glob(named)])  # the latter: where they were before
    if not paths:
        of = f" of {protocol}" if protocol else ""
        folder = printable(str(REFERENCES / (protocol or "PROTOCOL")))
        raise ManifestError(f"--impl {REFERENCE}: there is no reference{of} in {folder}; give a name, a path or a URL")
    return paths


def _former(path: Path) -> Path:
    """Where the manifest of a reference is now, when nothing is at `path` and it was there before."""
    with contextlib.suppress(OSError, ValueError):  # a path that no file system could hold
        folder, now = path.resolve().parent, REFERENCES / path.parent.name / path.name
        if not path.exists() and folder.parent == IMPLS and now.is_file():
            return now
    return path


def _by_name(name: str, search: Sequence[Path]) -> Path:
    folders = list(dict.fromkeys([Path.cwd(), *map(Path, search), CATALOG]))
    for folder in folders:
        path = folder / f"{name}.toml"
        with contextlib.suppress(OSError):  # a name that no file system takes, a folder that may not be read
            if name and path.is_file():
                return path
    known = {path.stem for folder in folders if folder.is_dir() for path in folder.glob("*.toml")}
    meant = fields.meant(name, {*known, REFERENCE})
    looked = ", ".join(printable(str(folder)) for folder in folders)
    raise ManifestError(
        f"--impl {quoted(name)}: no manifest of that name{meant}; looked for NAME.toml in {looked}; "
        f"give a name that is there, the path of a manifest, {REFERENCE} or a URL"
    )
