"""Operators change one place of a module, each of them something else."""

from __future__ import annotations

import ast

from tests.mutants import operators

TEXT = """
def f(self, items):
    self.count = len(items) > 3
    self.say("x")
    for item in items:
        if item and self.count or not items:
            continue
    return [item for item in items if item < 2], True
"""


def test_each_place_is_another_module_that_can_be_compiled():
    plain, places = ast.unparse(ast.parse(TEXT)), operators.sites(ast.parse(TEXT))
    made = [ast.unparse(operators.changed(TEXT, nth)) for nth in range(len(places))]
    assert plain not in made
    assert len(set(made)) == len(made)
    for text in made:
        compile(text, "made", "exec")
    assert {site.operator for site in places} == {
        "is left out", "is turned round", "filters nothing", "is off by one", "is another value",
        "lacks its operand 1", "lacks its operand 2",
    }  # fmt: skip


def test_a_change_is_hunted_in_a_process_of_its_own():
    module = "impls.references.stomp.session"
    site, nth = next(
        (site, nth)
        for nth, site in enumerate(operators.sites(ast.parse(operators.source(module))))
        if site.operator == "is left out" and "self.on_settle(frame, accepted=True)" in operators.at(module, nth)[1]
    )
    came = operators.outside(module, nth, "stomp/server", 4.0)
    assert came.status == "killed", came
    assert f"{module}:{site.line} is left out" in str(came)
