"""Storm and KCL: what the plans of a row must contain to mean anything, and that they do.

A count of judgements is no proof (a row may be judged hundreds of times and never meet what its sentence names).
`CONTENTS` says for each role what some plan must hold; the test draws programs of every property and counts the plans
that do. Rows that any plan shows are not listed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import cache

import pytest

from specs.kcl.frames import Message as KclMessage
from specs.plan import Close, Control, Say, SendBytes, Wait
from specs.protocol import find
from specs.storm.frames import Message as StormMessage
from specs.storm.values import same
from tests.obligations import judgeable
from tests.properties import properties
from tests.test_msgpack_idl_plans import drawn

PLANS = 60
"""Programs of each property in a round."""
ROUNDS = 8
"""Rounds at most. What Hypothesis draws varies with the modules that are loaded, so a row that few plans show may be
missing in one round; a row that is missing in all of them is too rare to be judged."""
LATER = {"storm": "seed+x-activate+x-need-task-ids", "kcl": "kcl3"}


class Sent:
    """The steps of a plan: `said` values of messages, `texts` what is none, `done` beside the wire, `raw` octets."""

    def __init__(self, plan):
        says = [step for step in plan.steps if isinstance(step, Say)]
        frames = [(step, step.frame) for step in says]
        self.said = [getattr(f, "members", getattr(f, "value", None)) for _, f in frames
                     if isinstance(f, (KclMessage, StormMessage))]  # fmt: skip
        self.objects = [value for value in self.said if isinstance(value, Mapping)]
        self.texts = [f.data for _, f in frames if hasattr(f, "data")]
        self.done = [(step.name, step.value) for step in plan.steps if isinstance(step, Control)]
        self.raw = [step.data for step in plan.steps if isinstance(step, SendBytes)]
        self.order = [_word(step) for step in plan.steps]

    def size(self):
        """Octets of the largest message, about."""
        sizes = [len(json.dumps(value, default=str)) for value in self.said]
        return max([*sizes, *map(len, self.texts)], default=0)

    def calls(self, op):
        return [value for name, value in self.done if name == "call" and value.get("op") == op]

    def names(self):
        return [name for name, _ in self.done]

    def in_order(self, *words):
        """True when these words come in this order, whatever stands between them."""
        rest = iter(self.order)
        return all(word in rest for word in words)

    def next_but(self, word, others, never):
        """True where one of `others` comes behind `word`, and none of `never` between them."""
        rest = iter(self.order)
        for _ in iter(lambda: word in rest, False):
            if next((each for each in rest if each in (*others, *never)), "") in others:
                return True
        return False

    def told(self, op):
        """Steps of user code's scripts with this name."""
        return json.dumps(self.said, default=str).count(f'"op": "{op}"')


def _word(step):
    """What a step is, in a word."""
    if isinstance(step, Control):
        return step.value.get("op") if step.name == "call" else step.name
    if isinstance(step, Close):
        return "end"
    if isinstance(step, (SendBytes, Wait)):
        return "octets" if isinstance(step, SendBytes) else "wait"
    frame = getattr(step, "frame", None)
    value = getattr(frame, "members", getattr(frame, "value", None))
    if isinstance(value, list):
        return "stray list"
    if getattr(value, "name", "") == "ids":
        return "list"
    if isinstance(value, Mapping):
        if value.get("stream") == "__heartbeat":
            return "heartbeat"
        return value.get("action") or value.get("command") or ("tuple" if "tuple" in value else "message")
    return "text"


def several_emits(sent):
    """More than three emits that want task ids in answer to one command."""
    most = run = 0
    for word in sent.order:
        run = run + 1 if word == "emit" else 0 if word in ("next", "sync", "ack", "fail") else run
        most = max(most, run)
    return most > 3


def defaults(member, *others):
    """Emits that leave a member out, and such as have each of the values that say the same."""

    def hold(sent):
        emits = [value for value in sent.objects if value.get("command") == "emit"]
        given = [value.get(member, "left out") for value in emits]
        return "left out" in given and all(any(same(other, each) for each in given) for other in others)

    return hold


