"""The command `wireproof`: pytest over the suites in one line, and the tools around it.

`wireproof TARGET` is `pytest --impl=TARGET` of the checkout, with the same options, the same output and the same exit
status; it can be called from any folder, and writes nothing but `results` into that folder.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from wireproof import __version__
from wireproof.home import HERE, TREE, enter

if TYPE_CHECKING:
    import pytest

USAGE = 4
"""Exit status of a wrong command line, as pytest has it."""
PLUGINS = ("xdist.plugin", "xdist.looponfail")
"""Plugins of pytest that a run uses. Others, which happen to be installed beside it, have no part in a verdict."""
COMMANDS = {
    "new": "write a manifest, a workflow and, where the role needs one, a program to fill in",
    "check": "say in ten seconds what keeps a program from being judged, and what to write next",
    "replay": "play one recorded conversation again, and judge it",
    "compare": "say what two results folders differ in: newly failing, mended, no longer judged",
    "report": "gather many runs into a site of pages (the nightly report)",
    "campaign": "hunt on a Spark cluster, and keep what is found",
    "reference": "run a reference as a program, to have something to judge",
}
EXAMPLES = """\
examples:
  wireproof stomp://localhost:61613
  wireproof myserver.toml --budget=quick
  wireproof "kcl-child:python my_processor.py"
  wireproof stomp                                 the references of one protocol, in memory
  wireproof --list-requirements stomp
  wireproof --explain STOMP-1.2-ACK-03
  wireproof replay results/traces/STOMP-1.2-ACK-03.json

other commands (each has a --help of its own):
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command line; answers the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    enter()
    try:
        if given and given[0] in COMMANDS:
            return OTHERS[given[0]](given[1:])
        return judge(given)
    except KeyboardInterrupt:
        return 2


class Parser(argparse.ArgumentParser):
    """Like its base, with our exit status, and one line for a mistake."""

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: {message}; see {self.prog} --help\n")
        sys.exit(USAGE)


class _Options:
    """Takes the options of a run as pytest's parser does, so that they are written down once (suites/options.py)."""

    def __init__(self, group: Any) -> None:
        self._group = group
        self.names: list[str] = []

    def getgroup(self, name: str, description: str = "") -> _Options:
        return self

    def addini(self, *given: Any, **more: Any) -> None:
        """Nothing: the file that holds these comes with the command."""

    def addoption(self, name: str, **how: Any) -> None:
        action = self._group.add_argument(name, **how)
        action.default = argparse.SUPPRESS  # pytest has the defaults
        self.names.append(name)


def _parser() -> tuple[argparse.ArgumentParser, list[str]]:
    """The parser of a run, and the names of our options."""
    from suites.options import add_options  # noqa: PLC0415 - it is found once `enter` was called

    width = max(map(len, COMMANDS)) + 2
    others = "\n".join(f"  wireproof {name:<{width}}{what}" for name, what in COMMANDS.items())
    parser = Parser(
        prog="wireproof",
        description="Judge whether an implementation of a messaging protocol keeps to the protocol's text.",
        epilog=EXAMPLES + others,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="wireproof TARGET [options] [-- options of pytest]",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"wireproof {__version__}")
    parser.add_argument(
        "target",
        nargs="?",
        metavar="TARGET",
        help="what is judged: a URL, a manifest, PROTOCOL-ROLE:COMMAND, a name of the catalogue, or a protocol, which "
        "means its references",
    )
    ours = _Options(parser.add_argument_group("judging"))
    add_options(cast("pytest.Parser", ours))
    output = parser.add_argument_group("output and workers")
    output.add_argument("--strict", action="store_true", help="a recommendation that is broken decides the verdict too")
    output.add_argument("--junitxml", metavar="FILE", help="also write one case for each requirement as JUnit XML")
    output.add_argument("-n", metavar="WORKERS", dest="workers", help="judge with several processes")
    output.add_argument("-v", "--verbose", action="store_true", help="name each property as it is played")
    return parser, ours.names


def judge(given: Sequence[str]) -> int:
    """Judge what the command line names, or answer what it asks about the requirements."""
    given, own = _split(given)
    parser, names = _parser()
    if not given and not own:
        parser.print_help()
        return 0
    chosen = vars(parser.parse_args(given))
    target = chosen.pop("target")
    asks = chosen.get("list_requirements") or "explain" in chosen
    suites = TREE / "suites"
    arguments = _typed(chosen, names)
    if target in _protocols():
        if "impl" not in chosen and not asks and (found := _manifest(target)):
            parser.error(
                f"{target!r} is a protocol, and {found} is a manifest of that name: write --impl={target} for what the "
                f"manifest describes, or {target} --impl=reference for the references"
            )
        suites /= target
    elif target is not None:
        if "impl" in chosen:
            parser.error(f"{target!r} and --impl={chosen['impl']!r} both name what is judged; leave one of them out")
        arguments.append(f"--impl={target}")
    elif "impl" not in chosen and not asks:
        parser.error("what is to be judged? Name a URL, a manifest or a protocol")
    if chosen["strict"]:
        arguments.append("--strict")
    if chosen["junitxml"]:
        arguments.append(f"--junitxml={chosen['junitxml']}")
    if chosen["workers"]:
        arguments += ["-n", chosen["workers"]]
    arguments.append("-v" if chosen["verbose"] else "-qq")
    return run([*arguments, *own, str(suites)])


