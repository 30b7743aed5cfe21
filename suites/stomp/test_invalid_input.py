"""Invalid input of every kind. Source: STOMP 1.2, ERROR, and the grammar."""

from strategies.stomp import misuse, refusals
from suites.table import hunts

ROLES = ("server",)

test_misuses = hunts(
    "Each invalid input behind a legal session, with witnesses.",
    misuse.misuses(),
    misuse.interpret,
    3,
    avoids=True,
    deals=misuse.ROW,
)
test_refused_frames = hunts(
    "A frame that has to be refused has no effect, whatever its command and whatever is wrong with it.",
    refusals.refusals(),
    refusals.interpret,
    3,
)
