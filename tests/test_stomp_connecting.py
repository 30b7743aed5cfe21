"""The reference STOMP server: CONNECT and what comes of it."""

import re

import pytest

from impls.references.stomp.reference import Server
from tests.stomp_talk import VERSIONS, Client, read


@pytest.mark.parametrize("command", [b"CONNECT", b"STOMP"])
@pytest.mark.parametrize("version", VERSIONS)
def test_connect_is_answered_by_connected(command, version):
    client = Client(Server(), version, command=command)
    assert client.connected["version"] == version
    assert re.fullmatch(r"\S+/\S+( .*)?", client.connected["server"])
    assert (client.connected.get("heart-beat") is None) == (version == "1.0")


@pytest.mark.parametrize(
    ("offered", "supported", "chosen"),
    [
        ("1.0,1.1,1.2", "1.0,1.1,1.2", "1.2"),
        ("1.2,1.0,9.9", "1.0,1.1,1.2", "1.2"),
        ("1.0,1.1,2.0", "1.0,1.1,1.2", "1.1"),
        ("1.0,1.2", "1.0,1.1", "1.0"),
        ("foo,1.1,10.0,,1.20", "1.0,1.1,1.2", "1.1"),
    ],
)
def test_highest_common_version_is_chosen(offered, supported, chosen):
    session = Server(versions=supported).open()
    session.send(f"CONNECT\naccept-version:{offered}\nhost:x\n\n\0".encode())
    assert read(session.take())[0]["version"] == chosen


@pytest.mark.parametrize("offered", ["2.0", "", "1.20,1", "one"])
def test_no_common_version_is_an_error(offered):
    session = Server().open()
    session.send(f"CONNECT\naccept-version:{offered}\nhost:x\n\n\0".encode())
    (error,) = read(session.take())
    assert (error.command, error["version"], session.closed) == ("ERROR", "1.0,1.1,1.2", True)


def test_client_without_accept_version_speaks_1_0():
    session = Server().open()
    session.send(b"CONNECT\nlogin:a\n\n\0")
    (connected,) = read(session.take(), "1.0")
    assert connected["version"] == "1.0"
    assert connected["session"]
    session = Server(versions="1.1,1.2").open()
    session.send(b"CONNECT\n\n\0")
    assert read(session.take())[0].command == "ERROR"


def test_connect_is_not_unescaped_and_its_receipt_is_ignored():
    client = Client(
        Server(login="a:b", passcode=r"p:q\c\t"), headers=b"login:a:b\npasscode:p:q\\c\\t\nreceipt:1\nx:\\\n"
    )
    assert client.connected["version"] == "1.2"
    session = Server(login="a", passcode="b:").open()
    session.send(b"CONNECT\naccept-version:1.2\nhost:x\nlogin:a\npasscode:b\\c\n\n\0")
    assert read(session.take())[0].command == "ERROR"


def test_sessions_are_unique_and_frames_may_follow_connect_at_once():
    server = Server()
    assert len({Client(server).connected["session"] for _ in range(50)}) == 50
    session = server.open()
    session.send(
        b"CONNECT\r\naccept-version:1.2\r\nhost:x\r\n\r\n\0\r\n\nSUBSCRIBE\nid:1\ndestination:/queue/a\n\n\0"
        b"SEND\r\ndestination:/queue/a\r\nreceipt:r\r\n\nx\0"
    )
    assert [frame.command for frame in read(session.take())] == ["CONNECTED", "MESSAGE", "RECEIPT"]


@pytest.mark.parametrize("switch", ["unknown_host", "missing_host"])
def test_host_policy(switch):
    lines = {"unknown_host": b"host:nowhere\n", "missing_host": b""}[switch]
    for policy, command in (("accept", "CONNECTED"), ("refuse", "ERROR")):
        session = Server(**{switch: policy}).open()
        session.send(b"CONNECT\naccept-version:1.2\n" + lines + b"\n\0")
        assert read(session.take())[0].command == command
