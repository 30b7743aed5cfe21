"""The requirements of MessagePack, loaded once."""

from __future__ import annotations

from pathlib import Path

from specs.requirement import load

REQUIREMENTS = load(Path(__file__).with_name("requirements.toml"))
