"""The rulebook of a client. Its rules are in `forms_*`, `duties` and `causes`; what becomes of the state in
`effects*`."""

from __future__ import annotations

from pathlib import Path

from specs.pulsar.client.machine import CLIENT, CONNECTION
from specs.requirement import load
from specs.rules import Rulebook

REQUIREMENTS = load(Path(__file__).parent.with_name("requirements.toml"))
BOOK = Rulebook("client", REQUIREMENTS, CONNECTION)
"""What a client says and reports."""
SURVIVAL = Rulebook("client", REQUIREMENTS, CLIENT)
"""That the client lives on, whatever it is told."""
