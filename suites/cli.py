"""The command line: what options mean, the choice of implementations, and what a run prints and answers.

conftest.py hands pytest's hooks to this module, so that what happens in which order is told in one place.
"""

from __future__ import annotations

import difflib
import os
import re
import secrets
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from impls.driver.drive import drive
from impls.launching.fields import ManifestError
from impls.launching.manifest import Deviation, Implementation, deviations, resolve
from records import reader, writer
from reports import baseline, document, junit, markdown, requirements, sarif, terminal, transcript
from reports.result import acceptance
from reports.summary import Summary, fold
from specs.protocol import find
from suites import corpus, explain, programs, trace
from suites.cards import Card
from suites.collected import SUITES, property_of, weight_of
from suites.deadline import age_s
from suites.head import RunOptions, requirement_row
from suites.hunt import Hunter, Property, Pursuit
from suites.schedule import Share
from suites.session import Session

ROOT = Path(__file__).resolve().parent.parent
BUDGETS: Mapping[str, float] = {"quick": 10.0, "ci": 60.0, "nightly": 900.0}
DISCIPLINES = ("lock-step", "pipelined")


def usage(message: str) -> pytest.UsageError:
    """One clear message and exit status 4."""
    return pytest.UsageError(message)


@dataclass
class Cli:
    """One pytest process: the controller, or a worker of it."""

    config: pytest.Config
    sessions: list[Session] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)
    together: dict[int, list[pytest.Item]] = field(default_factory=dict)
    idle: set[int] = field(default_factory=set)
    summaries: list[tuple[Session, Summary]] = field(default_factory=list)
    baselines: dict[str, Mapping[str, Deviation]] = field(default_factory=dict)
    kept: dict[str, list[programs.Stored]] = field(default_factory=dict)
    corpora: Mapping[corpus.Spoken, list[Card]] = field(default_factory=dict)
    interrupted: bool = False
    junit_path: str | None = None

    # -- choosing -------------------------------------------------------------------------------------------------

    @property
    def worker(self) -> str:
        """The name of this process among the workers of the run."""
        given: dict[str, Any] = getattr(self.config, "workerinput", {})
        return str(given.get("workerid", "main"))

    @property
    def controls(self) -> bool:
        """False in a worker of pytest-xdist."""
        return not hasattr(self.config, "workerinput")

    def wants_suites(self) -> bool:
        """True when the command line reaches into suites/."""
        for arg in self.config.args:
            path = Path(str(arg).split("::")[0])
            path = path if path.is_absolute() else self.config.invocation_params.dir / path
            path = path.resolve()
            if path == SUITES or SUITES in path.parents or path in SUITES.parents:
                return True
        return False

    def protocols_asked(self) -> set[str] | None:
        """The protocols whose suites the command line names; None for all."""
        names = set()
        for arg in self.config.args:
            path = Path(str(arg).split("::")[0])
            path = (path if path.is_absolute() else self.config.invocation_params.dir / path).resolve()
            if SUITES not in path.parents:
                return None
            names.add(path.relative_to(SUITES).parts[0])
        return None if "common" in names else names

    def implementations(self) -> list[Implementation]:
        """What `--impl` means. Raises UsageError."""
        option = self.config.getoption
        search = [Path(p) for p in option("--impl-path")]
        asked = self.protocols_asked()
        only = next(iter(asked)) if asked is not None and len(asked) == 1 else None
        try:
            found = resolve(option("--impl"), search, only)
        except ManifestError as error:
            raise usage(str(error)) from None
        found = [impl for impl in found if asked is None or impl.protocol in asked]
        if option("--role") and found:
            others = " and ".join(dict.fromkeys(f"a {impl.role} of {impl.protocol}" for impl in found))
            found = [impl for impl in found if impl.role == option("--role")]
            if not found:
                raise usage(f"--role {option('--role')}: {option('--impl')} is {others}; correct it, or leave it out")
        if not found:
            raise usage(f"--impl {option('--impl')}: nothing of that protocol and role is to be judged by these suites")
        if option("--profile"):
            found = [self._with_profile(impl, option("--profile")) for impl in found]
        if option("--corpus"):
            found = self._with_corpus(found, Path(option("--corpus")))
        return found

    def _with_corpus(self, found: list[Implementation], path: Path) -> list[Implementation]:
        """Those for which there are programs in the corpus. Raises UsageError."""
        path = path if path.is_absolute() else self.config.invocation_params.dir / path
        try:
            self.corpora = corpus.load(path, [(impl.protocol, impl.role) for impl in found])
        except corpus.CorpusError as error:
            raise usage(f"--corpus {error}") from None
        return [impl for impl in found if (impl.protocol, impl.role) in self.corpora]

    def _with_profile(self, impl: Implementation, profile: str) -> Implementation:
        if not find(impl.protocol).claims(profile):
            known = ", ".join(find(impl.protocol).profiles)
            raise usage(f"--profile {profile}: {impl.protocol} has the profiles {known}")
        return replace(impl, profile=profile)

    def options(self) -> RunOptions:
        """The options of the run. Raises UsageError."""
        option = self.config.getoption
        text = option("--budget")
        if text in BUDGETS:
            seconds = BUDGETS[text]
        elif re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) and float(text) > 0:
            seconds = float(text)
        else:
            raise usage(f"--budget {text}: say quick, ci, nightly or a number of seconds")
        levels = tuple(level.upper() for level in option("--level"))
        unknown = [level for level in levels if level not in ("MUST", "SHOULD", "MAY", "ASSUMED")]
        if unknown:
            raise usage(f"--level {unknown[0]}: say MUST, SHOULD, MAY or ASSUMED")
        seed = option("--seed")
        count = getattr(self.config.option, "numprocesses", None) or 0
        workers = ("main", *[f"gw{n}" for n in range(count)])
        return RunOptions(
            asked=option("--impl"),
            command=self.config.getini("wireproof_command"),
            pattern=option("--requirement"),
            levels=levels,
            strict=bool(option("strict")),
            budget=text,
            budget_s=seconds,
            seed=secrets.randbelow(2**31) if seed is None else seed,
            partial=self._partial(),
            looks_on=bool(option("--update-baseline")) and self.controls and not count,
            look_on_s=option("--look-on"),
            workers=workers,
        )

    def _partial(self) -> bool:
        option = self.config.getoption
        whole = all(
            (path := Path(str(arg).split("::")[0]).resolve()) == SUITES
            or path in SUITES.parents
            or path.parent == SUITES
            for arg in self.config.args
        )
        chosen = (
            option("keyword")
            or option("markexpr")
            or option("--corpus")
            or any("::" in str(arg) for arg in self.config.args)
        )
        return bool(not whole or chosen or option("--requirement") != "*" or option("--level"))

    def accepted(self, impl: Implementation) -> Mapping[str, Deviation]:
        """The baseline in force. Raises UsageError."""
        choice = self.config.getoption("--baseline")
        if choice is None:
            return impl.deviations
        if choice == "none":
            return {}
        try:
            import tomllib  # noqa: PLC0415

            table = tomllib.loads(Path(choice).read_text("utf-8"))
            return deviations(choice, find(impl.protocol), table.get("deviations", table))
        except (OSError, ValueError, ManifestError) as error:
            raise usage(f"--baseline {choice}: {error}") from None

    def _programs(self, impl: Implementation) -> list[programs.Stored]:
        """The conversations of the baseline in force. Raises UsageError."""
        choice = self.config.getoption("--baseline")
        path = impl.path if choice is None else None if choice == "none" else Path(choice)
        try:
            kept = programs.load(programs.path_of(path), find(impl.protocol)) if path is not None else []
        except programs.ProgramsError as error:
            raise usage(str(error)) from None
        accepted = {name: acceptance(name, entry) for name, entry in self.baselines[_key(impl)].items()}
        decisive = {"MUST", "SHOULD"} if self.config.getoption("strict") else {"MUST"}
        today = datetime.now(UTC).date()
        return [programs.trusted(each, accepted, decisive, today) for each in kept]

    def _mine(self, kept: list[programs.Stored]) -> list[programs.Stored]:
        """Those that this worker plays."""
        number = int(self.worker.removeprefix("gw") or 0) if self.worker.startswith("gw") else 0
        return kept[number :: int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))]

    # -- the run --------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Open every implementation; in a worker, join what the controller opened."""
        options, option = self.options(), self.config.getoption
        impls = self.implementations()
        for impl in impls:
            self.baselines[_key(impl)] = self.accepted(impl)
            self.kept[_key(impl)] = self._programs(impl)
        if not self.controls:
            given = self.config.workerinput["wireproof"]  # type: ignore[attr-defined]
            for impl, told in zip(impls, given["sessions"], strict=True):
                session = Session(impl, options, self.folder(impl, impls), told["run"], self.worker)
                session.trouble = told["trouble"]
                session.accepted = self.baselines[_key(impl)]
                session.programs = self._mine(self.kept[_key(impl)])
                session.corpus = self.corpora.get((impl.protocol, impl.role), ())
                if not session.trouble:
                    address = told["address"] and tuple(told["address"])
                    session.join(address, told["learnt"], told["patience_ms"], told["left_s"], told["bears"])
                self.sessions.append(session)
            return
        if option("--update-baseline") and any(impl.path is None for impl in impls):
            raise usage(
                f"--update-baseline: {option('--impl')} has no manifest to write into; `wireproof new` makes one"
            )
        if option("--update-baseline") and options.partial:
            raise usage("--update-baseline needs a whole run: leave out -k, ::, --requirement, --level and --corpus")
        self._must_choose(impls, options)
        spent_s = age_s()
        for impl in impls:
            folder = self.folder(impl, impls)
            session = Session(impl, options, folder, writer.new_run(), self.worker, spent_s=spent_s)
            spent_s = 0.0  # the first has paid for the start
            session.accepted = self.baselines[_key(impl)]
            session.programs = self.kept[_key(impl)]
            session.corpus = self.corpora.get((impl.protocol, impl.role), ())
            self.sessions.append(session)
            session.open()

    def _must_choose(self, impls: list[Implementation], options: RunOptions) -> None:
        """Raise UsageError when --requirement chooses nothing that binds what is judged."""
        known = [find(impl.protocol).requirements.binding(impl.role, impl.profile) for impl in impls]
        ids = [requirement.id for binding in known for requirement in binding]
        if not any(fnmatchcase(name, options.pattern) for name in ids):
            near = difflib.get_close_matches(options.pattern, ids, 1, 0.5)
            meant = f" (did you mean {near[0]}?)" if near else ""
            raise usage(
                f"--requirement {options.pattern}: binds nothing that is judged here{meant}; --list-requirements "
                "prints what does"
            )

    def folder(self, impl: Implementation, impls: list[Implementation]) -> Path:
        """Where the results of one implementation go: --results itself, or a folder of its own when there are more."""
        results = Path(self.config.getoption("--results"))
        results = results if results.is_absolute() else self.config.invocation_params.dir / results
        return results if len(impls) == 1 else results / f"{impl.protocol}-{impl.role}-{impl.name}"

    def invitation(self) -> dict[str, Any]:
        """What a worker must be told."""
        told = [
            {
                "run": s.run,
                "address": s.started.address,
                "learnt": s.learnt,
                "patience_ms": s.patience_ms,
                "left_s": s.deadline.left(),
                "bears": s.bears,
                "trouble": s.trouble,
            }
            for s in self.sessions
        ]
        return {"sessions": told}

    def share(self, items: list[pytest.Item]) -> None:
        """Divide the budget among the properties collected, by weight, for each implementation."""
        count = len(getattr(self.config, "workerinput", {}).get("wireproof", {}).get("sessions", ())) and int(
            os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")
        )
        by_session: dict[int, list[pytest.Item]] = {}
        for item in items:
            call = getattr(item, "callspec", None)
            if call is not None and "hunting" in call.params:
                by_session.setdefault(call.params["hunting"][0], []).append(item)
        if self.controls and by_session and self.config.getoption("--impl") == "reference":
            # nobody asked for the references of roles of which the command line names no property
            self.idle = set(range(len(self.sessions))) - by_session.keys()
        for number, mine in by_session.items():
            weights = [weight_of(item) for item in mine]
            for item, weight in zip(mine, weights, strict=True):
                self.shares[item.nodeid] = self.options().budget_s * max(1, count) * weight / sum(weights)
            # a worker is told one by one what it is to do
            self.together[number] = mine if self.controls else []

    def hunt(self, item: pytest.Item, prop: Property, session: Session, progress: Callable[[Hunter], None]) -> Pursuit:
        """Hunt with the property of this test, if that has not been done: with it go all those of its session."""
        if prop.name not in session.pursuits:
            number = self.sessions.index(session)
            others = {property_of(each): each for each in self.together.get(number, ()) if each is not item}
            shares = [Share(each, weight_of(at)) for each, at in {prop: item, **others}.items() if each is not None]
            budget_s = sum(self.shares.get(at.nodeid, 1.0) for at in (item, *others.values()))
            session.hunt(shares, budget_s, progress)
        return session.pursuits[prop.name]

    def end(self, status: int) -> int:
        """Write the footers, fold, and answer the exit status of the run."""
        for session in self.sessions:
            session.close("interrupted" if self.interrupted else "complete")
        if not self.controls or not self.sessions:
            return status
        code = 0
        for number, session in enumerate(self.sessions):
            if number in self.idle:
                continue
            if not session.writer.path.exists():
                raise usage(
                    f"--results: the records of this run are gone: something has removed {session.writer.path} while "
                    "it went on; give each run a folder of its own (--results=FOLDER), and run it again"
                )
            rows = reader.read(session.results).of(session.run)
            found = fold(rows, self.baselines[_key(session.impl)], session.options.strict, datetime.now(UTC).date())
            document.write(found, session.results)
            self.summaries.append((session, found))
            code = max(code, found.exit_code)
            if self.config.getoption("--update-baseline"):
                self._update(session, found)
        self._exports()
        return status if status in (2, 3, 4) else max(code, status if status == 1 else 0)

    def _update(self, session: Session, found: Summary) -> None:
        assert session.impl.path is not None
        with session.impl.path.open(newline="", encoding="utf-8") as file:
            text = file.read()
        try:
            text = baseline.refreshed(text, found, datetime.now(UTC).date())
        except baseline.BaselineError as error:
            raise usage(f"--update-baseline: {error}") from None
        with session.impl.path.open("w", newline="", encoding="utf-8") as file:
            file.write(text)
        kept = programs.renewed(self.kept[_key(session.impl)], found, session.results, session.protocol)
        programs.save(programs.path_of(session.impl.path), kept, session.protocol)
        accepted = len(tomllib.loads(text).get("deviations", {}))
        session.remarks.append(
            f"the baseline has {accepted} {'entry' if accepted == 1 else 'entries'} now, in [deviations] of "
            f"{session.impl.path.name}, and its conversations are in {programs.path_of(session.impl.path).name}: read "
            "each entry, give it a reason and a link of your own, and keep both files under version control; the next "
            "run answers by it"
        )

    def _exports(self) -> None:
        forms = ((self.junit_path, junit.render), (self.config.getoption("--sarif"), sarif.render))
        for chosen, render in forms:
            path = Path(chosen or "")
            for n, (session, found) in enumerate(self.summaries if chosen else ()):
                own = path if n == 0 else path.with_stem(f"{path.stem}-{session.impl.protocol}-{session.impl.role}")
                own.parent.mkdir(parents=True, exist_ok=True)
                own.write_text(render(found, session.results), encoding="utf-8")
        step = os.environ.get("GITHUB_STEP_SUMMARY")
        if step:
            with Path(step).open("a", encoding="utf-8") as file:
                for session, found in self.summaries:
                    file.write(markdown.render(found, session.results) + "\n")

    def show(self, reporter: Any) -> None:
        """Print the summaries."""
        width = min(120, reporter._tw.fullwidth)
        for session, found in self.summaries:
            reporter.section(f"{session.impl.name}: {session.impl.protocol} {session.impl.role}", "=")
            text = terminal.render(found, width, reporter.hasmarkup, session.results)
            reporter.write_line(text)
            for remark in session.remarks:
                reporter.write_line(remark)

    # -- other things than a run ----------------------------------------------------------------------------------

    def listing(self) -> str:
        """The requirements that would be judged."""
        options, parts = self.options(), []
        for impl in self.implementations():
            registry = find(impl.protocol).requirements
            chosen = {
                r.id for r in registry.select(options.pattern, options.levels or ("MUST", "SHOULD", "MAY", "ASSUMED"))
            }
            binding = registry.binding(impl.role, impl.profile)
            rows = [requirement_row(r) for r in binding if r.id in chosen]
            parts.append(requirements.render(rows))
        return "\n".join(parts)

    def explain(self) -> str:
        """What is known of the requirement that --explain names. Raises UsageError."""
        try:
            return explain.explain(self.config.getoption("--explain"), Path(self.config.getoption("--results")))
        except LookupError as error:
            raise usage(f"--explain: {error.args[0]}") from None

    def replay(self, path: str) -> tuple[str, int]:
        """Play the plan of a trace once; answers what happened and the exit status. Raises UsageError."""
        import json  # noqa: PLC0415

        try:
            stored = json.loads(Path(path).read_text("utf-8"))
            of = {name: str(stored["impl"][name]) for name in ("protocol", "role", "profile")}
        except OSError as error:
            raise usage(f"--replay {path}: {error.strerror}; name a trace, such as results/traces/ID.json") from None
        except (ValueError, KeyError, TypeError) as error:
            raise usage(f"--replay {path}: not a trace that can be replayed ({error!r:.200})") from None
        impl = self._of_trace(path, of)
        try:
            plan = trace.plan_from_json(stored["plan"], find(impl.protocol))
        except (ValueError, KeyError, TypeError) as error:
            raise usage(f"--replay {path}: not a trace that can be replayed ({error!r:.200})") from None
        session = Session(impl, self.options(), self.folder(impl, [impl]), writer.new_run())
        session.open()
        try:
            if session.trouble:
                return f"not judged: {session.trouble}", 1
            setting = replace(session.setting(), set_aside=frozenset(map(str, stored.get("set_aside", ()))))
            recording = drive(plan, setting, f"{session.run[-8:]}replay-")
        finally:
            session.close()
        shown = {**stored, "conversation": trace.conversation(recording, session.protocol)}
        faults = recording.judgement.faults
        text = "\n".join(transcript.lines(shown, 110, 400))
        verdict = [f"{b.breach.requirement}: {b.breach.why}" for b in faults] or [recording.judgement.verdict]
        return "\n".join([text, *verdict]), 1 if recording.judgement.verdict == "fail" else 0

    def _of_trace(self, path: str, of: Mapping[str, str]) -> Implementation:
        """The implementation that a trace is played with, in the profile of the trace unless another one is asked for.
        Raises UsageError."""
        found = self.implementations()
        alike = [impl for impl in found if impl.protocol == of["protocol"] and impl.role == of["role"]]
        if not alike:
            raise usage(
                f"--replay {path}: the conversation is with a {of['role']} of {of['protocol']}, and "
                f"--impl={self.config.getoption('--impl')} names a {found[0].role} of {found[0].protocol}"
            )
        if self.config.getoption("--profile"):
            return alike[0]
        return next((impl for impl in alike if impl.profile == of["profile"]), None) or self._with_profile(
            alike[0], of["profile"]
        )


def _key(impl: Implementation) -> str:
    return f"{impl.protocol} {impl.role} {impl.name}"
