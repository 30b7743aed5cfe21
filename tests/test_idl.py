"""The MessagePack IDL: the specification's reader against the reference's, the seed's examples, laws, and bounds."""

from __future__ import annotations

import json
import random
import time

import pytest

from impls.references.msgpack.__main__ import main
from impls.references.msgpack.idl import IDL_SWITCHES, Idl, marked
from specs.msgpack.idl import canon, layout
from specs.msgpack.idl.semantics import Stance, read
from specs.msgpack.idl.service import served
from specs.msgpack.idl.tokens import depth_of_comments
from specs.plan import Control, Plan, Say
from specs.protocol import find
from strategies.common import Op, Program
from strategies.msgpack import idl, serving, vectors
from strategies.msgpack.documents import DEFINITIONS, Dice, built
from strategies.msgpack.mutations import MUTATIONS
from strategies.msgpack.printing import printed
from tests.mutants.msgpack_kit import PROFILES
from tests.test_msgpack_mutants import config_for

MSGPACK = find("msgpack")
EVERY = frozenset(("def", "td", "ts", "meta", "if", "nosc"))
CLAIMED = PROFILES["idl"]

# The seed's examples with their line breaks restored; comments and names are left as they are, translated where long.
EXAMPLES = {
    "comments": "# comment\n// comment too\n/* this too /* nested */ is fine */\n",
    "types": """# built-in types
message BasicTypeExample {
  # <id>: <type> <name>
  1: byte f1
  2: short f2
  3: int f3
  4: long f4
  5: ubyte f5
  6: ushort f6
  7: uint f7
  8: ulong f8
  9: float f9
  10: double f10
  11: bool f11
  12: raw f12
  13: string f13
}
""",
    "containers": """message ContainerTypeExample {
  1: list<string> f1
  2: map<string,string> f2
  3: map<string, list<string,string>> f3  # generics nest
}
""",
    "modifiers": """message OptionalExample {
  1: string f1  # required non-nullable
  2: required string f2
  3: optional string f3
}
# ? makes a type nullable
message NullableExample {
  1: string? f1
  2: required string? f2
  3: optional string? f3
}
""",
    "exceptions": """exception NotFound {
  1: string message
}
# it inherits
exception KeyNotFound < NotFound {
  # ids up to the largest of the base cannot be used
  2: raw key
}
""",
    "defaults": """message DefaultValueExample {
  1: optional ulong flag = 1
  2: optional raw? value
  3: optional string message
}
""",
    "typedef": "typedef ulong NodeId\ntypedef map<string,string> PropertyMap\n",
    "typespec": """typedef map<string,string> PropertyMap
message DefaultValueExample {
  2: optional raw? value
}
typespec cpp PropertyMap std::tr1::unordered_map<std::string,std::string>  # of an alias
typespec MyApp1 DefaultValueExample.value myapp::Value  # of a field
typespec MyApp2 DefaultValueExample myqpp::MyClass  # of a type
""",
    "services": """service StorageService:0 {
  # <name>:<version>
  raw? get(1: raw key)
  void add(1: raw key, 2: raw value) throws DiskFullError
  ulong getDiskFreeSize()
}
service StorageService:1 {
  raw? get(1: raw key)
  void add(1: raw key, 2: raw value)
  map<raw,raw>? getAttributes(1: raw key)
  void setAttributes(1: raw key, 2: map<raw,raw> attrs) throws DiskFullError
}
service StatusService:0 {
  ulong getDiskFreeSize()
}
application MyApp {
  # <service>:<version> <scope> default?
  StorageService:1 storage default
  StatusService:0 status
}
""",
    "meta service": """service BuiltInService:0 {
  # answers with the newest version of a scope
  int getVersion(1: string scope)
}
""",
    "interface": """typedef map<raw,raw> Row
interface TableInterface:0 {
  void insert(1: Row row)
  Row? selectMatch(1: raw column, 2: raw data)
  Row? selectPrefixMatch(1: raw column, 2: raw prefix)
}
interface KeyValueInterface:1 {
  void set(1: raw key, 2: raw value)
  raw? get(1: raw key)
}
service StorageService:2 {
  implements TableInterface:0
  implements KeyValueInterface:1
  uint getNumEntries()
}
""",
    "interface written out": """typedef map<raw,raw> Row
service StorageService:2 {
  void insert(1: Row row)
  Row? selectMatch(1: raw column, 2: raw data)
  Row? selectPrefixMatch(1: raw column, 2: raw prefix)
  void set(1: raw key, 2: raw value)
  raw? get(1: raw key)
  uint getNumEntries()
}
""",
    "entry without version": """service StorageService:2 {
}
application MyApp {
  StorageService storage default
}
""",
}
REFUSED = {
    "containers": "TYPE-03",  # ML-01: list with two arguments
    "services": "SVC-09",  # ML-02: DiskFullError is declared nowhere in it
    "meta service": "INV-31",  # ML-03: what is there already is not declared again
}
"""Which examples are no documents, and why: docs/ambiguities.md."""


