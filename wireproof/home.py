"""Where the suite is, and how this process comes to find it."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
INSTALLED = HERE / "tree"
"""The suite as the wheel carries it."""
TREE = INSTALLED if INSTALLED.is_dir() else HERE.parent
"""The folder that holds `specs`, `suites` and the others: in a checkout it is the checkout."""


def enter() -> None:
    """Let this process find the suite, and what is in the user's folder after everything else.

    Nothing is told to the programs that it starts: a server under test must not find our modules before its own.
    """
    sys.dont_write_bytecode = True  # a class of the user's that is judged in memory leaves no __pycache__ beside it
    here = str(Path.cwd())
    sys.path[:] = [str(TREE), *(entry for entry in sys.path if entry not in ("", here, str(TREE))), here]
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(_cache() / "hypothesis"))


def _cache() -> Path:
    """A folder for what need not be kept, outside the user's own."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(given) if Path(given).is_absolute() else Path.home() / ".cache"
    try:
        folder = folder / "wireproof"
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.gettempdir()) / f"wireproof-{os.getuid()}"
    return folder if os.access(folder, os.W_OK) else Path(tempfile.gettempdir()) / f"wireproof-{os.getuid()}"
