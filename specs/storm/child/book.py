"""The rulebooks of bolts and spouts. The rules are in the modules beside this one."""

from __future__ import annotations

from specs.rules import Rulebook
from specs.storm import ids
from specs.storm.both import Both
from specs.storm.machine import BOLT_MACHINE, SPOUT_MACHINE
from specs.storm.states import REQUIREMENTS, Misuse

BOLT = Rulebook("bolt", REQUIREMENTS, BOLT_MACHINE)
SPOUT = Rulebook("spout", REQUIREMENTS, SPOUT_MACHINE)
BOOKS = {"bolt": BOLT, "spout": SPOUT}


BOTH = Both(BOLT, SPOUT)

MISUSED = {
    Misuse.SETUP: "STORM-INV-CHILD-01",
    Misuse.NO_MESSAGE: "STORM-INV-CHILD-02",
    Misuse.LACKING: "STORM-INV-CHILD-03",
    Misuse.NUMBER_ID: "STORM-INV-CHILD-04",
    Misuse.UNKNOWN_COMMAND: "STORM-INV-CHILD-05",
    Misuse.NO_COMMAND: "STORM-INV-CHILD-06",
    Misuse.SURPLUS_LIST: "STORM-INV-CHILD-07",
    Misuse.ODD_LIST: "STORM-INV-CHILD-08",
    Misuse.BLANK: "STORM-INV-CHILD-10",
    Misuse.NO_UTF8: "STORM-INV-CHILD-14",
    Misuse.UNKNOWN_ID: ids.UNKNOWN_IDS_ARE_ANSWERED,
}
"""What says what a child may make of input that no host should send."""
_OF_BOLTS = (Misuse.LACKING, Misuse.NUMBER_ID)
_OF_SPOUTS = (Misuse.UNKNOWN_COMMAND, Misuse.NO_COMMAND, Misuse.UNKNOWN_ID)
BOLT_MISUSES = " ".join(name for misuse, name in MISUSED.items() if misuse not in _OF_SPOUTS)
SPOUT_MISUSES = " ".join(name for misuse, name in MISUSED.items() if misuse not in _OF_BOLTS)
MISUSES = f"{BOLT_MISUSES} / {SPOUT_MISUSES}"
"""The ids of all of these, of bolts and of spouts."""
