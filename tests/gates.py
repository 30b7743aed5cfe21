"""Carrying out the steps of a workflow in a folder, as a runner of CI would."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path


def expanded(text: str, values: Mapping[str, str]) -> str:
    """A text with its expressions replaced. Raises KeyError for one that is not in `values`."""
    return re.sub(r"\$\{\{\s*([^}]*?)\s*\}\}", lambda found: values[found[1]], text)


def carried_out(script: str, folder: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """A script, as GitHub and GitLab run it: it ends with the first command that fails."""
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], cwd=folder, env=dict(env),
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
