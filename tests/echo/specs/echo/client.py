"""What a client is held to. Numbers in docstrings are those of the sentences in docs/add-a-protocol.md."""

from __future__ import annotations

from specs.echo.machine import MACHINE, P
from specs.echo.registry import REQUIREMENTS
from specs.echo.states import Case, Conn

from specs.rules import Rulebook

BOOK = Rulebook("client", REQUIREMENTS, MACHINE)

# -- what its actions carry ------------------------------------------------------------------------------------------


@BOOK.form("ECHO-LINE-01", on="HELLO, PUT, BYE, client noise", goes_on=True)
def says_only_lines_of_its_role(case: Case) -> str:
    """1: the client says HELLO, PUT n and BYE. Sentence 2 says what follows what is no line, so judging goes on."""
    return case.shown


@BOOK.form("ECHO-PUT-03", on="PUT", when=(P.ASKED, P.LIVE))
def puts_no_name_that_is_open(case: Case) -> str:
    """5: the client does not PUT a name again before it is DONE."""
    return f"PUT {case.name} while it was open" if case.name in case.state.open else ""


# -- what it owes -----------------------------------------------------------------------------------------------------


@BOOK.duty("ECHO-LINE-02", met_by="client ends")
def what_is_no_line_ends_the_connection(conn: Conn) -> str:
    """2: the receiver of what is no line closes the connection."""
    return "it did not close after what is no line" if conn.phase is P.WRONG else ""


@BOOK.duty("ECHO-HELLO-01", met_by="HELLO")
def begins(conn: Conn) -> str:
    """3: the client says HELLO first."""
    return "no HELLO" if conn.puts is not None and conn.phase is P.NEW else ""


@BOOK.duty("ECHO-PUT-04", met_by="PUT")
def waits_for_no_answer(conn: Conn) -> str:
    """5: once welcomed the client should not wait for a DONE before it PUTs the rest of its work."""
    return "no further PUT" if conn.puts is not None and conn.phase is P.LIVE and conn.said < conn.puts else ""


@BOOK.duty("ECHO-BYE-01", met_by="BYE")
def says_bye_when_its_work_is_done(conn: Conn) -> str:
    """6: a client whose work is DONE says BYE."""
    done = conn.puts is not None and conn.said >= conn.puts and not conn.open
    return "no BYE" if done and conn.phase is P.LIVE else ""


# -- what its actions do to the state ---------------------------------------------------------------------------------


@BOOK.effect("HELLO", "BYE", "client noise", "client ends")
def nothing_but_the_phase(case: Case) -> Conn:
    return case.state


@BOOK.effect("PUT")
def opens_a_name(case: Case) -> Conn:
    return case.state._replace(open=(*case.state.open, case.name), said=case.state.said + 1)
