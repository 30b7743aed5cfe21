"""What the tests of `suites.check` share: a check as a program of its own, timed, and what it has said."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from suites.check import main

ROOT = Path(__file__).resolve().parent.parent
LIMIT_S = 10.0
BUSY_S = 2.0
"""What starting and ending the process of a check may take beside it, for each program that waits for a processor."""


@dataclass(frozen=True)
class Checked:
    """How a check ended, and its lines."""

    code: int
    text: str
    seconds: float

    @property
    def wrong(self) -> list[str]:
        """What must be mended, or needs more time."""
        return [line[7:].strip() for line in self.text.splitlines() if line.startswith(("  WRONG", "  OPEN "))]

    @property
    def writes(self) -> list[str]:
        """What is to be written."""
        return [
            line.split("write:", 1)[1].strip() for line in self.text.splitlines() if line.startswith("         write:")
        ]


def check(*arguments: str | Path, within: float = 25.0) -> Checked:
    """A check in this process, with patience for a machine under load."""
    out, begun = io.StringIO(), time.monotonic()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = main([*map(str, arguments), f"--within={within:g}"])
    return Checked(code, out.getvalue(), time.monotonic() - begun)


def program(*arguments: str | Path) -> Checked:
    """A check as users run it, in a process of its own, which must end in its time whatever it looks at."""
    begun = time.monotonic()
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "suites.check", *map(str, arguments)]
    ended = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=300)
    seconds = time.monotonic() - begun
    waiting = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    assert seconds < LIMIT_S + BUSY_S * waiting, ended.stdout
    assert "Traceback" not in ended.stderr, ended.stderr
    return Checked(ended.returncode, ended.stdout + ended.stderr, seconds)


def manifest(folder: Path, protocol: str, role: str, command: list[str], *, profile: str = "", **facts: object) -> Path:
    """A manifest for a command, which finds this checkout."""
    told = "".join(f"{name} = {_toml(value)}\n" for name, value in facts.items())
    claim = f'profile = "{profile}"\n' if profile else ""
    path = folder / f"{protocol}-{role}.toml"
    path.write_text(
        f'[impl]\nname = "it"\nprotocol = "{protocol}"\nrole = "{role}"\n{claim}[start]\ncommand = {_toml(command)}\n'
        f'env = {{ PYTHONPATH = "{ROOT}", PYTHONUNBUFFERED = "" }}\n[{protocol}]\n{told}',
        encoding="utf-8",
    )
    return path


def _toml(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        escaped = "".join(c if c.isprintable() and c not in '\\"' else f"\\u{ord(c):04x}" for c in value)
        return f'"{escaped}"'
    return str(value).lower()
