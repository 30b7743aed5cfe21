"""What the user of a run should know beside its verdicts: what was not played or not judged, and what would help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from records.rows import MissedRow, RestRow
from suites.cards import Card
from suites.deadline import at_least, larger
from suites.hunt import Hunter, Pursuit
from suites.playing import QUARTER
from suites.rests import needed


def of_corpus(corpus: Sequence[Card], pursuits: Sequence[Pursuit], left: int, budget_s: float) -> str:
    """How much of a corpus was played, and why not all of it: there was no time for `left` of its programs."""
    known = {pursuit.prop.key for pursuit in pursuits}
    strange = sum(card.key not in known for card in corpus)
    told = f"{len(corpus) - strange - left} of {len(corpus)} programs of the corpus were played"
    told += f"; {strange} are of properties that were not collected" if strange else ""
    return told + (f"; there was no time for {left}: {larger(budget_s)} gives it more" if left else "")


def of_rests(
    hunter: Hunter, pursuits: Sequence[Pursuit], deck: Sequence[Card], budget_s: float
) -> Iterator[tuple[RestRow, str]]:
    """The requirements that were not judged since that takes a longer silence than the budget, as rows and as
    remarks."""
    known = {pursuit.prop.key: pursuit.prop for pursuit in pursuits}
    found = needed(_unjudged(hunter), deck, known, hunter.setting, budget_s)
    times = 1 if hunter.beside else QUARTER
    for name, needs_s in found.items():
        why = f"{name}: not judged: needs {needs_s:.0f} s of silence; {at_least(times * needs_s)} has it"
        yield RestRow(requirement=name, needs_s=round(needs_s, 3)), why


def of_missed(hunter: Hunter, deck: Sequence[Card]) -> Iterator[MissedRow]:
    """The requirements that were not judged though all of the deck that judges them on the reference was played to its
    end. What was put off, or cut short by the end of the run, was not."""
    for name in _unjudged(hunter):
        cards = [card for card in deck if name in card.judges]
        if cards and all((card.key, card.program) in hunter.played for card in cards):
            yield MissedRow(requirement=name, programs=len(cards))


def of_unreached(hunter: Hunter, pursuits: Sequence[Pursuit], deck: Sequence[Card]) -> Iterator[str]:
    """How far a run came that was asked for single requirements and did not reach them."""
    plans = sum(pursuit.tally.plans for pursuit in pursuits)
    for name in _unjudged(hunter):
        keys = {card.key for card in deck if name in card.judges}
        reached = sum(p.tally.plans for p in pursuits if p.prop.key in keys)
        where = f", {reached} of them of properties that reach it on the reference" if keys else ""
        yield f"{name} was not reached in {plans} conversations{where}"


def _unjudged(hunter: Hunter) -> list[str]:
    return sorted(hunter.binding.keys() - hunter.judged - hunter.faults.keys())
