"""What comes in place of the answer to a checkpoint: what a child may make of it, and what it may not (K-41)."""

import json
from base64 import b64encode

import pytest

from impls.references.kcl.child import Child
from impls.references.kcl.memory import Children
from specs.events import Closed, Fact, Said
from specs.kcl.frames import Message
from specs.model import judge
from tests.kcl_plays import KCL, config_of, judged


def _status(action):
    return {"action": "status", "responseFor": action}


def test_action_that_came_instead_of_an_answer_may_be_done_later():
    class Queues(Child):
        """It reads on for the answer, and does what came before it afterwards."""

        def __init__(self, *args):
            super().__init__(*args)
            self.waiting = []

        def checkpoint(self, number):
            yield from self.say(self.request(number))
            line = yield from self.next_line()
            if line is not None and json.loads(line)["action"] != "checkpoint":
                self.waiting.append(line)
                line = yield from self.next_line()
            self.result(line)

        def perform(self, action, members):
            yield from super().perform(action, members)
            while self.waiting:
                yield from self.dispatch(self.waiting.pop())

    def write(w):
        w.batch([w.script([{"op": "checkpoint", "at": None}])])
        w.batch([w.record(b"instead")])
        w.say(w.answered("ThrottlingException"))

    assert judged("child", lambda: Children(child=Queues), write).verdict == "pass"


def test_status_of_what_came_instead_of_an_answer_is_counted_as_forgiven():
    batch = {"action": "processRecords", "records": [{"data": "", "partitionKey": "k", "sequenceNumber": "1"}]}
    talk = [("host", {"action": "initialize", "shardId": "s"}), ("child", _status("initialize")), ("host", batch)]
    talk += [("child", {"action": "checkpoint", "checkpoint": "1"}), ("host", batch)]
    talk += [("child", _status("processRecords"))] * 2
    config = KCL.configure("child", "kcl1-seed", {"scripted": False}, {})
    events = [Said(0, by, Message(members)) for by, members in talk]
    found = judge(KCL.model, config, events, "child")
    assert (found.verdict, found.leaned) == ("pass", {"K-41": 1})
    again = judge(KCL.model, config, [*events, events[-1]], "child")
    assert [fault.breach.requirement for fault in again.faults] == ["KCL-CHECKPOINT-15"], "it is done once"


@pytest.mark.parametrize(("instead", "blamed"), [(True, []), (False, ["KCL-CHECKPOINT-02"])])
def test_what_came_instead_of_an_answer_may_ask_for_a_checkpoint(instead, blamed):
    """A library that makes a checkpoint behind each batch asks for one inside that batch, too (K-41)."""
    batch = {"action": "processRecords", "records": [{"data": "", "partitionKey": "k", "sequenceNumber": "1"}]}
    asks, granted = ({"action": "checkpoint", "checkpoint": "1"} for _ in range(2))
    talk = [("host", {"action": "initialize", "shardId": "s"}), ("child", _status("initialize")), ("host", batch)]
    talk += [("child", asks), ("host", batch if instead else granted), ("child", _status("processRecords"))]
    talk += [("child", asks), ("host", granted), ("child", _status("processRecords"))]
    config = KCL.configure("child", "kcl1-seed", {"scripted": False}, {})
    found = judge(KCL.model, config, [Said(0, by, Message(members)) for by, members in talk], "child")
    assert [fault.breach.requirement for fault in found.faults][:1] == blamed


@pytest.mark.parametrize("seen", [True, False])
def test_what_user_code_was_called_for_was_not_dropped(seen):
    """K-41: the status of a batch that came instead of an answer has the name of the one that was open."""
    script = json.dumps({"wireproof": [{"op": "checkpoint", "at": "1"}]}).encode()
    batches, called = [], []
    for number, data in (("1", script), ("2", b"")):
        record = {"partitionKey": "k", "sequenceNumber": number}
        batches.append({"action": "processRecords", "records": [{"data": b64encode(data).decode(), **record}]})
        noted = {"call": "processRecords", "records": [{"data_hex": data.hex(), **record}]}
        called.append(Fact(0, "child", "observed", noted))
    events = [
        Said(0, "host", Message({"action": "initialize", "shardId": "s"})),
        Fact(0, "child", "observed", {"call": "initialize", "shardId": "s"}),
        Said(0, "child", Message(_status("initialize"))),
        Said(0, "host", Message(batches[0])),
        called[0],
        Said(0, "child", Message({"action": "checkpoint", "checkpoint": "1"})),
        Said(0, "host", Message(batches[1])),
        *called[1:][:seen],
        Said(0, "child", Message(_status("processRecords"))),
        Closed(0, "host"),
        Fact(0, "child", "exit", 0),
    ]
    config = config_of("child")
    blamed = [each.breach.requirement for each in judge(KCL.model, config, events, "child").faults]
    assert blamed == ([] if seen else ["KCL-CHECKPOINT-15"])


@pytest.mark.parametrize(("named", "wrong"), [("shutdown", False), ("checkpoint", True), ("other", True)])
def test_what_came_instead_of_an_answer_may_be_done_at_once(named, wrong):
    batch = {"action": "processRecords", "records": [{"data": "", "partitionKey": "k", "sequenceNumber": "1"}]}
    talk = [("host", {"action": "initialize", "shardId": "s"}), ("child", _status("initialize")), ("host", batch)]
    talk += [("child", {"action": "checkpoint", "checkpoint": "1"})]
    talk += [("host", {"action": "shutdown", "reason": "ZOMBIE"}), ("child", _status(named))]
    config = KCL.configure("child", "kcl1-seed", {"scripted": False}, {})
    events = [Said(0, by, Message(members)) for by, members in talk]
    found = judge(KCL.model, config, events, "child")
    assert (found.verdict == "fail") is wrong, found
