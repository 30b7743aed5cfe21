"""`suites.check` in every role: the references as programs are ready, and what is wrong with others is told."""

from __future__ import annotations

import pytest
from checks import check, manifest

from specs.protocol import find, names

IDL = "core+def+td+ts+meta+if+nosc"


def reference(protocol, *arguments):
    return ["{python}", "-m", f"impls.references.{protocol}", *arguments]


PORT = ("--port", "{port}")
READY = {
    ("stomp", "server", "1.2"): reference("stomp", *PORT),
    ("stomp", "client", "1.2"): reference("stomp", "client"),
    ("pulsar", "broker", "modern"): reference("pulsar", "broker", *PORT),
    ("pulsar", "broker", "seed"): reference("pulsar", "broker", "--profile", "seed", *PORT),
    ("pulsar", "client", "modern"): reference("pulsar", "client"),
    ("pulsar", "client", "seed"): reference("pulsar", "client", "--switch", "profile=seed"),
    **{("kcl", "child", name): reference("kcl", "child", "--profile", name) for name in ("kcl1-seed", "kcl1-seq")},
    **{("kcl", "host", name): reference("kcl", "host", "--profile", name) for name in ("kcl1-seed", "kcl1-seq")},
    **{("kcl", role, name): reference("kcl", role, "--profile", name) for role in ("child", "host") for name in
       ("kcl2", "kcl3")},
    **{("storm", role, "seed"): reference("storm", role) for role in ("bolt", "spout", "bolt-host", "spout-host")},
    ("storm", "spout-host", "seed+x-activate"): reference("storm", "spout-host", "--profile", "seed+x-activate"),
    ("msgpack", "server", "core"): reference("msgpack", "server", *PORT),
    ("msgpack", "client", "core"): reference("msgpack", "client"),
    ("msgpack", "codec", "core"): reference("msgpack", "codec"),
    ("msgpack", "idl", IDL): reference("msgpack", "idl"),
    ("msgpack", "idl-server", IDL): reference("msgpack", "idl-server"),
    ("msgpack", "idl-client", IDL): reference("msgpack", "idl-client"),
}  # fmt: skip


def test_every_role_of_every_protocol_is_checked():
    assert {(name, role) for name in names() for role in find(name).roles} == {key[:2] for key in READY}


@pytest.mark.parametrize("key", READY, ids=" ".join)
def test_a_reference_is_ready(key, tmp_path):
    protocol, role, profile = key
    found = check(manifest(tmp_path, protocol, role, READY[key], profile=profile))
    assert (found.code, found.wrong, found.writes) == (0, [], []), found.text


CLAIMS = {
    ("kcl", "child", "kcl1-seed"): (reference("kcl", "child", "--profile", "kcl3"), "kcl3"),
    ("kcl", "child", "kcl3"): (reference("kcl", "child", "--profile", "kcl1-seq"), "kcl1-seq"),
    ("kcl", "host", "kcl2"): (reference("kcl", "host", "--profile", "kcl1-seed"), "kcl1-seed"),
    ("storm", "bolt", "seed"): (reference("storm", "bolt", "--switch", "level=true"), "seed+x-loglevel"),
    ("pulsar", "broker", "modern"): (reference("pulsar", "broker", "--profile", "seed", *PORT), "seed"),
}


@pytest.mark.parametrize("key", CLAIMS, ids=" ".join)
def test_it_says_what_to_claim(key, tmp_path):
    protocol, role, profile = key
    command, fits = CLAIMS[key]
    found = check(manifest(tmp_path, protocol, role, command, profile=profile))
    assert found.code == 1, found.text
    assert found.writes[0].startswith(f'[impl] profile = "{fits}"'), found.text


# --- programs of each protocol that obey in part ---------------------------------------------------------------------


def wrapped(protocol, *arguments, before="", after=""):
    """A reference that is told what to do, with something changed on the way."""
    return f"""
import json, subprocess, sys
from threading import Thread
child = subprocess.Popen([sys.executable, "-m", "impls.references.{protocol}", *{arguments!r}], text=True,
    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def back():
    for line in child.stdout:
        said = json.loads(line)
        {after or "pass"}
        print(json.dumps(said), flush=True)
reader = Thread(target=back)
reader.start()
for line in sys.stdin:
    asked = json.loads(line)
    {before or "pass"}
    child.stdin.write(json.dumps(asked) + "\\n"); child.stdin.flush()
child.stdin.close()
reader.join()
"""


