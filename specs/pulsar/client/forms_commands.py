"""What the commands of a client must carry, apart from SEND.

Source: 001_c0ea8805bb7ed422.txt, "Keep Alive", "Lookup", "Partitioned topics", "Producer", "Consumer", "Flow control",
"Ack".
"""

from __future__ import annotations

from specs.pulsar.client.book import BOOK
from specs.pulsar.client.case import Look, Said
from specs.pulsar.client.forms_making import CONSUMER_IDS
from specs.pulsar.client.machine import TALKING, Stage
from specs.pulsar.client.oddities import Unreadable
from specs.pulsar.client.refusals import ACKS, REFUSED, refused
from specs.rules import Broken

MAX_REDIRECTS = 25
PROMPT_MS = 5000
"""After this time a PONG is late (docs/ambiguities.md): a twelfth of the 60 s in which a broker waits for one."""
OLD_ACK = 12
"""Before this version an ACK has one id."""
PONG = "PULSAR-KA-01"
"""Every PING is answered by a PONG."""
FOLLOWED = "PULSAR-LOOK-04"
"""A redirect is followed to the address that it names, with the authority that it names."""
PERMITS = "PULSAR-FLOW-07"
"""A client grants more as the application takes messages."""
REFUSALS = " ".join(dict.fromkeys(each.refused for each in Unreadable))


@BOOK.form("PULSAR-AUTH-03", on="CONNECT", if_=lambda case: case.state.login is not None, goes_on=True)
def a_session_is_opened_with_the_credentials_that_were_given(case: Said) -> str:
    """auth_method_name is the name of the plugin where authentication is enabled, and auth_data are its data (seed,
    Connect)."""
    method, data = case.state.login or ("", "")
    if case.body.auth_method_name != method:
        return f"CONNECT with the method {case.body.auth_method_name!r}, it was given {method!r}"
    return "" if case.body.auth_data == data.encode() else f"CONNECT with other data than were given for {method!r}"


@BOOK.form(PONG, on="PONG", when=TALKING)
def a_pong_answers_a_ping(case: Said) -> str:
    """One PONG for each PING (seed, Keep Alive)."""
    return "" if case.line.pings else "PONG without a PING"


@BOOK.form(PONG, on="PONG", when=TALKING, level="SHOULD", steady=True)
def a_pong_comes_promptly(case: Said) -> str:
    """A prompt answer is needed, lest the broker close the connection (seed, Keep Alive); no number is given."""
    late = case.line.low
    return f"PONG came more than {late} ms behind everything that was said" if late > PROMPT_MS else ""


# -- LOOKUP ------------------------------------------------------------------------------------------------------------


@BOOK.form("PULSAR-LOOK-03", on="LOOKUP", when=TALKING, if_=lambda case: case.look is Look.FIRST)
def the_first_lookup_has_no_authority(case: Said) -> str:
    """First lookup: authoritative=false (seed, Lookup)."""
    return "the first lookup is authoritative" if case.body.authoritative else ""


@BOOK.form(FOLLOWED, on="LOOKUP", when=TALKING, if_=lambda case: case.look is Look.FOLLOWS)
def a_redirected_lookup_keeps_the_authority_it_was_given(case: Said) -> str:
    """Redirect: ask again with the response's authoritative value (seed, Lookup)."""
    wanted = case.redirect.authoritative if case.redirect else None
    given = case.body.authoritative
    return f"redirected with authoritative={wanted}, asked with {given}" if given != wanted else ""


@BOOK.form("PULSAR-LOOK-07", on="LOOKUP", when=TALKING, if_=lambda case: case.look is Look.FOLLOWS)
def redirects_are_not_followed_for_ever(case: Said) -> Broken | str:
    """Redirect loops end: practice."""
    count = case.redirect.nth if case.redirect else 0
    return Broken(f"{count} redirects were followed", ends=True) if count > MAX_REDIRECTS else ""