def ops_of(chance, most=6, kinds=tuple(DEFINITIONS)):
    count = chance.randrange(most)
    return [Op(chance.choice(kinds), tuple(chance.randrange(256) for _ in range(5))) for _ in range(count)]


def tree_of(text):
    reading = read(text, EVERY)
    assert not reading.faults, (text, reading.faults)
    return canon.to_json(reading)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_the_seed_is_accepted_or_refused_for_its_reason(name):
    reading = read(EXAMPLES[name], EVERY)
    assert [fault.rule.removeprefix("MPIDL-") for fault in reading.faults][:1] == [
        REFUSED[name] for _ in (1,) if name in REFUSED
    ]
    assert ("errors" in Idl().parse(EXAMPLES[name], CLAIMED)) == (name in REFUSED)


def test_the_examples_are_documents_once_their_slips_are_put_right():
    exception = "exception DiskFullError {\n}\n"
    whole = tree_of(exception + EXAMPLES["services"])
    assert [each["k"] for each in whole["definitions"]] == ["exception", *["service"] * 3, "application"]
    assert tree_of(EXAMPLES["containers"].replace("list<string,string>", "list<string>"))
    assert whole["definitions"][1]["functions"][1]["throws"] == ["DiskFullError"]


def test_a_service_with_interfaces_is_the_one_that_is_written_out():
    one, other = (tree_of(EXAMPLES[name])["definitions"][-1] for name in ("interface", "interface written out"))
    assert one["functions"] == other["functions"]


@pytest.mark.parametrize("seed", range(8))
def test_both_readers_agree_on_documents_in_every_layout(seed):
    chance = random.Random(seed)
    for _ in range(40):
        document = built(ops_of(chance), EVERY)
        plain = tree_of(printed(document))
        style, free = chance.randrange(64), chance.random() < 0.5
        text = printed(document, style, chance.randrange(256), free=free)
        assert tree_of(text) == plain
        answer = Idl().parse(text, CLAIMED)
        assert canon.difference(plain, answer.get("ast")) is None, text


@pytest.mark.parametrize("name", [name for name, mutation in MUTATIONS.items() if mutation.rule])
def test_a_mutation_breaks_what_it_says_for_both_readers(name):
    mutation = MUTATIONS[name]
    for seed in range(24):
        chance = random.Random(f"{name}{seed}")
        document, dice = built(ops_of(chance, 4), EVERY), Dice(chance.randrange(256), chance.randrange(256))
        if mutation.tree is not None:
            mutation.tree(document, dice)
        text = printed(document, chance.choice((0, 1, 34)), seed, free=True)
        if mutation.text is not None:
            text = mutation.text(text, dice)
        assert mutation.rule in {fault.rule.removeprefix("MPIDL-") for fault in read(text, EVERY).faults}, text
        errors = Idl().parse(text, CLAIMED).get("errors")
        assert errors, text
        assert 1 <= errors[0]["line"] <= text.count("\n") + 1


