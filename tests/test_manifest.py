"""Manifests: what a good one becomes, and what every bad one is answered."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from impls.launching.manifest import READY_S, Deviation, ManifestError, Start, load
from specs import protocol as protocols
from tests.made_up import COMMAND, IMAGE, IMPL, START, protocol

pytestmark = pytest.mark.usefixtures("two_protocols")


# --- a good one -------------------------------------------------------------------------------------------------------


def test_all_fields_are_read(write):
    path = write(
        '[impl]\nname = "it"\nprotocol = "fake"\nrole = "client"\nversion = "1.4"\nprofile = "1"\n'
        '[start]\nimage = "broker:1"\nlocal = "local/broker:x"\nport = 61613\nready_s = 5\n'
        'env = { KEY = "value" }\nfiles = { "/etc/x" = "text\\n" }\nrun = ["serve", "it"]\n'
        '[fake]\nlogin = "me"\nkeepalive_s = 3\n'
        '[deviations]\n"FAKE-01" = { reason = "known", issue = "https://x/1", expires = 2027-06-01, clause = "b" }\n'
    )
    impl = load(path)
    assert (impl.name, impl.protocol, impl.role, impl.version, impl.profile) == ("it", "fake", "client", "1.4", "1")
    assert impl.start == Start(
        "image", "broker:1", 61613, {"KEY": "value"}, 5.0, "local/broker:x", {"/etc/x": "text\n"}, ("serve", "it")
    )
    assert impl.facts == {
        "login": "me",
        "queue": "/queue/{name}",
        "keepalive_s": 3.0,
        "scripted": True,
        "limit": 7,
    }
    assert impl.deviations == {"FAKE-01": Deviation("known", "https://x/1", date(2027, 6, 1), clause="b")}
    assert (impl.path, impl.folder) == (path, path.parent)


def test_what_is_absent_gets_its_default(write):
    impl = load(write(IMPL + START))
    assert (impl.version, impl.profile, dict(impl.deviations)) == ("", "2", {})
    assert impl.start == Start("address", "127.0.0.1:7", None, {}, READY_S)
    assert impl.facts["queue"] == "/queue/{name}"


@pytest.mark.parametrize(
    ("start", "value", "port", "takes_port"),
    [
        ('command = ["it", "--port={port}"]', ("it", "--port={port}"), None, True),
        ('command = ["it"]\nenv = { PORT = "{port}" }', ("it",), None, True),
        ('command = ["it"]\nport = 7000', ("it",), 7000, False),
        ('command = ["it"]', ("it",), None, False),  # speaks on stdin and stdout
        ('python = "impls.fake.reference:Server"', "impls.fake.reference:Server", None, False),
        ('address = "[::1]:7"', "[::1]:7", None, False),
    ],
)
def test_each_kind_of_start(write, start, value, port, takes_port):
    found = load(write(f"{IMPL}[start]\n{start}\n")).start
    assert (found.value, found.port, found.takes_port) == (value, port, takes_port)


def test_profile_is_what_the_protocol_says_it_is(write, monkeypatch):
    bundle = protocol("fake", valid_profile=lambda text: text.startswith("2+"))
    monkeypatch.setattr(protocols, "find", lambda name: bundle)
    assert load(write(IMPL + 'profile = "2+x"\n' + START)).profile == "2+x"


# --- bad ones ---------------------------------------------------------------------------------------------------------

ROLES = "write one of: server, client"
DATE = "write 2030-12-31 without quotes, or leave it out"
ENTRY = 'must be a table: { reason = "…", issue = "https://…", expires = 2030-12-31 }'
ERRORS = [
    ("not = = toml", "is not valid TOML: Invalid value (at line 1, column 7); correct the file there"),
    ("", "[impl]: is missing; every manifest has the tables [impl] and [start]"),
    (
        "[imp]\n" + START,
        "[impl]: is missing (is 'imp' meant to be it?); every manifest has the tables [impl] and [start]",
    ),
    ('impl = "x"\n' + START, "[impl]: must be a table, not a text; write [impl] on a line of its own"),
    (IMPL, "[start]: is missing; every manifest has the tables [impl] and [start]"),
    (
        IMPL + START + "[strat]\n",
        "['strat']: unknown table (did you mean 'start'?); allowed here: impl, start, fake, deviations",
    ),
    (
        IMPL + START + "[other]\n",
        "[other]: belongs to another protocol; this is a manifest for fake: remove it",
    ),
    (
        IMPL + 'profle = "2"\n' + START,
        "impl.'profle': unknown field (did you mean 'profile'?); allowed here: name, protocol, role, version, profile",
    ),
    (IMPL.replace('name = "it"\n', "") + START, 'impl.name: is missing; write name = "…"'),
    (IMPL.replace('"it"', "7") + START, "impl.name: must be a text, not a whole number; write it in quotes"),
    (IMPL.replace('"it"', '" "') + START, "impl.name: ' ' must be one line of text that prints and is not empty"),
    (
        IMPL.replace('"it"', '"a\\u001b[2J\\u202eb"') + START,
        r"impl.name: 'a\x1b[2J\u202eb' must be one line of text that prints and is not empty",
    ),
    (IMPL + "version = 1.4\n" + START, "impl.version: must be a text, not a number; write it in quotes"),
    (IMPL.replace('protocol = "fake"\n', "") + START, "impl.protocol: is missing; write one of: fake, other"),
    (
        IMPL.replace('"fake"', '"fak"') + START,
        "impl.protocol: 'fak' is unknown (did you mean 'fake'?); write one of: fake, other",
    ),
    (IMPL.replace('role = "server"\n', "") + START, f"impl.role: is missing; {ROLES}"),
    (IMPL.replace('"server"', '"srver"') + START, f"impl.role: 'srver' is unknown (did you mean 'server'?); {ROLES}"),
    (IMPL.replace('"server"', "[]") + START, f"impl.role: must be a text, not a list; {ROLES}"),
    (IMPL + 'profile = "9"\n' + START, "impl.profile: '9' is no profile of fake; write one of: 2, 1"),
    (
        IMPL + "[start]\nready_s = 3\n",
        "[start]: does not say how to start it; give exactly one of: address, command, image, python",
    ),
    (
        IMPL + START + 'image = "x"\nport = 1\n',
        "[start]: has address and image; give exactly one of: address, command, image, python",
    ),
    (
        IMPL + START + 'comand = ["x"]\n',
        (
            "start.'comand': unknown field (did you mean 'command'?); "
            "allowed here: address, command, image, python, port, env, ready_s, local, files, run"
        ),
    ),
    (
        IMPL + '[start]\naddress = "localhost"\n',
        "start.address: 'localhost' is not HOST:PORT; write for instance 127.0.0.1:61613 or [::1]:61613",
    ),
    (
        IMPL + '[start]\naddress = "h:99999"\n',
        "start.address: 'h:99999' is not HOST:PORT; write for instance 127.0.0.1:61613 or [::1]:61613",
    ),
    (
        IMPL + START + "port = 7\n",
        "start.port: means nothing beside start.address; remove it (it is for command or image)",
    ),
    (
        IMPL + '[start]\npython = "a:b"\nenv = {}\n',
        "start.env: means nothing beside start.python; remove it (it is for command or image)",
    ),
    (IMPL + COMMAND + 'run = ["x"]\n', "start.run: means nothing beside start.command; remove it (it is for image)"),
    (IMPL + IMAGE + 'port = 1\nrun = "x"\n', "start.run: must be a list, one entry for each argument: ['x']"),
    (IMPL + COMMAND + "files = {}\n", "start.files: means nothing beside start.command; remove it (it is for image)"),
    (
        IMPL + '[start]\ncommand = "it --port {port}"\n',
        "start.command: must be a list, one entry for each argument: ['it', '--port', '{port}']",
    ),
    (
        IMPL + '[start]\ncommand = ["it", 7]\n',
        'start.command: must be a list of texts that is not empty, such as ["server", "{port}"]',
    ),
    (
        IMPL + "[start]\ncommand = []\n",
        'start.command: must be a list of texts that is not empty, such as ["server", "{port}"]',
    ),
    (
        IMPL + '[start]\ncommand = [""]\n',
        "start.command: begins with an empty text; write the program's name first",
    ),
    (
        IMPL + '[start]\ncommand = ["a\\u0000"]\n',
        "start.command: holds a NUL character, which no argument can carry; remove it",
    ),
    (IMPL + COMMAND + "port = 7\n", "start.port: and {port} in the command exclude each other; remove one of them"),
    (
        IMPL + IMAGE,
        "start.port: is missing; an image needs the port that it listens on inside the container",
    ),
    (IMPL + IMAGE + "port = 0\n", "start.port: is 0; write a port from 1 to 65535"),
    (
        IMPL + IMAGE + f"port = 0x{'f' * 5000}\n",
        "start.port: is a very large number; write a port from 1 to 65535",
    ),
    (
        IMPL + IMAGE + "port = true\n",
        "start.port: must be a whole number, not true or false; write for instance 61613",
    ),
    (
        IMPL + IMAGE + 'port = 1\nfiles = { "etc/x" = "" }\n',
        "start.files.'etc/x': must be an absolute path inside the container, such as /etc/x",
    ),
    (
        IMPL + START + "ready_s = nan\n",
        "start.ready_s: is nan; write seconds above 0 and up to 3600",
    ),
    (IMPL + START + "ready_s = 0\n", "start.ready_s: is 0; write seconds above 0 and up to 3600"),
    (
        IMPL + START + 'ready_s = "30"\n',
        "start.ready_s: must be a number of seconds, not a text; write for instance 30",
    ),
    (
        IMPL + COMMAND + "env = { N = 1 }\n",
        "start.env.'N': must be a text, not a whole number; write it in quotes",
    ),
    (IMPL + COMMAND + 'env = "N=1"\n', 'start.env: must be a table, not a text; write { KEY = "value" }'),
    (
        IMPL + COMMAND + 'env = { "A=B" = "" }\n',
        "start.env.'A=B': has an empty name, or one with '=', or holds a NUL; correct it",
    ),
    (
        IMPL + '[start]\npython = "reference"\n',
        "start.python: 'reference' is not MODULE:ATTRIBUTE, such as impls.references.stomp.reference:Server",
    ),
    (
        IMPL + START + '[fake]\nlogn = "me"\n',
        "fake.'logn': unknown field (did you mean 'login'?); allowed here: login, queue, keepalive_s, scripted, limit",
    ),
    (
        IMPL + START + "[fake]\nlogin = 7\n",
        "fake.login: must be a text, not a whole number; it is the login name",
    ),
    (
        IMPL + START + "[fake]\nlimit = true\n",
        "fake.limit: must be a whole number, not true or false; it is a limit",
    ),
    (
        IMPL + START + "[fake]\nkeepalive_s = true\n",
        "fake.keepalive_s: must be a number, not true or false; it is the ping interval in seconds",
    ),
    (
        IMPL + START + '[fake]\nqueue = "/queue/x"\n',
        (
            "fake.queue: '/queue/x' lacks {name}; it is replaced by a fresh value each time; "
            "write for instance '/queue/{name}'"
        ),
    ),
    (
        IMPL + START + '[deviations]\n"FAKE-1" = { reason = "r", issue = "i" }\n',
        (
            "deviations.'FAKE-1': names no requirement of fake (did you mean 'FAKE-01'?); "
            "correct the id or remove the entry"
        ),
    ),
    (IMPL + START + '[deviations]\n"FAKE-01" = "known"\n', f"deviations.'FAKE-01': {ENTRY}"),
    (
        IMPL + START + '[deviations]\n"FAKE-01" = { issue = "i" }\n',
        "deviations.'FAKE-01'.reason: is missing; write reason = \"…\"",
    ),
    (
        IMPL + START + '[deviations]\n"FAKE-01" = { reason = "r" }\n',
        "deviations.'FAKE-01'.issue: is missing; write issue = \"…\"",
    ),
    (
        IMPL + START + '[deviations]\n"FAKE-01" = { reason = "r", issue = "i", expires = "2030-01-01" }\n',
        f"deviations.'FAKE-01'.expires: must be a day, not a text; {DATE}",
    ),
    (
        IMPL + START + '[deviations]\n"FAKE-01" = { reason = "r", issue = "i", expires = 2030-01-01T10:00:00 }\n',
        f"deviations.'FAKE-01'.expires: must be a day, not a date with a time; {DATE}",
    ),
    (
        IMPL + START + '[deviations]\n"FAKE-01" = { reason = "r", issue = "i", expired = 2030-01-01 }\n',
        (
            "deviations.'FAKE-01'.'expired': unknown field (did you mean 'expires'?); "
            "allowed here: reason, issue, expires, clause, trace, sometimes, fingerprints"
        ),
    ),
]


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_a_bad_manifest_is_answered_by_one_clear_message(write, text, message):
    path = write(text)
    with pytest.raises(ManifestError) as caught:
        load(path)
    assert str(caught.value) == f"{path}: {message}"


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: None, "there is no such file; give the path of a manifest or its name, or a URL"),
        (lambda path: path.mkdir(), "cannot be read (Is a directory); give the path of a manifest"),
        (lambda path: path.write_bytes(b"a = '\xff'"), "is not UTF-8 text at byte 5; save the file as UTF-8"),
        (lambda path: path.write_bytes(b"#" * 1_100_000), "is larger than 1 MiB, so it is no manifest; "),
        (lambda path: path.write_text(f"x = {'9' * 5000}"), "is not valid TOML: "),  # more digits than Python reads
        (lambda path: path.write_text(f"x = {'[' * 9000}"), "is nested too deeply to be a manifest; correct the file"),
    ],
)
def test_what_is_no_manifest_at_all(tmp_path, make, why):
    path = tmp_path / "it.toml"
    make(path)
    with pytest.raises(ManifestError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: {why}")


VALUES = st.one_of(
    st.text(max_size=8),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.dates(),
    st.datetimes(),
    st.lists(st.text(max_size=3), max_size=2),
    st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
)
NAMES = ("impl", "start", "fake", "deviations", "name", "protocol", "role", "version", "profile", "address", "command")
NAMES += ("image", "python", "port", "env", "ready_s", "local", "files", "login", "queue", "limit", "FAKE-01", "reason")
GOOD = {"impl": {"name": "it", "protocol": "fake", "role": "server"}, "start": {"address": "127.0.0.1:7"}}


@given(
    changes=st.lists(st.tuples(st.sampled_from(NAMES[:4]), st.sampled_from(NAMES), VALUES), min_size=1, max_size=3),
    whole=st.booleans(),
)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_wrong_is_a_manifest_error_of_one_printable_line(tmp_path, changes, whole):
    tomli_w = pytest.importorskip("tomli_w")
    document = {key: dict(value) for key, value in GOOD.items()}
    for table, name, value in changes:
        if whole:
            document[table] = value
        elif isinstance(document.setdefault(table, {}), dict):
            document[table][name] = value
    path = tmp_path / "drawn.toml"
    path.write_bytes(tomli_w.dumps(document).encode("utf-8", "replace"))
    message = f"{path}: good after all"
    try:
        load(path)
    except ManifestError as error:
        message = str(error)
    assert message.isprintable()
    assert message.startswith(f"{path}: ")
