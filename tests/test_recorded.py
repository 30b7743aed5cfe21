"""A conversation out of a trace file, judged again: without Spark, as each executor does it."""

from __future__ import annotations

import copy
import json

import pytest

from specs.protocol import find
from specs.recorded import judge_again
from tests.runs import document

rejudge = pytest.importorskip("reports.spark.rejudge", reason="pyspark is not installed")


def faulty() -> dict:
    """The trace of a server that leaves the version out of CONNECTED."""
    made = copy.deepcopy(document())
    for event in made["conversation"]:
        if event["event"] == "said" and event["frame"]["command"] == "CONNECTED":
            event["frame"]["headers"] = [[n, v] for n, v in event["frame"]["headers"] if n != "version"]
    blames = judge_again(made, find("stomp")).faults
    made["blamed"] = sorted({name for b in blames for name in (b.breach.requirement, *b.breach.also)})
    assert made["blamed"]
    return made


def said(made: dict, seed: int | None = None) -> tuple[str, str]:
    return rejudge.again(json.dumps(made), seed)


def test_a_fault_that_the_specification_still_sees_stays():
    after, why = said(faulty())
    assert after == "fail"
    assert "version" in why


def test_a_conversation_that_it_allows_now_is_a_pass():
    assert said({**document(), "blamed": ["STOMP-1.2-CONN-01"]})[0] == "pass"


def test_a_fault_that_it_blames_on_something_else_does_not_vanish():
    after, why = said({**faulty(), "blamed": ["STOMP-1.2-ACK-01"]})
    assert after == "fail"
    assert faulty()["blamed"][0] in why


def test_that_it_died_is_not_in_the_conversation():
    assert said({**document(), "blamed": [find("stomp").crash]})[0] == "fail"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"schema": 1}, "version 1"),
        ({"impl": {"protocol": "smoke-signals", "role": "server", "profile": "1"}}, "unknown protocol"),
        ({"seed": 3}, "another run"),
        ({"blamed": []}, "what was blamed"),
        ({"conversation": [{"event": "thunder", "conn": 0, "by": "server"}]}, "no event"),
        ({"facts": None}, ""),
    ],
)
def test_what_cannot_be_judged_says_why(change, why):
    after, told = said({**document(), "blamed": ["STOMP-1.2-CONN-01"], **change}, seed=0)
    assert after == "error"
    assert why in told


@pytest.mark.parametrize("text", ["", "[]", "null", "{", "[" * 100_000, '"x"'])
def test_a_file_that_is_no_trace_stops_nothing(text):
    assert rejudge.again(text, None)[0] == "error"


def test_the_digest_is_that_of_the_specifications():
    assert len(rejudge.digest()) == 64