def test_any_cut_and_any_garbage_is_answered():
    chance = random.Random(3)
    for _ in range(150):
        text = printed(built(ops_of(chance), EVERY), chance.randrange(64), chance.randrange(256), free=True)
        text = text[: chance.randrange(len(text) + 1)] + chance.choice(("", "\0", "é", "/*", "}", "<", '"'))
        reading = read(text, EVERY)
        answer = Idl(missing_default="first").parse(text, CLAIMED)
        if not reading.freedoms and not any(fault.level for fault in reading.faults):
            assert ("errors" in answer) == bool(reading.faults), text


# -- laws --------------------------------------------------------------------------------------------------------------


def test_fields_in_any_order_and_modifiers_left_out_are_one_tree():
    one = "message M {\n  1: int x\n  2: required string? y\n  5: optional bool z\n}\n"
    other = "message M {\n  5: optional bool z\n  2: string? y\n  1: required int x\n}\n"
    assert tree_of(one) == tree_of(other)


def test_an_alias_stands_for_its_type():
    text = "typedef map<string,list<int>>? T\n" + "message M {\n  1: T x\n}\n"
    direct = "message M {\n  1: map<string,list<int>>? x\n}\n"
    assert tree_of(text)["definitions"][1] == tree_of(direct)["definitions"][0]


def test_lines_move_with_what_stands_above():
    text = "message M {\n  1: int x\n  1: int y\n}\n"
    for above in ("", "\n\n\n", "# a\n", "/* a\n\n*/\n", "\r\n\r\n"):
        moved = above.count("\n")
        assert read(above + text).lines == ((3 + moved, 3 + moved), (2 + moved, 2 + moved))
        assert Idl().parse(above + text)["errors"][0]["line"] == 3 + moved


def test_what_the_text_leaves_open_is_no_fault_and_what_is_declared_is_a_duty():
    text = "message M {\n  0: N x\n}\nmessage N {\n}\n"
    assert not read(text).faults
    assert set(read(text).freedoms) == {"a type is used before it is declared", "the id 0"}
    assert read(text, stance=Stance(forward_refs=True, id_zero=True)).freedoms == ()


@pytest.mark.parametrize(("name", "values"), IDL_SWITCHES.items())
def test_no_turn_of_the_reference_is_a_fault(name, values):
    chance = random.Random(name)
    for value in values:
        processor = Idl(**{name: value})
        for _ in range(12):
            text = printed(built(ops_of(chance), EVERY))
            if "errors" in processor.parse(text, CLAIMED):
                assert read(text, EVERY).freedoms or name == "recommended", text


# -- bounds ------------------------------------------------------------------------------------------------------------

DEEP = 100_000
LISTS = "".join(f"typedef list<A{n + 1}> A{n}\n" for n in range(900)) + "typedef int A900\n"


@pytest.mark.parametrize(
    "text",
    [
        "message M {\n  1: " + "list<" * DEEP + "int" + ">" * DEEP + " x\n}\n",
        "message M {\n  1: " + "map<int," * DEEP,
        "/*" * DEEP + "*/" * DEEP,
        "/*" * DEEP,
        "message " + "x" * (1 << 20) + " {\n}\n",
        "message M {\n" + "".join(f"  {n}: int x{n}\n" for n in range(1, 5001)) + "}\n",
        "typedef A0 A\n" + "".join(f"typedef A{n + 1} A{n}\n" for n in range(900)) + "typedef int A900\n",
        LISTS,
        "".join(f"exception E{n} < E{n + 1} {{\n}}\n" for n in range(200)) + "exception E200 {\n}\n",
        "message M {\n  1: int x\n}\n" * 2000,
        "{" * DEEP,
        "service S: " + "9" * DEEP + " {\n}\n",
    ],
    ids=["types", "open types", "comments", "open comments", "name", "fields", "aliases", "aliases of lists", "bases",
         "names", "braces", "number"],
)  # fmt: skip
def test_depth_and_length_cost_neither_stack_nor_minutes(text):
    begun = time.process_time()
    reading = read(text, EVERY)
    if not reading.faults and not reading.deep:
        json.dumps(canon.to_json(reading))
    Idl().line(json.dumps({"id": 1, "op": "parse", "source": text}).encode())
    assert time.process_time() - begun < 10


