"""`pytest --explain ID`: one page for one requirement."""

from __future__ import annotations

import re

import pytest

from specs.protocol import find
from suites.explain import ROOT, explain


def test_it_tells_statement_source_faults_and_what_real_implementations_did(tmp_path):
    text = explain("STOMP-1.2-ENC-02", tmp_path)
    requirement = find("stomp").requirements["STOMP-1.2-ENC-02"]
    flat = " ".join(text.split())
    assert text.startswith("STOMP-1.2-ENC-02  MUST")
    assert requirement.statement in flat
    assert requirement.source in flat
    assert "backslash-written-raw" in flat
    assert "RabbitMQ 3.10.8: Subscription ids are written back unescaped" in flat


def test_files_and_lines_that_it_names_exist(tmp_path):
    for name, protocol in (("kcl", find("kcl")), ("stomp", find("stomp"))):
        for requirement in list(protocol.requirements)[::20]:
            for file, line in re.findall(r"^\s+(\S+\.py):(\d+)$", explain(requirement, tmp_path), re.MULTILINE):
                assert int(line) <= len((ROOT / file).read_text().splitlines()), (name, requirement)


def test_a_wrong_id_is_answered_by_those_that_are_near(tmp_path):
    with pytest.raises(LookupError, match=r"near: STOMP-1\.2-ENC-02"):
        explain("STOMP-ENC-02", tmp_path)


@pytest.mark.parametrize(("name", "own", "other"), [
    ("MPIDL-INV-11", "", "SUBSCRIBE"), ("STOMP-1.2-INV-11", "SUBSCRIBE", "IDL"), ("MPIDL-DISP-01", "ML-", "**N-"),
])  # fmt: skip
def test_the_readings_that_it_quotes_are_of_its_own_protocol(name, own, other, tmp_path):
    text = explain(name, tmp_path).partition("\nfreedoms\n")[2].partition("\njudged here\n")[0]
    assert own in text
    assert other not in text
