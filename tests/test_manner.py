"""What tells one crash of an implementation from another one, in each run, without any value of this one."""

from __future__ import annotations

import pytest

from suites.manner import manner

WORDS = "in this conversation; its last words:"


@pytest.mark.parametrize(
    ("died", "found"),
    [
        (f"it ended with exit status 1 {WORDS} x.rb: cannot (NoMemoryError)", "status 1 NoMemoryError"),
        (f"it ended with exit status 1 {WORDS} x.rb:7: no such thing (NoMethodError)", "status 1 NoMethodError"),
        (f"it ended with exit status 7 {WORDS} none", "status 7"),
        (f"it was ended by SIGSEGV {WORDS} none", "signal"),
        (f"it was ended by SIGABRT {WORDS} double free", "signal"),
        (f"its container is exited with exit status 139 {WORDS} none", "signal"),
        (f"it ended with exit status 2 {WORDS} panic: runtime error: index out of range [3]", "status 2 panic"),
        (f"it ended with exit status 1 {WORDS} java.lang.NullPointerException: 12", "status 1 NullPointerException"),
        ("it raised ValueError: 12 in this conversation", "ValueError"),
        ("it ended", ""),
    ],
)
def test_a_crash_is_told_by_its_status_and_by_the_error_that_it_names(died, found):
    assert manner(died) == found
