"""What a broker answers to requests, and what it tells of its own accord about producers and consumers.

Source: 001_c0ea8805bb7ed422.txt, "Producer", "Consumer" and "Service discovery". The circumstance in which something
was asked (`Asked`) is found when it is asked.
"""

from __future__ import annotations

from specs.pulsar.broker import topics
from specs.pulsar.broker.book import BOOK
from specs.pulsar.broker.case import Case, Owing
from specs.pulsar.broker.causes_missing import OPENS_AT_ONCE
from specs.pulsar.broker.duties import ACTIVE, END_OF_TOPIC, ONE_ANSWER
from specs.pulsar.broker.effects_subscriptions import message_id
from specs.pulsar.broker.forms_connection import it_may_ask_for_patience
from specs.pulsar.broker.scarce import is_scarce
from specs.pulsar.calls import Asked, Misuse
from specs.pulsar.frames import NOBODY
from specs.pulsar.machine import TALKING, Phase
from specs.pulsar.memory import PORT
from specs.pulsar.states import Fate
from specs.rules import Broken

BUSY = 5
"""The error ConsumerBusy."""
BAD_NAME = 17
"""The error InvalidTopicName."""
NUMBERS = "PULSAR-PART-05"
DEFINITE = "PULSAR-LOOK-06"
MAY_BE_TOO_MUCH = ("PRODUCER", "SUBSCRIBE", "LOOKUP", "PARTITIONED_METADATA")
"""Requests that may ask for more than a broker has room for."""
form = BOOK.form

# -- what nobody asked -------------------------------------------------------------------------------------------------


@BOOK.excuse(on="invents", when=(Phase.SPOILT,))
def the_command_may_have_been_taken_for_its_answer(case: Case) -> bool:
    """A command that only a broker says may be answered by anything."""
    return case.conn.misuse is Misuse.FROM_BROKER


@form(" ".join(dict.fromkeys(each.requirement for each in Misuse)), on="invents",
      when=(Phase.TWICE, Phase.SPOILT, Phase.REFUSED), which=lambda case: case.conn.misuse.requirement)  # fmt: skip
def what_ends_a_connection_has_no_effect(case: Case) -> Broken:
    """Nothing is answered behind what must end the connection."""
    assert case.conn.misuse is not None
    return Broken(f"{case.kind}: {case.conn.why} had an effect", also=case.conn.misuse.beside)


def _plain(case: Case) -> str:
    """What a wrong answer to the request that is open breaks."""
    kind = case.answered[0][0].asked.kind
    return next(each.requirement for each in Asked if each.kind == kind)


@form(" ".join(dict.fromkeys(each.requirement for each in Asked)), on="invents", when=TALKING,
      if_=lambda case: bool(case.answered[0]), which=_plain)  # fmt: skip
def a_request_has_the_answer_of_its_kind(case: Case) -> str:
    """Each request has an answer of its own."""
    return f"{case.kind} answers a {case.answered[0][0].asked.kind}"


@form(ONE_ANSWER, on="answers, invents", when=TALKING)
def a_request_is_answered_once(case: Case) -> str:
    """Exactly one answer for each request."""
    name = case.body.request_id
    return "" if case.asked or name not in case.conn.answered else f"a second answer to the request {name}: {case.kind}"


@form("PULSAR-REQ-01", on="answers, invents", when=TALKING, if_=lambda case: any(case.conn.requests))
def an_answer_repeats_the_id_of_its_request(case: Case) -> str:
    """An answer has the request_id of its request (seed, "Producer")."""
    if case.asked:
        return ""
    return f"{case.kind} answers {case.body.request_id}, open is {next(iter(case.conn.requests))}"


def _like_an_ack(case: Case) -> bool:
    return case.frame is None or (case.phase in TALKING and case.kind in ("ACK_RESPONSE", "SUCCESS"))


@form("PULSAR-ACK-09", on="invents, answers at rest", if_=_like_an_ack)
def a_plain_ack_has_no_answer(case: Case) -> str:
    """ACK is not answered unless it asks for it (seed, "Ack")."""
    if case.frame is None:
        return ""
    return f"{case.kind} answers the request {case.body.request_id}, which nobody made"


