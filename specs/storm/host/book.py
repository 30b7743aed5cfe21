"""The rulebooks of the hosts of bolts and spouts. The rules are in the modules beside this one."""

from __future__ import annotations

from specs.rules import Rulebook
from specs.storm import ids
from specs.storm.both import Both
from specs.storm.machine import BOLT_MACHINE, SPOUT_MACHINE
from specs.storm.states import REQUIREMENTS, Row

BOLT_HOST = Rulebook("bolt-host", REQUIREMENTS, BOLT_MACHINE)
SPOUT_HOST = Rulebook("spout-host", REQUIREMENTS, SPOUT_MACHINE)
BOOKS = {"bolt-host": BOLT_HOST, "spout-host": SPOUT_HOST}
BOTH = Both(BOLT_HOST, SPOUT_HOST)

ROWS = {
    Row.PID: "STORM-INV-HOST-01",
    Row.NO_PID: "STORM-INV-HOST-02",
    Row.STRAY_LINE: "STORM-INV-HOST-03",
    Row.STRAY_MESSAGE: "STORM-INV-HOST-04",
    Row.TWO: "STORM-INV-HOST-05",
    Row.TRAILING: "STORM-INV-HOST-06",
    Row.BLANK: "STORM-INV-HOST-07",
    Row.EMPTY: "STORM-INV-HOST-08",
    Row.NO_END: "STORM-INV-HOST-09",
    Row.CRLF: "STORM-INV-HOST-10",
    Row.NO_OBJECT: "STORM-INV-HOST-11",
    Row.NO_COMMAND: "STORM-INV-HOST-12",
    Row.NO_TUPLE: "STORM-INV-HOST-13",
    Row.ODD_TASK: "STORM-INV-HOST-14",
    Row.ODD_STREAM: "STORM-INV-HOST-15",
    Row.ODD_ANCHOR: "STORM-INV-HOST-16",
    Row.ODD_ACK: "STORM-INV-HOST-17",
    Row.OTHERS: "STORM-INV-HOST-18",
    Row.CUT: "STORM-INV-HOST-21",
    Row.ENDED: "STORM-INV-HOST-22",
    Row.FLOOD: "STORM-INV-HOST-26",
    Row.NO_UTF8: "STORM-INV-HOST-27",
    Row.TWICE: "STORM-INV-HOST-28",
    Row.ODD_NUMBER: "STORM-INV-HOST-29",
    Row.NO_CHILD: "STORM-HS-18",
    Row.LEFT: "STORM-END-04",
    Row.SILENT: "STORM-HB-10",
    Row.UNREAD: "STORM-INV-HOST-24",
    Row.STDERR: "STORM-END-06",
    Row.SYNC: ids.SYNCS_DO_NO_HARM,
}
"""What says what a host makes of what its child does beside, or in place of, its messages."""
_OF_BOLTS = (Row.ODD_ANCHOR, Row.ODD_ACK, Row.TWICE, Row.SYNC)
_BOLT = " ".join(ROWS.values())
_SPOUT = " ".join(name for row, name in ROWS.items() if row not in _OF_BOLTS)
ALL = f"{_BOLT} / {_SPOUT}"
"""The ids of all of these, for both kinds of hosts."""
TAGS = {name.removeprefix("STORM-"): row for row, name in ROWS.items()}
"""What a plan calls invalid octets (`Text.why`)."""
