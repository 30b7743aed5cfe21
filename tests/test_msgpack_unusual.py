"""What correct programs do though few do it, and what beside it is a fault."""

from __future__ import annotations

import json

import pytest

from impls.references.msgpack.octets import Broken
from impls.references.msgpack.reference import Server, Session
from impls.references.msgpack.server import Reading
from specs.events import Fact, Said
from specs.msgpack import values as v
from specs.msgpack.format import decoded
from specs.msgpack.frames import encode, request, response
from specs.msgpack.lines import Ask, Line
from specs.plan import Plan, Ref, Say, SendBytes, Wait
from specs.protocol import find
from strategies.common import Op, Program
from strategies.msgpack import calls, sessions
from strategies.msgpack.writer import MOST_WIDE, WIDE
from tests.msgpack_verdicts import END, verdict
from tests.mutants.every import key_of
from tests.mutants.hunted import hunter_for
from tests.mutants.msgpack_kit import PROFILES
from tests.test_msgpack_mutants import MUTANTS, config_for, judged
from tests.test_msgpack_readings_idl_server import TAG, TOLD

MSGPACK = find("msgpack")


def parsed(text, answer, *more, want=""):
    asked = Said(0, "user", Ask(1, "parse", text.encode(), "idl", PROFILES["idl"], None, want))
    told = {"id": 1, "ok": answer}
    return verdict("idl", asked, Said(0, "idl", Line(json.dumps(told).encode())), *more, END)


def refused(line):
    return {"errors": [{"kind": "syntax", "code": "x", "line": line, "col": None, "message": "no"}]}


def test_a_null_default_is_none():
    field = {"id": 1, "name": "x", "mod": "optional", "type": {"t": "int", "null": True}}
    tree = {"ast": {"definitions": [{"k": "message", "name": "M", "fields": [field]}]}}
    assert parsed("message M {\n  1: optional int? x = null\n}\n", tree) == ()
    assert parsed("message M {\n  1: optional int? x\n}\n", tree) == ()
    tree["ast"]["definitions"][0]["fields"][0] = field | {"default": 0}
    assert parsed("message M {\n  1: optional int? x = null\n}\n", tree) == ("MPIDL-DEF-01 MUST",)


def test_a_default_that_is_false_or_empty_may_be_left_out_but_not_zero():
    for item, kind, default in (
        ("bool x = false", "bool", False),
        ('string x = ""', "string", ""),
        ("int x = 0", "int", 0),
    ):
        field = {"id": 1, "name": "x", "mod": "optional", "type": {"t": kind}}
        for given in ({}, {"default": default}):
            tree = {"ast": {"definitions": [{"k": "message", "name": "M", "fields": [field | given]}]}}
            right = kind != "int" or given
            assert parsed(f"message M {{\n  1: optional {item}\n}}\n", tree) == (
                () if right else ("MPIDL-DEF-01 MUST",)
            )


@pytest.mark.parametrize("empty", [{}, {"fields": None}, {"fields": []}])
def test_a_list_of_nothing_may_be_absent_or_null(empty):
    assert parsed("message M {\n}\n", {"ast": {"definitions": [{"k": "message", "name": "M"} | empty]}}) == ()
    assert parsed("message M { 1: int x }", {"ast": {"definitions": [{"k": "message", "name": "M"} | empty]}}) == (
        "MPIDL-FIELD-05 MUST",
    )
    assert parsed("", {"ast": {}}) == parsed("", {"ast": {"definitions": None}}) == ()
    assert parsed("", {}) == parsed("", {"ast": {}, "errors": []} | {"ast": None}) == ("MPIDL-ERR-01 MUST",)


@pytest.mark.parametrize("text", ["", "// nothing\n", "/* nothing */\n", "# /* \n", "\n"])
def test_whoever_wants_a_definition_misses_a_recommendation(text):
    assert parsed(text, refused(1)) == ("MPIDL-LEX-06 SHOULD",)


def test_whoever_ends_the_last_line_may_name_the_one_behind():
    for text, line, blamed in (("message M {", 2, ()), ("message M {", 3, 1), ("message M {\n", 3, 1)):
        assert parsed(text, refused(line)) == (("MPIDL-ERR-01 MUST",) if blamed else ())


def test_an_id_of_the_base_is_in_either_exception():
    text = "exception A {\n  4: int x\n}\nexception B < A {\n  5: int y\n  3: int z\n}\n"
    blamed = [line for line in range(1, 9) if parsed(text, refused(line), want="line")]
    assert blamed == [1, 3, 5, 7, 8]


def test_the_order_of_what_has_none_may_be_another_each_time():
    text = "message M {\n  1: int x\n  2: int y\n}\n"
    fields = [{"id": n, "name": name, "mod": "required", "type": {"t": "int"}} for n, name in ((1, "x"), (2, "y"))]
    asked = [Said(0, "user", Ask(n, "parse", text.encode(), "idl", PROFILES["idl"])) for n in (1, 2)]
    for second, blamed in ((fields[::-1], ()), (fields[:1], ("MPIDL-ERR-02 MUST",))):
        trees = [{"definitions": [{"k": "message", "name": "M", "fields": each}]} for each in (fields, second)]
        said = [
            Said(0, "idl", Line(json.dumps({"id": n, "ok": {"ast": tree}}).encode()))
            for n, tree in zip((1, 2), trees, strict=True)
        ]
        assert verdict("idl", asked[0], said[0], asked[1], said[1], END) == blamed


