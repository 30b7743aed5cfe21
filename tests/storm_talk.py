"""Conversations of Storm for tests of its model: what a child or a host says, and what is made of it."""

from specs.events import Fact, Quiet, Said
from specs.model import judge
from specs.protocol import find
from specs.storm.bundle import context
from specs.storm.frames import Message, Text

STORM = find("storm")
SETUP = {"conf": {}, "pidDir": "/p", "context": context()}
SILENCE = Quiet(2000, 2000, final=True)
TIMED = {"conf": {"topology.subprocess.timeout.secs": 3}, "context": context()}
EMITS = {"command": "emit", "tuple": [1]}
SYNC = {"command": "sync"}
NEXT = {"command": "next"}


def judged(role, *events, scripted=True, noted=False):
    config = STORM.configure(role, "seed", {"scripted": scripted}, {"serial": True, "noted": noted})
    return judge(STORM.model, config, events, role)


def blamed(judgement):
    """Requirements that are broken, each with its level."""
    levels = {}
    for blame in judgement.faults:
        name = blame.breach.requirement
        levels[name.removeprefix("STORM-")] = blame.breach.level or STORM.requirements[name].level
    return levels


def says(by, value):
    return Said(0, by, value if isinstance(value, Text) else Message(value))


def child(role, *said, setup=SETUP):
    """A child with a file for its process id. Then pairs: who says what ("host", "child"), or a fact and its value."""
    found = [Fact(0, role, "folder", "/p"), says("host", setup)]
    if setup is SETUP:
        found += [Fact(0, role, "file", {"name": "42", "size": 0, "ours": True}), says(role, {"pid": 42})]
    for by, value in said:
        found.append(
            says("host" if by == "host" else role, value) if by in ("host", "child") else Fact(0, role, by, value)
        )
    return found


def host(role, *said, pid=True):
    """A host that was started; then what its child says, and what the host does: facts, lists, tuples."""
    kid = role.removesuffix("-host")
    found = [Fact(0, kid, "start", {"conf": {}, "context": context()}), says(role, SETUP)]
    found += [says(kid, {"pid": 42})] if pid else []
    for by, value in said:
        if by in ("child", "host"):
            found.append(says(kid if by == "child" else role, value))
        else:
            found.append(Fact(0, kid if by in ("call", "deaf", "task_ids") else role, by, value))
    return found


def given(**changed):
    whole = {"id": "5", "comp": "words", "stream": "n1", "task": 1, "tuple": ["x"], **changed}
    return {name: value for name, value in whole.items() if value != "left out"}


def settles(name, command="ack"):
    return {"command": command, "id": name}


def scripted(*steps):
    return given(tuple=["wireproof", list(steps)])


def tuples(*names):
    """Tuples that the host was given, and has sent."""
    for name in names:
        yield "call", {"op": "tuple", **given(id=name, tuple=[name])}
        yield "host", given(id=name, tuple=[name])


def waits(*ms):
    return [Quiet(n, n) for n in ms]
