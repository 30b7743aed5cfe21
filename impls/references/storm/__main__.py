"""`python -m impls.references.storm bolt|spout|bolt-host|spout-host`: the references as programs to try the suites
on."""

from __future__ import annotations

import argparse
import json
import os
import select
import sys
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from impls.references.storm.child import Bolt, Child, Spout
from impls.references.storm.freedoms import Switches, drawn


def main(arguments: list[str] | None = None, prog: str = "python -m impls.references.storm") -> int:
    """The exit status of the role that was asked for; `prog` is what the command is called."""
    parser = argparse.ArgumentParser(prog=prog, description="The reference children and hosts.")
    parser.add_argument("role", choices=("bolt", "spout", "bolt-host", "spout-host"))
    parser.add_argument("--profile", default="seed", help="seed, and extensions joined by +")
    parser.add_argument("--switch", action="append", default=[], metavar="NAME=VALUE", help=Switches.__doc__)
    parser.add_argument("--seed", type=int, default=None, help="draw the switches that are not given by chance")
    wishes = parser.parse_args(arguments)
    extensions = frozenset(wishes.profile.split("+")) - {"seed"}
    if wishes.role.endswith("host"):
        from impls.references.storm.hosting import serve  # noqa: PLC0415 - a child need not wait for it

        return serve(wishes.role, extensions, wishes.seed)
    switches = Switches() if wishes.seed is None else drawn(wishes.seed)
    known = {field.name: field for field in fields(Switches)}
    for text in wishes.switch:
        name, _, value = text.partition("=")
        if name not in known:
            parser.error(f"--switch {name}: write one of {', '.join(known)}")
        switches = replace(switches, **{name: _value(value, getattr(switches, name))})
    return child((Bolt if wishes.role == "bolt" else Spout)(extensions, switches))


def _value(text: str, like: Any) -> Any:
    if isinstance(like, bool):
        return text.lower() in ("1", "true", "yes")
    return int(text) if isinstance(like, int) else text


def child(one: Child) -> int:
    """Run a child on this process's own streams; its exit status."""
    notes = os.environ.get("WIREPROOF_OBSERVATIONS")
    one.pid = os.getpid()

    def touch(folder: str, name: str) -> None:
        _flush(one, notes)
        (Path(folder) / name).touch()

    one.touch = touch
    poll = select.poll()
    poll.register(0, select.POLLIN | select.POLLHUP)
    before = time.monotonic()
    while True:
        _flush(one, notes)
        if one.code is not None:
            return one.code
        ready = poll.poll(one.wakes_in())
        now = time.monotonic()
        one.advance((now - before) * 1000)
        before = now
        if ready and not one.deaf:
            data = os.read(0, 65536)
            if data:
                one.receive(data)
            else:
                poll.unregister(0)
                one.end()


def _flush(one: Child, notes: str | None) -> None:
    """Write out what has gathered: observations first, since they come before any answer."""
    if one.notes:
        if notes:
            with open(notes, "a", encoding="utf-8") as file:  # noqa: PTH123 - the name is the caller's
                file.write("".join(json.dumps(note) + "\n" for note in one.notes))
        one.notes.clear()
    for gathered, stream in ((one.err, sys.stderr.buffer), (one.out, sys.stdout.buffer)):
        if gathered:
            stream.write(gathered)
            stream.flush()
            gathered.clear()


if __name__ == "__main__":
    sys.exit(main())
