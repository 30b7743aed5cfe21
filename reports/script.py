"""A recorded conversation as a Python script of its own, for those who have no Wireproof.

The script needs nothing but Python: it connects to the address on its command line, says what the tester said, and
prints what comes back. It does not judge; its head says what was expected and what came instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from records.text import ascii_only
from reports.transcript import Trace, text_of, unhex

_RUN: Final = re.compile(rb"(.)\1{199,}", re.DOTALL)
_CHUNK: Final = 80
_SAYS: Final = ("say", "blurt")


def render(trace: Trace) -> str:
    """The script. Parts that are missing or odd are left out; all of it is ASCII, and it always compiles."""
    return "\n".join([*_head(trace), *_steps(trace), _PLAYER])


def path_for(trace: Path) -> Path:
    """Where the script of a trace file belongs: beside it."""
    return trace.with_suffix(".py")


def write(path: Path, trace: Trace) -> Path:
    """Write the script beside the trace file `path`; answers where. Raises OSError."""
    script = path_for(path)
    script.write_text(render(trace), encoding="ascii")
    return script


def _head(trace: Trace) -> Iterator[str]:
    """Comments. The first two lines are fixed: a declaration of an encoding would be obeyed there."""
    yield "#!/usr/bin/env python3"
    yield "# A conversation that Wireproof recorded, to be held again without it:  python3 THIS_FILE HOST:PORT"
    impl = trace.get("impl")
    impl = impl if isinstance(impl, dict) else {}
    names = [impl.get(name) for name in ("name", "version", "protocol", "role", "profile")]
    told = {
        "with": " ".join(name for name in names if isinstance(name, str)),
        "requirement": f"{text_of(trace, 'requirement')} {text_of(trace, 'level')}".strip(),
        "statement": text_of(trace, "statement"),
        "source": text_of(trace, "source"),
        "expected": text_of(trace, "expected"),
        "came": text_of(trace, "why"),
    }
    yield "#"
    for name, text in told.items():
        if text:
            yield f"# {name + ':':<13}{ascii_only(text, 1000)}"


def _whole(value: object, most: int) -> int:
    """A number from a trace file, as a whole one between 0 and `most`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
        return 0
    return int(value)


def _steps(trace: Trace) -> Iterator[str]:
    script = trace.get("script")
    steps = [step for step in script if isinstance(step, dict)] if isinstance(script, list) else []
    yield ""
    yield "STEPS = ["
    said = 0
    turns = _turns(trace, steps)
    for step in steps:
        conn, do = _whole(step.get("conn"), 10**6), step.get("do")
        if do == "send":
            if said and turns[said]:
                yield '    ("turn",),'
            said += 1
            yield f'    ("send", {conn}, ['
            yield from _parts(step.get("parts"))
            yield f"    ], {_cuts(step.get('cuts'))}),"
        elif do in ("wait", "expect-quiet"):
            yield f'    ("wait", {_whole(step.get("ms"), 3_600_000)}),'
        elif do == "reach":
            yield "    # where the implementation said that it is to be found; it may be another address by now"
            yield f'    ("reach", {conn}, {ascii_only(text_of(step, "where"), 200)!r}),'
        elif do == "close":
            yield f'    ("close", {conn}, {step.get("how") == "reset"}),'
        else:
            yield f"    # left out, unknown: {ascii_only(str(do), 60)}"
    yield "]"


def _turns(trace: Trace, steps: list[dict[str, object]]) -> list[bool]:
    """For each send, whether the tester waited for its turn first.

    The step says so itself ("when"), or the plan does when it has as many things to say; else it waited.
    """
    sends = [step for step in steps if step.get("do") == "send"]
    plan = trace.get("plan")
    planned = plan.get("steps") if isinstance(plan, dict) else None
    says = [p for p in planned if isinstance(p, dict) and p.get("do") in _SAYS] if isinstance(planned, list) else []
    if len(says) != len(sends):
        says = sends
    return [step.get("when", said.get("when", "turn")) != "now" for step, said in zip(sends, says, strict=True)]


def _parts(parts: object) -> Iterator[str]:
    for part in parts if isinstance(parts, list) else []:
        if not isinstance(part, dict):
            continue
        if isinstance(part.get("match"), str):
            pattern = part["match"].encode("utf-8", "surrogatepass")
            yield f"        ({pattern!r}, {_whole(part.get('nth'), 10**6)}),"
        else:
            yield from _octets(unhex(part.get("hex")))


def _octets(data: bytes) -> Iterator[str]:
    """Literals for octets: a long run of one octet as a product, the rest in lines."""
    at = 0
    for run in _RUN.finditer(data):
        yield from (f"        {data[i : min(i + _CHUNK, run.start())]!r},"
                    for i in range(at, run.start(), _CHUNK))  # fmt: skip
        yield f"        {run.group(1)!r} * {run.end() - run.start()},"
        at = run.end()
    yield from (f"        {data[i : i + _CHUNK]!r}," for i in range(at, len(data), _CHUNK))