def _split(given: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is ours, and what stands behind `--` for pytest."""
    words = list(given)
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1 :]


def _typed(chosen: dict[str, Any], names: Sequence[str]) -> list[str]:
    """Our options as one would type them for pytest: with "=", since it takes a value that exists for a path."""
    typed = []
    for name in names:
        value = chosen.get(name.removeprefix("--").replace("-", "_"))
        each = value if isinstance(value, list) else [value]
        typed += [name if one is True else f"{name}={one}" for one in each if one not in (None, False)]
    return typed


def run(arguments: Sequence[str]) -> int:
    """pytest over the suites, with nothing of the user's own configuration; answers its exit status."""
    import pytest  # noqa: PLC0415 - the other commands do without

    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    where = ["-c", str(HERE / "pytest.ini"), f"--rootdir={TREE}", f"--confcutdir={TREE}"]
    plugins = [f"-p{name}" for name in PLUGINS if importlib.util.find_spec(name) is not None]
    return int(pytest.main([*where, "--no-header", "--assert=plain", "--tb=no", "-rN", *plugins, *arguments]))


def _protocols() -> list[str]:
    from specs.protocol import names  # noqa: PLC0415 - it is found once `enter` was called

    return names()


def _manifest(name: str) -> str:
    """The manifest of a name that a protocol has as well, or ""."""
    from impls.launching.manifest import CATALOG  # noqa: PLC0415 - it is found once `enter` was called

    return next((str(path) for path in (Path(f"{name}.toml"), CATALOG / f"{name}.toml") if path.is_file()), "")


def replay(given: Sequence[str]) -> int:
    """Play one recorded conversation again."""
    parser = Parser(
        prog="wireproof replay",
        description="Play the conversation of one trace once, with fresh names, and judge it again. The exit status is "
        "1 while the fault is there.",
        allow_abbrev=False,
    )
    parser.add_argument("trace", metavar="FILE", help="a trace: results/traces/ID.json")
    parser.add_argument(
        "target",
        nargs="?",
        metavar="TARGET",
        help="what is judged, as for wireproof TARGET; what the trace was recorded with when it is left out",
    )
    parser.add_argument("--impl", metavar="TARGET", help="the same")
    parser.add_argument("--profile", help="judge this profile instead of the one that the manifest claims")
    chosen = parser.parse_args(given)
    if chosen.target and chosen.impl:
        parser.error("TARGET and --impl both name what is judged; leave one of them out")
    target = chosen.impl or chosen.target or _asked(Path(chosen.trace))
    if not target:
        parser.error(f"{chosen.trace!r} does not tell what it was recorded with; name it: --impl=TARGET")
    arguments = [f"--replay={chosen.trace}", f"--impl={target}"]
    if chosen.profile:
        arguments.append(f"--profile={chosen.profile}")
    return run(["-q", *arguments, str(TREE / "suites")])


def _asked(path: Path) -> str:
    """What a trace was recorded with: a value of --impl, or "" where it does not tell."""
    try:
        stored = json.loads(path.read_text("utf-8"))
        return str(stored["impl"]["asked"])
    except FileNotFoundError:
        return "reference"  # whoever plays the trace says that there is none
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def reference(given: Sequence[str]) -> int:
    """Run a reference as a program."""
    known = _protocols()
    if not given or given[0] not in known:
        asked = given[0] if given else ""
        stream, status = (sys.stdout, 0) if asked in ("-h", "--help") else (sys.stderr, USAGE)
        stream.write(
            f"usage: wireproof reference PROTOCOL ...\nPROTOCOL is one of: {', '.join(known)}; each has a --help. For "
            "instance:\n  wireproof reference stomp --port 61613\n  wireproof reference kcl child\n"
        )
        return status
    name = f"impls.references.{given[0]}"
    try:
        module = importlib.import_module(f"{name}.__main__")
    except ModuleNotFoundError as error:
        return _lacks(error, given[0])
    return int(module.main(list(given[1:]), prog=f"wireproof reference {given[0]}") or 0)


def _lacks(error: ModuleNotFoundError, extra: str) -> int:
    """Say which extra brings what is missing."""
    sys.stderr.write(
        f"wireproof: {error.name} is not installed; pip install '.[{extra}]' in a clone of Wireproof brings it\n"
    )
    return USAGE


def report(given: Sequence[str]) -> int:
    """The nightly report."""
    from reports.__main__ import main as made  # noqa: PLC0415 - it is found once `enter` was called

    return made(list(given), prog="wireproof report")


def compare(given: Sequence[str]) -> int:
    """Say what two results differ in."""
    from reports.compare import main as compared  # noqa: PLC0415 - it is found once `enter` was called

    return compared(list(given), prog="wireproof compare")


def _elsewhere(module: str, command: str, **more: str) -> Callable[[Sequence[str]], int]:
    """A command whose module is loaded when it is asked for: a part of the checkout may lack it."""

    def carry_out(given: Sequence[str]) -> int:
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            sys.stderr.write(f"wireproof {command} is not part of this version ({__version__})\n")
            return USAGE
        status: int = found.main(list(given), **more)
        return status

    return carry_out


OTHERS: dict[str, Callable[[Sequence[str]], int]] = {
    "new": _elsewhere("wireproof.new", "new"),
    "check": _elsewhere("suites.check", "check"),
    "replay": replay,
    "compare": compare,
    "report": report,
    "campaign": _elsewhere("campaigns.__main__", "campaign", prog="wireproof campaign"),
    "reference": reference,
}
