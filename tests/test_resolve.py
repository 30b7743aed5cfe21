"""What `--impl` finds: names, paths, URLs and the references."""

from __future__ import annotations

import pytest

from impls.launching import manifest
from impls.launching.manifest import ManifestError, Start, resolve
from tests.made_up import IMPL, START

pytestmark = pytest.mark.usefixtures("two_protocols")


def test_a_name_is_looked_for_here_then_in_the_given_folders_then_in_the_catalogue(write, tmp_path, monkeypatch):
    places = [tmp_path / name for name in ("here", "first", "second", "catalogue")]
    for place in places:
        write(IMPL + START, f"{place.name}/it.toml")
    monkeypatch.chdir(places[0])
    monkeypatch.setattr(manifest, "CATALOG", places[3])
    for place in places:
        (found,) = resolve("it", [places[1], tmp_path / "absent", places[2]])
        assert found.folder == place
        (place / "it.toml").unlink()
    with pytest.raises(ManifestError) as caught:
        resolve("it", places[1:3])
    assert str(caught.value) == (
        f"--impl 'it': no manifest of that name; looked for NAME.toml in {', '.join(map(str, places))}; "
        "give a name that is there, the path of a manifest, reference or a URL"
    )


@pytest.mark.parametrize(("name", "meant"), [("rabitmq", "rabbitmq"), ("refrence", "reference")])
def test_a_misspelt_name_gets_a_hint(name, meant):
    with pytest.raises(ManifestError, match=f"did you mean '{meant}'"):
        resolve(name)


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 5000, "\x1b[2J"])
def test_a_name_that_no_file_can_have(name):
    with pytest.raises(ManifestError) as caught:
        resolve(name)
    assert str(caught.value).isprintable()


def test_a_path_is_taken_as_it_is(write, monkeypatch, tmp_path):
    write(IMPL + START, "sub/it.toml")
    monkeypatch.chdir(tmp_path)
    assert resolve("sub/it.toml")[0].folder == tmp_path / "sub"
    with pytest.raises(ManifestError, match="there is no such file"):
        resolve("it.toml")  # a path too: nobody means a file called it.toml.toml


def test_reference_stands_for_all_references(write, tmp_path, monkeypatch):
    monkeypatch.setattr(manifest, "REFERENCES", tmp_path)
    monkeypatch.setattr(manifest, "IMPLS", tmp_path / "elsewhere")
    write(IMPL + START, "fake/reference.toml")
    write(IMPL.replace('"it"', '"two"') + START, "fake/reference-client.toml")
    write(IMPL.replace('"fake"', '"other"') + START, "other/reference.toml")
    assert [found.protocol for found in resolve("reference")] == ["fake", "fake", "other"]
    assert [found.name for found in resolve("reference", (), "fake")] == ["two", "it"]
    (tmp_path / "other" / "reference.toml").write_text("broken")
    assert len(resolve("reference", (), "fake")) == 2
    with pytest.raises(ManifestError, match=r"there is no reference of third in .*/third; give a name"):
        resolve("reference", (), "third")


def test_a_url_is_an_address_with_facts():
    (found,) = resolve("FAKE://fred:secret@127.0.0.1:7")
    assert (found.name, found.protocol, found.role, found.profile) == ("127.0.0.1:7", "fake", "server", "2")
    assert found.start == Start("address", "127.0.0.1:7")
    assert found.facts == {
        "login": "fred",
        "queue": "/queue/{name}",
        "keepalive_s": None,
        "scripted": True,
        "limit": 7,
    }
    assert found.path is None


@pytest.mark.parametrize(
    ("url", "protocol", "message"),
    [
        (
            "fke://h:1",
            None,
            "--impl fke://h:1: the scheme 'fke' is unknown (did you mean 'fake'?); write one of: fake://",
        ),
        (
            "fake://h:1",
            "other",
            "--impl fake://h:1: the scheme 'fake' is unknown; write one of: none for this protocol; give a manifest",
        ),
        ("fake://u:p@ss/w@h", None, "--impl fake://***@h: there is no port; write fake://HOST:PORT"),
        (
            "fake://h:70000",
            None,
            "--impl fake://h:70000: 'h:70000' is not HOST:PORT; write for instance 127.0.0.1:61613 or [::1]:61613",
        ),
    ],
)
def test_a_bad_url(url, protocol, message):
    with pytest.raises(ManifestError) as caught:
        resolve(url, (), protocol)
    assert str(caught.value) == message


def test_another_protocol_than_the_one_judged_is_an_error(write):
    path = write(IMPL + START)
    with pytest.raises(ManifestError) as caught:
        resolve(str(path), (), "other")
    assert str(caught.value) == (
        f"{path}: impl.protocol: is fake, but other is judged; "
        "run the suites of fake, or give an implementation of other"
    )