def _cuts(cuts: object) -> str:
    """Offsets at which a send is split into writes."""
    if not isinstance(cuts, list):
        return "[]"
    return repr(sorted({offset for cut in cuts if (offset := _whole(cut, 1 << 30))}))


_PLAYER: Final = r'''
import re
import select
import socket
import struct
import sys
import time

PAUSE = 0.3  # seconds of silence after which it is our turn
PATIENCE = 5.0  # seconds to wait for a turn, or for a value that the other side must give
LIMIT = 2000  # octets shown of one piece
KEPT = 16 << 20  # octets kept of one connection

conns, received, began = {}, {}, time.monotonic()


def show(conn, arrow, data):
    text = data if isinstance(data, str) else repr(data[:LIMIT])[2:-1].replace("\\'", "'")
    more = "" if isinstance(data, str) or len(data) <= LIMIT else "... [+%d octets]" % (len(data) - LIMIT)
    print("%9.1f #%d %s %s%s" % ((time.monotonic() - began) * 1000, conn, arrow, text, more), flush=True)


def gone(conn, how):
    show(conn, "<-x", "[closed: %s]" % how)
    conns[conn].close()
    conns[conn] = None


def listen(seconds, quiet=None, until=None):
    """Print what comes for so long; end early after `quiet` seconds of silence, or once `until()` is true."""
    deadline = time.monotonic() + seconds
    last = time.monotonic()
    while until is None or not until():
        now = time.monotonic()
        end = deadline if quiet is None else min(deadline, last + quiet)
        if now >= end:
            return
        there = {sock: conn for conn, sock in conns.items() if sock is not None}
        if not there:
            if quiet is None and until is None:
                time.sleep(end - now)
            return
        for sock in select.select(list(there), [], [], end - now)[0]:
            conn = there[sock]
            try:
                data = sock.recv(65536)
            except OSError as error:
                gone(conn, type(error).__name__)
                continue
            if not data:
                gone(conn, "end of file")
                continue
            last = time.monotonic()
            show(conn, "<--", data)
            if len(received[conn]) < KEPT:
                received[conn] += data


def value(conn, pattern, nth):
    """What the other side gave us: the first group of the nth match in all that came on this connection."""
    def found():
        matches = [m for m in re.finditer(pattern, bytes(received[conn]))][nth:nth + 1]
        return [m.group(1 if m.re.groups else 0) or b"" for m in matches]

    try:
        re.compile(pattern)
    except re.error as error:
        sys.exit("%r is no regular expression: %s" % (pattern, error))
    listen(PATIENCE, until=found)
    if not found():
        sys.exit("what came has no match number %d for %r, so the conversation cannot go on" % (nth, pattern))
    return found()[0]


def reach(conn, where):
    host, _, port = where.rpartition(":")
    if not port.isdigit() or int(port) >= 1 << 16:
        sys.exit("%r is no HOST:PORT" % where)
    conns[conn], received[conn] = socket.create_connection((host.strip("[]"), int(port)), 10), bytearray()
    conns[conn].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def send(address, conn, parts, cuts):
    if conn not in conns:
        reach(conn, address)
    data = b"".join(part if isinstance(part, bytes) else value(conn, *part) for part in parts)
    for start, end in zip([0] + cuts, cuts + [len(data)]):
        if conns[conn] is None:
            show(conn, "-->", "[not sent, the connection is closed]")
            return
        try:
            conns[conn].sendall(data[start:end])
        except OSError as error:
            gone(conn, type(error).__name__)
            return
        if data[start:end]:
            show(conn, "-->", data[start:end])
        if end != len(data):
            time.sleep(0.005)


def close(conn, reset):
    if conns.get(conn) is not None:
        if reset:
            conns[conn].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        conns[conn].close()
        conns[conn] = None
        show(conn, "x->", "[reset]" if reset else "[closed]")


def main():
    if len(sys.argv) != 2 or not sys.argv[1].rpartition(":")[2].isdigit():
        sys.exit("usage: %s HOST:PORT" % sys.argv[0])
    address = ("127.0.0.1" if sys.argv[1].startswith(":") else "") + sys.argv[1]
    for step in STEPS:
        if step[0] == "turn":
            listen(PATIENCE, quiet=PAUSE)
        elif step[0] == "wait":
            listen(step[1] / 1000)
        elif step[0] == "send":
            send(address, *step[1:])
        elif step[0] == "reach":
            listen(PATIENCE, quiet=PAUSE)
            reach(*step[1:])
        else:
            close(*step[1:])
    listen(PATIENCE, quiet=1.0)
    print("end of the recorded conversation")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit("no connection to %s: %s" % (sys.argv[1], error))
    except KeyboardInterrupt:
        sys.exit(130)
'''