def record_counts(sent):
    return [len(v["records"]) for v in sent.objects if isinstance(v.get("records"), list)]


def numbers(sent, name):
    return [value[name] for value in sent.objects if value.get("action") == "checkpoint" and name in value]


CONTENTS = {
    ("storm", "bolt"): {
        "STORM-BOLT-18": ("two emits that wait, and two lists", lambda s: s.told("emit") > 1 and s.order.count(
            "list") > 1),
        "STORM-BOLT-28": ("a comp that is null, or no values", lambda s: any(
            "tuple" in v and v.get("stream") != "__heartbeat" and (v.get("comp", "") is None or v["tuple"] == [])
            for v in s.objects)),
        "STORM-HB-07": ("a heartbeat between an emit that waits and its list", lambda s: s.told(
            "emit") > 0 and s.in_order("tuple", "heartbeat", "list")),
        "STORM-INV-CHILD-07": ("a list that nothing asked for, and an emit that waits behind it", lambda s: s.in_order(
            "stray list", "tuple", "list") and s.told("emit") > 0),
        "STORM-INV-CHILD-13": ("a tuple of a MiB", lambda s: s.size() >= 1 << 20),
        "STORM-INV-CHILD-15": ("user code that raises", lambda s: s.told("raise") > 0),
        "STORM-END-03": ("half a message, and the end", lambda s: s.in_order("octets", "end")),
        "STORM-HS-16": ("a conf with values of its own", lambda s: any(
            len(v.get("conf") or ()) > 2 for v in s.objects)),
        "STORM-FRAME-08": ("user code that prints", lambda s: s.told("print") > 0),
    },
    ("storm", "spout"): {
        "STORM-SPOUT-09": ("two emits that wait inside one command", lambda s: s.told(
            "emit") > 1 and "list" in s.order),
        "STORM-SPOUT-12": ("ack or fail, once something was emitted", lambda s: s.in_order("next", "ack") or s.in_order(
            "next", "fail")),
        "STORM-SPOUT-24": ("ack for what was not emitted", lambda s: any(
            v.get("command") in ("ack", "fail") and isinstance(v.get("id"), (str, int)) for v in s.objects)),
        "STORM-EXT-01": ("activate and deactivate", lambda s: s.in_order("activate", "deactivate")),
        "STORM-END-03": ("half a command, and the end", lambda s: s.in_order("octets", "end")),
    },
    ("storm", "bolt-host"): {
        "STORM-INV-HOST-26": ("a message of 16 MiB", lambda s: s.size() >= 16 << 20),
        "STORM-END-06": ("more than a pipe holds on STDERR", lambda s: any(
            n == "stderr" and v > 1 << 16 for n, v in s.done)),
        "STORM-BOLT-12": ("emits without anchors: left out, null, and none", defaults("anchors", None, [])),
        "STORM-BOLT-13": ("emits without a stream: left out, and null", defaults("stream", None)),
        "STORM-EXT-03": ("emits with need_task_ids left out, true and false", defaults("need_task_ids", True, False)),
        "STORM-BOLT-17": ("several lists that differ, and emits that wait", lambda s: s.names().count(
            "task_ids") > 1 and s.order.count("emit") > 1),
        "STORM-BOLT-25": ("two tuples that are acked the other way round", lambda s: s.in_order(
            "tuple", "tuple", "ack", "ack")),
        "STORM-HB-10": ("a child that is silent, or stands still", lambda s: ("kill", 19) in s.done),
        "STORM-INV-HOST-28": ("a member that stands twice", lambda s: any(
            t.count(b'"id"') > 1 or t.count(b'"command"') > 1 for t in s.texts)),
        "STORM-END-04": ("an end with nothing in flight", lambda s: "exit" in s.order and "tuple" not in s.order),
    },
    ("storm", "spout-host"): {
        "STORM-SPOUT-11": ("emits with an id, and without", lambda s: defaults("id")(s) and bool(s.calls("ack"))),
        "STORM-SPOUT-13": ("emits without a stream: left out, and null", defaults("stream", None)),
        "STORM-SPOUT-07": ("more than three emits that want lists in one command", several_emits),
        "STORM-SPOUT-17": ("ack and fail of what was emitted", lambda s: bool(s.calls("ack") and s.calls("fail"))),
        "STORM-INV-HOST-26": ("a message of 16 MiB", lambda s: s.size() >= 16 << 20),
    },
    ("kcl", "child"): {
        "KCL-REC-12": ("a thousand records, or a megabyte", lambda s: s.size() >= 1 << 20 or max(
            record_counts(s), default=0) >= 1000),
        "KCL-CHECKPOINT-08": ("a checkpoint that is refused", lambda s: any(
            v.get("action") == "checkpoint" and v.get("error") for v in s.objects)),
        "KCL-INV-CHILD-12": ("half a line, and the end", lambda s: bool(s.texts) and s.order[-1] == "end"),
        "KCL-FRAME-09": ("members that no profile knows", lambda s: any(
            set(v) - {"action", "shardId", "records", "reason", "checkpoint", "error", "sequenceNumber",
                      "subSequenceNumber", "millisBehindLatest"} for v in s.objects)),
        "KCL-TIME-03": ("an empty batch between others", lambda s: len(record_counts(s)) > 1 and 0 in record_counts(s)),
    },
    ("kcl", "host"): {
        "KCL-PROC-09": ("an end inside an action", lambda s: s.next_but(
            "processRecords", ("exit", "kill"), ("status", "checkpoint", "text"))),
        "KCL-INV-HOST-14": ("an end while a checkpoint is asked for", lambda s: s.next_but(
            "checkpoint", ("exit", "kill"), ("status", "text"))),
        "KCL-INV-HOST-19": ("a line of 5 MiB", lambda s: s.size() >= 5 << 20),
        "KCL-CHECKPOINT-12": ("a refused checkpoint beside its subSequenceNumber", lambda s: bool(
            numbers(s, "subSequenceNumber")) and "checkpointer" in s.names()),
        "KCL-REC-05": ("a batch of several records", lambda s: any(
            len(call.get("records") or ()) > 1 for call in s.calls("processRecords"))),
        "KCL-FRAME-12": ("a partition key beyond ASCII", lambda s: any(
            not str(r["partitionKey"]).isascii() for c in s.calls("processRecords") for r in c.get("records") or ())),
    },
}  # fmt: skip


