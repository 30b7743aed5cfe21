"""What is no message. Neither specification has a rule for it; other clients must not feel it."""

import pytest

from strategies.msgpack import misuse
from strategies.msgpack.aimed import misusing

ROLES = ("server",)


@pytest.mark.weight(2)
def test_misuses(hunt):
    """Each misuse behind a legal conversation, with witnesses."""
    hunt(misuse.misuses(), misuse.interpret)


def test_wrong_messages(hunt):
    """Values that are nearly messages, and answers that nobody asked for."""
    names = (
        "no array",
        "wrong length",
        "wrong type",
        "wrong id",
        "wrong method",
        "wrong params",
        "response",
        "same id",
    )
    hunt(misuse.misuses(), misusing(*names))


def test_hostile_octets(hunt):
    """Octets that are no value, sizes that lie, great depth."""
    hunt(misuse.misuses(), misusing("never used", "truncated", "liar", "deep", "large", "greeting", "flood"))
