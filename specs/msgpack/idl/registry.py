"""The requirements of the protocol, for the rulebooks of the two roles of the interface language."""

from __future__ import annotations

from pathlib import Path

from specs.requirement import load

REQUIREMENTS = load(Path(__file__).parents[1] / "requirements.toml")