@form(ONE_ANSWER, on="invents", when=TALKING)
def an_answer_answers_something(case: Case) -> str:
    """Exactly one answer for each request."""
    return f"{case.kind} answers the request {case.body.request_id}, which nobody made"


# -- success and failure -----------------------------------------------------------------------------------------------


def _freed(case: Case) -> bool:
    """True where a lost connection had what is asked for."""
    request, conn = case.request, case.conn
    if request.want != "success" or request.asked.kind not in ("PRODUCER", "SUBSCRIBE"):
        return False
    if request.asked.kind == "SUBSCRIBE":
        consumer = conn.consumers.get(request.about)
        return consumer is not None and consumer.sub in case.before.cut
    producer = conn.producers.get(request.about)
    return producer is not None and bool(producer.wanted) and (producer.topic, producer.wanted) in case.before.cut


@form(OPENS_AT_ONCE, on="answers", if_=_freed, unless=is_scarce, freed_by=(it_may_ask_for_patience,))
def what_a_lost_connection_had_is_free(case: Case) -> str | Broken:
    """The loss of a connection frees its producers and consumers."""
    failed, error = case.failed
    return f"{case.request.asked.kind} was refused long after the connection was lost: error {error}" if failed else ""


def _is_sure(case: Case) -> bool:
    return not case.request.doubtful


def _succeeds(asked: Asked) -> None:
    @form(asked.requirement, on="answers", during=asked.name, also=" ".join(asked.beside),
          if_=_is_sure, unless=is_scarce, freed_by=(it_may_ask_for_patience,))  # fmt: skip
    def what_is_right_is_done(case: Case) -> str | Broken:
        """What is asked for and possible succeeds; a broker may ask for some patience."""
        return _undone(asked, case)

    if asked.kind not in MAY_BE_TOO_MUCH:
        return

    @form(asked.requirement, on="answers", during=asked.name, level="SHOULD", also=" ".join(asked.beside),
          if_=lambda case: _is_sure(case) and is_scarce(case), freed_by=(it_may_ask_for_patience,))  # fmt: skip
    def there_is_room_for_it(case: Case) -> str | Broken:
        """The text names no limits: to refuse more than a few, or a long name, is a recommendation missed (P-94)."""
        return _undone(asked, case)


def _undone(asked: Asked, case: Case) -> str | Broken:
    failed, error = case.failed
    if not failed:
        return ""
    # a name would not have helped; who has named this broker knows that the topic is here, but that may change
    busy = asked is Asked.SUBSCRIBE_NAMELESS and error == BUSY
    return Broken(f"{asked.kind} was refused: error {error}",
                  requirement=Asked.SUBSCRIBE.requirement if busy else "")  # fmt: skip


def _fails(asked: Asked) -> None:
    crossing = asked.kind in ("PRODUCER", "SUBSCRIBE", "UNSUBSCRIBE") and asked.want == "error"

    @form(asked.requirement, on="answers", during=asked.name, also=" ".join(asked.beside), steady=crossing
          and asked not in (Asked.PRODUCER_BAD_TOPIC, Asked.PRODUCER_DENIED, Asked.SUBSCRIBE_BAD_TOPIC),
          if_=lambda case: not case.request.doubtful)  # fmt: skip
    def what_is_wrong_is_refused(case: Case) -> str:
        """What is not allowed is answered ERROR. What the broker closes of its own accord on another connection may
        still be on its way."""
        return "" if case.failed[0] else f"{asked.kind} succeeded: {case.request.why or 'it should be refused'}"


for _asked in Asked:
    if _asked.want == "success":
        _succeeds(_asked)
    elif _asked.want == "error":
        _fails(_asked)

_ERRORS = {
    Asked.PRODUCER_NAME_TAKEN: (16, 0), Asked.SUBSCRIBE_EXCLUSIVE_TAKEN: (BUSY,),
    Asked.SUBSCRIBE_OTHER_TYPE: (BUSY, 0), Asked.LOOKUP_BAD_TOPIC: (BAD_NAME,),
}  # fmt: skip


