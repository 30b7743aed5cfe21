"""Values as they come back. Source: MessagePack specification, Type system, Formats."""

from strategies.msgpack import sweeps
from strategies.msgpack.aimed import ODD_VALUES, VALUES
from suites.table import hunts

ROLES = ("server",)

test_values = hunts("Values of every format at its boundaries.", VALUES.programs, VALUES.interpret)
test_boundaries = hunts(
    "Every boundary of every format, alone and in containers.", sweeps.sweeps(), sweeps.calls, 2, deals=sweeps.ROW_DEALT
)
test_odd_values = hunts(
    "Extensions, timestamps, and what a server may refuse.", ODD_VALUES.programs, ODD_VALUES.interpret
)
