"""A client that speaks to the reference STOMP server in plain octets.

Nothing here uses the specification: frames are written out, and the little reader below is its own.
"""

import re

VERSIONS = ("1.0", "1.1", "1.2")


class Got:
    """A frame that the server sent."""

    def __init__(self, command, headers, body):
        self.command, self.headers, self.body = command, headers, body

    def __getitem__(self, name):
        return next(value for key, value in self.headers if key == name)

    def get(self, name):
        return next((value for key, value in self.headers if key == name), None)

    def __repr__(self):
        return f"{self.command} {self.headers} {self.body!r}"


def unescape(text, version):
    known = {"n": "\n", "c": ":", "\\": "\\"} | ({"r": "\r"} if version == "1.2" else {})
    if version == "1.0":
        return text
    assert ":" not in text
    return re.sub(r"\\(.?)", lambda found: known[found[1]], text, flags=re.DOTALL)


def escape(text, version):
    if version == "1.0":
        return text
    text = text.replace("\\", r"\\").replace(":", r"\c").replace("\n", r"\n")
    return text.replace("\r", r"\r") if version == "1.2" else text


def read(data, version="1.2"):
    """All frames in `data`, which must be nothing but whole and well-formed frames."""
    frames, eol = [], rb"\r?\n" if version == "1.2" else rb"\n"
    while data := re.sub(rb"\A(?:%b)+" % eol, b"", data):
        head = re.split(rb"(%b%b)" % (eol, eol), data, maxsplit=1)
        assert len(head) == 3, data
        lines = re.split(eol, head[0])
        command, data = lines[0].decode(), head[2]
        headers = []
        for line in lines[1:]:
            name, colon, value = line.decode().partition(":")
            assert name
            assert colon
            assert version != "1.2" or "\r" not in line.decode()
            plain = command == "CONNECTED"
            headers.append((name, value) if plain else (unescape(name, version), unescape(value, version)))
        length = next((value for name, value in headers if name == "content-length"), None)
        end = data.index(0) if length is None else int(length)
        assert data[end] == 0
        frames.append(Got(command, headers, data[:end]))
        data = data[end + 1 :]
        assert command in ("CONNECTED", "MESSAGE", "RECEIPT", "ERROR")
        assert frames[-1].body == b"" or (command in ("MESSAGE", "ERROR") and length and frames[-1].get("content-type"))
    return frames


class Client:
    """One connection, spoken to in octets."""

    def __init__(self, server, version="1.2", headers=b"", command=b"CONNECT"):
        self.server, self.version, self.session = server, version, server.open()
        if version:
            self.session.send(b"%b\naccept-version:%b\nhost:localhost\n%b\n\0" % (command, version.encode(), headers))
            (self.connected,) = self.frames()
            assert self.connected.command == "CONNECTED"

    def frames(self):
        return read(self.session.take(), self.version or "1.2")

    def say(self, data):
        self.session.send(data)
        return self.frames()

    def ok(self, data):
        """Say a frame, written with %R where its receipt goes; everything but the receipt that came back."""
        frames = self.say(data.replace(b"%R", b"receipt:ok"))
        assert [frame["receipt-id"] for frame in frames if frame.command == "RECEIPT"] == ["ok"], frames
        return [frame for frame in frames if frame.command != "RECEIPT"]

    def send(self, destination, *bodies, extra=b""):
        got = []
        for body in bodies:
            got += self.ok(b"SEND\ndestination:" + destination + b"\n%R\n" + extra + b"\n" + body + b"\0")
        return got

    def subscribe(self, destination, number=b"0", mode=b"auto"):
        return self.ok(b"SUBSCRIBE\nid:" + number + b"\ndestination:" + destination + b"\nack:" + mode + b"\n%R\n\n\0")

    def settle(self, message, verb=b"ACK", extra=b""):
        if self.version == "1.2":
            return self.ok(verb + b"\nid:" + escape(message["ack"], "1.2").encode() + b"\n%R\n" + extra + b"\n\0")
        number = escape(message["message-id"], self.version).encode()
        return self.ok(
            verb
            + b"\nmessage-id:"
            + number
            + b"\nsubscription:"
            + message["subscription"].encode()
            + b"\n%R\n"
            + extra
            + b"\n\0"
        )


def bodies(frames):
    assert all(frame.command == "MESSAGE" for frame in frames), frames
    return [frame.body for frame in frames]


def is_refused(client, data, receipt="bad"):
    """The server answers with one ERROR and closes; what stands behind in the same piece has no effect."""
    witness = Client(client.server)
    witness.subscribe(b"/queue/witness")
    frames = client.say(data + b"SEND\ndestination:/queue/witness\nreceipt:late\n\nlate\0")
    assert [frame.command for frame in frames] == ["ERROR"], frames
    assert frames[0]["message"]
    assert frames[0].get("receipt-id") == receipt, frames
    assert client.session.closed
    assert witness.frames() == []
    witness.session.hang_up()
    return frames[0]


def nothing_left(server):
    return not server.sessions and not server.broker.destinations and not server.broker.kept and not server.broker.later


def tx(name):
    return b"transaction:" + name + b"\n"


S, R = b"SEND\ndestination:/queue/a\n", b"receipt:bad\n"


