"""What a check has found, told line by line as it is found."""

from __future__ import annotations

import sys
from typing import TextIO

from impls.launching.printable import printable

OK, NOTE, WRONG = "ok", "note", "WRONG"


class Report:
    """Lines for a person. `failed` when something must be mended before the implementation can be judged."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out
        self.failed = False
        self.lines: list[tuple[str, str, str]] = []

    def head(self, text: str) -> None:
        """What is looked at."""
        self._print(printable(text))

    def good(self, text: str) -> None:
        """Something is as it should be."""
        self._add(OK, text, "")

    def note(self, text: str, write: str = "") -> None:
        """Something worth knowing, which keeps nobody from being judged."""
        self._add(NOTE, text, write)

    def wrong(self, text: str, write: str) -> None:
        """Something that must be mended first, and what to write for that."""
        self.failed = True
        self._add(WRONG, text, write)

    def end(self, next_step: str) -> None:
        """The verdict: what to do next."""
        self._print(
            f"not ready: mend what is marked {WRONG}, and check again" if self.failed else f"ready: {next_step}"
        )

    def _add(self, mark: str, text: str, write: str) -> None:
        self.lines.append((mark, text, write))
        self._print(f"  {mark:<5}  {printable(text)}")
        if write:
            self._print(f"         write: {printable(write)}")

    def _print(self, line: str) -> None:
        print(line, file=self._out or sys.stdout, flush=True)
