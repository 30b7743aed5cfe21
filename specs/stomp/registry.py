"""The requirements of STOMP, loaded once for the books of both roles."""

from __future__ import annotations

from pathlib import Path

from specs.requirement import load

REQUIREMENTS = load(Path(__file__).with_name("requirements.toml"))
