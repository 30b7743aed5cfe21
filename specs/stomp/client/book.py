"""The rulebook of a client, and ids that several of its rules share."""

from __future__ import annotations

from specs.rules import Rulebook
from specs.stomp import ids
from specs.stomp.client.machine import MACHINE
from specs.stomp.registry import REQUIREMENTS

BOOK = Rulebook("client", REQUIREMENTS, MACHINE, lambda state: (state.phase,))

READS = "STOMP-1.2-CLI-03"
"""What the server says is taken as it was said."""
BEHIND_ESCAPE = "STOMP-1.2-CLI-04"
BEHIND_LENGTH = "STOMP-1.2-CLI-07"
FIRST_VALUE = ids.CLI_05
BEHIND_EOLS = ids.CLI_06
TRAILING = "STOMP-1.2-ENC-05"
UNDEFINED = "STOMP-1.2-ENC-04"
BINARY = "STOMP-1.2-CTYPE-03"
LENGTHLESS = "STOMP-1.2-CLEN-03"
LIVES_ON = "STOMP-1.2-CLI-15"
NAMES_ITS_OWN = "STOMP-1.2-CLI-13"
REQUIRED = "STOMP-1.2-HDR-02"
AS_GIVEN = "STOMP-1.2-CLI-02"
BODIES = "STOMP-1.2-CLI-08"
"""Bodies reach the server as they are."""
ACKNOWLEDGES = "STOMP-1.2-ACKMODE-02"
LEAVES_WELL = "STOMP-1.2-DISC-02"
