"""In which manner an implementation ended that was started here: what tells one crash from another in every run."""

from __future__ import annotations

import re
from typing import Final

ENDED: Final = "ended"
"""What the sort of failure of one that was started here and ended begins with; its manner follows."""
_STATUS: Final = re.compile(r"exit status ([0-9]{1,10})")
_SIGNALLED: Final = 128
"""A shell adds the number of a signal to this."""
_ERROR: Final = re.compile(r"\b([A-Z][A-Za-z]{0,60}(?:Error|Exception|Fault|Panic)|panic)\b")


def manner(died: str) -> str:
    """In which manner an implementation ended, by the words in which that is told: its exit status, or that it was a
    signal, and the last error that it named. "" when nothing of it is known."""
    how, _, words = died.partition("its last words:")
    status = _STATUS.search(how)
    code = int(status[1]) if status is not None else 0
    ending = "signal" if "ended by" in how or code > _SIGNALLED else f"status {code}" if status is not None else ""
    errors = _ERROR.findall(words or how)
    return " ".join(filter(None, (ending, *errors[-1:])))
