"""For each requirement of the interface language: what its plans must contain to mean anything, and that they do.

A count of judgements is no proof. `CONTENTS` says for a row what a plan must hold that shows it to be kept or broken;
the test draws programs of every property and counts the plans that do.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from specs.msgpack.idl.clauses import Clause
from specs.msgpack.idl.promises import Promise
from specs.msgpack.idl.semantics import read
from specs.msgpack.idl.server.calls import called
from specs.msgpack.idl.service import served
from specs.msgpack.idl.tokens import BUILTINS, depth_of_comments
from specs.msgpack.idl.tree import Message, Service
from specs.msgpack.idl.uses import Use, uses_of
from specs.msgpack.idl.wire import Way, ways
from specs.msgpack.lines import Ask
from specs.plan import Control, Plan, Say
from specs.protocol import find
from tests import drawing
from tests.obligations import judgeable
from tests.properties import properties
from tests.test_msgpack_mutants import config_for

MSGPACK = find("msgpack")
EVERY = frozenset(("def", "td", "ts", "meta", "if", "nosc"))
IDL_PLANS, SERVER_PLANS = 40, 220
"""Programs of each property in a round."""
ROUNDS = 6
"""Rounds at most, as in `tests/test_pipe_plans.py`."""


def drawn(prop, config, count, number):
    """Some plans of a property."""
    return [prop.plan(program, config) for program in drawing.drawn(prop.programs, count, number)]


def programs_of(role, count, turn=0):
    """The plans of a role, lock-step; another `turn` draws others."""
    config = config_for(role)
    lockstep = [prop for prop, _ in properties("msgpack", role) if "lock-step" in prop.name]
    return [plan for n, prop in enumerate(lockstep) for plan in drawn(prop, config, count, n + turn * len(lockstep))]


# -- documents ---------------------------------------------------------------------------------------------------------


class Document:
    """One question of a plan: its text, what it means, and the questions before it."""

    def __init__(self, ask, before):
        self.ask, self.before = ask, before
        self.text = ask.octets.decode("utf-8", "replace")
        self.reading = read(self.text, EVERY)
        self.uses = uses_of(self.text, self.reading) if not self.reading.faults else frozenset()
        self.messages = [each for each in self.reading.definitions if isinstance(each, Message)]
        self.services = [each for each in self.reading.definitions if isinstance(each, Service)]
        self.functions = [function for service in self.services for function in service.functions]
        self.legal = not self.reading.faults and not self.reading.freedoms and ask.want != "free"

    def types(self):
        fields = [item.type for each in self.messages for item in each.fields]
        return [*fields, *(arg.type for function in self.functions for arg in function.args)]


def depth(kind):
    return 1 + max(map(depth, kind.of)) if kind.of else 0


def breaks(clause):
    return lambda d: d.ask.want != "free" and clause in {fault.rule for fault in d.reading.faults}


def uses(*needed):
    return lambda d: d.legal and d.uses.issuperset(needed)


def dropped(d):
    """A function that a version has and a later one has not."""
    return any(
        one.name == other.name and one.version < other.version
        and {f.name for f in one.functions} - {f.name for f in other.functions}
        for one in d.services for other in d.services
    )  # fmt: skip


def test_history_matters_only_where_no_document_alone_shows_it():
    (history,) = (feature for feature in find("msgpack").features if feature.name == "history")
    said = [Say(0, Ask(n, "parse", f"# {n}".encode(), type="core")) for n in range(3)]
    assert history.apart(Plan(tuple(said))) == tuple(Plan((step,)) for step in said)
    assert history.apart(Plan((said[0],))) == ()


def asked_again(d):
    """The same document, and another one in between."""
    return d.ask.octets in d.before[:-1] and d.before[-1] != d.ask.octets


def asked_in_another_layout(d):
    others = [other for other in d.before if other != d.ask.octets]
    return d.legal and bool(d.messages) and any(bare(other) == bare(d.ask.octets) for other in others)


def bare(octets):
    return sorted(m.name for m in read(octets.decode("utf-8", "replace"), EVERY).definitions if isinstance(m, Message))


def paths(d):
    return d.legal and any(path.count(".") > 1 for path in d.reading.paths.values())


def line_wanted(d):
    return d.ask.want == "line" and bool(d.reading.faults)


def open_point(text):
    return lambda d: text in d.reading.freedoms


CONTENTS = {clause.value: ("a document with this fault", breaks(clause)) for clause in Clause} | {
    "MPIDL-DEF-01": ("a legal document with a default", uses(Use.DEFAULTS)),
    "MPIDL-TD-01": ("a legal document with an alias", uses(Use.TYPEDEF)),
    "MPIDL-LEX-01": ("a legal document with a line comment", uses(Use.LINE_COMMENTS)),
    "MPIDL-LEX-02": ("three levels of comments", lambda d: d.legal and depth_of_comments(d.text) >= 3),
    "MPIDL-LEX-03": ("what opens a comment, within another one", uses(Use.MARKS_IN_COMMENTS)),
    "MPIDL-LEX-05": ("a comment between two words, without blanks", lambda d: d.legal and "*/" in d.text and any(
        a.isalnum() and b.isalnum() for a, b in _around(d.text))),
    "MPIDL-LEX-06": ("CR LF, and no line end at the end, and no definition", lambda d: d.legal and (
        "\r\n" in d.text or not d.reading.definitions or d.text[-1:] not in "\r\n")),
    "MPIDL-LEX-07": ("a name that begins with a word of the language", uses(Use.STUCK_WORDS)),
    "MPIDL-FIELD-05": ("ids with a gap, out of order", lambda d: d.legal and any(
        [f.id for f in m.fields] != [f.id for f in sorted(m.fields, key=lambda f: f.at)] for m in d.messages)),
    "MPIDL-TYPE-01": ("each of the thirteen built-in types", lambda d: d.legal and bool(
        {kind.name for kind in d.types()} & BUILTINS)),
    "MPIDL-TYPE-04": ("three levels of type arguments", lambda d: d.legal and any(depth(k) >= 3 for k in d.types())),
    "MPIDL-TYPE-05": ("a declared type as that of an argument or a result", lambda d: d.legal and any(
        kind.name in {m.name for m in d.messages} for f in d.functions for kind in (f.ret, *(a.type for a in f.args)))),
    "MPIDL-EXC-01": ("an exception with fields", lambda d: d.legal and any(
        m.kind == "exception" and m.fields for m in d.messages)),
    "MPIDL-EXC-07": ("a path of three parts", paths),
    "MPIDL-SVC-04": ("a function that a later version lacks", lambda d: d.legal and dropped(d)),
    "MPIDL-SVC-06": ("a nullable result, and void", lambda d: d.legal and any(f.ret.null for f in d.functions)),
    "MPIDL-SVC-08": ("a function that two versions list", uses(Use.LISTED_AGAIN)),
    "MPIDL-SVC-10": ("an argument with a modifier or a nullable type", lambda d: not d.reading.faults and any(
        a.mod or a.type.null for f in d.functions for a in f.args)),
    "MPIDL-APP-05": ("a service under two scopes", uses(Use.SHARED_SERVICE)),
    "MPIDL-NOSC-01": ("a service without an application", lambda d: d.legal and bool(d.services)),
    "MPIDL-IF-02": ("a service that implements two interfaces", lambda d: d.legal and any(
        len(service.implements) > 1 and service.functions for service in d.services)),
    "MPIDL-ERR-01": ("a document with one fault whose line is asked for", line_wanted),
    "MPIDL-ERR-02": ("a document again, another one in between", asked_again),
    "MPIDL-ERR-03": ("a document that is hard to bear", lambda d: d.ask.want == "free" and len(d.text) > 1000),
    "MPIDL-ERR-04": ("a document in two layouts", asked_in_another_layout),
    "MPIDL-TYPE-06": ("a type that is used before it is declared", open_point("a type is used before it is declared")),
    "MPIDL-TYPE-09": ("a nullable type argument", open_point("a nullable type argument")),
    "MPIDL-APP-06": ("an application without a default scope", open_point("no default scope")),
    "MPIDL-APP-07": ("two versions as two scopes", open_point("two versions of one service as two scopes")),
    "MPIDL-APP-08": ("an application without a default scope, and nothing else", lambda d: d.reading.freedoms == (
        "no default scope",) and not d.reading.faults),
    "MPIDL-NAME-02": ("one name for a type and a service", open_point("one name for things of different kinds")),
    "MPIDL-DEF-05": ("a default of what is required", open_point("a default of what is required")),
}  # fmt: skip


def _around(text):
    at = text.find("/*")
    while at >= 0:
        end = text.find("*/", at)
        if end < 0:
            return
        yield text[at - 1 : at], text[end + 2 : end + 3]
        at = text.find("/*", end)


@cache
def documents_counted():
    """How many documents hold what each row and each type needs, of as many rounds as it takes until each has one."""
    wanted, counts = {*CONTENTS, *(f"type {name}" for name in BUILTINS)}, Counter()
    for turn in range(ROUNDS):
        counts += documents_in(programs_of("idl", IDL_PLANS, turn))
        if wanted <= counts.keys():
            break
    return counts


def documents_in(plans):
    counts = Counter()
    for plan in plans:
        before = []
        for step in plan.steps:
            if not isinstance(step, Say) or not isinstance(step.frame, Ask):
                continue
            if len(step.frame.octets) < 20_000:
                document = Document(step.frame, before)
                counts.update(name for name, (_, holds) in CONTENTS.items() if holds(document))
                counts.update(f"type {kind.name}" for kind in document.types() if document.legal)
            before.append(step.frame.octets)
    return counts


def test_every_row_of_a_processor_says_what_its_plans_must_contain():
    assert sorted(judgeable(MSGPACK, "idl") - CONTENTS.keys()) == []


@pytest.mark.parametrize("name", sorted(CONTENTS))
def test_documents_contain_what_a_row_is_about(name):
    assert documents_counted()[name] > 0, CONTENTS[name][0]


@pytest.mark.parametrize("name", sorted(BUILTINS))
def test_documents_contain_each_built_in_type(name):
    assert documents_counted()[f"type {name}"] > 0


# -- calls -------------------------------------------------------------------------------------------------------------


class Called:
    """One call of a plan: what is served, what the call calls for, and the behaviours of now."""

    def __init__(self, app, call, params, reading):
        self.app, self.call, self.params, self.reading = app, call, params, reading
        self.value = next((want for want in call.wanted if want[0] == "value"), None)

    def about(self, promise):
        return self.call.rule is promise and not self.call.free


def within(c, way):
    """Something is written so in a message that another one, a list or a map holds."""
    found = []
    for part in c.params:
        for kind, inner in _inner(part, "M", c.app.types):
            found += [*ways(c.app.types, inner, kind)]
    return c.value is not None and way in found


def _inner(value, name, types):
    message = types.messages.get(name)
    if message is None or not isinstance(value, tuple):
        return
    base = 1 if types.layout == "array-1" else 0
    for field in message.fields:
        at = field.id - base
        if field.type.of and at < len(value) and value[at] is not None:
            yield field.type, value[at]


def about(promise):
    return lambda c: c.about(promise)


def written(way):
    return lambda c: c.value is not None and way in c.call.ways


def holding(name):
    return lambda c: c.value is not None and c.app.types.holds(c.value[1], frozenset((name,)))


CALLS = {promise.value: ("a call that is about it", about(promise)) for promise in Promise} | {
    "MPIDL-META-01": ("a scope that is there", lambda c: c.about(Promise.NEWEST) and c.value is not None),
    "MPIDL-META-02": ("a scope that is not there", lambda c: c.about(Promise.NEWEST) and c.value is None),
    "MPIDL-FALL-01": ("a function that is implemented two versions below", about(Promise.FALLS_BACK)),
    "MPIDL-FALL-04": ("an older version that got another function, so that the answer tells", lambda c: any(
        want not in c.call.wanted for want in c.call.early)),
    "MPIDL-FALL-05": ("a slot that another scope of the service would answer otherwise", lambda c: any(
        want not in c.call.wanted for want in c.call.foreign)),
    "MPIDL-EXC-07": ("a thrown exception with two bases", lambda c: any(
        want[0] == "path" and want[1].count(".") > 1 for want in c.call.wanted)),
    "MPIDL-EXW-02": ("a call that ends in an error", lambda c: c.call.wanted[0][0] in ("error", "path")),
    "MPIDL-IF-02": ("a function of one of two interfaces", lambda c: c.call.inherited and c.value is not None and len(
        {name for each in c.reading.definitions if isinstance(each, Service) for name, *_ in each.implements}) > 1),
    "MPIDL-DEF-04": ("a literal of a message in a list or a map, left out", lambda c: within(c, Way.LITERAL)),
    "MPIDL-DEF-06": ("a nullable field that is left out", written(Way.NULLABLE)),
    "MPIDL-DEF-07": ("a field without literal that is left out", written(Way.ZERO)),
    "MPIDL-ENC-02": ("a message as the result", lambda c: c.value is not None and c.value[1].name == "M"),
    "MPIDL-ENC-05": ("an optional field that is left out", written(Way.SHORT)),
    "MPIDL-ENC-06": ("elements behind those of a message in a list or a map", lambda c: within(c, Way.LONGER)),
    "MPIDL-ENC-08": ("an integer in its widest form", written(Way.WIDE)),
    "MPIDL-ENC-09": ("a float in a message", holding("double")),
    "MPIDL-ENC-10": ("something in a gap", written(Way.JUNK)),
    "MPIDL-ENC-11": ("a map", lambda c: all(holding(name)(c) for name in ("map", "string"))),
    "MPIDL-DISP-07": ("a name without version of which something is declared", lambda c: bool(c.call.declared)),
    "MPIDL-EXW-05": ("a thrown exception", lambda c: c.call.wanted[0][0] == "path"),
    "MPIDL-DISP-04": ("a name without scope or version", lambda c: c.call.short and c.value is not None),
}  # fmt: skip


@cache
def calls_counted():
    counts, config = Counter(), config_for("idl-server")
    for plan in programs_of("idl-server", SERVER_PLANS):
        app, behaviours, former, reading = None, {}, (), None
        for step in plan.steps:
            if isinstance(step, Control) and step.name == "serve":
                given_, behaviours, former = step.value, dict(step.value["behaviour"]), ()
                app = served(given_["idl"], given_["application"], config.extensions, config.layout, config.raw)
                reading = read(given_["idl"], config.extensions)
            elif isinstance(step, Control) and step.name == "assign":
                former = (*former, tuple(behaviours.items()))
                behaviours = behaviours | {step.value["slot"]: step.value["behaviour"]}
            elif isinstance(step, Say) and step.frame.body[0] == 0 and app is not None:
                call = called(config, app, behaviours, former, step.frame.body, wide=bool(step.frame.wide))
                one = Called(app, call, step.frame.body[3], reading)
                counts.update(name for name, (_, holds) in CALLS.items() if holds(one))
    return counts


def test_every_row_of_a_server_says_what_its_plans_must_contain():
    assert sorted(judgeable(MSGPACK, "idl-server") - CALLS.keys()) == []


@pytest.mark.parametrize("name", sorted(CALLS))
def test_calls_contain_what_a_row_is_about(name):
    assert calls_counted()[name] > 0, CALLS[name][0]