@cache
def counted(name, role):
    """How many plans hold what each row needs, of as many rounds as it takes until each row has one."""
    protocol, counts = find(name), Counter()
    config = protocol.configure(role, LATER[name], {"scripted": True}, {"noted": True, "serial": True, "timed": True})
    lockstep = [prop for prop, _ in properties(name, role) if "lock-step" in prop.name]
    for number in range(ROUNDS):
        for nth, prop in enumerate(lockstep):
            many = PLANS * (4 if "invalid_input" in prop.name else 1)
            for plan in drawn(prop, config, many, nth + number * len(lockstep)):
                sent = Sent(plan)
                counts.update(row for row, (_, holds) in CONTENTS[name, role].items() if holds(sent))
        if CONTENTS[name, role].keys() <= counts.keys():
            break
    return counts


@pytest.mark.parametrize(
    ("name", "role", "row"), [(*where, row) for where, rows in CONTENTS.items() for row in rows], ids=str
)
def test_plans_contain_what_a_row_is_about(name, role, row):
    assert counted(name, role)[row] > 0, CONTENTS[name, role][row][0]


@pytest.mark.parametrize(("name", "role"), CONTENTS, ids=str)
def test_rows_are_judged_of_their_role(name, role):
    assert sorted(CONTENTS[name, role].keys() - judgeable(find(name), role)) == []
