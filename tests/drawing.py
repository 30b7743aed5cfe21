"""How tests have Hypothesis draw: nothing is stored, nothing has a deadline, and nothing is shrunk."""

from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings


def quick(examples: int, **more: Any) -> settings:
    """Settings under which so many examples are drawn, and no more."""
    checks = list(HealthCheck)
    return settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=checks,
        **more,
    )


def drawn(programs: Any, count: int, number: int) -> list[Any]:
    """So many programs, as a hunt draws them; `number` seeds them."""
    found: list[Any] = []

    @quick(count)
    @seed(number)
    @given(programs)
    def draw(program: Any) -> None:
        found.append(program)

    draw()
    return found
