"""Conversations of MessagePack, as events, and what they are blamed for: for the tests of readings."""

from __future__ import annotations

from specs.events import Quiet
from specs.model import judge
from specs.protocol import find
from tests.mutants.msgpack_kit import FACTS, PROFILES

MSGPACK = find("msgpack")
END = Quiet(1000, final=True)
EVERY = frozenset(("def", "td", "ts", "meta", "if", "nosc"))


def verdict(role, *events, **learnt):
    """The requirements that a conversation is blamed for, each with the level at which it counts; () for none."""
    facts = {name: fact.default for name, fact in MSGPACK.facts.items()} | dict(FACTS.get(role, {}))
    facts |= {"bare_name": "", "exception_wire": "", **learnt.pop("facts", {})}  # nothing is declared of what is read
    config = MSGPACK.configure(role, PROFILES.get(role, "core"), facts, learnt)
    found = judge(MSGPACK.model, config, events, role)
    assert found.verdict in ("pass", "fail"), found
    breaches = [blame.breach for blame in found.faults]
    # what ends the judging stands in front of the recommendations that were missed
    levels = {
        each.requirement: each.level or MSGPACK.requirements[each.requirement].level for each in reversed(breaches)
    }
    return tuple(f"{name} {level}" for name, level in levels.items())
