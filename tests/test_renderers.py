"""Every renderer with hostile text in every field."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from datetime import date
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from records.rows import (
    EndRow,
    FaultRow,
    PropertyRow,
    RequirementRow,
    Row,
    RunRow,
    TroubleRow,
)
from reports import document, junit, markdown, requirements, script, terminal, transcript
from reports.summary import COLUMNS, Summary, fold
from tests.summaries import TODAY, Known, harmless, hostile, saved


def evil(row: Row, text: st.SearchStrategy[str], draw: st.DrawFn) -> Row:
    """`row` with every text field drawn from `text`, those that mean something left alone."""
    meaning = {"run", "worker", "verdict", "applies", "level", "status", "requirement", "id", "trace", "at"}
    changes: dict[str, Any] = {}
    for field in fields(row):
        value = getattr(row, field.name)
        if field.name in meaning and draw(st.booleans()):
            continue
        if field.name in ("run", "worker", "verdict", "applies"):
            continue
        if isinstance(value, str):
            changes[field.name] = draw(text)
        elif isinstance(value, tuple):
            changes[field.name] = tuple(draw(st.lists(text, max_size=2)))
    return replace(row, **changes)


@st.composite
def evil_summaries(draw: st.DrawFn) -> Summary:
    rows = [
        RunRow(impl="x", asked="y"),
        RequirementRow(id="A-01"),
        RequirementRow(id="A-02", level="SHOULD"),
        RequirementRow(id="B-01", basis="x"),
        RequirementRow(id="B-02"),
        RequirementRow(id="B-03", applies="unsupported"),
        RequirementRow(id="B-04"),
        FaultRow(requirement="A-01", trace="traces/x.json", also=("q",)),
        FaultRow(requirement="A-02", level="SHOULD"),
        FaultRow(requirement="B-01"),
        FaultRow(requirement="B-02", verdict="inconclusive"),
        TroubleRow(requirement="B-04", detail="a\nb"),
        PropertyRow(property="p", errors=1),
    ]
    if draw(st.booleans()):
        rows.append(EndRow())
    rows = [evil(row, hostile, draw) for row in rows]
    numbered = [
        replace(row, run="r", worker=draw(hostile.filter(bool)) if n > 9 else "m", n=n) for n, row in enumerate(rows, 1)
    ]
    known = {
        "B-01": Known(draw(hostile), draw(hostile)),
        draw(hostile): Known(draw(hostile), draw(hostile)),
        "old": Known(draw(hostile), expires=date(2020, 1, 1)),
    }
    return fold(numbered, known, draw(st.booleans()), TODAY)


@st.composite
def evil_traces(draw: st.DrawFn) -> dict[str, Any]:
    """Trace files with every part hostile, odd or missing."""
    numbers = st.integers(-5, 10**20) | st.floats() | st.none() | st.booleans() | hostile
    octets = st.binary(max_size=20).map(bytes.hex) | hostile | st.just("61" * 1000)
    event = st.fixed_dictionaries(
        {},
        optional={
            "ms": numbers,
            "conn": numbers,
            "by": hostile | st.just("server"),
            "text": hostile,
            "ms_quiet": numbers,
            "event": st.sampled_from(["said", "closed", "quiet", "fact"]) | hostile | st.none(),
        },
    )
    wired = st.fixed_dictionaries(
        {},
        optional={
            "ms": numbers,
            "conn": numbers,
            "dir": hostile | st.sampled_from(["sent", "received", "closed-by-peer"]),
            "hex": octets,
        },
    )
    part = (
        st.fixed_dictionaries({"hex": octets})
        | st.fixed_dictionaries({"match": hostile | st.just("a(b)")}, optional={"nth": numbers})
        | hostile
    )
    step = st.fixed_dictionaries(
        {"do": st.sampled_from(["send", "send", "wait", "expect-quiet", "close"]) | hostile},
        optional={
            "conn": numbers,
            "parts": st.lists(part, max_size=3) | hostile,
            "ms": numbers,
            "how": hostile,
            "cuts": st.lists(numbers, max_size=3) | hostile,
            "when": st.sampled_from(["now", "turn"]) | hostile,
        },
    )
    plan = st.lists(
        st.fixed_dictionaries({"do": st.sampled_from(["say", "wait"])}, optional={"when": hostile}), max_size=3
    )
    return draw(
        st.fixed_dictionaries(
            {},
            optional={
                "requirement": hostile,
                "level": hostile,
                "statement": hostile,
                "source": hostile,
                "expected": hostile,
                "why": hostile | numbers,
                "deciding": numbers,
                "impl": st.fixed_dictionaries({"name": hostile, "role": hostile}) | hostile,
                "conversation": st.lists(event | hostile, max_size=4) | hostile,
                "wire": st.lists(wired, max_size=3),
                "script": st.lists(step | hostile, max_size=4) | hostile,
                "plan": hostile | st.fixed_dictionaries({"steps": plan | hostile}),
            },
        )
    )


@settings(max_examples=60, deadline=None)
@given(summary=evil_summaries(), trace=evil_traces(), width=st.integers(0, 140))
def test_the_terminal_gets_no_escape_but_ours(
    summary: Summary, trace: dict[str, Any], width: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    results = saved(tmp_path_factory.mktemp("r"), trace)
    shown = terminal.render(summary, width, False, results)
    harmless(shown)
    coloured = terminal.render(summary, width, True, results)
    assert re.sub(r"\x1b\[(?:0|1|2|31|32|33)m", "", coloured) == shown
    harmless(terminal.render(summary))


@settings(max_examples=60, deadline=None)
@given(summary=evil_summaries(), trace=evil_traces())
def test_every_document_parses_and_harms_nobody(
    summary: Summary, trace: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    results = saved(tmp_path_factory.mktemp("r"), trace)
    text = document.to_json(summary)
    harmless(text)
    assert text.isascii()
    assert not re.search("[<>&]", text)
    assert json.loads(text)["verdict"] == summary.verdict
    xml = junit.render(summary, results)
    harmless(xml)
    assert ElementTree.fromstring(xml).tag == "testsuites"
    page = markdown.render(summary, results)
    harmless(page)
    ours = r"</?(?:details|summary|b|p|pre|code)>"
    bare = re.sub(ours, "", page)
    assert "<" not in bare
    assert ">" not in bare
    assert len(re.findall("<pre>", page)) == len(re.findall("</pre>", page))
    assert "`" not in page
    rows = {line.count("|") for line in page.split("\n") if line.startswith("| ")}
    assert rows == {len(COLUMNS) + 2}


@given(
    st.lists(
        st.builds(
            RequirementRow,
            id=hostile,
            section=hostile,
            level=hostile,
            basis=hostile,
            statement=hostile,
            applies=hostile,
            untestable=hostile,
        ),
        max_size=3,
    ),
    st.integers(0, 120),
)
def test_the_list_of_requirements_is_harmless(rows: list[RequirementRow], width: int) -> None:
    harmless(requirements.render(rows, width))


@given(evil_traces())
def test_the_script_always_compiles(trace: dict[str, Any]) -> None:
    text = script.render(trace)
    harmless(text)
    assert text.isascii()
    code = compile(text.encode(), "script.py", "exec")  # as octets: a declaration of an encoding would count
    head = {"__name__": "not main"}
    exec(code, head)
    assert isinstance(head["STEPS"], list)


@given(evil_traces(), st.integers(0, 150), st.integers(2, 60))
def test_a_transcript_is_lines(trace: dict[str, Any], width: int, limit: int) -> None:
    for line in transcript.lines(trace, width, limit):
        assert line.isprintable()
        assert len(line) <= max(width, 200)
