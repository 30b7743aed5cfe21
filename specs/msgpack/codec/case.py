"""What the rules of a codec look at: a line, the question that it answers, and the value that was asked about."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from specs.codec import Malformed
from specs.msgpack import values
from specs.msgpack.changes import FLOATS, TEXT_OR_BINARY, Change, changed, shown_by
from specs.msgpack.codec.book import shown, subject
from specs.msgpack.codec.told import differs
from specs.msgpack.format import decoded
from specs.msgpack.idl.promises import Promise
from specs.msgpack.idl.semantics import read
from specs.msgpack.idl.tree import Type
from specs.msgpack.idl.wire import Types, Unfit, types_of, untold
from specs.msgpack.lines import Answer, Ask
from specs.msgpack.machine import Q
from specs.msgpack.states import CodecState
from specs.msgpack.values import Float

EXTENSIONS_OF_MESSAGES = frozenset(("def", "td"))
_UNREAD: Any = object()


class Case:
    """One action. `ask` is the oldest open question, also `about`; `answer` what a line says to it. `said`: text about
    others, for people."""

    __slots__ = ("_change", "_got", "_shown", "_value", "about", "action", "answer", "ask", "said", "state")
    profile = ""
    left: tuple[Q, ...] = ()

    def __init__(self, state: CodecState, action: str, answer: Answer | None = None, said: str = "") -> None:
        self.state, self.action, self.said = state, action, said
        self.ask: Ask | None = state.asked[0] if state.asked else None
        self.about: Any = self.ask
        self.answer = answer or Answer()
        self._value = self._change = self._got = _UNREAD
        self._shown: frozenset[str] | None = None

    @property
    def phase(self) -> Q:
        """Where the codec stands."""
        return self.state.phase

    @property
    def during(self) -> str:
        """What sort of question is answered."""
        if self.ask is None:
            return ""
        return self.ask.op if self.ask.way == "idl" else "vector" if self.ask.way else "unknown"

    @property
    def question(self) -> Ask:
        """The question that is answered; only asked where there is one."""
        assert self.ask is not None
        return self.ask

    @property
    def subject(self) -> str:
        """The requirement that the question is about."""
        return subject(self.question)

    @property
    def text(self) -> str:
        """The question, for people."""
        return shown(self.question)

    # -- octets -------------------------------------------------------------------------------------------------------

    @property
    def value(self) -> Any:
        """What the octets of the question stand for."""
        if self._value is _UNREAD:
            self._value = decoded(self.question.octets)[0]
        return self._value

    @property
    def got(self) -> tuple[Any, tuple[str, ...]] | Malformed:
        """The value that was written, and what of it was not written in the smallest form."""
        if self._got is _UNREAD:
            try:
                self._got = decoded(self.answer.octets or b"")
            except Malformed as malformed:
                self._got = malformed
        return self._got  # type: ignore[no-any-return]

    @property
    def wide(self) -> tuple[str, ...]:
        """Kinds of values that were not written in the smallest form."""
        return () if isinstance(self.got, Malformed) else self.got[1]

    @property
    def shown(self) -> frozenset[str]:
        """Requirements of the format that the value can break."""
        if self._shown is None:
            self._shown = shown_by(self.value)
        return self._shown

    @property
    def change(self) -> Change | None:
        """How the value that was told or written differs."""
        if self._change is _UNREAD:
            self._change = self._told() if self.answer.octets is None else self._written()
        return self._change  # type: ignore[no-any-return]

    def _told(self) -> Change | None:
        broken, config = differs(self.value, self.answer.value), self.state.config
        if not broken or (broken == TEXT_OR_BINARY and config.old_raw):
            return None
        zero = any(isinstance(part, Float) and part.number == 0 for part in values.inside(self.value))
        level = "SHOULD" if broken == FLOATS and config.one_number and zero else None
        return Change(broken, level, f"{self.text} was decoded as {self.answer.value!r:.150}")

    def _written(self) -> Change | None:
        if isinstance(self.got, Malformed):
            return None
        found = changed(self.value, self.got[0], self.state.config)
        octets = (self.answer.octets or b"")[:60].hex()
        return None if found is None else found._replace(why=f"{self.text} became {octets}: {found.why}")


class MessageCase(Case):
    """An answer about a message that a document declares."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """The question, for people."""
        ask = self.question
        return f"{ask.op} of {ask.octets[:60].hex() or ask.value['value']!r:.120} as {ask.value['idl']!r:.200}"

    @property
    def types(self) -> Types:
        """The types of the document."""
        return types_in(self.question.value["idl"], self.state.config.layout)

    @property
    def kind(self) -> Type:
        """The type that is asked about."""
        return Type(self.question.type)

    @property
    def wanted(self) -> Any:
        """The value that the octets stand for, or an Unfit when they are none."""
        if self._value is _UNREAD:
            try:
                self._value = self.types.decoded(decoded(self.question.octets)[0], self.kind)
            except Unfit as unfit:
                self._value = unfit
        return self._value

    @property
    def breaks(self) -> Promise | None:
        """What accepting the octets breaks, None when they are a value or when that is left open."""
        return self.wanted.rule if isinstance(self.wanted, Unfit) else None

    @property
    def given(self) -> Any:
        """The value that was told, an Unfit when it is none."""
        try:
            return untold(self.answer.value, self.kind, self.types)
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError, Unfit) as error:
            return error if isinstance(error, Unfit) else Unfit(None, str(error))

    @property
    def misread(self) -> str:
        """What is wrong with the octets that were written for a value, "" when nothing is."""
        octets = self.answer.octets
        if self.answer.error or octets is None:
            return f"a value is refused: {self.text}"
        try:
            got = self.types.written().decoded(decoded(octets)[0], self.kind)
        except (Malformed, Unfit) as wrong:
            return f"it is encoded as {octets[:60].hex()}: {wrong}: {self.text}"
        if got != untold(self.question.value["value"], self.kind, self.types):
            return f"it is encoded as {octets[:60].hex()}: {self.text}"
        return ""


@lru_cache(maxsize=256)
def types_in(idl: str, layout: str) -> Types:
    """The types of a document."""
    return types_of(read(idl, EXTENSIONS_OF_MESSAGES), layout)
