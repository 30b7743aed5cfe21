"""Ways of saying the same thing that must not matter. Source: STOMP 1.2, all sections."""

from strategies.stomp.aimed import LAWS
from suites.table import hunts_each

ROLES = ("server",)

test_law = hunts_each("A session said in another way has the same allowed results.", "law", LAWS, 0.7)