def _named(asked: Asked, errors: tuple[int, ...]) -> None:
    @form(asked.beside[0] if asked.kind != "LOOKUP" else asked.requirement, on="answers", during=asked.name,
          if_=lambda case: case.profile == "modern" and case.failed[0] and not case.request.doubtful)  # fmt: skip
    def the_error_says_why(case: Case) -> str:
        """Newer brokers say why (schema)."""
        error = case.failed[1]
        return "" if error in errors else f"{asked.kind} was refused with error {error}"


for _asked, _errors in _ERRORS.items():
    _named(_asked, _errors)


@form(Asked.ACK.requirement, on="answers", during=Asked.ACK.name,
      if_=lambda case: case.kind == "ACK_RESPONSE" and case.request.about is not None)  # fmt: skip
def an_answer_to_an_ack_names_its_consumer(case: Case) -> str:
    """ACK_RESPONSE has the consumer_id of its ACK (schema: required), by which a client finds whom it is for."""
    about, named = case.request.about, case.body.consumer_id
    return "" if named == about else f"an ACK of the consumer {about} was answered for the consumer {named}"


# -- producers ---------------------------------------------------------------------------------------------------------

_PRODUCING = " ".join(each.name for each in Asked if each.kind == "PRODUCER")


def _created(case: Case) -> bool:
    producer = case.conn.producers.get(case.request.about)
    return producer is not None and producer.phase == "pending" and not case.failed[0]


@form("PULSAR-PROD-06", on="answers", during=_PRODUCING,
      if_=lambda case: _created(case) and case.conn.producers[case.request.about].wanted)  # fmt: skip
def a_producer_has_the_name_that_was_asked_for(case: Case) -> str:
    """With producer_name that name is used and returned (seed, "ProducerSuccess")."""
    wanted, name = case.conn.producers[case.request.about].wanted, case.body.producer_name
    return "" if name == wanted else f"the producer {wanted!r} was named {name!r}"


@form("PULSAR-PROD-05", on="answers", during=_PRODUCING,
      if_=lambda case: _created(case) and not case.conn.producers[case.request.about].wanted)  # fmt: skip
def a_made_up_name_is_unique(case: Case) -> str:
    """Without producer_name the broker makes one up that is globally unique (seed, "ProducerSuccess")."""
    name, topic = case.body.producer_name, case.conn.producers[case.request.about].topic
    if not name:
        return "a producer without a name"
    taken = name in case.before.made_up or any(
        there.name == name and there.topic == topic
        for conn in case.before.conns.values() for there in conn.producers.values()
    )  # fmt: skip
    return f"the name {name!r} was made up for two producers" if taken else ""


@form("PULSAR-CLP-02", on="answers", during=Asked.CLOSE_PRODUCER.name, if_=lambda case: not case.failed[0])
def receipts_come_before_the_producer_is_closed(case: Case) -> str:
    """What is pending is persisted, and confirmed, before SUCCESS (seed, "CloseProducer")."""
    producer = case.conn.producers.get(case.request.about)
    if producer is None or producer.phase != "closing" or case.request.extra is None:
        return ""
    left = [at for at in producer.sends if case.before.entries[at].fate is Fate.SENT]
    number = case.before.entries[left[0]].seq if left else 0
    return f"SUCCESS came to CLOSE_PRODUCER before the receipt of {number}" if left else ""


# -- newer requests ----------------------------------------------------------------------------------------------------


def _last_is_known(case: Case) -> bool:
    """True when a message of the topic has a receipt, nothing is open there, and nothing came since it was asked."""
    if case.failed[0] or case.request.extra is None:
        return False
    topic, top, count = case.request.extra
    entries = case.before.entries
    settled = all(entry.fate is Fate.STORED for entry in entries if entry.topic == topic)
    return settled and len(entries) == count and top is not None


@form(Asked.LAST.requirement, on="answers", during=Asked.LAST.name, if_=_last_is_known)
def the_last_message_is_that_of_the_last_receipt(case: Case) -> str:
    """GET_LAST_MESSAGE_ID answers the id of the last receipt (schema, version 12)."""
    _, top, _ = case.request.extra
    given = message_id(case.body.last_message_id)
    return "" if given == top else f"the last message id is {given}, the last receipt had {top}"