ERRORS = {
    "send without destination": b"SEND\n" + R + b"\nx\0",
    "send with empty destination": b"SEND\ndestination:\n" + R + b"\nx\0",
    "subscribe without destination": b"SUBSCRIBE\nid:5\n" + R + b"\n\0",
    "subscribe without id": b"SUBSCRIBE\ndestination:/queue/a\n" + R + b"\n\0",
    "subscribe with empty id": b"SUBSCRIBE\nid:\ndestination:/queue/a\n" + R + b"\n\0",
    "duplicate id": b"SUBSCRIBE\nid:0\ndestination:/queue/z\n" + R + b"\n\0",
    "ack mode": b"SUBSCRIBE\nid:5\nack:AUTO\ndestination:/queue/a\n" + R + b"\n\0",
    "empty ack mode": b"SUBSCRIBE\nid:5\nack:\ndestination:/queue/a\n" + R + b"\n\0",
    "unsubscribe without id": b"UNSUBSCRIBE\ndestination:/queue/w\n" + R + b"\n\0",
    "unsubscribe unknown id": b"UNSUBSCRIBE\nid:7\n" + R + b"\n\0",
    "ack without id": b"ACK\n" + R + b"\n\0",
    "ack unknown id": b"ACK\nid:nope\n" + R + b"\n\0",
    "ack as in 1.1": b"ACK\nmessage-id:1\nsubscription:0\n" + R + b"\n\0",
    "nack without id": b"NACK\n" + R + b"\n\0",
    "nack unknown id": b"NACK\nid:nope\n" + R + b"\n\0",
    "begin without id": b"BEGIN\n" + R + b"\n\0",
    "begin with empty id": b"BEGIN\ntransaction:\n" + R + b"\n\0",
    "begin of an open id": b"BEGIN\ntransaction:open\n" + R + b"\n\0",
    "commit without id": b"COMMIT\n" + R + b"\n\0",
    "commit unknown id": b"COMMIT\ntransaction:x\n" + R + b"\n\0",
    "abort without id": b"ABORT\n" + R + b"\n\0",
    "abort unknown id": b"ABORT\ntransaction:x\n" + R + b"\n\0",
    "send in unknown transaction": S + tx(b"x") + R + b"\nx\0",
    "send in transaction without name": S + tx(b"") + R + b"\nx\0",
    "ack in unknown transaction": b"ACK\nid:1\n" + tx(b"x") + R + b"\n\0",
    "undefined escape": S + R + b"a:\\t\n\nx\0",
    "undefined escape in a name": S + b"\\C:1\n" + R + b"\nx\0",
    "undefined escape before": b"SEND\na:\\:\ndestination:/queue/a\n" + R + b"\nx\0",
    "undefined escape in begin": b"BEGIN\ntransaction:\\0\n" + R + b"\n\0",
    "trailing backslash": S + R + b"a:\\\n\nx\0",
    "backslash at the end of a name": S + R + b"a\\:x\n\nx\0",
    "content-length too small": S + R + b"content-length:2\n\nxyz\0",
    "content-length zero": S + R + b"content-length:0\n\nxyz\0",
    **{
        f"content-length {value!r}": S + R + b"content-length:" + value + b"\n\nabcde\0"
        for value in (b"abc", b"", b"-1", b"1e1", b"0x5", b"5.0", b"+5", b" 5", b"005", "٥".encode(), b"5 ")
    },
    **{
        f"content-length {name}": S + R + b"content-length:" + value + b"\n\nabcde\0"
        for name, value in {
            "2^31": b"2147483648",
            "2^63": b"9223372036854775808",
            "2^64 + 5": b"18446744073709551621",
            "10^30": b"1" + b"0" * 30,
            "10^5000": b"1" + b"0" * 5000,
            "zeros": b"0" * 5000 + b"5",
        }.items()
    },
    "no colon": S + R + b"nocolon\n\nx\0",
    "no name": S + R + b":x\n\nx\0",
    "raw colon": S + R + b"a:b:c\n\nx\0",
    "bare cr": S + R + b"a:b\rc\n\nx\0",
    "two crs": S + R + b"a:b\r\r\n\nx\0",
    "nul in a header": S + R + b"a:b\0c\n\nx\0",
    "not utf-8": S + R + b"a:\xff\n\nx\0",
    "not utf-8 in a name": S + R + b"\xc0\xaf:1\n\nx\0",
    "unknown command": b"FOO\n" + R + b"\n\0",
    "lower case": b"send\ndestination:/queue/a\n" + R + b"\n\0",
    "blank behind the command": b"SEND \ndestination:/queue/a\n" + R + b"\n\0",
    "server command": b"RECEIPT\nreceipt-id:1\n" + R + b"\n\0",
    "no blank line": S + R + b"\0",
    "body on subscribe": b"SUBSCRIBE\nid:5\ndestination:/queue/a\n" + R + b"\nx\0",
    "body with length on begin": b"BEGIN\ntransaction:t\ncontent-length:1\n" + R + b"\nx\0",
    "body on disconnect": b"DISCONNECT\n" + R + b"\nx\0",
}


NO_RECEIPT = {
    "lone nul": b"\0",
    "three nuls": b"\0\0\0",
    "second connect": b"CONNECT\naccept-version:1.2\nhost:x\n" + R + b"\n\0",
    "second stomp": b"STOMP\naccept-version:1.2\nhost:x\n" + R + b"\n\0",
    "receipt is what is wrong": S + b"receipt:a\\t\n\nx\0",
    "cr before a command": b"\rSEND\ndestination:/queue/a\n\n\0",
}


TEMPLATE = (
    b"CONNECT~accept-version:1.2~host:localhost~~\0~~SUBSCRIBE~id:a\\cb~destination:/queue/a~ack:client~"
    b"receipt:1~~\0~SEND~destination:/queue/a~x:\\\\n\\n\\c~content-length:6~receipt:2~~\n\0\r\n\0x\0~"
    b"BEGIN~transaction:t~~\0SEND~destination:/queue/a~transaction:t~~\nhello\n\0~~~~"
    b"COMMIT~transaction:t~receipt:3~~\0DISCONNECT~receipt:4~~\0"
)


CONVERSATION = TEMPLATE.replace(b"~", b"\n")
