"""The rulebook of a broker. Its rules are in `forms_*`, `duties` and `causes`, what becomes of the state in
`effects_*`."""

from __future__ import annotations

from pathlib import Path

from specs.pulsar.machine import BROKER
from specs.requirement import load
from specs.rules import Rulebook

REQUIREMENTS = load(Path(__file__).parent.with_name("requirements.toml"))
BOOK = Rulebook("broker", REQUIREMENTS, BROKER)
