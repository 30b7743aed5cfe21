"""`wireproof new`: what a new implementation needs to be judged, here and in CI.

A manifest, a workflow, and for a role that nobody can reach from outside a program around the library, its testee:
the kit of a language and a template, in which the calls of the library are still to be written.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from wireproof import manifests, workflows
from wireproof.home import HERE, TREE

USAGE = 4
KITS = TREE / "impls" / "kits"
CHILDREN = HERE / "templates"
"""Templates for what a library calls: children of Storm and KCL, in Python."""
FOLDER = "testee"
CURRENT = "modern"
"""The profile of a new manifest, where a protocol has it: what is written today speaks the dialect of today."""


class CannotWrite(Exception):
    """What is asked for cannot be written; says why, and what to do."""


@dataclass(frozen=True)
class Testee:
    """A program to fill in: its files, what builds it in its folder, and what starts it from the manifest's. `unmade`
    is the file that the user has to write from nothing, where there is only a kit."""

    language: str
    files: Mapping[str, str]
    build: tuple[str, ...]
    command: tuple[str, ...]
    unmade: str = ""


def main(given: Sequence[str]) -> int:
    """Write the files; answers the exit status."""
    parser = _parser()
    chosen = parser.parse_args(given)
    try:
        files, told = _made(chosen)
        _write(chosen.into, files)
    except CannotWrite as error:
        sys.stderr.write(f"wireproof new: {error}\n")
        return USAGE
    sys.stdout.write("\n".join([*(f"wrote {name}" for name in files), *told, ""]))
    return 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: {message}; see {self.prog} --help\n")
        sys.exit(USAGE)


def _parser() -> argparse.ArgumentParser:
    from specs import protocol as protocols  # noqa: PLC0415 - it is found once `enter` was called

    parser = _Parser(
        prog="wireproof new",
        description="Write a manifest, a workflow and, where the role needs one, a program to fill in.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("name", metavar="NAME", help="what it is called in reports, and the name of the manifest")
    add("--protocol", required=True, choices=protocols.names())
    add("--role", help="what it plays; the one that listens when it is left out")
    add(
        "--profile",
        help="the dialect that it claims; for Pulsar modern, else the first of its protocol, when it is left out",
    )
    add("--language", default="python", help=f"of the program to fill in: {', '.join(_languages()) or 'python'}")
    add("--address", metavar="HOST:PORT", help="it is running already, there")
    add("--ci", default="github", choices=[*workflows.KINDS, "none"], help="whose workflow is written (github)")
    add("--into", default=Path(), type=Path, metavar="DIR", help="where the files go; here when it is left out")
    return parser


def _made(chosen: argparse.Namespace) -> tuple[dict[str, str], list[str]]:
    """The files by their names, and what to do next. Raises CannotWrite."""
    from specs import protocol as protocols  # noqa: PLC0415 - as above

    name = chosen.name
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", name):
        raise CannotWrite(f"{name!r} is to be the name of a file; write letters, digits, '-', '_' and '.'")
    try:
        bundle = protocols.find(chosen.protocol)
    except LookupError as error:
        raise CannotWrite(f"{error}; pip install '.[{chosen.protocol}]' in a clone of Wireproof brings it") from None
    role = chosen.role or next(iter(bundle.roles))
    profile = chosen.profile or (CURRENT if CURRENT in bundle.profiles else bundle.profiles[0])
    chosen.role = role
    if role not in bundle.roles:
        raise CannotWrite(f"--role {role}: the roles of {bundle.name} are {', '.join(bundle.roles)}")
    if not bundle.claims(profile):
        raise CannotWrite(f"--profile {profile}: the profiles of {bundle.name} are {', '.join(bundle.profiles)}")
    listens = bundle.wires.get(role, "tcp") == "tcp"
    if chosen.address and not listens:
        raise CannotWrite(f"--address: a {role} of {bundle.name} is not reached at an address; leave it out")
    testee = None if listens else _testee(f"{bundle.name}-{role}", chosen.language)
    asked = manifests.Asked(
        name, bundle, role, profile, chosen.address or "", testee.command if testee else (), testee is not None
    )
    files = {f"{name}.toml": manifests.text(asked)}
    if testee:
        files |= {f"{FOLDER}/{file}": text for file, text in testee.files.items()}
    if chosen.ci != "none":
        root = _repository(chosen.into)
        folder = "" if root is None else f"{chosen.into.resolve().relative_to(root).as_posix()}/".removeprefix("./")
        build = f"cd {folder}{FOLDER} && {' '.join(testee.build)}" if testee and testee.build else ""
        top = root or chosen.into
        extras = "pulsar" if bundle.name == "pulsar" else ""
        workflow = workflows.workflow(chosen.ci, name, build, extras, folder, lambda path: (top / path).exists())
        files["../" * folder.count("/") + workflow.path] = workflow.text
        return files, _next(chosen, testee, workflow.told)
    return files, _next(chosen, testee)


def _repository(into: Path) -> Path | None:
    """The root of the repository in which a folder lies: that is where a workflow is looked for."""
    here = into.resolve()
    return next((each for each in (here, *here.parents) if (each / ".git").exists()), None)


def _next(chosen: argparse.Namespace, testee: Testee | None, of_workflow: str = "") -> list[str]:
    told = ["", "next:" if chosen.into == Path() else f"next, in {chosen.into}:"]
    if testee:
        if testee.unmade:
            told.append(
                f"  write {FOLDER}/{testee.unmade}, around your library and the kit beside it: there is no template"
            )
            told.append(f"    of a {chosen.role} in {testee.language}; the one in python shows what it has to do")
        else:
            (main_file, *_) = [file for file in testee.files if Path(file).stem.lower() == FOLDER]
            told.append(f"  write what is still to be written in {FOLDER}/{main_file}")
        if testee.build:
            told.append(f"  cd {FOLDER} && {' '.join(testee.build)}")
    elif not chosen.address:
        told.append(f"  say in {chosen.name}.toml how your program is started")
    told += [f"  wireproof check ./{chosen.name}.toml", f"  wireproof ./{chosen.name}.toml --budget=quick"]
    return [*told, f"  {of_workflow}"] if of_workflow else told


def _testee(role: str, wanted: str) -> Testee:
    """The kit and the template of a language. Raises CannotWrite."""
    known = _languages()
    language = known.get(wanted)
    if language is None:
        raise CannotWrite(f"--language {wanted}: there is a kit for {', '.join(known) or 'none'}")
    folder = KITS / wanted
    template, own = folder / role / language.file, CHILDREN / f"{role}.py"
    names = (language.kit, *language.others)
    files = {file: (folder / file).read_text("utf-8") for file in names}
    command = tuple(_from_above(part, language.file) for part in language.run)
    if not template.is_file():
        if not own.is_file():
            raise CannotWrite(f"--language {wanted}: there is no template of a {role}")
        template = own
        if wanted != "python":
            files["testee.py.example"] = own.read_text("utf-8")
            return Testee(wanted, files, language.build, command, language.file)
    files[language.file] = template.read_text("utf-8")
    return Testee(wanted, files, language.build, command)


def _from_above(part: str, file: str) -> str:
    """A word of a command, as it is written one folder higher."""
    return f"{FOLDER}/{part.removeprefix('./')}" if part in (file, "classes") or part.startswith("./") else part


def _languages() -> dict[str, Any]:
    """The languages that have a kit, by name."""
    if importlib.util.find_spec("impls.kits") is None:
        return {}
    return {language.name: language for language in importlib.import_module("impls.kits.languages").LANGUAGES}


def _write(into: Path, files: Mapping[str, str]) -> None:
    """Write all files, or none. Raises CannotWrite."""
    there = [name for name in files if (into / name).exists()]
    if there:
        raise CannotWrite(f"there already: {', '.join(there)}; move away what is there, or name a folder with --into")
    try:
        for name, text in files.items():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            (into / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise CannotWrite(f"{error.filename}: {error.strerror}") from None
