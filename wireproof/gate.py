"""What a workflow is told of a run: `python -m wireproof.gate RESULTS` prints `verdict=` and `summary=`, a line each.

A folder of several results (of several protocols or roles) has the worst of their verdicts. No summary at all is an
error: the run ended before it could judge anything.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

WORST = ("error", "fail", "pass")
MAX_OCTETS = 64 << 20
MAX_TEXT = 2000


def told(results: Path) -> tuple[str, str]:
    """The verdict of a folder, and the sentence of each run in it."""
    paths = [results / "summary.json", *sorted(results.glob("*/summary.json"))]
    runs = [found for path in paths if path.is_file() and (found := _read(path))]
    if not runs:
        return "error", "nothing was judged: there is no summary of this run"
    verdicts = {str(run.get("verdict")) for run in runs}
    sentences = "; ".join(str(run.get("sentence", "")) for run in runs)
    return next((each for each in WORST if each in verdicts), "error"), " ".join(sentences.split())[:MAX_TEXT]


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(MAX_OCTETS))
    except (OSError, ValueError):
        return {"verdict": "error", "sentence": f"{path.name} cannot be read"}
    return found if isinstance(found, dict) else {"verdict": "error", "sentence": f"{path.name} is no summary"}


def main(arguments: list[str]) -> int:
    """Print it."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m wireproof.gate RESULTS\n")
        return 4
    verdict, summary = told(Path(arguments[0]))
    sys.stdout.write(f"verdict={verdict}\nsummary={summary}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