def _permits_are_known(case: Case) -> bool:
    """True when nothing can be under way that changes what is left of the permits."""
    state, body, request = case.before, case.body, case.request
    consumer = case.conn.consumers.get(request.about)
    if case.failed[0] or consumer is None or request.extra is None or not body.HasField("availablePermits"):
        return False
    granted, used, batched = request.extra
    calm = (granted, used) == (consumer.granted, consumer.used) and not batched and granted == consumer.sure
    sub = state.subs.get(consumer.sub)
    return calm and (sub is None or not any(place.may for place in sub.places.values())) and not _pushes(case)


@form(Asked.STATS.requirement, on="answers", during=Asked.STATS.name, if_=_permits_are_known)
def available_permits_are_those_that_are_left(case: Case) -> str:
    """availablePermits are the permits that were given and not used (schema, version 8)."""
    granted, used, _ = case.request.extra
    told = case.body.availablePermits
    return "" if told == granted - used else f"availablePermits is {told}, {granted - used} are left"


def _pushes(case: Case) -> bool:
    """True while messages are on their way."""
    return any(duty.rule.name == "messages are delivered" for duty in BOOK.open(Owing(case.before)))


# -- service discovery -------------------------------------------------------------------------------------------------

_LOOKUPS = " ".join(each.name for each in Asked if each.kind == "LOOKUP")
_PARTITIONS = " ".join(each.name for each in Asked if each.kind == "PARTITIONED_METADATA")


@form(Asked.LOOKUP.requirement, on="answers", during=_LOOKUPS)
def a_lookup_is_answered_by_a_response(case: Case) -> str:
    """LOOKUP is answered Connect, Redirect or Failed (seed, "LookupResponse")."""
    return "" if case.body.HasField("response") else "LOOKUP was answered without a response"


@form(Asked.PARTITIONS.requirement, on="answers", during=_PARTITIONS)
def the_number_of_partitions_is_told(case: Case) -> str:
    """PARTITIONED_METADATA is answered Success with a number, or Failed (seed, "Partitioned topics")."""
    if not case.body.HasField("response"):
        return "PARTITIONED_METADATA was answered without a response"
    told = case.failed[0] or case.body.HasField("partitions")
    return "" if told else "PARTITIONED_METADATA succeeded without a number"


def _found(case: Case) -> bool:
    return not case.failed[0] and case.request.asked.want != "error"


@form("PULSAR-LOOK-10", on="answers", during=_LOOKUPS, if_=_found)
def a_lookup_names_a_url(case: Case) -> str:
    """brokerServiceUrl is set in Connect and Redirect (seed, "LookupResponse")."""
    url, tls = case.body.brokerServiceUrl, case.body.brokerServiceUrlTls
    good = url.startswith("pulsar://") or (not url and tls.startswith("pulsar+ssl://"))
    return "" if good else f"LOOKUP was answered with the URL {url!r:.200} {tls!r:.200}"


@form(DEFINITE, on="answers", during=_LOOKUPS, if_=_found, steady=True)
def redirects_do_not_go_in_circles(case: Case) -> str:
    """The broker to which a lookup is redirected gives a definite answer (seed, "LookupResponse"). Whose topic it is
    may have changed meanwhile."""
    url = case.body.brokerServiceUrl
    trail = case.before.trail.get(str(case.request.about), frozenset())
    if case.body.response == 0 and (_place(url), case.body.authoritative) in trail:
        return f"a lookup is redirected to {url!r:.200}, where it had been asked just so"
    return ""


@form(DEFINITE, on="answers", during=_LOOKUPS, if_=_found, level="SHOULD")
def a_lookup_is_not_redirected_for_ever(case: Case) -> str:
    """Nobody has asked where it leads: one that knows only who knows may say so as often as it is asked."""
    often = case.body.response == 0 and case.before.redirects.get(case.request.about, 0) >= 20
    return "a lookup is redirected as often as it is repeated" if often else ""


def _place(url: str) -> str:
    """HOST:PORT of a URL."""
    place = url.partition("://")[2].rstrip("/")
    return place if place.rpartition(":")[2].isdigit() else f"{place}:{PORT}"


