"""How requirements.toml is read: sections say what their requirements have in common."""

from __future__ import annotations

import pytest

from specs.requirement import Requirement, load

SECTIONS = """
[[section]]
name = "First"
level = "MAY"
roles = ["server"]
profiles = ["1"]

[section.requirement.A-1]
source = "L1"
statement = "It may."

[[section]]
name = "Second"
level = "MUST"
roles = ["server"]
profiles = ["1", "2"]

[section.requirement.A-2]
source = "L2"
statement = "It must."

[section.requirement."A-1.2-3"]
level = "SHOULD"
profiles = ["2"]
source = "L3"
statement = "It should."
untestable = "Nobody can see it."
"""


@pytest.fixture
def read(tmp_path):
    """The requirements of a file with this text."""

    def reading(text: str) -> list[Requirement]:
        path = tmp_path / "requirements.toml"
        path.write_text(text, encoding="utf-8")
        return list(load(path).values())

    return reading


def test_a_section_says_what_its_requirements_have_in_common(read):
    one, two, three = read(SECTIONS)
    assert one == Requirement("A-1", "First", "MAY", ("server",), ("1",), "L1", "It may.")
    assert two == Requirement("A-2", "Second", "MUST", ("server",), ("1", "2"), "L2", "It must.")
    why = "Nobody can see it."
    assert three == Requirement("A-1.2-3", "Second", "SHOULD", ("server",), ("2",), "L3", "It should.", untestable=why)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (SECTIONS.replace('level = "MUST"', 'statement = "all"'), "section Second: statement is not what requirements"),
        (SECTIONS.replace("A-2", "A-1"), "requirement A-1 is given twice"),
        (
            SECTIONS.replace('roles = ["server"]', "roles = []"),
            "requirement A-1: roles must be a list that is not empty",
        ),
        (SECTIONS.replace('"SHOULD"', '"OUGHT"'), "requirement A-1.2-3: level must be one of"),
        (SECTIONS.replace('source = "L3"', ""), "requirement A-1.2-3: .*source"),
    ],
)
def test_what_is_wrong_is_named(read, text, why):
    with pytest.raises(ValueError, match=why):
        read(text)
