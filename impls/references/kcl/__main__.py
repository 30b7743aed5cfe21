"""`python -m impls.references.kcl child|host`: the references on real pipes, as programs to try the suites on."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from impls.references.kcl.child import READ, Child, Switches, drawn
from impls.references.kcl.wire import PROFILES


def main(arguments: list[str] | None = None, prog: str = "python -m impls.references.kcl") -> int:
    """The exit status of the role that was asked for; `prog` is what the command is called."""
    parser = argparse.ArgumentParser(prog=prog, description="The reference child or host.")
    parser.add_argument("role", choices=("child", "host"))
    parser.add_argument("--profile", choices=tuple(PROFILES), default="kcl1-seed")
    parser.add_argument("--switch", action="append", default=[], metavar="NAME=VALUE", help=Switches.__doc__)
    parser.add_argument("--seed", type=int, default=None, help="draw the switches that are not given by chance")
    parser.add_argument("--record", type=Path, metavar="DIR", help="write down there what passes, for suites.offline")
    wishes = parser.parse_args(arguments)
    if wishes.role == "host":
        from impls.references.kcl.hosting import serve  # noqa: PLC0415 - a child need not wait for it

        return serve(wishes.profile)
    switches = Switches() if wishes.seed is None else drawn(wishes.seed)
    known = {field.name: field for field in fields(Switches)}
    for text in wishes.switch:
        name, _, value = text.partition("=")
        if name not in known:
            parser.error(f"--switch {name}: write one of {', '.join(known)}")
        switches = replace(switches, **{name: _value(value, getattr(switches, name))})
    recorder = None if wishes.record is None else Recorder(wishes.record)
    return child(Child(wishes.profile, switches), recorder or (lambda by, data: None))


def _value(text: str, like: Any) -> Any:
    if isinstance(like, bool):
        return text.lower() in ("1", "true", "yes")
    return int(text) if isinstance(like, int) else text


class Recorder:
    """What passes on the child's streams, in a file named after the process, for suites/offline.py to judge."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / f"{os.getpid()}.jsonl").open("w", encoding="ascii")
        self._begun = time.monotonic()

    def __call__(self, by: str, data: bytes) -> None:
        """Note down what was said; no octets: that side has ended."""
        ms = round((time.monotonic() - self._begun) * 1000, 2)
        piece = {"ms": ms, "by": by, **({"hex": data.hex()} if data else {"end": True})}
        self._file.write(json.dumps(piece) + "\n")
        self._file.flush()


def child(one: Child, note: Callable[[str, bytes], None]) -> int:
    """Run a child on this process's own streams; its exit status. `note` hears of everything that passes."""
    notes = os.environ.get("WIREPROOF_OBSERVATIONS")
    running = one.run()
    line: bytes | None = None
    while True:
        try:
            need = running.send(line)
        except StopIteration as end:
            _flush(one, notes, note)
            return int(end.value or 0)
        _flush(one, notes, note)
        line = None
        if need is READ:
            read = sys.stdin.buffer.readline()
            note("host", read)
            line = read.rstrip(b"\n") if read else None
        else:
            time.sleep(need.ms / 1000)


def _flush(one: Child, notes: str | None, note: Callable[[str, bytes], None]) -> None:
    """Write out what has gathered: observations first, since they come before any answer."""
    if one.notes:
        if notes:
            with open(notes, "a", encoding="utf-8") as file:  # noqa: PTH123 - the name is the caller's
                file.write("".join(json.dumps(note) + "\n" for note in one.notes))
        one.notes.clear()
    if one.out:
        note("child", bytes(one.out))
    for gathered, stream in ((one.err, sys.stderr.buffer), (one.out, sys.stdout.buffer)):
        if gathered:
            stream.write(gathered)
            stream.flush()
            gathered.clear()


if __name__ == "__main__":
    sys.exit(main())
