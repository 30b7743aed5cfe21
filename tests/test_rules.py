"""The core of specifications: machine, rulebook and causes, on a lamp that is switched on and off."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from specs.causes import Causes, Named
from specs.events import Quiet, Said
from specs.machine import Machine, Phase, never, unreachable
from specs.model import ANYTHING, Allow, Breach, Owed, Watcher
from specs.requirement import Requirement
from specs.rules import Broken, Due, Duty, Rulebook


class P(Phase):
    """Where the lamp stands."""

    DARK = "it is dark"
    BRIGHT = "it is bright"
    GONE = "it is gone"


ACTORS = {"on": "user", "off": "user", "glow": "lamp", "blink": "lamp", "fade": "lamp"}
ROWS = {
    P.DARK: {"on": P.BRIGHT, "off": P.DARK, "glow": never("L-DARK", "it glows in the dark"), "blink": P.DARK,
             "fade": P.DARK},
    P.BRIGHT: {"on": P.BRIGHT, "off": P.DARK, "glow": P.BRIGHT, "blink": (P.BRIGHT, P.GONE), "fade": never("L-STAY")},
    P.GONE: dict.fromkeys(ACTORS, unreachable("a lamp that is gone does nothing")),
}  # fmt: skip


def rows(**changed: Any) -> Machine:
    return Machine(P, ACTORS, {**ROWS, **{P[name]: row for name, row in changed.items()}})


class Lamp(NamedTuple):
    phase: P = P.DARK
    asked: int = 0
    seen: bool = False


class Case(NamedTuple):
    state: Lamp
    watts: int = 40
    profile: str = "old"
    during: str = ""
    left: tuple[P, ...] = ()
    about: Any = None

    @property
    def phase(self) -> P:
        return self.state.phase


def requirement(name: str, level: str = "MUST", profiles: tuple[str, ...] = ("old", "new")) -> Requirement:
    return Requirement(name, "Lamps", level, ("lamp",), profiles, "a lamp's text", f"{name}.")


IDS = {
    r.id: r
    for r in (
        *map(requirement, ("L-DARK", "L-STAY", "L-WATTS", "L-GLOW", "L-DUST", "L-ALSO", "L-A", "L-B")),
        requirement("L-NEAT", "SHOULD"),
        requirement("L-MAY", "MAY"),
        requirement("L-NEW", profiles=("new",)),
    )
}


@pytest.fixture
def book() -> Rulebook:
    made = Rulebook("lamp", IDS, rows())
    made.effect("glow", "blink", "fade")(lambda case: case.state._replace(asked=0))
    return made


# -- the machine -----------------------------------------------------------------------------------------------------


def test_a_missing_cell_is_an_error_when_the_table_is_made():
    with pytest.raises(ValueError, match="DARK: no cell, or one too many, for fade"):
        rows(DARK={name: P.DARK for name in ACTORS if name != "fade"})
    with pytest.raises(ValueError, match="is no cell"):
        rows(DARK=dict.fromkeys(ACTORS, "BRIGHT"))


def test_the_table_moves_and_forbids():
    machine = rows()
    assert machine.move(P.DARK, "on") is P.BRIGHT
    assert machine.move(P.BRIGHT, "blink", P.GONE) is P.GONE
    for phase, action, to in ((P.DARK, "glow", None), (P.BRIGHT, "blink", P.DARK), (P.DARK, "on", P.DARK)):
        with pytest.raises(LookupError):
            machine.move(phase, action, to)
    with pytest.raises(LookupError, match="a lamp that is gone does nothing"):
        machine.at(P.GONE, "on")
    assert [(phase, action) for phase, action, _ in machine.forbids("lamp")] == [(P.DARK, "glow"), (P.BRIGHT, "fade")]
    assert machine.kept("lamp", P.DARK, None) == ("L-DARK",)
    assert machine.kept("user", P.DARK, None) == ()


def test_the_diagram_shows_what_runs():
    assert "DARK --> BRIGHT: user on" in rows().diagram()
    assert "BRIGHT --> GONE: lamp blink" in rows().diagram()


def test_cells_that_were_asked_for_are_known():
    machine = rows()
    seen = machine.watch()
    machine.move(P.DARK, "on")
    assert seen == {(P.DARK, "on")}


# -- forms -----------------------------------------------------------------------------------------------------------


def test_a_form_that_was_asked_and_held_is_credited(book):
    @book.form("L-WATTS", on="glow", also="L-ALSO")
    def is_within_limits(case: Case) -> str:
        return f"{case.watts} W" if case.watts > 60 else ""

    held = book.judge(Case(Lamp(P.BRIGHT)), "glow")
    assert held == Allow(Lamp(P.BRIGHT), ("L-WATTS", "L-ALSO", "L-STAY"))
    broken = book.judge(Case(Lamp(P.BRIGHT), 100), "glow")
    assert (broken.requirement, broken.why, broken.also, broken.then) == ("L-WATTS", "100 W", ("L-ALSO",), ANYTHING)
    assert broken.fingerprint == "L-WATTS is_within_limits"
    assert broken.behind == Lamp(P.BRIGHT), "judging can go on where the fault is known"


@pytest.mark.parametrize(
    ("where", "asked"),
    [
        ({"when": (P.DARK,)}, False),
        ({"when": (P.BRIGHT,)}, True),
        ({"during": "test"}, False),
        ({"if_": lambda case: case.watts > 60}, False),
        ({"unless": lambda case: case.watts < 60}, False),
        ({"unless": lambda case: case.watts > 60}, True),
    ],
)
def test_where_a_form_does_not_apply_it_is_neither_credited_nor_blamed(book, where, asked):
    book.form("L-WATTS", on="glow", **where)(lambda case: "" if case.watts == 40 else "wrong")
    assert ("L-WATTS" in book.judge(Case(Lamp(P.BRIGHT)), "glow").covers) is asked


def test_a_requirement_of_another_profile_is_not_asked(book):
    book.form("L-NEW", on="glow")(lambda case: "never true")
    assert isinstance(book.judge(Case(Lamp(P.BRIGHT)), "glow"), Allow)
    assert book.judge(Case(Lamp(P.BRIGHT), profile="new"), "glow").requirement == "L-NEW"


def test_the_first_must_that_is_broken_ends_the_asking(book):
    book.form("L-NEAT", on="glow")(lambda case: "untidy")
    book.form("L-WATTS", on="glow")(lambda case: "first")
    book.form("L-ALSO", on="glow")(lambda case: "second")
    assert book.judge(Case(Lamp(P.BRIGHT)), "glow").why == "first"


def test_a_missed_recommendation_does_not_end_the_judging(book):
    book.form("L-NEAT", on="glow")(lambda case: "untidy")
    found = book.judge(Case(Lamp(P.BRIGHT)), "glow")
    assert [lapse.requirement for lapse in found.lapses] == ["L-NEAT"]
    assert "L-NEAT" not in found.covers
    assert found.state == Lamp(P.BRIGHT)


def test_what_is_not_judged_any_further(book):
    book.form("L-NEAT", on="glow")(lambda case: Broken("untidy", ends=True))
    assert book.judge(Case(Lamp(P.BRIGHT)), "glow").state is ANYTHING
    book.form("L-WATTS", on="blink")(lambda case: Broken("who knows", level=""))
    assert book.judge(Case(Lamp(P.BRIGHT)), "blink") == Allow(ANYTHING)


def test_an_excuse_ends_the_asking_and_spares_the_table(book):
    book.excuse(on="fade")(lambda case: case.watts == 0)
    book.form("L-WATTS", on="fade")(lambda case: "below")
    assert isinstance(book.judge(Case(Lamp(P.BRIGHT), 0), "fade"), Allow)
    assert book.judge(Case(Lamp(P.BRIGHT), 1), "fade").why == "below"


def test_which_picks_from_a_closed_set(book):
    book.form("L-A L-B", on="glow", which=lambda case: {40: "L-A", 41: "L-B", 42: "L-DUST"}.get(case.watts, ""))(
        lambda case: ""
    )
    assert "L-A" in book.judge(Case(Lamp(P.BRIGHT)), "glow").covers
    assert "L-B" in book.judge(Case(Lamp(P.BRIGHT), 41), "glow").covers
    assert not {"L-A", "L-B"} & set(book.judge(Case(Lamp(P.BRIGHT), 50), "glow").covers)
    with pytest.raises(ValueError, match="L-DUST is not among L-A, L-B"):
        book.judge(Case(Lamp(P.BRIGHT), 42), "glow")


def test_a_freedom_that_was_needed_is_named_and_credits_nothing(book):
    dim = book.freedom("L-F1")(lambda case: case.watts < 70)
    book.form("L-WATTS", on="glow", freed_by=(dim,))(lambda case: "too much" if case.watts > 60 else "")
    within, leaning = (book.judge(Case(Lamp(P.BRIGHT), watts), "glow") for watts in (50, 65))
    assert (within.leans, leaning.leans) == ((), ("L-F1",))
    assert "L-WATTS" in within.covers
    assert "L-WATTS" not in leaning.covers
    assert book.judge(Case(Lamp(P.BRIGHT), 75), "glow").requirement == "L-WATTS", "the freedom ends here"


def test_what_is_only_permitted_is_tried_and_never_blamed(book):
    book.tried("L-MAY", on="blink")(lambda case: case.watts > 40)
    assert "L-MAY" not in book.judge(Case(Lamp(P.DARK)), "blink").covers
    assert "L-MAY" in book.judge(Case(Lamp(P.DARK), 50), "blink").covers
    assert book.permitted() == {"L-MAY"}
    assert "L-MAY" not in book.blamable()


def test_a_topic_lives_in_one_module_and_ids_exist(book):
    book.form("L-WATTS", on="glow")(lambda case: "")
    elsewhere = lambda case: ""  # noqa: E731
    elsewhere.__module__ = "tests.other"
    with pytest.raises(ValueError, match="the rules on 'glow' are in"):
        book.form("L-ALSO", on="glow")(elsewhere)
    with pytest.raises(ValueError, match="L-NONE is no requirement"):
        book.form("L-NONE", on="glow")(lambda case: "")


# -- prohibitions ----------------------------------------------------------------------------------------------------


def test_a_forbidden_cell_blames_and_is_credited_where_it_could_have_been_broken(book):
    found = book.judge(Case(Lamp(P.DARK)), "glow")
    assert (found.requirement, found.why, found.kind) == ("L-DARK", "it glows in the dark", "glow in DARK")
    assert book.judge(Case(Lamp(P.DARK)), "blink").covers == ("L-DARK",)
    assert book.judge(Case(Lamp(P.BRIGHT)), "glow").covers == ("L-STAY",)
    assert set(book.judge(Case(Lamp(P.BRIGHT), left=(P.DARK,)), "glow").covers) == {"L-STAY", "L-DARK"}


# -- duties ----------------------------------------------------------------------------------------------------------


def dutiful(book: Rulebook, **more: Any) -> Rulebook:
    @book.duty("L-GLOW", met_by="glow", **more)
    def glows_when_asked(lamp: Lamp) -> Any:
        if not lamp.asked:
            return ""
        return Due("no glow", kind="light", overdue=lamp.seen, forgive=lambda state: state._replace(asked=0))

    return book


def test_one_declaration_gives_the_turn_the_silence_the_end_and_the_credit(book):
    dutiful(book)
    asked, idle = Lamp(P.BRIGHT, asked=1), Lamp(P.BRIGHT)
    assert (list(book.owed(asked)), list(book.owed(idle))) == (["L-GLOW light"], [])
    missed = book.at_silence(asked, Case(asked))
    assert (missed.requirement, missed.duty, missed.behind) == ("L-GLOW", "L-GLOW light", idle)
    assert book.at_silence(idle, Case(idle)) is None
    assert book.at_end(Case(asked), "fade", "it broke").why == "no glow: it broke"
    assert book.at_end(Case(asked), "glow") is None
    assert "L-GLOW" in book.judge(Case(asked), "glow").covers
    assert "L-GLOW" not in book.judge(Case(idle), "glow").covers


def test_a_patient_duty_waits_for_what_comes_next(book):
    dutiful(book, patient=True)
    asked = Lamp(P.BRIGHT, asked=1)
    assert isinstance(book.at_silence(asked, Case(asked)), Duty)
    overdue = asked._replace(seen=True)
    assert list(book.owed(overdue)) == []
    assert book.at_silence(overdue, Case(overdue)) is None
    assert book.at_end(Case(overdue), "fade").requirement == "L-GLOW"


class Chandelier(NamedTuple):
    lamps: dict[int, Lamp]


def hung() -> tuple[Rulebook, list[int]]:
    """A book of many lamps, and the numbers of those that were asked for what they owe."""
    book = Rulebook("lamp", IDS, rows(), parts=lambda state: state.lamps)
    looked_at: list[int] = []

    @book.duty("L-GLOW", met_by="glow", when=(P.BRIGHT,), each=True)
    def glows_when_asked(number: int, lamp: Lamp) -> Due | str:
        looked_at.append(number)
        return Due(f"no glow of {number}", about=number) if lamp.asked else ""

    @book.duty("L-DUST", met_by="blink")
    def somebody_dusts(state: Chandelier) -> str:
        return "dusty" if len(state.lamps) > 2 else ""

    return book, looked_at


def test_a_duty_of_each_part_is_asked_again_only_where_the_part_has_changed():
    book, looked_at = hung()
    first = Chandelier({1: Lamp(P.BRIGHT), 2: Lamp(P.BRIGHT, asked=1)})
    assert list(book.owed(first)) == ["L-GLOW"]
    after = Chandelier({**first.lamps, 1: Lamp(P.BRIGHT, asked=1)})
    assert list(book.owed(after)) == ["L-GLOW", "L-GLOW"]
    assert list(book.owed(first)) == ["L-GLOW"], "and again, when another reading has it as it was"
    assert looked_at == [1, 2, 1, 1]
    gone = Chandelier({1: Lamp(P.BRIGHT), 2: Lamp(P.DARK, asked=1), 3: Lamp()})
    assert list(book.owed(gone)) == ["L-DUST"], "the phase is that of the part"


def test_duties_of_each_part_are_open_in_the_order_in_which_duties_are_written():
    book, _ = hung()
    state = Chandelier({3: Lamp(P.BRIGHT, asked=1), 1: Lamp(P.DARK, asked=1), 2: Lamp(P.BRIGHT, asked=1)})
    found = [(duty.requirement, duty.due.about) for duty in book.open(state)]
    assert found == [("L-GLOW", 3), ("L-GLOW", 2), ("L-DUST", None)]


def test_what_forms_in_a_row_have_in_common_is_asked_once(book):
    asked = []

    def strong(case: Case) -> bool:
        asked.append(case.watts)
        return case.watts > 50

    @book.form("L-A", on="glow", if_=strong)
    def first(case: Case) -> str:
        return ""

    @book.form("L-B", on="glow", if_=strong)
    def second(case: Case) -> str:
        return "too strong" if case.watts > 90 else ""

    assert {"L-A", "L-B"} <= set(book.judge(Case(Lamp(P.BRIGHT), 60), "glow").covers)
    assert not {"L-A", "L-B"} & set(book.judge(Case(Lamp(P.BRIGHT), 40), "glow").covers)
    assert book.judge(Case(Lamp(P.BRIGHT), 99), "glow").requirement == "L-B"
    assert asked == [60, 40, 99]


# -- causes ----------------------------------------------------------------------------------------------------------


def caused() -> Causes:
    why_dark = Causes("no light")

    @why_dark.cause("L-DUST", could=lambda case: case.watts > 10)
    def dust_is_on_it(case: Case) -> str:
        return "it is dusty" if case.watts == 15 else ""

    @why_dark.cause("L-A L-B", which=lambda case: "L-A" if case.watts == 20 else "")
    def something_of_the_sort(case: Case) -> Any:
        return "of the sort" if case.watts < 30 else ""

    return why_dark


def test_a_breach_is_laid_on_the_likeliest_cause(book):
    dutiful(book, causes=caused())
    asked = Lamp(P.BRIGHT, asked=1)
    named = {watts: book.at_silence(asked, Case(asked, watts)).requirement for watts in (5, 15, 20, 40)}
    assert named == {5: "L-GLOW", 15: "L-DUST", 20: "L-A", 40: "L-GLOW"}
    assert book.at_silence(asked, Case(asked, 15)).duty == "L-GLOW light"


def test_what_causes_in_a_row_have_in_common_is_asked_once_and_holds_for_blame_and_credit():
    asked = []

    def weak(case: Case) -> bool:
        asked.append(case.watts)
        return case.watts < 30

    why_dark = Causes("no light")
    why_dark.cause("L-DUST", where=weak, could=lambda case: case.watts > 10)(lambda case: "dusty")
    why_dark.circumstance("L-A", where=weak, says="weak")(lambda case: True)
    why_dark.circumstance("L-B", says="at last")(lambda case: case.watts > 90)
    case = Case(Lamp(), 20)
    assert why_dark.credits(case) == ("L-DUST", "L-A")
    assert asked == [20]
    assert why_dark.credits(Case(Lamp(), 5)) == ("L-A",)
    assert why_dark.credits(Case(Lamp(), 99)) == ("L-B",)
    assert why_dark.likeliest(case).requirement == "L-DUST"
    assert why_dark.likeliest(Case(Lamp(), 50)) is None


def test_a_cause_is_credited_where_it_could_have_been_blamed(book):
    dutiful(book, causes=caused())
    asked = Lamp(P.BRIGHT, asked=1)
    assert "L-DUST" in book.judge(Case(asked, 40), "glow").covers
    assert "L-DUST" not in book.judge(Case(asked, 5), "glow").covers
    assert {"L-DUST", "L-A", "L-B", "L-GLOW"} <= book.blamable()


def test_a_form_may_ask_for_causes_and_a_cause_speak_for_itself(book):
    why = Causes("odd")
    why.cause("L-DUST")(lambda case: Named("L-ALSO", "said so", level="SHOULD") if case.watts == 1 else "")
    book.form("L-WATTS", on="glow", causes=why)(lambda case: "odd")
    assert book.judge(Case(Lamp(P.BRIGHT)), "glow").requirement == "L-WATTS"
    (lapse,) = book.judge(Case(Lamp(P.BRIGHT), 1), "glow").lapses
    assert (lapse.requirement, lapse.why, lapse.level) == ("L-ALSO", "said so", "SHOULD")


# -- judging on ------------------------------------------------------------------------------------------------------


class LampModel:
    """`Said("user", "on")` asks for a glow; the lamp says glow or blink."""

    def __init__(self, book: Rulebook) -> None:
        self.book = book

    def initial(self, config: Any) -> Lamp:
        return Lamp(P.BRIGHT)

    def owed(self, state: Lamp, role: str) -> Any:
        return self.book.owed(state)

    def step(self, state: Lamp, event: Any) -> Any:
        if isinstance(event, Quiet):
            found = self.book.at_silence(state, Case(state)) if event.final else None
            return (found if isinstance(found, Breach) else Allow(state),)
        if event.by == "user":
            return (Allow(state._replace(asked=state.asked + 1), ("L-ALSO",)),)
        return (self.book.judge(Case(state, event.frame[1]), event.frame[0]),)


def watched(book: Rulebook, *events: Any, set_aside: frozenset[str] = frozenset()) -> Watcher:
    watcher = Watcher(LampModel(book), None, "lamp", set_aside)
    for event in events:
        watcher.feed(event)
    return watcher


ON, SILENCE = Said(0, "user", "on"), Quiet(5, 5, final=True)
GLOW, TOO_MUCH = Said(0, "lamp", ("glow", 40)), Said(0, "lamp", ("glow", 100))


def test_behind_a_known_fault_judging_goes_on(book):
    dutiful(book)
    book.form("L-WATTS", on="glow")(lambda case: "too much" if case.watts > 60 else "")
    (first,) = watched(book, ON, SILENCE, TOO_MUCH).judgement().blamed
    assert first.breach.requirement == "L-GLOW"
    aside = frozenset({first.breach.fingerprint, first.breach.duty})
    again = watched(book, ON, SILENCE, TOO_MUCH, set_aside=aside).judgement()
    assert [blame.breach.requirement for blame in again.blamed] == ["L-WATTS"]
    assert [blame.breach.requirement for blame in again.known] == ["L-GLOW"]
    aside |= {again.blamed[0].breach.fingerprint}
    last = watched(book, ON, SILENCE, TOO_MUCH, GLOW, set_aside=aside).judgement()
    assert (last.verdict, [blame.at for blame in last.known]) == ("pass", [1, 2])
    assert "L-WATTS" in last.covered, "the last one was right"


@pytest.mark.parametrize(
    ("vague", "level", "blamed"), [(True, None, []), (True, "SHOULD", []), (False, None, ["L-DUST"])]
)
def test_what_a_known_fault_can_be_the_reason_of_as_well_is_that_fault_again(book, vague, level, blamed):
    why = Causes("odd", vague=vague)
    why.cause("L-DUST", level=level)(lambda case: "dust" if case.watts > 60 else "")
    why.cause("L-A")(lambda case: "a" if case.watts > 50 else "")
    book.form("L-WATTS", on="glow", causes=why)(lambda case: "odd" if case.watts > 50 else "")
    (plain,) = watched(book, Said(0, "lamp", ("glow", 55))).judgement().faults
    assert plain.breach.requirement == "L-A"
    (first,) = watched(book, TOO_MUCH).judgement().faults
    assert first.breach.requirement == "L-DUST"
    again = watched(book, TOO_MUCH, set_aside=frozenset({plain.breach.fingerprint})).judgement()
    assert [blame.breach.requirement for blame in again.faults] == blamed
    assert [blame.breach.requirement for blame in again.known] == (["L-A"] if vague and level is None else [])
    assert "L-DUST" not in again.covered


def test_what_is_set_aside_is_not_waited_for_with_all_patience(book):
    dutiful(book)
    assert watched(book, ON).owed("lamp") is Owed.SOMETHING
    known = watched(book, ON, set_aside=frozenset({"L-GLOW light"}))
    assert known.owed("lamp") is Owed.KNOWN
    assert not known.expects(SILENCE), "the missing light is known, and not that it was missed for this reason"
    (missed,) = watched(book, ON, SILENCE).judgement().blamed
    aside = frozenset({missed.breach.fingerprint, missed.breach.duty})
    assert watched(book, ON, set_aside=aside).expects(SILENCE)
    assert watched(book, ON, GLOW, set_aside=aside).owed("lamp") is Owed.NOTHING


def test_what_the_testers_own_actions_show_is_credited_to_nobody(book):
    dutiful(book)
    assert watched(book, ON).judgement().covered == {}
    assert watched(book, ON, GLOW).judgement().covered.keys() == {"L-GLOW", "L-STAY"}
