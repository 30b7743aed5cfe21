"""The commands of the protocol, as a broker meets them: what answers what, and since which version.

Source: the field tables and the version of each command.
"""

from __future__ import annotations

SINCE = {
    "PING": 1,
    "PONG": 1,
    "CLOSE_PRODUCER": 5,
    "CLOSE_CONSUMER": 5,
    "REACHED_END_OF_TOPIC": 9,
    "ACTIVE_CONSUMER_CHANGE": 12,
    "AUTH_CHALLENGE": 14,
}
"""What a broker may say of its own accord only to clients of this version or newer."""
ANSWERS = {
    "PRODUCER": "PRODUCER_SUCCESS", "SUBSCRIBE": "SUCCESS", "UNSUBSCRIBE": "SUCCESS", "CLOSE_PRODUCER": "SUCCESS",
    "CLOSE_CONSUMER": "SUCCESS", "SEEK": "SUCCESS", "LOOKUP": "LOOKUP_RESPONSE",
    "PARTITIONED_METADATA": "PARTITIONED_METADATA_RESPONSE", "CONSUMER_STATS": "CONSUMER_STATS_RESPONSE",
    "GET_LAST_MESSAGE_ID": "GET_LAST_MESSAGE_ID_RESPONSE", "ACK": "ACK_RESPONSE",
    "GET_TOPICS_OF_NAMESPACE": "GET_TOPICS_OF_NAMESPACE_RESPONSE",
}  # fmt: skip
"""The answer to each request when it succeeds."""
PLAIN_ERRORS = (
    "PRODUCER",
    "SUBSCRIBE",
    "UNSUBSCRIBE",
    "CLOSE_PRODUCER",
    "CLOSE_CONSUMER",
    "SEEK",
    "GET_LAST_MESSAGE_ID",
    "CONSUMER_STATS",
    "GET_TOPICS_OF_NAMESPACE",
)
"""Requests that ERROR answers."""
FROM_BROKER = frozenset(ANSWERS.values()) | {
    "CONNECTED", "ERROR", "SEND_RECEIPT", "SEND_ERROR", "MESSAGE", "PONG", "PING", "CLOSE_PRODUCER", "CLOSE_CONSUMER",
    "REACHED_END_OF_TOPIC", "ACTIVE_CONSUMER_CHANGE", "AUTH_CHALLENGE", "GET_SCHEMA_RESPONSE",
    "GET_OR_CREATE_SCHEMA_RESPONSE",
}  # fmt: skip
"""What a broker may say at all."""
