"""The kits for testees: the loop in each language, the templates, and that they are what roles.toml says.

Each needs its language. Where that is missing the tests are skipped, and fail when REQUIRE_KITS=1.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from checks import check
from kits import FILTERS, TESTEES

from impls.driver.dialogue import Dialogue
from impls.driver.pipes import Pool, environment
from impls.kits.generate import HERE, main, roles
from impls.kits.languages import LANGUAGES, Language

BY_NAME = {language.name: language for language in LANGUAGES}
BUILD_S, ANSWER_S = 300, 60.0
LARGE = 1 << 20


def need(language: Language) -> None:
    lacking = [name for name in language.needs if shutil.which(name) is None]
    if lacking and os.environ.get("REQUIRE_KITS") == "1":
        pytest.fail(f"REQUIRE_KITS=1, and there is no {lacking[0]}")
    if lacking:
        pytest.skip(f"there is no {lacking[0]}")


def built(language: Language, folder: Path, text: str) -> list[str]:
    """A testee beside its kit, ready to be started: its command."""
    need(language)
    folder.mkdir(parents=True, exist_ok=True)
    for name in (language.kit, *language.others):
        shutil.copy(HERE / language.name / name, folder)
    (folder / language.file).write_text(text, encoding="utf-8")
    if language.build:
        ended = subprocess.run(language.build, cwd=folder, capture_output=True, text=True, check=False, timeout=BUILD_S)
        assert ended.returncode == 0, ended.stdout + ended.stderr
    return [part.replace("{python}", sys.executable) for part in language.run]


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, tuple[Path, list[str]]]:
    """The testees that were built already, by language."""
    return {}


@pytest.fixture(params=BY_NAME)
def testee(request, folders, tmp_path_factory) -> Iterator[Dialogue]:
    """The small testee in each language, told what to do."""
    name = request.param
    if name not in folders:
        folder = tmp_path_factory.mktemp(name)
        folders[name] = folder, built(BY_NAME[name], folder, TESTEES[name])
    folder, command = folders[name]
    pool = Pool(name, command, environment({}, str), folder, depth=0)
    try:
        yield Dialogue(pool.take(), lambda: 120.0)
    finally:
        pool.close()


def ask(testee: Dialogue, op: str, **given):
    reply = testee.ask(op, ANSWER_S, **given)
    assert reply.error is None, reply.error
    assert testee.told() == []
    return reply.ok


# --- the loop ---------------------------------------------------------------------------------------------------------

ODD = 'Größe \u2028 \U0001f600 \x00 "\\'
VALUES = [
    None, True, 0, -1, 2**53, 2**64 + 1, 1.5, "", ODD, [], [[], {}], {"a": {"b": [None]}}, "x" * LARGE,
]  # fmt: skip


def test_values_come_back_as_they_went(testee):
    for value in VALUES:
        found = ask(testee, "echo", value=value)
        if value == 2**64 + 1 and found != value:
            assert float(found) == float(value)  # JavaScript has no other number
        else:
            assert found == value


def test_octets_of_a_large_line_in_pieces(testee):
    found = testee.ask("size", ANSWER_S, pieces=7, body_hex="ff" * LARGE)
    assert (found.ok, found.error) == (LARGE, None)


def test_what_is_no_op_is_unsupported_and_what_fails_is_an_error(testee):
    assert testee.ask("nap", ANSWER_S).unsupported
    assert testee.ask("refuse", ANSWER_S).unsupported
    assert "so it goes" in (testee.ask("fail", ANSWER_S, why="so it goes").error or "")
    assert testee.ask("odd", ANSWER_S).error  # a value that JSON has not
    assert ask(testee, "echo", value=1) == 1
    assert [reply.unsupported for reply in testee.ask_together(["nap", "nap"], ANSWER_S)] == [True, True]


def test_ids_of_any_kind_are_repeated(testee):
    for number in (0, -5, "-6955786537413359385", "a"):
        assert testee.ask("echo", ANSWER_S, id=number, value=number).ok == number


def test_lines_that_are_no_requests_are_passed_over(testee):
    for line in (b"hello\n", b"[]\n", b'{"id": 1}\n', b"\n", b'{"id": 1, "op": 5}\n', b"\xff\n"):
        testee._write(line)
    assert ask(testee, "echo", value=1) == 1


def test_what_a_library_prints_is_no_answer_and_events_are_told(testee):
    assert ask(testee, "wake") is None
    assert testee.event("woken", ANSWER_S) == {"event": "woken", "by": "wake"}


def test_an_op_that_is_carried_out_at_once_does_not_wait(testee):
    slow, behind = testee.begin("slow"), testee.begin("echo", value=2)
    assert ask(testee, "wake") is None
    assert testee.answer(slow, ANSWER_S).ok == "late"
    assert testee.answer(behind, ANSWER_S).ok == 2


def test_handles_stand_for_things(testee):
    first, second = ask(testee, "keep", value="a"), ask(testee, "keep", value="b")
    assert first != second
    assert (ask(testee, "get", handle=second), ask(testee, "get", handle=first)) == ("b", "a")
    assert "there is no" in (testee.ask("get", ANSWER_S, handle="none").error or "")


def test_the_end_of_stdin_ends_it(testee):
    number = testee.begin("slow")
    assert testee.finish(ANSWER_S) == 0
    assert number
    assert testee.told() == []


def test_host_and_port(testee):
    assert ask(testee, "place", address="127.0.0.1:61613") == ["127.0.0.1", 61613]


# --- steps and notes --------------------------------------------------------------------------------------------------


def test_steps_are_done_in_order_and_noted_down(testee):
    steps = [
        {"op": "emit", "tuple": ["a", 1]}, {"op": "print", "text": "printed"}, {"op": "stderr", "text": "told"},
        {"op": "sleep", "ms": 1}, {"op": "nap"}, {"op": "emit", "tuple": []},
    ]  # fmt: skip
    assert ask(testee, "steps", steps=steps) == [["a", 1], []]
    assert testee.program.observations() == [{"call": "steps", "count": len(steps)}]
    raised = testee.ask("steps", ANSWER_S, steps=[{"op": "raise"}, {"op": "emit", "tuple": ["late"]}])
    assert "told to raise" in (raised.error or "")


STEPS = [{"op": "checkpoint", "at": None}, {"op": "print", "text": "ä"}]


def test_steps_of_records_tuples_and_commands(testee):
    def record(data: bytes):
        return ask(testee, "record", data=base64.b64encode(data).decode())

    assert record(json.dumps({"wireproof": [*STEPS, 1, None]}).encode()) == STEPS
    for ordinary in (b"", b"plain", b"\xff\xfe", b"[]", b"5", b'{"other": []}', b'{"wireproof": 5}'):
        assert record(ordinary) == []
    assert ask(testee, "tuple", values=["wireproof", STEPS]) == STEPS
    for values in ([], ["wireproof"], ["other", STEPS], ["wireproof", "x"], ["wireproof", STEPS, 1]):
        assert ask(testee, "tuple", values=values) is None
    conf = {"wireproof.script": [STEPS, []], "wireproof.on_ack": STEPS[:1]}
    said = [ask(testee, "command", conf=conf, command=name, nexts=n) for name, n in
            (("next", 0), ("next", 1), ("next", 2), ("ack", 0), ("fail", 0))]  # fmt: skip
    assert said == [STEPS, [], [], STEPS[:1], []]


# --- filters ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BY_NAME)
def test_a_filter_answers_hex_by_hex_and_tells_errors(name, tmp_path):
    command = built(BY_NAME[name], tmp_path, FILTERS[name])
    pool = Pool(name, command, environment({}, str), tmp_path, depth=0)
    try:
        told = Dialogue(pool.take(), lambda: 120.0)
        assert told.line("05", ANSWER_S) == "05"
        for wrong in ("c1", "0g", "0"):
            assert told.line(wrong, ANSWER_S).startswith("ERR ")
        assert told.line("aB" * LARGE, ANSWER_S, pieces=5) == "ab" * LARGE
        assert told.finish(ANSWER_S) == 0
    finally:
        pool.close()


# --- templates --------------------------------------------------------------------------------------------------------


def test_the_templates_are_what_the_roles_say():
    assert main(["--check"]) == 0


def manifest(folder: Path, role: str, command: list[str]) -> Path:
    protocol, _, name = role.partition("-")
    path = folder / "it.toml"
    path.write_text(
        f'[impl]\nname = "it"\nprotocol = "{protocol}"\nrole = "{name}"\n[start]\ncommand = {json.dumps(command)}\n'
    )
    return path


@pytest.mark.parametrize("role", [role.name for role in roles()])
@pytest.mark.parametrize("name", BY_NAME)
def test_a_template_runs_at_once_and_says_what_is_to_be_written(name, role, tmp_path):
    language = BY_NAME[name]
    text = (HERE / name / role / language.file).read_text("utf-8")
    found = check(manifest(tmp_path, role, built(language, tmp_path, text)))
    assert found.code == 1, found.text
    assert len(found.wrong) == 1, found.text
    if role == "msgpack-codec":
        assert "neither 5" in found.text
    else:
        assert "reads lines in pieces" in found.text
        assert f"still to be written in {language.file}" in found.text, found.text


@pytest.mark.skipif(shutil.which("gofmt") is None, reason="there is no gofmt")
def test_go_is_formatted_as_gofmt_does():
    ended = subprocess.run(["gofmt", "-l", HERE / "go"], capture_output=True, text=True, check=True)
    assert ended.stdout == ""