LINES = "import sys\nfor line in sys.stdin:\n    line = line.strip()\n"
ECHO = "    print('ERR' if line in ('c1', '0g', '0505') else line, flush=True)\n"
WRONG = {
    "a result that is changed": (
        "msgpack", "client",
        wrapped("msgpack", "client", after="ok = said.get('ok'); isinstance(ok, dict) and ok.update(result_hex='01')"),
        "has become 1",
    ),
    "no hex": (
        "msgpack", "client",
        wrapped("msgpack", "client", after="ok = said.get('ok'); isinstance(ok, dict) and ok.update(result_hex='c1')"),
        "no MessagePack",
    ),
    "a filter with errors of its own": (
        "msgpack", "codec", LINES + "    print('bad' if line == 'c1' else line, flush=True)\n", "MessagePack (c1)",
    ),
    "a filter that dies of errors": (
        "msgpack", "codec", LINES + "    if line == '0g': sys.exit('no hex')\n" + ECHO, "no hex",
    ),
    "a filter that says nothing right": ("msgpack", "codec", LINES + "    print('x', flush=True)\n", "neither 5"),
    "a tree without a service": (
        "msgpack", "idl",
        wrapped("msgpack", "idl", after="'ast' in (said.get('ok') or {}) and said['ok']['ast']['definitions'].pop()"),
        "there are a message, a service",
    ),
    "an error without a line": (
        "msgpack", "idl",
        wrapped("msgpack", "idl", after="[each.pop('line') for each in (said.get('ok') or {}).get('errors', [])]"),
        "used twice",
    ),
    "a payload that is changed": (
        "pulsar", "client",
        wrapped("pulsar", "client", after="ok = said.get('ok'); isinstance(ok, dict) and ok.update(payload_hex='01')"),
        "has become '01'",
    ),
    "no key": (
        "pulsar", "client",
        wrapped("pulsar", "client", after="ok = said.get('ok'); isinstance(ok, dict) and ok.pop('key', None)"),
        "'key' is None",
    ),
    "no checkpoints are told": (
        "kcl", "host", wrapped("kcl", "host", after="\n        if said.get('event') == 'checkpoint': continue"),
        "no {\"event\": \"checkpoint\"",
    ),
    "emits are not told": (
        "storm", "bolt-host", wrapped("storm", "bolt-host", after="\n        if said.get('event') == 'emit': continue"),
        "no event 'emit'",
    ),
    "values are changed": (
        "storm", "spout-host", wrapped("storm", "spout-host", after="'tuple' in said and said['tuple'].pop()"),
        "tells an emit of",
    ),
    "a child that says nothing": ("kcl", "child", "import sys\nfor line in sys.stdin: pass", "said nothing"),
    "a child that dies": ("kcl", "child", "import sys; sys.exit('no such module')", "no such module"),
    "a bolt that says nothing": ("storm", "bolt", "import sys\nfor line in sys.stdin: pass", "said nothing"),
    "a spout that dies": ("storm", "spout", "import sys; sys.exit('no such module')", "no such module"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told(name, tmp_path):
    protocol, role, code, words = WRONG[name]
    (tmp_path / "testee.py").write_text(code)
    profile = IDL if role == "idl" else "modern" if protocol == "pulsar" else ""
    within = 10 if words in ("said nothing", "neither 5") or "are told" in name else 60
    found = check(manifest(tmp_path, protocol, role, ["{python}", "testee.py"], profile=profile), within=within)
    assert found.code == 1, found.text
    assert any(words in line for line in found.wrong), found.text
    assert len(found.wrong) <= 4, found.text


@pytest.mark.parametrize(("protocol", "role"), [("kcl", "child"), ("storm", "bolt")])
def test_user_code_that_notes_nothing_down_is_no_fault_unless_it_is_claimed(protocol, role, tmp_path):
    silent = 'import os, runpy, sys; os.environ.pop("WIREPROOF_OBSERVATIONS", 0)\n'
    (tmp_path / "child.py").write_text(
        silent + f'sys.argv[1:] = ["{role}"]\nrunpy.run_module("impls.references.{protocol}", run_name="__main__")\n'
    )
    command = ["{python}", "child.py"]
    found = check(manifest(tmp_path, protocol, role, command))
    assert found.code == 0, found.text
    assert "WIREPROOF_OBSERVATIONS" in found.text
    claimed = check(manifest(tmp_path, protocol, role, command, scripted=True))
    assert claimed.code == 1, claimed.text
    assert "scripted = true" in claimed.wrong[0]


def test_credentials_that_are_refused(tmp_path):
    command = reference("pulsar", "broker", "--switch", "auth_required=true", *PORT)
    for auth in ("", "secret:bad"):
        found = check(manifest(tmp_path, "pulsar", "broker", command, profile="modern", auth=auth))
        assert (found.code, len(found.wrong)) == (1, 1), found.text
        assert found.writes[0].startswith("[pulsar] auth = "), found.text
    assert check(manifest(tmp_path, "pulsar", "broker", command, profile="modern", auth="secret:good")).code == 0


def test_a_codec_may_refuse_what_is_large(tmp_path):
    small = LINES + "    print('ERR' if line in ('c1', '0g', '0505') or len(line) > 140_000 else line, flush=True)\n"
    (tmp_path / "codec.py").write_text(small)
    found = check(manifest(tmp_path, "msgpack", "codec", ["{python}", "codec.py"]))
    assert (found.code, found.wrong) == (0, []), found.text
    assert "refuses a value of 512 KiB" in found.text
    (tmp_path / "codec.py").write_text(small.replace("140_000", "100_000"))
    found = check(manifest(tmp_path, "msgpack", "codec", ["{python}", "codec.py"]))
    assert "60000 octets" in found.wrong[0], found.text


def test_a_method_that_is_not_there(tmp_path):
    found = check(manifest(tmp_path, "msgpack", "server", reference("msgpack", "server", *PORT), echo="mirror"))
    assert found.code == 1, found.text
    assert found.writes[0].startswith("[msgpack] echo ="), found.text
