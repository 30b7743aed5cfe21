"""What a server is held to. Numbers in docstrings are those of the sentences in docs/add-a-protocol.md."""

from __future__ import annotations

from specs.echo.machine import MACHINE, P
from specs.echo.registry import REQUIREMENTS
from specs.echo.states import Case, Conn

from specs.rules import Due, Rulebook

BOOK = Rulebook("server", REQUIREMENTS, MACHINE)

# -- what its actions carry ------------------------------------------------------------------------------------------


@BOOK.form("ECHO-LINE-01", on="WELCOME, DONE, server noise", goes_on=True)
def says_only_lines_of_its_role(case: Case) -> str:
    """1: the server says WELCOME and DONE n. Sentence 2 says what follows what is no line, so judging goes on."""
    return case.shown


@BOOK.form("ECHO-PUT-02", on="DONE", when=(P.LIVE, P.ENDING))
def done_names_what_is_open(case: Case) -> str:
    """4: each PUT n is answered with one DONE n, and nothing else is answered."""
    return "" if case.name in case.state.open else f"DONE {case.name}, which was not open"


# -- what it owes: also what it breaks when it ends instead -----------------------------------------------------------


@BOOK.duty("ECHO-HELLO-02", met_by="WELCOME")
def hello_is_answered(conn: Conn) -> str:
    """3: the server answers HELLO with WELCOME."""
    return "no WELCOME" if conn.phase in (P.ASKED, P.LEAVING) else ""


@BOOK.duty("ECHO-LINE-02", met_by="server ends")
def what_is_no_line_ends_the_connection(conn: Conn) -> str:
    """2: the receiver of what is no line closes the connection."""
    return "it did not close after what is no line" if conn.phase is P.LOST else ""


@BOOK.duty("ECHO-PUT-01", met_by="DONE")
def each_put_is_answered(conn: Conn) -> Due | str:
    """4: the server answers each PUT n."""
    if not conn.open or conn.phase not in (P.LIVE, P.ENDING):
        return ""
    return Due(f"no DONE {conn.open[0]}", forgive=lambda state: state._replace(open=()))


@BOOK.duty("ECHO-BYE-02", met_by="server ends")
def closes_after_bye(conn: Conn) -> str:
    """6: the server answers what is open, then closes."""
    return "it did not close after BYE" if conn.phase is P.ENDING and not conn.open else ""


@BOOK.form("ECHO-BYE-02", on="server ends", when=(P.ENDING,), also="ECHO-PUT-01")
def closes_only_when_nothing_is_open(case: Case) -> str:
    """6: the server answers what is open, then closes."""
    return f"it closed although {case.state.open} were not answered" if case.state.open else ""


# -- what its actions do to the state ---------------------------------------------------------------------------------


@BOOK.effect("WELCOME", "server noise", "server ends")
def nothing_but_the_phase(case: Case) -> Conn:
    return case.state


@BOOK.effect("DONE")
def no_longer_open(case: Case) -> Conn:
    return case.state._replace(open=tuple(name for name in case.state.open if name != case.name))
