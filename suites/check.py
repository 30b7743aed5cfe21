"""Whether an implementation can be judged, and what to write when it cannot: in some lines, within ten seconds.

    wireproof check myserver.toml
    python -m suites.check stomp://guest:guest@localhost:61613        in a checkout

What is named is what `--impl` takes. It is started, if it is not running, and spoken to as a run would begin: does it
listen, does it speak the protocol, which profile can it claim, are the credentials taken, is the queue a queue and the
topic a topic; and of a program around a library whether it keeps to the contract of docs/implementations.md. Nothing of
that is a verdict. Exit status 0: it can be judged. 1: something must be mended first, or there was no time to find out.
4: the arguments are wrong.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import shlex
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from impls.driver.dialogue import Broken
from impls.driver.link import LinkError
from impls.launching.fields import ManifestError
from impls.launching.manifest import Implementation, resolve
from impls.launching.running import LaunchError
from specs.protocol import find
from suites.calibration import CannotJudge
from suites.checking.look import CannotCheck, Look, with_profile
from suites.checking.report import Report
from suites.deadline import Deadline, TimeUp, age_s

WITHIN_S, TELLING_S = 10.0, 0.3
"""All of a check, from the start of the process to its end, takes no longer; so much is kept for the last lines."""
CLOSING_S = 1.2
"""So much is kept for ending what was started."""
LONGEST_S = 600.0
SLOW = "--within=60 where it is only slow: each answer should take milliseconds"
YOUNG_S = 9.0
"""A process that is older was not started for this check: its age is no part of it."""
LEAST_S = 2.5
"""So much time is left for a check, however long the start of the process has taken."""


def look_at(impl: Implementation, report: Report, deadline: Deadline, patience: float) -> None:
    """Tell what is to be told of one implementation; `patience` is 1 in a check of the usual length."""
    report.head(f"{impl.name}: {impl.protocol} {impl.role}, profile {impl.profile}")
    look = None
    try:
        look = Look(impl, report, deadline, patience)
        _of(impl.protocol)(look)
    except CannotCheck as error:
        _tell(report, deadline, error.why, error.write)
    except Broken as error:
        _tell(report, deadline, f"it {error.why}", error.write)
    except (LaunchError, LinkError, CannotJudge) as error:
        first, _, rest = str(error).partition("\n")
        _tell(report, deadline, first, " / ".join(rest.split("\n")) or "what is missing, or correct [start]")
    except TimeUp:
        report.unasked("there was no time to find out more", SLOW)
    except Exception as error:  # noqa: BLE001 - nobody may be called ready because the check has failed
        report.wrong(
            f"the check itself went wrong: {type(error).__name__}: {error}", "a report of this, with the manifest"
        )
    finally:
        if look is not None:
            _close(look)


def _tell(report: Report, deadline: Deadline, why: str, write: str) -> None:
    """Tell why there is nothing more to look at; what was cut short by the end of the time shows nothing."""
    if deadline.over():
        report.wrong(f"there was no time to find out more; at the end: {why}", SLOW)
    else:
        report.wrong(why, write)


def _of(protocol: str) -> Callable[[Look], None]:
    """What looks at implementations of a protocol. Raises CannotCheck."""
    name = f"suites.{protocol}.checking"
    if importlib.util.find_spec(name) is None:
        raise CannotCheck(f"nothing is known that could be asked of {protocol} here", "pytest --impl=… instead")
    check: Callable[[Look], None] = importlib.import_module(name).check
    return check


def _close(look: Look) -> None:
    for dialogue in look.dialogues:
        for what, write in dialogue.told():
            look.report.wrong(f"it {what}", write)
    try:
        look.close()
    except (LaunchError, OSError) as error:
        look.report.note(f"it could not be ended: {error}")


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="check", description="Says whether an implementation can be judged.")
    parser.add_argument("impl", help="what --impl takes: a name, the path of a manifest, a URL, PROTOCOL-ROLE:COMMAND")
    parser.add_argument("--impl-path", action="append", default=[], metavar="DIR", help="also look for NAME.toml here")
    parser.add_argument("--role", help="this role only")
    parser.add_argument("--profile", help="check against this profile instead of the one that the manifest claims")
    parser.add_argument(
        "--within",
        type=_seconds,
        default=WITHIN_S,
        metavar="SECONDS",
        help="how long the check may take: 10; each wait in it is longer in proportion",
    )
    return parser


def _seconds(text: str) -> float:
    seconds = float(text)
    if not WITHIN_S / 2 <= seconds <= LONGEST_S:
        raise argparse.ArgumentTypeError(f"write {WITHIN_S / 2:g} to {LONGEST_S:g} seconds")
    return seconds


def chosen(options: argparse.Namespace) -> Implementation:
    """The one implementation that is meant. Raises ManifestError."""
    found = resolve(options.impl, [Path(each) for each in options.impl_path])
    found = [each for each in found if options.role in (None, each.role)]
    if len(found) != 1:
        several = ", ".join(str(each.path or each.name) for each in found[:3])
        remedy = f"name one of them, such as {several}" if found else "leave out --role"
        raise ManifestError(f"{options.impl} is {len(found)} implementations; {remedy}")
    if options.profile and not find(found[0].protocol).claims(options.profile):
        known = ", ".join(find(found[0].protocol).profiles)
        raise ManifestError(f"--profile {options.profile}: {found[0].protocol} has the profiles {known}")
    return with_profile(found[0], options.profile or found[0].profile)


def _next(impl: str) -> str:
    """The command to give next, by the door through which this one was given."""
    called = Path(sys.argv[0])
    door = "wireproof " if "wireproof" in (called.stem, called.parent.name) else "pytest --impl="
    return f"{door}{shlex.quote(impl)} --budget=quick"


def main(argv: list[str]) -> int:
    """The exit status; see the module."""
    age = age_s()
    parser = arguments()
    try:
        options = parser.parse_args(argv)
    except SystemExit as error:
        return 4 if error.code else 0
    try:
        impl = chosen(options)
    except (ManifestError, LookupError) as error:
        print(f"check: {error}", file=sys.stderr)
        return 4
    age = age if age < YOUNG_S else 0.0
    limit = Deadline(max(LEAST_S, options.within - TELLING_S - age))
    report = Report()
    looking = limit.within(limit.left() - CLOSING_S)
    patience = options.within / WITHIN_S
    work = threading.Thread(target=look_at, args=(impl, report, looking, patience), daemon=True, name="check")
    work.start()
    work.join(limit.left())
    if work.is_alive():  # whatever was started ends with this process
        report.unasked("the time was up in the middle of this", SLOW)
    report.end(_next(options.impl))
    return 1 if report.failed or report.unsettled else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
