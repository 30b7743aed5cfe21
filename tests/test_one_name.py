"""One action has one name: whichever conversation shows it first, the same requirements fail."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import permutations
from types import SimpleNamespace

import pytest

from impls.references.stomp.reference import Server, Session
from records.rows import FaultRow
from reports.known import outside
from reports.result import acceptance
from specs.stomp.damage import damage
from suites import schedule
from suites.deadline import Deadline
from suites.schedule import Share
from tests.mutants.hunted import hunter_for
from tests.mutants.varying import LONGER, failing
from tests.properties import properties
from tests.stomp_lines import connected, faults
from tests.summaries import IDS, Known, judged, summed

ONE = connected("1.2")
TWO = connected("1.2", "1.2")

# -- what is found with any seed ---------------------------------------------------------------------------------------


def refusing(command: str) -> type[Server]:
    """A server that does not serve one command."""

    def refuse(session: Session, frame: object) -> None:
        session.fail(f"{command} is not served", frame)

    kind = type("Refusing", (Session,), {f"on_{command}": refuse})
    return type("RefusingServer", (Server,), {"session_type": kind})


@pytest.mark.parametrize(
    ("command", "named"), [("NACK", "NACK-01"), ("ACK", "ACK-01"), ("ABORT", "TXN-04"), ("UNSUBSCRIBE", "UNSUB-02")]
)
def test_a_command_that_is_refused_fails_the_same_requirements_with_any_seed(command, named, monkeypatch):
    monkeypatch.setattr(time, "monotonic", time.process_time)  # what else the machine does changes nothing
    mutant = SimpleNamespace(make=refusing(command), protocol="stomp", role="server", profile="1.2")
    shares = [Share(prop, weight) for prop, weight in properties("stomp", "server")]
    for seed in range(3):
        told = []
        hunter = hunter_for(mutant, told.append, seed, Deadline(LONGER * 2, time.process_time))
        schedule.hunt(hunter, schedule.pursuits(hunter, shares, 2), 2, lambda: None)
        level = {name: each.level for name, each in hunter.binding.items()}
        assert failing(told, level) == {f"STOMP-1.2-{named}", "STOMP-1.2-ERROR-07"}, seed


# -- two names for one action, in the rows of a run -------------------------------------------------------------------

NAMED = FaultRow(requirement="A-01", fingerprint="A-01 f", also=("A-02",), why="named")
VAGUE = FaultRow(requirement="A-02", fingerprint="A-02 g", rivals=("A-01 f",), why="vague")
SPECIAL = FaultRow(requirement="B-01", fingerprint="B-01 f", rivals=("A-01 f",), why="special")


@pytest.mark.parametrize("rows", [*permutations([NAMED, VAGUE, SPECIAL])])
def test_what_may_be_another_failure_of_the_run_is_that_one(rows):
    found = summed(*rows, judged("B-01"), ids=IDS).results
    assert [each.standing for each in found] == ["failed", "failed", "inconclusive"]
    assert found[1].message == "broken by the same action as A-01: named"
    assert summed(*rows, ids=IDS, deviations={"A-01": Known(fingerprints=("A-01 f",))}).exit_code == 0


@pytest.mark.parametrize("rows", [*permutations([replace(NAMED, rivals=("B-01 f",)), SPECIAL])])
def test_of_two_that_may_each_be_the_other_the_first_by_name_stands_for_both(rows):
    found = summed(*rows, judged("B-01"), ids=IDS).results
    assert [each.standing for each in found] == ["failed", "failed", "inconclusive"]


@pytest.mark.parametrize(
    "other",
    [
        replace(NAMED, fingerprint="A-01 h"),
        replace(NAMED, level="SHOULD"),
        replace(NAMED, verdict="inconclusive"),
    ],
    ids=["of another sort", "less grave", "only suspected"],
)
def test_what_only_resembles_it_is_a_failure_of_its_own(other):
    found = summed(other, SPECIAL, ids=IDS).results
    assert found[2].standing == "failed"
    accepts = {"A-01": Known(fingerprints=("A-01 f", "A-01 h"))}
    assert summed(other, SPECIAL, ids=IDS, deviations=accepts).exit_code == 1


def test_two_rules_that_find_the_same_failure_at_different_times_are_one_sort_to_a_baseline():
    late = FaultRow(requirement="A-01", fingerprint="A-01 late", rivals=("A-01 early",))
    for sorts, status in ((("A-01 early",), 0), (("A-01 late",), 0), (("A-01 other",), 1)):
        found = summed(late, *map(judged, IDS), ids=IDS, deviations={"A-01": Known(fingerprints=sorts)})
        assert found.exit_code == status


def test_what_comes_and_goes_is_accepted_under_the_name_that_it_has_when_it_is_always_there():
    guessed = FaultRow(requirement="A-01", fingerprint="A-01 marked", sort="B-01 marked")
    entry = {"B-01": Known(fingerprints=("B-01 marked",))}
    assert summed(guessed, *map(judged, IDS), ids=IDS, deviations=entry).exit_code == 0
    for other in ({"B-01": Known(fingerprints=("B-01 other",))}, {"A-02": Known()}):
        assert summed(guessed, *map(judged, IDS), ids=IDS, deviations=other).exit_code == 1
    apart = replace(guessed, fingerprint="A-01 another")
    assert summed(apart, *map(judged, IDS), ids=IDS, deviations=entry).exit_code == 1


def test_what_is_laid_on_another_requirement_as_another_sort_is_accepted_under_the_name_that_the_model_has_for_it():
    """A recommendation that is missed there as well decides nothing; another sort of failure that does is a new one."""
    laid = FaultRow(requirement="A-01", fingerprint="A-01 stays", sort="B-01 marked", rivals=("B-01 marked",))
    entry = {"B-01": Known(fingerprints=("B-01 marked",), sometimes=True)}
    should = FaultRow(requirement="A-01", fingerprint="A-01 stays", sort="B-02 marked", level="SHOULD")
    for told, status in (
        ([laid], 0), ([laid, should], 0), ([replace(laid, rivals=())], 1), ([laid, replace(should, level="MUST")], 1),
        ([replace(laid, fingerprint="A-01 crlf", features=("crlf",))], 1),
    ):  # fmt: skip
        assert summed(*told, *map(judged, IDS), ids=IDS, deviations=entry).exit_code == status
    for other in (Known(fingerprints=("B-01 x",), sometimes=True), Known(fingerprints=("B-01 marked",))):
        assert summed(laid, *map(judged, IDS), ids=IDS, deviations={"B-01": other}).exit_code == 1


WRITTEN = FaultRow(requirement="B-01", fingerprint="B-01 crlf", sort="A-01 closed", features=("crlf",))
CLOSED = FaultRow(requirement="A-01", fingerprint="A-01 closed")
CLOSES = {"A-01": Known(fingerprints=("A-01 closed",))}


def test_a_known_failure_that_is_also_named_after_a_way_of_writing_is_no_new_one():
    found = summed(WRITTEN, CLOSED, *map(judged, IDS), ids=IDS, deviations=CLOSES)
    assert found.exit_code == 0
    assert [each.standing for each in found.results] == ["accepted", "passed", "inconclusive"]
    assert "it may be the known failure of A-01" in found.results[2].message


@pytest.mark.parametrize(
    ("rows", "deviations"),
    [
        ((WRITTEN,), CLOSES),
        ((WRITTEN, CLOSED), {}),
        ((replace(WRITTEN, sort="A-01 another"), CLOSED), CLOSES),
        ((replace(WRITTEN, sort=""), CLOSED), CLOSES),
        ((replace(WRITTEN, features=()), CLOSED), CLOSES),
        ((WRITTEN, replace(CLOSED, level="SHOULD")), CLOSES),
        ((WRITTEN, replace(CLOSED, verdict="inconclusive")), CLOSES),
    ],
    ids=["the known one did not show", "nothing is accepted", "of another sort", "of no sort",
         "after no way of writing", "graver", "the known one is only suspected"],
)  # fmt: skip
def test_a_failure_that_is_named_after_a_way_of_writing_is_new_where_nothing_known_stands_for_it(rows, deviations):
    found = summed(*rows, *map(judged, IDS), ids=IDS, deviations=deviations)
    assert found.exit_code == 1
    assert found.results[2].standing == "failed"


@pytest.mark.parametrize("deviations", [CLOSES, {}, {"B-01": Known()}, {"B-01": Known(fingerprints=("B-01 crlf",))}])
@pytest.mark.parametrize("changed", [
    {}, {"sort": ""}, {"features": ()}, {"level": "SHOULD"}, {"rivals": ("A-01 closed",)}, {"verdict": "inconclusive"},
    {"fingerprint": "B-01 closed", "features": ()},
])  # fmt: skip
@pytest.mark.parametrize("both", [True, False])
def test_a_test_fails_for_what_the_summary_fails_for(deviations, changed, both):
    """Else the exit status of pytest would contradict what is said of the run."""
    rows = [replace(WRITTEN, **changed), *([CLOSED] if both else [])]
    found = summed(*rows, *map(judged, IDS), ids=IDS, deviations=deviations)
    entries = {name: acceptance(name, entry) for name, entry in deviations.items()}
    assert bool(outside(rows, entries)) == (found.exit_code == 1)


DONE_BEHIND = """
0> SUBSCRIBE id:0 destination:/topic/a receipt:s
0< RECEIPT receipt-id:s
1> SUBSCRIBE id:0 receipt:r
{}
"""
SENT = "1> SEND destination:/topic/a k:1 | x\n"
DELIVERED = "0< MESSAGE destination:/topic/a subscription:0 message-id:m k:1 | x\n"
REFUSED = "1< ERROR message:no receipt-id:r\n"


@pytest.mark.parametrize(
    ("order", "level"),
    [
        (SENT + DELIVERED + REFUSED, "SHOULD"),  # 1.2, RECEIPT: frames are worked on at the same time
        (SENT + REFUSED + DELIVERED, "MUST"),
        (REFUSED + SENT + DELIVERED, "MUST"),
    ],
)
def test_what_is_done_behind_a_refused_frame_is_known_before_and_behind_its_error(order, level):
    """STOMP 1.2, ERROR: ERROR-02."""
    text = TWO + DONE_BEHIND.format(order)
    assert ("ERROR-02", level) in faults(text)
    names = "nothing_behind_it_was_done nothing_behind_a_refused_frame_is_done what_has_no_effect_is_not_seen"
    for known in names.split():
        assert ("ERROR-02", "MUST") not in faults(text, set_aside={f"STOMP-1.2-ERROR-02 {known}"})


# -- a message that comes again elsewhere ------------------------------------------------------------------------------

HELD = """
0> SUBSCRIBE id:0 destination:/queue/q ack:client receipt:s
0< RECEIPT receipt-id:s
1> SUBSCRIBE id:1 destination:/queue/q ack:client receipt:t
1< RECEIPT receipt-id:t
1> SEND destination:/queue/q k:1 receipt:u | x
1< RECEIPT receipt-id:u
0< MESSAGE destination:/queue/q subscription:0 message-id:m ack:a k:1 | x
"""
ELSEWHERE = "1< MESSAGE destination:/queue/q subscription:1 message-id:m ack:b k:1 | x\n"
ACK = "0> ACK id:a receipt:v\n"
OTHER = "0> SEND destination:/queue/other k:2 receipt:w | y\n"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        # the end of the first connection explains it, and is what is broken
        (ACK + ELSEWHERE + "0< ERROR message:no receipt-id:v\n0x\n", "ACK-01"),
        (ACK + ELSEWHERE + "0x\n", "ACK-01"),
        (OTHER + ELSEWHERE + "0< ERROR message:no\n0x\n", "ERROR-07"),
        # it lives, or nothing was asked of it
        (OTHER + ELSEWHERE, "MSG-10"),
        (OTHER + ELSEWHERE + "0< RECEIPT receipt-id:w\n", "MSG-10"),
        (ELSEWHERE, "MSG-10"),
        (ELSEWHERE + "0< ERROR message:no\n0x\n", "MSG-10"),
        # what was settled is not given to anybody
        (ACK + "0< RECEIPT receipt-id:v\n" + ELSEWHERE + "0x\n", "ACKMODE-08"),
    ],
)
def test_a_message_that_comes_again_may_show_an_end_that_is_read_later(text, named):
    """L148-170 and 1.2, ERROR: ERROR-07 and what the frame claims, where the end comes; else MSG-10."""
    assert {name for name, level in faults(TWO + HELD + text) if level == "MUST"} == {named}


def test_a_client_that_hangs_up_before_it_is_known_leaves_it_open():
    assert faults(TWO + HELD + ACK + ELSEWHERE + "0c\n") == set()


# -- an end that may be about several frames ---------------------------------------------------------------------------


def test_an_end_names_what_each_frame_claims_that_it_may_be_about():
    """What was refused before under one of these names is refused again."""
    text = HELD.replace("1>", "0>").replace("1<", "0<") + "0> SEND destination:/queue/other k:2 receipt:w | y\n"
    both = ONE + text + "0> NACK id:a\n0< ERROR message:no\n0x\n"
    assert faults(both) == {("ERROR-07", "MUST")}
    assert faults(both, set_aside={"STOMP-1.2-NACK-01 claimed_by_a_frame"}) == set()
    assert faults(both, set_aside={"STOMP-1.2-ACK-01 claimed_by_a_frame"}) == {("ERROR-07", "MUST")}


# -- a header that came as another -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "got", "named"),
    [
        ("\\\\n", "\\\n", "ENC-03"),  # decoded one kind of escape after the other
        ("a\\\\c", "a:", "ENC-03"),
        ("\\n", "\n", "ENC-03"),
        ("\\n", "x", ""),
        ("a\\b", "x\\b", ""),
        ("\\xn", "\\n", ""),
    ],
)
def test_what_decoding_makes_of_a_value_is_a_matter_of_escapes(sent, got, named):
    """STOMP 1.2, Value Encoding: each escape stands for one character, from left to right."""
    assert damage(sent, got, "1.2") == (f"STOMP-1.2-{named}" if named else "")
