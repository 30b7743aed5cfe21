"""Any row of any kind, with values that are hostile where they can be."""

from __future__ import annotations

from hypothesis import strategies as st

from records.rows import COLUMNS, KINDS, Row

TRAPS = [
    "",
    "\x1b[2J\x1b]0;pwned\x07",
    "\u202eevil\u2066",
    "<script>alert(1)</script>",
    '"}\n{"kind":"end"}',
    "\ud800",
    "a|b`c`",
    "\x00\x9b31m",
    "\u2028\u2029\x85\r\n",
    "e" + "\u0301" * 40,
    "𝕏é漢",
    "\ufffe\U000e0001",
]
hostile = st.one_of(st.sampled_from(TRAPS), st.text(st.characters(), max_size=12))
names = st.text("abcXYZ019._", min_size=1, max_size=8).filter(lambda name: name[0] != ".")
numbers = st.integers(-(2**63), 2**63 - 1)
VALUES = {
    str: hostile,
    int: numbers,
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    tuple: st.lists(hostile, max_size=3).map(tuple),
}
json_values = st.recursive(
    st.none() | st.booleans() | numbers | hostile,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(hostile, inner, max_size=2),
    max_leaves=4,
)


@st.composite
def rows(draw: st.DrawFn, kinds: tuple[str, ...] = tuple(KINDS)) -> Row:
    """Any row of these kinds, any value that its columns can hold."""
    kind = draw(st.sampled_from(kinds))
    values = {"run": draw(names), "worker": draw(names)}
    for name, column in COLUMNS[kind].items():
        if name in values:
            continue
        value = VALUES[column.type]
        if column.required:
            value = value.filter(bool)
        elif column.nullable:
            value = st.none() | value
        values[name] = draw(value)
    extra = draw(st.dictionaries(st.text(max_size=4).map("x".__add__), json_values, max_size=2))
    return KINDS[kind](extra={k: v for k, v in extra.items() if k not in COLUMNS[kind]}, **values)
