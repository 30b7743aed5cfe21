"""What a check has found, told line by line as it is found."""

from __future__ import annotations

import sys
from typing import TextIO

from impls.launching.printable import printable

OK, NOTE, OPEN, WRONG = "ok", "note", "OPEN", "WRONG"


class Report:
    """Lines for a person. `failed` when something must be mended before the implementation can be judged, `unsettled`
    when there was no time to find that out."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out
        self.failed = self.unsettled = False
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

    def unasked(self, text: str, write: str) -> None:
        """The time was up before something could be seen, which is nothing wrong by itself."""
        self.unsettled = True
        self._add(OPEN, text, write)

    def end(self, next_step: str) -> None:
        """The verdict: what to do next."""
        if self.failed:
            self._print(f"not ready: mend what is marked {WRONG}, and check again")
        elif self.unsettled:
            self._print(f"not known: give what is marked {OPEN} more time, and check again")
        else:
            self._print(f"ready: {next_step}")

    def _add(self, mark: str, text: str, write: str) -> None:
        self.lines.append((mark, text, write))
        self._print(f"  {mark:<5}  {printable(text)}")
        if write:
            self._print(f"         write: {printable(write)}")

    def _print(self, line: str) -> None:
        print(line, file=self._out or sys.stdout, flush=True)