@BOOK.form(FOLLOWED, on="LOOKUP", when=TALKING, if_=lambda case: case.look is Look.FOLLOWS)
def a_redirected_lookup_asks_at_the_address_it_was_given(case: Said) -> str:
    """Redirect: ask again at that URL (seed, Lookup)."""
    place = case.redirect.place if case.redirect else ""
    return f"redirected to {place}, asked again at another address" if case.state.astray(case.number, (place,)) else ""


# -- FLOW --------------------------------------------------------------------------------------------------------------


@BOOK.form(CONSUMER_IDS, on="FLOW", when=TALKING)
def permits_are_for_a_consumer_that_was_created(case: Said) -> str:
    """FLOW names a consumer (seed, Flow control)."""
    return "" if case.consumer else f"FLOW for consumer {case.body.consumer_id}, which was never created"


@BOOK.form(PERMITS, on="FLOW", when=TALKING, if_=lambda case: case.consumer.alive, level="SHOULD")
def permits_are_given_once_the_consumer_is_there_and_only_some(case: Said) -> str:
    """The client grants permits after SUCCESS, and not none (seed, Flow control)."""
    if case.consumer.stage is not Stage.OPEN:
        return "FLOW before SUCCESS"
    return "" if case.body.messagePermits else "FLOW of no permits"


@BOOK.form(PERMITS, on="FLOW", when=TALKING, if_=lambda case: case.consumer.stage is Stage.OPEN and case.consumer.size)
def permits_are_for_what_the_queue_has_room_for(case: Said) -> str:
    """The client grants more as the application takes messages (seed, Flow control), so never more than fit its
    queue."""
    end = case.consumer
    granted = end.granted + case.body.messagePermits
    taken = end.pushed - sum(each.sure for each in end.queue)
    if granted - taken <= end.size + 1:
        return ""
    return f"{granted} permits with {taken} messages taken, the queue has room for {end.size}"


# -- ACK ---------------------------------------------------------------------------------------------------------------


@BOOK.form(ACKS, on="ACK", when=TALKING)
def an_ack_is_of_a_consumer_that_was_created(case: Said) -> str:
    """ACK names a consumer (seed, Ack)."""
    return "" if case.consumer else f"ACK for consumer {case.body.consumer_id}, which was never created"


@BOOK.form("PULSAR-VER-06", on="ACK", when=TALKING, if_=lambda case: case.line.speaks_version < OLD_ACK)
def several_ids_in_an_ack_are_for_brokers_that_know_of_it(case: Said) -> str:
    """Several ids in one ACK only from v12 (follows from the seed, Ack)."""
    if len(case.body.message_id) <= 1:
        return ""
    return f"several ids in one ACK to a broker of version {case.line.version}"


@BOOK.form(REFUSALS, on="ACK", when=TALKING, which=lambda case: case.refusing[0], goes_on=True)
def what_cannot_be_read_is_acknowledged_with_the_reason(case: Said) -> Broken | str:
    """ACK with validation_error (seed, Ack). A wrong reason is a recommendation missed, whatever is wrong."""
    _, why, beside = case.refusing
    if not why:
        return ""
    level = "SHOULD" if case.body.HasField("validation_error") else None
    return Broken(why, level=level, also=beside)


@BOOK.form(ACKS, on="ACK", when=TALKING, causes=REFUSED, if_=lambda case: any(not e.refusal for e in case.acked))
def what_can_be_read_is_not_refused(case: Said) -> str:
    """The client acks only messages it has been given (seed, Ack): one that is refused never is."""
    found = refused(case)
    return f"the message {found.entry} was refused, nothing is wrong with it" if found else ""


@BOOK.form(ACKS, on="ACK", when=TALKING, if_=lambda case: any(not each.refusal for each in case.acked))
def an_ack_comes_after_that_of_the_application(case: Said) -> str:
    """The client acks only messages it has been given, after the application did (seed, Ack)."""
    return next((each.wrong for each in case.acked if each.wrong), "")
