"""What a client must carry that asks for messages again.

Source: 001_c0ea8805bb7ed422.txt, "RedeliverUnacknowledgedMessages".
"""

from __future__ import annotations

from specs.pulsar.client.book import BOOK
from specs.pulsar.client.case import Said
from specs.pulsar.client.machine import TALKING

AGAIN = "REDELIVER_UNACKNOWLEDGED_MESSAGES"
PUSHED = "PULSAR-RED-08"
"""What is asked for again was pushed to that consumer."""
WANTED_AGAIN = "PULSAR-RED-09"
"""All is asked for again that the application wants again."""


@BOOK.form(PUSHED, on=AGAIN, when=TALKING)
def messages_are_asked_for_by_a_consumer_that_was_created(case: Said) -> str:
    """A consumer asks for what was pushed to it (seed, RedeliverUnacknowledgedMessages)."""
    return "" if case.consumer else f"consumer {case.body.consumer_id} asks for messages again, it was never created"


@BOOK.form(PUSHED, on=AGAIN, when=TALKING, if_=lambda case: case.again_ids)
def what_is_asked_for_again_was_pushed_to_the_consumer(case: Said) -> str:
    """The ids are those of messages that were pushed to that consumer (seed, as above)."""
    pushed = case.state.pushed
    strange = sorted(entry for entry in case.again_ids if pushed.get(entry) != case.consumer.topic)
    if not strange:
        return ""
    where = f"was pushed on {pushed[strange[0]]}" if strange[0] in pushed else "was never pushed"
    return f"{strange[0]} is asked for again by the consumer of {case.consumer.topic}, it {where}"


@BOOK.form("PULSAR-RED-10", on=AGAIN, when=TALKING, if_=lambda case: case.again_ids)
def what_is_asked_for_again_is_not_acknowledged(case: Said) -> str:
    """The ids are those of messages that have no Ack yet (seed, as above): a recommendation (P-79)."""
    done = sorted(case.again_ids & case.state.acked)
    return f"{done[0]} is asked for again, it was acknowledged" if done else ""