@pytest.mark.parametrize(
    ("item", "octets", "told", "right"),
    [
        ("1: float x", "91ca3dcccccd", {"x": 0.1}, True),
        ("1: float x", "91ca3dcccccd", {"x": 0.10000000149011612}, True),
        ("1: float x", "91ca3dcccccd", {"x": 0.2}, False),
        ("1: double x", "91cb3fb999999999999a", {"x": 0.10000000149011612}, False),
    ],
)
def test_a_float_is_told_with_the_digits_that_it_has(item, octets, told, right):
    ask = Ask(1, "decode", bytes.fromhex(octets), "idl", "M", {"idl": f"message M {{ {item} }}"}, "value", "ENC-01")
    said = Said(0, "codec", Line(json.dumps({"id": 1, "ok": {"value": told}}).encode()))
    found = verdict("codec", Said(0, "user", ask), said, END, way="plain", layout="array-1")
    assert found == (() if right else ("MPIDL-ENC-01 MUST",))


def test_an_encoder_may_leave_out_what_has_its_default():
    document = {"idl": "message M { 1: optional int x = 7 2: int y }", "value": {"x": 7, "y": 1}}
    for value, octets, blamed in ((7, "92c001", ()), (8, "92c001", ("MPIDL-ENC-01 MUST",))):
        given = document | {"value": {"x": value, "y": 1}}
        ask = Said(0, "user", Ask(1, "encode", b"", "idl", "M", given, "value", "ENC-01"))
        said = Said(0, "codec", Line(json.dumps({"id": 1, "ok": {"hex": octets}}).encode()))
        assert verdict("codec", ask, said, END, way="plain", layout="array-1") == blamed


def test_early_binding_misses_a_recommendation():
    document = "".join(f"service S: {n} {{\n  string f()\n}}\n" for n in (0, 1))
    document += "application A {\n  S: 1 s default\n}\n"
    told = {"idl": document, "application": "A", "behaviour": {"s/0/f": TAG}}
    begun = (Fact(0, "client", "serve", told), Fact(0, "idl-server", "answer", {"op": "serve", "ok": {"port": 1}}))
    late = Fact(0, "client", "assign", {"slot": "s/0/f", "behaviour": {"do": "const", "value": "late"}})
    assigned = Fact(0, "idl-server", "answer", {"op": "assign", "ok": {}})
    asked = Said(0, "client", request(1, "f:s:1"))
    for result, blamed in (("late", ()), ("s/0/f", ("MPIDL-FALL-04 SHOULD",)), ("x", ("MPIDL-FALL-01 MUST",))):
        said = Said(0, "idl-server", response(1, None, result))
        assert verdict("idl-server", *begun, late, assigned, asked, said, END) == blamed
    own = Said(0, "client", request(1, "f:s:0"))
    assert verdict("idl-server", *begun, late, assigned, own, TOLD, END) == ("MPIDL-ENC-01 MUST",)


def test_a_key_by_an_alias_may_be_refused_but_is_read_rightly():
    text = "typedef int T\nmessage M {\n  1: map<T, int> x\n}\n"
    assert parsed(text, refused(3)) == ()
    field = {"id": 1, "name": "x", "mod": "required", "type": {"t": "map", "of": [{"t": "int"}, {"t": "int"}]}}
    for key, blamed in (({"t": "int"}, ()), ({"t": "ref", "name": "T"}, ("MPIDL-TD-01 MUST",))):
        field["type"]["of"][0] = key
        first = {"k": "typedef", "name": "T", "type": {"t": "int"}}
        assert (
            parsed(text, {"ast": {"definitions": [first, {"k": "message", "name": "M", "fields": [field]}]}}) == blamed
        )


def test_a_foreign_type_may_be_the_empty_rest_of_a_line():
    found = [{"k": "message", "name": "M"}, {"k": "typespec", "for": "cpp", "target": "M", "foreign": ""}]
    assert parsed("message M {\n}\ntypespec cpp M\n", {"ast": {"definitions": found}}) == ("MPIDL-TS-01 SHOULD",)


# -- servers -----------------------------------------------------------------------------------------------------------


class Wary(Reading):
    """Refuses what is announced to be large before it has come."""

    most = 0

    def _head(self, first):
        what, size, width = super()._head(first)
        if size > self.most:
            raise Broken("more than is taken")
        return what, size, width


def begun(rest, most):
    """How a server is judged that takes elements and octets up to `most`, when a request ends in `rest`."""
    reading = type("OwnReading", (Wary,), {"most": most})
    session = type("OwnSession", (Session,), {"reading_type": reading})
    server = type("OwnServer", (Server,), {"session_type": session})
    plan = Plan((SendBytes(0, encode(request(9, "echo", 0), None)[:-1] + rest), Wait(5)))
    _, faults = judged(plan, "server", lambda: server(malformed="error-then-close"), config_for("server"))
    return tuple(blame.breach.requirement for blame in faults)


