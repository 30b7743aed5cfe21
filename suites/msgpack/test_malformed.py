"""What is no message. Neither specification has a rule for it; other clients must not feel it."""

from strategies.msgpack import misuse
from strategies.msgpack.aimed import misusing
from suites.table import hunts

ROLES = ("server",)

test_misuses = hunts(
    "Each misuse behind a legal conversation, with witnesses.", misuse.misuses(), misuse.interpret, 2, deals=misuse.ROW
)
test_wrong_messages = hunts(
    "Values that are nearly messages, and answers that nobody asked for.",
    misuse.misuses(),
    misusing(
        "no array", "wrong length", "wrong type", "wrong id", "wrong method", "wrong params", "response", "same id"
    ),
)
test_hostile_octets = hunts(
    "Octets that are no value, sizes that lie, great depth.",
    misuse.misuses(),
    misusing("never used", "truncated", "liar", "deep", "large", "greeting", "flood"),
)
