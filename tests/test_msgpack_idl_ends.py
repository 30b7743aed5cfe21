"""One conversation goes through all types: at their ends, and without what is required. Correct peers pass it."""

from __future__ import annotations

import pytest

from impls.references.msgpack.idl import Idl
from impls.references.msgpack.idl_client import IdlClient
from impls.references.msgpack.idl_codec import IdlCodec
from specs.msgpack.idl.semantics import INTEGERS
from strategies.common import Op, Program
from strategies.msgpack import calling, idl, typed
from tests.test_msgpack_mutants import config_for, judged

each = pytest.mark.parametrize("number", range(5))


def program(kind, number):
    return Program((number, 3 * number, 0, 5 * number), (Op(kind, (number, 0, 0, 7 * number, 0)),))


def texts(plan):
    return [step.frame.octets.decode() for step in plan.steps]


@each
@pytest.mark.parametrize("kind", ["field", "argument", "alias"])
def test_a_processor_is_asked_for_the_ends_of_all_types_and_for_what_is_beyond(kind, number):
    config = config_for("idl")
    plan = idl.bounds(program(kind, number), config)
    asked = texts(plan)
    assert len(asked) == len(set(asked)) == 4 * len(INTEGERS)
    for name, (low, high) in INTEGERS.items():
        assert {f"{n}" for n in (low - 1, low, high, high + 1)} <= {
            text.partition("= ")[2].split("\n")[0].rstrip(")") for text in asked if name in text
        }
    found, faults = judged(plan, "idl", Idl, config)
    assert found.verdict == "pass", faults


@each
def test_a_document_full_of_comments_is_the_same_document(number):
    ops = tuple(Op(kind, (number, 7 * number, number, 3, number)) for kind in ("message", "exception", "service"))
    config = config_for("idl")
    plan = idl.commented(Program((number, 5 * number, 0, 0), ops), config)
    assert sum(text.count("/*") for text in texts(plan)) > 8
    found, faults = judged(plan, "idl", Idl, config)
    assert found.verdict == "pass", faults


@each
@pytest.mark.parametrize("kind", ["widths", "missing"])
@pytest.mark.parametrize("misfit", ["stays", "closes"])
def test_a_correct_client_and_a_correct_codec_pass(kind, number, misfit):
    config = config_for("idl-client")
    plan = calling.interpret(program(kind, number), config)
    found, faults = judged(plan, "idl-client", lambda: IdlClient(misfit=misfit), config)
    assert found.verdict == "pass", faults
    wrong = {"MPIDL-ENC-07"} if kind == "widths" else {"MPIDL-ENC-03", "MPIDL-ENC-04"}
    assert wrong & set(found.covered)
    config = config_for("codec")
    found, faults = judged(typed.interpret(program(kind, number), config), "codec", IdlCodec, config)
    assert found.verdict == "pass", faults