@pytest.mark.parametrize("head", [0xDB, 0xC6, 0xC9, 0xDD, 0xDF])
@pytest.mark.parametrize("size", [1 << 26, (1 << 31) - 1, (1 << 32) - 1])
def test_a_size_beyond_all_bounds_may_be_refused_before_what_it_announces_has_come(head, size):
    assert begun(bytes([head]) + size.to_bytes(4, "big"), 1 << 20) == ()


@pytest.mark.parametrize("rest", [b"\xdd\0\0\1\0", b"\xdb\0\0\1\0", b"\xdf\0\0\1\0"])
def test_a_size_that_everybody_takes_may_not(rest):
    assert begun(rest, 255) == ("MP-FMT-10",)
    assert begun(rest, 256) == ()


@pytest.mark.parametrize(
    ("name", "learnt"),
    [
        ("msgpack-codec-ready-line", {"way": "filter"}),
        ("msgpack-idl-server-made-from-zero", {"layout": "array-1"}),
    ],
)
def test_what_is_wrong_with_every_answer_is_judged_and_not_taken_for_a_freedom(name, learnt):
    """A line behind each answer, and messages that are written otherwise than they are read."""
    mutant = next(each for each in MUTANTS if key_of(each) == name)
    config = hunter_for(mutant, lambda fault: None).setting.config
    assert {key: getattr(config, key) for key in learnt} == learnt


@pytest.mark.parametrize("role", ["client", "server"])
def test_what_is_written_in_wider_forms_stays_within_what_every_peer_takes(role):
    """MP-17: 65,536 elements are asked for, and not in nine octets each."""
    config, large = config_for(role), 0
    for number in range(512):
        args = (number, number // 2 % 256, number % 64, number % 256, number // 3 % 256)
        if role == "client":
            plan = calls.interpret(Program((number,), (Op("large", args), Op("values", args))), config, wires=(2,))
        else:
            plan = sessions.interpret(Program((0, 0), (Op("long", args), Op("echo", args))), config, wires=(WIDE,))
        for step in plan.steps:
            if isinstance(step, Say) and not isinstance(step.frame.body[1], Ref):
                size = len(encode(step.frame, step.style))
            elif isinstance(step, Say):
                size = len(encode(response(0, *step.frame.body[2:]), step.style))
            else:
                continue
            large = max(large, size)
            assert size <= MOST_WIDE or step.style is None
    assert large > 1 << 16


def octets_of(step):
    """What the tester writes, or has the client write, for a step of a plan."""
    if isinstance(step, Say):
        frame = step.frame
        legal = not isinstance(frame.body[1], Ref)
        return encode(frame if legal else response(0, *frame.body[2:]), step.style)
    return bytes.fromhex(step.given["params_hex"]) if "params_hex" in getattr(step, "given", {}) else b""


@pytest.mark.parametrize("declared", ["str", ""])
@pytest.mark.parametrize("role", ["client", "server"])
def test_who_declares_the_format_of_before_2013_gets_nothing_else(role, declared):
    """Neither bin nor str 8 nor ext, which it does not know (docs/roles/msgpack-server.md), and values as before."""
    facts = {name: fact.default for name, fact in MSGPACK.facts.items()} | {"raw_wire": declared}
    config = MSGPACK.configure(role, "core", facts, {"old_raw": False})
    found = []
    for number in range(256):
        args = (number, number // 2 % 256, number % 64, number % 256, number // 3 % 256)
        if role == "client":
            kinds, interpret = calls.EVERYTHING, calls.interpret
            program = Program((number,), tuple(Op(kind, args) for kind in kinds))
        else:
            kinds, interpret = sessions.EVERYTHING, sessions.interpret
            program = Program((number, number // 7), tuple(Op(kind, args) for kind in kinds if kind != "halves"))
        for step in interpret(program, config).steps:
            if octets := octets_of(step):
                value, _ = decoded(octets)
                found += forms_in(octets, value)
    newer = {form for form in found if form in NEWER}
    assert bool(newer) is (declared == ""), newer
    assert "map" in found
    assert len(found) > 1000


NEWER = ("bin", "ext", "str 8")


def forms_in(octets, value):
    """The kinds of what a value holds; a text that is written with 8 bits of length is one of `NEWER`."""
    if isinstance(value, tuple):
        return ["array", *(form for part in value for form in forms_in(octets, part))]
    if isinstance(value, v.Map):
        return ["map", *(form for pair in value.pairs for part in pair for form in forms_in(octets, part))]
    if isinstance(value, str | v.Text):
        data = value.encode() if isinstance(value, str) else value.octets
        return ["str 8" if bytes((0xD9, len(data) & 0xFF)) + data in octets and len(data) < 256 else "str"]
    return ["bin" if isinstance(value, bytes) else "ext" if isinstance(value, v.Ext) else "other"]
