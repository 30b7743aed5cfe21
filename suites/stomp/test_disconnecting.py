"""Ending a session. Source: 003_30478fd2f19f0da0.txt L194-212, L263; STOMP 1.2, DISCONNECT."""

from strategies.stomp import misuse
from strategies.stomp.aimed import ENDINGS, misusing
from suites.table import hunts

ROLES = ("server",)

test_endings = hunts("DISCONNECT, close and reset, with work under way.", ENDINGS.programs, ENDINGS.interpret)
test_after_the_end = hunts("Frames behind DISCONNECT.", misuse.misuses(), misusing("INV-38"), avoids=True)
