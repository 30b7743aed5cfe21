"""ECHO peers with one fault each, and the requirement that it breaks."""

from __future__ import annotations

from impls.references.echo.reference import ClientEnd, Peer, ServerEnd


class Unwelcoming(ServerEnd):
    def hello(self) -> None:
        """Says nothing."""


class TwiceWelcoming(ServerEnd):
    def hello(self) -> None:
        self.say("WELCOME\nWELCOME")


class Hasty(ServerEnd):
    """Says WELCOME behind the first DONE when a PUT came with HELLO."""

    def hello(self) -> None:
        self.later.append((2, ""))

    def act(self, name: str) -> None:
        if name:
            super().act(name)
        else:
            self.say("WELCOME")


class Forgetful(ServerEnd):
    """Loses the third PUT."""

    seen = 0

    def put(self, name: str) -> None:
        self.seen += 1
        if self.seen != 3:
            super().put(name)


class Misnaming(ServerEnd):
    """Answers the second of two open PUTs with the name of the first."""

    def put(self, name: str) -> None:
        super().put(self.later[0][1] if self.later else name)


class Repeating(ServerEnd):
    """Answers twice when two answers are due at once."""

    def act(self, name: str) -> None:
        if self.later:
            self.say(f"DONE {name}")
        super().act(name)


class Lingering(ServerEnd):
    def end(self) -> None:
        """Never closes."""


class Abrupt(ServerEnd):
    """Closes on BYE, whatever is open."""

    def bye(self) -> None:
        self.closed = True


class Tired(ServerEnd):
    """Closes after five PUTs."""

    seen = 0

    def put(self, name: str) -> None:
        self.seen += 1
        if self.seen == 5:
            self.closed = True
        super().put(name)


class Unmoved(ServerEnd):
    def garbage(self) -> None:
        """Takes no notice."""


class Scolding(ServerEnd):
    def garbage(self) -> None:
        self.say("DONE error")
        super().garbage()


class Chatty(ServerEnd):
    """Says something of its own when three PUTs wait."""

    def put(self, name: str) -> None:
        if len(self.later) == 2:
            self.say("NEWS")
        super().put(name)


class Rude(ClientEnd):
    def begin(self) -> None:
        self.say("PUT first\nHELLO")


class Greedy(ClientEnd):
    """PUTs the last name twice."""

    def act(self, name: str) -> None:
        super().act(name)
        if name == self.names[-1]:
            super().act(name)


class Cautious(ClientEnd):
    """PUTs one thing after another."""

    def welcome(self) -> None:
        self.soon(self.names[0])

    def done(self, name: str) -> None:
        self.open.remove(name)
        rest = self.names[self.names.index(name) + 1 :]
        if rest:
            self.soon(rest[0])
        else:
            self.end()


class Orderly(ClientEnd):
    """Hangs when answers come in another order than it asked."""

    stuck = False

    def done(self, name: str) -> None:
        self.stuck = self.stuck or name != self.open[0]
        if not self.stuck:
            super().done(name)


class Talkative(ClientEnd):
    def end(self) -> None:
        if not self.open and not self.later:
            self.say("BYE\nPUT again")


class Deaf(ClientEnd):
    def garbage(self) -> None:
        """Takes no notice."""


class Mumbling(ClientEnd):
    """Says a word of the other role."""

    def end(self) -> None:
        if not self.open and not self.later:
            self.say("WELCOME")


SERVERS: dict[type[Peer], str] = {
    Unwelcoming: "ECHO-HELLO-02",
    TwiceWelcoming: "ECHO-HELLO-02",
    Hasty: "ECHO-HELLO-02",
    Forgetful: "ECHO-PUT-01",
    Misnaming: "ECHO-PUT-02",
    Repeating: "ECHO-PUT-02",
    Lingering: "ECHO-BYE-02",
    Abrupt: "ECHO-BYE-02",
    Tired: "ECHO-BYE-02",
    Unmoved: "ECHO-LINE-02",
    Scolding: "ECHO-LINE-02",
    Chatty: "ECHO-LINE-01",
}
CLIENTS: dict[type[Peer], str] = {
    Rude: "ECHO-HELLO-01",
    Greedy: "ECHO-PUT-03",
    Cautious: "ECHO-PUT-04",
    Orderly: "ECHO-BYE-01",
    Talkative: "ECHO-BYE-01",
    Deaf: "ECHO-LINE-02",
    Mumbling: "ECHO-LINE-01",
}
