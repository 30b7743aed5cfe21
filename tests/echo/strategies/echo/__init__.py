"""Conversations with an ECHO server or client: ops, and the plan that they mean.

Head numbers: how the plan ends (BYE in turn, BYE at once, nothing, or octets that are no line), and which octets.
"""

from __future__ import annotations

from hypothesis.strategies import SearchStrategy
from specs.echo.frames import Line
from specs.echo.states import Config

from specs.plan import Close, Plan, Ref, Say, SendBytes, Step, Wait
from strategies.common import Op, Program, programs

KINDS = {"put": 6, "wait": 2}
GARBAGE = (b"\n", b"PUT\n", b"put a\n", b"NO\n", b"PUT A\n", b"\xff\n", b"HELLO \n", b"x" * 65)
CONNS = 2


def sessions() -> SearchStrategy[Program]:
    """Legal sessions, with at most one misuse at the end."""
    return programs(KINDS, head=2, most=12)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The plan that a program means; total, and pure."""
    write = _as_client if config.puts is None else _as_server
    return Plan(tuple(write(program, 0 if config.puts is None else config.puts, "now" if hurry else "turn")))


def _as_client(program: Program, puts: int, when: str) -> list[Step]:
    """Each op says on which connection, and whether it waits for its turn or comes right behind."""
    steps: list[Step] = []
    greeted: list[int] = []
    for serial, op in enumerate(program.ops):
        if op.kind == "wait":
            steps.append(Wait(op.args[1] % 8))
            continue
        conn = op.args[0] % CONNS
        if conn not in greeted:
            greeted.append(conn)
            steps.append(Say(conn, Line("HELLO"), when=when))
        again = when == "turn" and op.args[1] % 4 == 1  # a name may be used again when it is DONE for sure
        behind = not again and op.args[2] % 3
        name = Ref("name", "again" if again else serial)
        steps.append(Say(conn, Line("PUT", name), _cuts(op), "now" if behind else when))
    for conn in greeted:
        bye = Say(conn, Line("BYE"), when="now" if program.head[0] % 4 == 1 else when)
        steps += _ending(program, conn, bye, when)
    return steps


def _as_server(program: Program, puts: int, when: str) -> list[Step]:
    """WELCOME, then the answers in the order that the ops choose; what is left is answered in the client's order."""
    steps: list[Step] = [Say(0, Line("WELCOME"))]
    left = list(range(puts))
    answers = [op for op in program.ops if op.kind == "put"][:puts]
    for op in answers + [Op("put")] * (puts - len(answers)):
        nth = left.pop(op.args[0] % len(left))
        steps.append(Say(0, Line("DONE", Ref("put", (0, nth))), _cuts(op), when))
        if op.args[1] % 4 == 3:
            steps.append(Wait(op.args[2] % 8))
    if program.head[0] % 4 == 3:
        steps = steps[: 1 + program.head[1] % (puts + 1)]
    return [*steps, *_ending(program, 0, Wait(0), when), Wait(0), Close(0)]


def _ending(program: Program, conn: int, last: Step, when: str) -> list[Step]:
    how = program.head[0] % 4
    if how == 3:
        return [SendBytes(conn, GARBAGE[program.head[1] % len(GARBAGE)], when)]
    return [last] if how < 2 or isinstance(last, Wait) else []


def _cuts(op: Op) -> tuple[int, ...]:
    return (op.args[3] % 8,) if op.args[3] % 4 == 3 else ()
