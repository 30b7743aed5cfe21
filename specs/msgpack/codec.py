"""The acceptor of a MessagePack codec: what may come of decoding a vector and encoding it again.

Source: MessagePack specification. Questions are answered in their order, so the state is the list of those that are
open; a question carries what its answer must be: "value" (what the octets stand for), "error", or "either".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from specs.codec import Malformed
from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import Allow, Breach, Outcome
from specs.msgpack import values
from specs.msgpack.calls import fmt
from specs.msgpack.changes import changed
from specs.msgpack.format import decoded
from specs.msgpack.idl import typed
from specs.msgpack.idl.grammar import IDL
from specs.msgpack.lines import Answer, Ask, Line, answer, differs, whole_as_integer
from specs.msgpack.states import FMT, Config
from specs.msgpack.values import Ext, Float, Map, Text


class CodecState(NamedTuple):
    """Questions that are not answered, oldest first, and JSON values by the number of the question that gave them."""

    config: Config
    asked: tuple[Ask, ...] = ()
    gone: bool = False


def blame(short: str, why: str, then: CodecState | None = None, level: str | None = None) -> Breach:
    """A breach of the codec; judging goes on when the state after it is known."""
    if then is None:
        return Breach("codec", full(short), why, level=level)
    return Breach("codec", full(short), why, then=then, level=level)


def full(short: str) -> str:
    """The id of a requirement: of the format, or of the messages that a document declares."""
    return IDL + short if short.startswith(("ENC", "DEF")) else FMT + short


class CodecModel:
    """See the module."""

    drifts = False

    def initial(self, config: Config) -> CodecState:
        """Nothing asked."""
        return CodecState(config)

    def drift(self, state: CodecState) -> Iterable[CodecState]:
        """None."""
        return ()

    def owed(self, state: CodecState, role: str) -> Iterator[str]:
        """The rules of the questions that are not answered."""
        if role == "codec" and not state.gone:
            yield from (full(ask.rule or "01") for ask in state.asked)

    def step(self, state: CodecState, event: Event) -> Iterable[Outcome]:
        """One reading always."""
        if isinstance(event, Said):
            if event.by == "user":
                return (Allow(state._replace(asked=(*state.asked, event.frame))),)
            return (_answered(state, event.frame),)
        if isinstance(event, Quiet):
            if event.final and state.asked and not state.gone:
                ask = state.asked[0]
                return (blame(ask.rule or "01", f"no answer came to {_vector(ask)}"),)
            return (Allow(state),)
        if isinstance(event, Closed):
            if event.by == "user" or not state.asked:
                return (Allow(state._replace(gone=True, asked=())),)
            ask = state.asked[0]
            return (blame(ask.rule or "01", f"the codec ended at {_vector(ask)}"),)
        if isinstance(event, Noise):
            return (blame("01", f"a line without an end: {event.why}"),)
        assert isinstance(event, Fact)
        if event.name == "refused":
            return (blame("11", f"the codec cannot be started again: {event.value!s:.200}"),)
        return (Allow(state),)


def _vector(ask: Ask) -> str:
    return f"{ask.op} of {ask.octets[:60].hex()}{'…' if len(ask.octets) > 60 else ''}"


def _answered(state: CodecState, line: Line) -> Outcome:
    if not state.asked:
        return Allow(state) if state.gone or not line.octets.strip() else _talk(state, line)
    ask, *rest = state.asked
    after = state._replace(asked=tuple(rest))
    if not ask.way:  # nobody knows this op
        said = answer(ask, line)
        known = not said.error and not said.bad and line.octets.lstrip()[:1] == b"{"
        return blame("01", "it claims to know an op that does not exist", after) if known else Allow(after)
    said = answer(ask, line)
    if ask.way == "idl":
        return typed.judged(state, ask, said, after)
    if said.bad:
        return blame(ask.rule or "01", f"{said.bad}: {_vector(ask)}", after)
    covers = fmt(ask.rule) if ask.rule else ()
    if ask.want == "error":
        if said.error or ask.op == "encode":
            return Allow(after, covers)
        return blame(ask.rule, f"a value was made of {_vector(ask)}", after)
    if ask.want == "free":
        return Allow(after, covers)
    if said.error:
        if ask.want == "either":
            return Allow(after, covers)
        return blame(ask.rule or "01", f"{_vector(ask)} was refused", after)
    value, _ = decoded(ask.octets)
    return _compared(ask, value, said, after, (*covers, *_shown(value)))


def _talk(state: CodecState, line: Line) -> Outcome:
    return blame("01", f"a line that nobody asked for: {line.octets[:100]!r}")


def _compared(ask: Ask, value: Any, said: Answer, after: CodecState, covers: tuple[str, ...]) -> Outcome:
    config = after.config
    if said.octets is None:
        broken = differs(value, said.value)
        if not broken or (broken == "06" and config.old_raw):
            return Allow(after, covers)
        level = "SHOULD" if broken == "05" and config.one_number and _minus_zero(value) else None
        return blame(broken, f"{_vector(ask)} was decoded as {said.value!r:.150}", after, level)
    try:
        got, wide = decoded(said.octets)
    except Malformed as malformed:
        why = f"{_vector(ask)} was encoded as {said.octets[:60].hex()}, which is no value ({malformed.why})"
        return blame(ask.rule or "01", why, after)
    lapses = []
    if wide and not (config.old_raw and set(wide) <= {"str"}):
        lapses.append(blame("02", f"not written in the smallest form: {', '.join(wide)}: {said.octets[:40].hex()}"))
    covers = (*covers, *fmt("02"))
    if ask.op == "encode" and (whole_as_integer(value, ask.value) or _free(value)):
        return Allow(after, covers, tuple(lapses))
    found = changed(value, got, config)
    if found is None:
        return Allow(after, covers, tuple(lapses))
    name, level, why = found
    if _free(value):
        return Allow(after, covers, tuple(lapses))
    why = f"{_vector(ask)} became {said.octets[:60].hex()}: {why}"
    if level == "SHOULD":
        return Allow(after, covers, (*lapses, Breach("codec", name, why, level=level)))
    return Breach("codec", name, why, then=after, level=level)


def _minus_zero(value: Any) -> bool:
    return any(isinstance(part, Float) and part.number == 0 for part in values.inside(value))


def _free(value: Any) -> bool:
    """True for a map whose keys repeat or are no str: what becomes of it is left open."""
    for part in values.inside(value):
        if isinstance(part, Map):
            keys = [key for key, _ in part.pairs]
            if any(not isinstance(key, str) or key == "__proto__" for key in keys) or len(set(keys)) < len(keys):
                return True
    return False


def _shown(value: Any) -> tuple[str, ...]:
    found = {"01"}
    for part in values.inside(value):
        if type(part) is int:
            found.add("04")
        elif isinstance(part, Float):
            found.add("05")
        elif isinstance(part, (str, bytes)):
            found.add("06")
        elif isinstance(part, Text):
            found.add("07")
        elif isinstance(part, Ext):
            found.add("09" if part.code == values.TIMESTAMP else "08")
    return fmt(" ".join(sorted(found)))