def test_reading_is_linear_in_size():
    def cost(count):
        text = "".join(f"message M{n} {{\n  1: int x\n  2: list<string> y\n}}\n" for n in range(count))
        begun = time.process_time()
        read(text)
        return time.process_time() - begun

    cost(200)
    assert cost(8000) < 4 * max(4 * cost(1000), 0.05) * 2


# -- plans and programs ------------------------------------------------------------------------------------------------


def test_comments_are_counted_and_changed_only_where_they_are_balanced():
    assert depth_of_comments("# /* /*\n/* a /* b */ */ /* c */") == 2
    assert layout.recommented("a /* b", str.__add__, str) is None
    assert layout.recommented('"/*" # x\n/* y */', lambda *_: "", lambda _: "-") == '"/*" \n-'


def test_ways_of_writing_documents_leave_other_plans_alone():
    plan = vectors.interpret(Program((0,), (Op("value"),) * 3), config_for("codec"))
    for feature in layout.FEATURES:
        assert feature.without(plan) == plan


def test_a_document_without_its_ways_of_writing_is_the_same_document():
    text = "// a\r\n/* b /* c # */ */ message optionalX { # d\r\n  1: int y }"
    plan = idl.Script(config_for("idl"), hurry=False)
    plan.ask(text)
    for feature in layout.FEATURES:
        if feature.requirement.startswith("MPIDL-LEX") and "names" not in feature.name:
            changed = feature.without(plan.plan()).steps[-1].frame.octets.decode()
            assert tree_of(changed) == tree_of(text), feature.name


def test_every_plan_for_a_server_serves_a_legal_document():
    config = config_for("idl-server")
    chance = random.Random(5)
    for _ in range(300):
        head = tuple(chance.randrange(256) for _ in range(3))
        plan = serving.interpret(Program(head, (Op("call"), Op("echo", (1, 2, 3, 4, 5)))), config)
        told = plan.steps[0]
        assert isinstance(told, Control)
        app = served(told.value["idl"], told.value["application"], config.extensions, "array-1", True)
        assert app is not None, told.value["idl"]
        for key in told.value["behaviour"]:
            scope, version, name = key.split("/")
            assert app.slot(scope, int(version), name) is not None, key


def test_names_are_new_in_each_conversation():
    config = config_for("idl")
    script = idl.Script(config, hurry=False)
    script.ask("message MZZ9Z {\n}\n")
    (step,) = script.plan().steps
    memory = MSGPACK.memory(config, "run-7-")
    assert MSGPACK.resolve(step.frame, memory).octets == b"message Mrun7 {\n}\n"
    assert isinstance(MSGPACK.from_json(MSGPACK.to_json(step.frame)), type(step.frame))
    assert MSGPACK.from_json(MSGPACK.to_json(step.frame)) == step.frame
    assert isinstance(Plan((Say(0, step.frame),)), Plan)


def test_the_program_prints_a_tree_or_marks_the_place(tmp_path, capsys):
    file = tmp_path / "a.idl"
    file.write_text("message M {\n  1: int x\n}\n")
    assert main(["idl", str(file)]) == 0
    assert json.loads(capsys.readouterr().out)["definitions"][0]["name"] == "M"
    file.write_text("message M {\n  1: nothing x\n}\n")
    assert main(["idl", str(file)]) == 1
    shown = capsys.readouterr().err.splitlines()
    assert shown[0].endswith("a.idl:2:6: semantic error: nothing is no type")
    assert shown[2].index("^") - 2 == shown[1].index("nothing") - 2
    assert main(["idl", str(tmp_path / "none")]) == 2
    assert "^" in marked("x\n", {"line": 2, "col": None, "kind": "syntax", "message": "m"}, "f")


@pytest.mark.parametrize("foreign", ["a::b<c", 'b"', "c[]", "a<b>>", "a::", "const char*"])
def test_a_foreign_type_that_is_no_name_may_be_refused(foreign):
    reading = read(f"message M {{ 1: int x }}\ntypespec cpp M {foreign}\n", EVERY)
    assert reading.freedoms or any(fault.level for fault in reading.faults)
    whole = read("message M { 1: int x }\ntypespec cpp M a::b<c<d>,e>\n", EVERY)
    assert not whole.freedoms
    assert not whole.faults
