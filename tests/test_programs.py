"""The conversations that are kept for a baseline: the file, and playing them before anything else."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from impls.launching.manifest import resolve
from reports.result import Acceptance
from specs.plan import Plan, Say, Wait
from specs.protocol import find
from specs.stomp.frames import Frame
from suites import programs
from suites.programs import Stored

STOMP = find("stomp")


def kept(requirement: str = "STOMP-1.2-NACK-01", kind: str = "one", **rest: Any) -> Stored:
    plan = Plan((Say(0, Frame("CONNECT", (("accept-version", "1.2"), ("host", "x")))), Wait(5)))
    given = {"level": "MUST", "also": (), "why": "bad \x1b[31m", "found_by": "test_x", "plan": plan, **rest}
    return Stored(requirement, f"{requirement} {kind}", f"{requirement} {kind}", **given)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = programs.path_of(tmp_path / "my.server.toml")
    assert path.name == "my.server.baseline.json"
    several = [
        kept(kind="two", set_aside=frozenset({"b", "a"}), always=True, suspected=True, shown=2, tried=3, took_ms=9),
        kept(),
    ]
    programs.save(path, several, STOMP)
    assert path.read_text(encoding="ascii").isascii()
    again = programs.load(path, STOMP)
    assert [replace(each, why="") for each in again] == [replace(each, why="") for each in reversed(several)]
    assert "\x1b" not in again[0].why
    lines = path.read_text().splitlines()
    assert sum('"do": "say"' in line for line in lines) == 2, "a line for each step"
    programs.save(path, [], STOMP)
    assert not path.exists()
    assert programs.load(path, STOMP) == []


def test_what_is_long_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = kept(kind="long", plan=Plan((Say(0, Frame("SEND", (), b"x" * programs.MAX_PROGRAM)),)))
    document = json.loads(programs.written([long, kept()], STOMP))
    assert [each["fingerprint"] for each in document["programs"]] == ["STOMP-1.2-NACK-01 one"]
    monkeypatch.setattr(programs, "MAX_OCTETS", 2_000)
    text = programs.written([kept(kind=str(n)) for n in range(20)], STOMP)
    assert len(text) <= 2_000
    assert 0 < len(json.loads(text)["programs"]) < 20


NO_FILES = (
    "", "[]", "{", '{"schema": 1}', '{"schema": 99, "programs": []}', '{"schema": 1, "programs": {}}',
    '{"schema": "x", "programs": []}', "[" * 10_000,
)  # fmt: skip


@pytest.mark.parametrize("text", NO_FILES)
def test_a_file_that_is_something_else_is_told_with_a_remedy(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.baseline.json"
    path.write_text(text)
    with pytest.raises(programs.ProgramsError, match=r"x\.baseline\.json: .*--update-baseline"):
        programs.load(path, STOMP)


@pytest.mark.parametrize(
    "change",
    [{"requirement": "TYPO"}, {"plan": {"steps": [{"do": "dance"}]}}, {"plan": 3}, {"level": None}, {"shown": "x"}],
)
def test_one_that_cannot_be_played_leaves_the_others(change: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "x.baseline.json"
    programs.save(path, [kept(), kept(kind="two")], STOMP)
    document = json.loads(path.read_text())
    document["programs"][0] |= change
    if change.get("level", 0) is None:
        del document["programs"][0]["level"]
    path.write_text(json.dumps(document))
    assert [each.fingerprint for each in programs.load(path, STOMP)] == ["STOMP-1.2-NACK-01 two"]


def test_what_is_confirmed_takes_the_place_of_what_is_suspected() -> None:
    suspected, sure, other = kept(suspected=True), kept(why="sure"), kept(kind="two")
    assert programs.joined([suspected], [sure, other]) == [sure, other]
    assert programs.joined([sure], [suspected]) == [sure]


def test_what_no_entry_accepts_is_confirmed_before_it_counts() -> None:
    day, one = date(2026, 1, 1), kept()
    accepts = Acceptance(one.requirement, "r", "i", None, fingerprints=(one.fingerprint,))
    for entry, trusted in [
        (accepts, True),
        (replace(accepts, fingerprints=()), True),
        (replace(accepts, fingerprints=("another",)), False),
        (replace(accepts, expires=date(2025, 1, 1)), False),
        (None, False),
    ]:
        entries = {} if entry is None else {one.requirement: entry}
        assert programs.trusted(one, entries, {"MUST"}, day).suspected == (not trusted)
    assert not programs.trusted(replace(one, level="SHOULD"), {}, {"MUST"}, day).suspected
    assert programs.trusted(replace(one, level="SHOULD"), {}, {"MUST", "SHOULD"}, day).suspected


def test_the_manifest_of_the_reference_keeps_none() -> None:
    (impl,) = [each for each in resolve("reference", protocol="stomp") if each.role == "server"]
    assert impl.path is not None
    assert not programs.path_of(impl.path).exists()
