"""The table of an ECHO conversation: who may do what in each phase, where it leads, and what forbids it.

Source: docs/add-a-protocol.md, "The text". Numbers in comments are those of its sentences.
"""

from __future__ import annotations

from specs.machine import Machine, Phase, never, unreachable


class P(Phase):
    """Where one connection stands."""

    NEW = "nothing was said yet"
    ASKED = "HELLO was said"
    LEAVING = "HELLO and BYE were said, and no WELCOME yet"
    LIVE = "WELCOME was said"
    ENDING = "BYE was said"
    LOST = "the client said what is no line"
    WRONG = "the server said what is no line"
    OVER = "the connection has ended"


ACTORS = {
    "HELLO": "client", "PUT": "client", "BYE": "client", "client noise": "client", "client ends": "client",
    "WELCOME": "server", "DONE": "server", "server noise": "server", "server ends": "server",
}  # fmt: skip
_FIRST = never("ECHO-HELLO-01")  # 3
_AGAIN = never("ECHO-HELLO-01", "HELLO a second time")  # 3
_MUTE = never("ECHO-BYE-01")  # 6
_EARLY = never("ECHO-HELLO-02")  # 3
_STAYS = never("ECHO-BYE-02")  # 6
_HUSH = never("ECHO-LINE-02")  # 2
_OFF = never("ECHO-LINE-01", "it goes on after what is no line")  # 1
_GONE = unreachable("a connection that has ended carries nothing")
MACHINE = Machine(P, ACTORS, {
    P.NEW:     {"HELLO": P.ASKED, "PUT": _FIRST,  "BYE": _FIRST,    "client noise": P.LOST, "client ends": _MUTE,
                "WELCOME": _EARLY, "DONE": _EARLY, "server noise": P.WRONG, "server ends": _STAYS},
    P.ASKED:   {"HELLO": _AGAIN,  "PUT": P.ASKED, "BYE": P.LEAVING, "client noise": P.LOST, "client ends": _MUTE,
                "WELCOME": P.LIVE, "DONE": _EARLY, "server noise": P.WRONG, "server ends": _STAYS},
    P.LEAVING: {"HELLO": _MUTE,   "PUT": _MUTE,   "BYE": _MUTE,     "client noise": P.LOST, "client ends": _MUTE,
                "WELCOME": P.ENDING, "DONE": _EARLY, "server noise": P.WRONG, "server ends": _STAYS},
    P.LIVE:    {"HELLO": _AGAIN,  "PUT": P.LIVE,  "BYE": P.ENDING,  "client noise": P.LOST, "client ends": _MUTE,
                "WELCOME": _EARLY, "DONE": P.LIVE, "server noise": P.WRONG, "server ends": _STAYS},
    P.ENDING:  {"HELLO": _MUTE,   "PUT": _MUTE,   "BYE": _MUTE,     "client noise": P.LOST, "client ends": _MUTE,
                "WELCOME": _EARLY, "DONE": P.ENDING, "server noise": P.WRONG, "server ends": P.OVER},
    P.LOST:    {"HELLO": _OFF,    "PUT": _OFF,    "BYE": _OFF,      "client noise": P.LOST, "client ends": _MUTE,
                "WELCOME": _HUSH, "DONE": _HUSH, "server noise": _HUSH, "server ends": P.OVER},
    P.WRONG:   {"HELLO": _HUSH,   "PUT": _HUSH,   "BYE": _HUSH,     "client noise": _HUSH, "client ends": P.OVER,
                "WELCOME": _OFF,  "DONE": _OFF, "server noise": P.WRONG, "server ends": P.OVER},
    P.OVER:    {"HELLO": _GONE,   "PUT": _GONE,   "BYE": _GONE,     "client noise": _GONE, "client ends": P.OVER,
                "WELCOME": _GONE, "DONE": _GONE, "server noise": _GONE, "server ends": P.OVER},
})  # fmt: skip