@form(NUMBERS, on="answers", during=_PARTITIONS,
      if_=lambda case: _found(case) and case.request.about in case.before.partitions)  # fmt: skip
def the_number_of_partitions_is_stable(case: Case) -> str:
    """Unless an administrator changes it, the number stays (seed, "Partitioned topics")."""
    known, count = case.before.partitions[case.request.about], case.body.partitions
    return "" if known == count else f"the topic had {known} partitions, now {count}"


def _declared(case: Case) -> int | None:
    """How many partitions a topic has by its name, None where names say nothing."""
    pattern, local = case.before.config.partitioned, str(case.request.about).rpartition("/")[2]
    if not pattern:
        return None
    head = pattern.partition("{n}")[0]
    digits = local[len(head) :].partition("-")[0] if local.startswith(head) else ""
    return int(digits) if digits.isdigit() and "-partition-" not in local else 0


@form(Asked.PARTITIONS.requirement, on="answers", during=_PARTITIONS,
      if_=lambda case: _found(case) and _declared(case) is not None)  # fmt: skip
def the_number_of_partitions_is_right(case: Case) -> str:
    """A topic has as many partitions as it was made with."""
    expected, count = _declared(case), case.body.partitions
    return "" if count == expected else f"a topic with {expected} partitions has {count}"


@form(Asked.PARTITIONS.requirement, on="answers", during=_PARTITIONS, level="SHOULD",
      if_=lambda case: _found(case) and _declared(case) is None)  # fmt: skip
def a_fresh_topic_is_not_partitioned(case: Case) -> str:
    """A topic that nobody made has no partitions."""
    return f"a fresh topic has {case.body.partitions} partitions" if case.body.partitions else ""


# -- what a broker tells of its own accord -----------------------------------------------------------------------------

STAYS = "PULSAR-CLP-07"


@form(STAYS, on="CLOSE_PRODUCER", level="SHOULD")
def it_closes_a_producer_that_is_there(case: Case) -> str:
    """It names a producer of this connection, and no request: none is answered."""
    name = case.body.producer_id
    if case.body.request_id != NOBODY:
        return "CLOSE_PRODUCER from the broker with a request id"
    known = name in case.conn.producers or name in case.conn.ended_producers
    return "" if known else "CLOSE_PRODUCER for an unknown producer"


@form("PULSAR-CLC-02", on="CLOSE_CONSUMER", level="SHOULD")
def it_closes_a_consumer_that_is_there(case: Case) -> str:
    """It names a consumer of this connection."""
    known = case.body.consumer_id in case.conn.consumers or case.body.consumer_id in case.conn.gone
    return "" if known else "CLOSE_CONSUMER for an unknown consumer"


def _known(case: Case) -> bool:
    return case.body.consumer_id in case.conn.consumers or case.body.consumer_id in case.conn.gone


@form(ACTIVE, on="ACTIVE_CONSUMER_CHANGE")
def who_is_told_that_it_is_active_is_there(case: Case) -> str:
    """It names a consumer of this connection."""
    return "" if _known(case) else "ACTIVE_CONSUMER_CHANGE for a consumer that is not open"


@form(END_OF_TOPIC, on="REACHED_END_OF_TOPIC")
def who_is_told_of_the_end_is_there(case: Case) -> str:
    """It names a consumer of this connection."""
    return "" if _known(case) else "REACHED_END_OF_TOPIC for an unknown consumer"


@form(END_OF_TOPIC, on="REACHED_END_OF_TOPIC", if_=lambda case: case.before.consumer(_told(case)) is not None)
def only_the_end_of_a_terminated_topic_is_told(case: Case) -> str:
    """Schema, newer protocol page: it is said of a terminated topic. Topics are made by the tester, and of these only
    those are terminated that the manifest names so."""
    consumer = case.before.consumer(_told(case))
    assert consumer is not None
    topic = consumer.sub[0]
    return "" if topics.terminated(case.before.config, topic) else f"{topic} has not ended: it takes messages"


def _told(case: Case) -> tuple[int, int]:
    return case.number, case.body.consumer_id
