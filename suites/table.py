"""The rows of which the suites are made. Each is a test of pytest, and can be read without being run.

A module of a suite assigns them to names that begin with `test_`. `ROLES` there says whom they judge, and `DISCIPLINES`
how they are played, where that is not both ways.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any

import pytest


@dataclass(frozen=True, slots=True)
class Row:
    """One property. `label` tells rows of one name apart; the other fields are those of `hunts`."""

    programs: Any
    interpret: Any
    weight: float = 1.0
    avoids: bool = False
    always_calm: bool = False
    deals: int | None = None
    heavy: bool = False
    label: str = ""


def hunts(
    what: str,
    programs: Any,
    interpret: Any,
    weight: float = 1.0,
    *,
    avoids: bool = False,
    always_calm: bool = False,
    deals: int | None = None,
    heavy: bool = False,
) -> Callable[..., None]:
    """A property: draw `programs`, make plans of them with `interpret`.

    `weight` is its share of the budget; `avoids`: what is known to be broken is left out; `always_calm`: it is never
    pipelined; `deals`: the place of a head number that is dealt in turn (`suites.draws.Draws`);
    `heavy`: there is so much to say that other conversations must not wait for it.
    """

    def test(hunt: Any) -> None:
        hunt(programs, interpret, avoids=avoids, always_calm=always_calm, deals=deals, heavy=heavy)

    return _standing_here(test, what, [Row(programs, interpret, weight, avoids, always_calm, deals, heavy)])


def hunts_each(what: str, of: str, aims: Mapping[str, Any], weight: float = 1.0) -> Callable[..., None]:
    """A property for each of `aims`, which have `programs` and `interpret`; `of` is what their names are called."""
    rows = [Row(aim.programs, aim.interpret, weight, label=name) for name, aim in aims.items()]

    def test(hunt: Any, **which: str) -> None:
        aim = aims[which[of]]
        hunt(aim.programs, aim.interpret)

    vars(test)["__signature__"] = Signature([Parameter(name, Parameter.KEYWORD_ONLY) for name in ("hunt", of)])
    found: Callable[..., None] = pytest.mark.parametrize(of, list(aims))(_standing_here(test, what, rows))
    return found


def _standing_here(test: Callable[..., None], what: str, rows: Sequence[Row]) -> Callable[..., None]:
    """The test, with its sentence and rows, and with the line of the suite where it is made."""
    frame = sys._getframe(2)
    test.__doc__ = what
    test.__code__ = test.__code__.replace(co_filename=frame.f_code.co_filename, co_firstlineno=frame.f_lineno)
    vars(test)["rows"] = tuple(rows)
    return pytest.mark.weight(rows[0].weight)(test) if rows[0].weight != 1.0 else test
