"""The fields of every message of the protocol, as the references know them.

Source: PulsarApi.proto as it stood in July 2026; up to protocol version 7 it is what 001_c0ea8805bb7ed422.txt calls
the schema. A field is written NUMBER LABEL NAME TYPE: `!` required, `*` repeated, nothing optional.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Field(NamedTuple):
    """One field of a message. `kind` is a scalar type, the name of an enum, or the name of a message."""

    number: int
    name: str
    kind: str
    required: bool
    repeated: bool


_MESSAGES: Final = """
MessageIdData: 1! ledgerId uint64, 2! entryId uint64, 3 partition int32, 4 batch_index int32, 5* ack_set int64, 6
    batch_size int32, 7 first_chunk_message_id MessageIdData
KeyValue: 1! key string, 2! value string
KeyLongValue: 1! key string, 2! value uint64
MessageMetadata: 1! producer_name string, 2! sequence_id uint64, 3! publish_time uint64, 4* properties KeyValue, 5
    replicated_from string, 6 partition_key string, 7* replicate_to string, 8 compression CompressionType, 9
    uncompressed_size uint32, 11 num_messages_in_batch int32, 12 event_time uint64, 13* encryption_keys
    EncryptionKeys, 14 encryption_algo string, 15 encryption_param bytes, 16 schema_version bytes, 17
    partition_key_b64_encoded bool, 18 ordering_key bytes, 19 deliver_at_time int64, 20 marker_type int32, 22
    txnid_least_bits uint64, 23 txnid_most_bits uint64, 24 highest_sequence_id uint64, 25 null_value bool, 26 uuid
    string, 27 num_chunks_from_msg int32, 28 total_chunk_msg_size int32, 29 chunk_id int32, 30 null_partition_key
    bool, 31* compacted_batch_indexes int32, 32 schema_id bytes, 33 entry_hash_min uint32, 34 entry_hash_max uint32
SingleMessageMetadata: 1* properties KeyValue, 2 partition_key string, 3! payload_size int32, 4 compacted_out bool, 5
    event_time uint64, 6 partition_key_b64_encoded bool, 7 ordering_key bytes, 8 sequence_id uint64, 9 null_value
    bool, 10 null_partition_key bool
BrokerEntryMetadata: 1 broker_timestamp uint64, 2 index uint64
EncryptionKeys: 1! key string, 2! value bytes, 3* metadata KeyValue
CommandConnect: 1! client_version string, 2 auth_method AuthMethod, 3 auth_data bytes, 4 protocol_version int32, 5
    auth_method_name string, 6 proxy_to_broker_url string, 7 original_principal string, 8 original_auth_data string, 9
    original_auth_method string, 10 feature_flags FeatureFlags, 11 proxy_version string
FeatureFlags: 1 supports_auth_refresh bool, 2 supports_broker_entry_metadata bool, 3 supports_partial_producer bool, 4
    supports_topic_watchers bool, 5 supports_get_partitioned_metadata_without_auto_creation bool, 6
    supports_repl_dedup_by_lid_and_eid bool, 7 supports_topic_watcher_reconcile bool, 8 supports_scalable_topics bool,
    9 supports_tc_metadata_discovery bool
CommandConnected: 1! server_version string, 2 protocol_version int32, 3 max_message_size int32, 4 feature_flags
    FeatureFlags
CommandAuthChallenge: 1 server_version string, 2 challenge AuthData, 3 protocol_version int32
CommandAuthResponse: 1 client_version string, 2 response AuthData, 3 protocol_version int32
AuthData: 1 auth_method_name string, 2 auth_data bytes
CommandPartitionedTopicMetadata: 1! topic string, 2! request_id uint64, 3 original_principal string, 4
    original_auth_data string, 5 original_auth_method string, 6 metadata_auto_creation_enabled bool
CommandPartitionedTopicMetadataResponse: 1 partitions uint32, 2! request_id uint64, 3 response
    CommandPartitionedTopicMetadataResponse.LookupType, 4 error ServerError, 5 message string
CommandLookupTopic: 1! topic string, 2! request_id uint64, 3 authoritative bool, 4 original_principal string, 5
    original_auth_data string, 6 original_auth_method string, 7 advertised_listener_name string, 8* properties
    KeyValue
CommandLookupTopicResponse: 1 brokerServiceUrl string, 2 brokerServiceUrlTls string, 3 response
    CommandLookupTopicResponse.LookupType, 4! request_id uint64, 5 authoritative bool, 6 error ServerError, 7 message
    string, 8 proxy_through_service_url bool
CommandProducer: 1! topic string, 2! producer_id uint64, 3! request_id uint64, 4 producer_name string, 5 encrypted
    bool, 6* metadata KeyValue, 7 schema Schema, 8 epoch uint64, 9 user_provided_producer_name bool, 10
    producer_access_mode ProducerAccessMode, 11 topic_epoch uint64, 12 txn_enabled bool, 13 initial_subscription_name
    string
CommandProducerSuccess: 1! request_id uint64, 2! producer_name string, 3 last_sequence_id int64, 4 schema_version
    bytes, 5 topic_epoch uint64, 6 producer_ready bool
CommandSend: 1! producer_id uint64, 2! sequence_id uint64, 3 num_messages int32, 4 txnid_least_bits uint64, 5
    txnid_most_bits uint64, 6 highest_sequence_id uint64, 7 is_chunk bool, 8 marker bool, 9 message_id MessageIdData
CommandSendReceipt: 1! producer_id uint64, 2! sequence_id uint64, 3 message_id MessageIdData, 4 highest_sequence_id
    uint64
CommandSendError: 1! producer_id uint64, 2! sequence_id uint64, 3! error ServerError, 4! message string
CommandSubscribe: 1! topic string, 2! subscription string, 3! subType CommandSubscribe.SubType, 4! consumer_id uint64,
    5! request_id uint64, 6 consumer_name string, 7 priority_level int32, 8 durable bool, 9 start_message_id
    MessageIdData, 10* metadata KeyValue, 11 read_compacted bool, 12 schema Schema, 13 initialPosition
    CommandSubscribe.InitialPosition, 14 replicate_subscription_state bool, 15 force_topic_creation bool, 16
    start_message_rollback_duration_sec uint64, 17 keySharedMeta KeySharedMeta, 18* subscription_properties KeyValue,
    19 consumer_epoch uint64
KeySharedMeta: 1! keySharedMode KeySharedMode, 3* hashRanges IntRange, 4 allowOutOfOrderDelivery bool
IntRange: 1! start int32, 2! end int32
CommandFlow: 1! consumer_id uint64, 2! messagePermits uint32
CommandMessage: 1! consumer_id uint64, 2! message_id MessageIdData, 3 redelivery_count uint32, 4* ack_set int64, 5
    consumer_epoch uint64
CommandAck: 1! consumer_id uint64, 2! ack_type CommandAck.AckType, 3* message_id MessageIdData, 4 validation_error
    CommandAck.ValidationError, 5* properties KeyLongValue, 6 txnid_least_bits uint64, 7 txnid_most_bits uint64, 8
    request_id uint64
CommandAckResponse: 1! consumer_id uint64, 2 txnid_least_bits uint64, 3 txnid_most_bits uint64, 4 error ServerError, 5
    message string, 6 request_id uint64
CommandRedeliverUnacknowledgedMessages: 1! consumer_id uint64, 2* message_ids MessageIdData, 3 consumer_epoch uint64
CommandUnsubscribe: 1! consumer_id uint64, 2! request_id uint64, 3 force bool
CommandCloseProducer: 1! producer_id uint64, 2! request_id uint64, 3 assignedBrokerServiceUrl string, 4
    assignedBrokerServiceUrlTls string
CommandCloseConsumer: 1! consumer_id uint64, 2! request_id uint64, 3 assignedBrokerServiceUrl string, 4
    assignedBrokerServiceUrlTls string
CommandSuccess: 1! request_id uint64, 2 schema Schema
CommandError: 1! request_id uint64, 2! error ServerError, 3! message string
CommandPing:
CommandPong:
CommandActiveConsumerChange: 1! consumer_id uint64, 2 is_active bool
CommandReachedEndOfTopic: 1! consumer_id uint64
CommandConsumerStats: 1! request_id uint64, 4! consumer_id uint64
CommandConsumerStatsResponse: 1! request_id uint64, 2 error_code ServerError, 3 error_message string, 4 msgRateOut
    double, 5 msgThroughputOut double, 6 msgRateRedeliver double, 7 consumerName string, 8 availablePermits uint64, 9
    unackedMessages uint64, 10 blockedConsumerOnUnackedMsgs bool, 11 address string, 12 connectedSince string, 13 type
    string, 14 msgRateExpired double, 15 msgBacklog uint64, 16 messageAckRate double
CommandSeek: 1! consumer_id uint64, 2! request_id uint64, 3 message_id MessageIdData, 4 message_publish_time uint64
CommandGetLastMessageId: 1! consumer_id uint64, 2! request_id uint64
CommandGetLastMessageIdResponse: 1! last_message_id MessageIdData, 2! request_id uint64, 3
    consumer_mark_delete_position MessageIdData
CommandGetTopicsOfNamespace: 1! request_id uint64, 2! namespace string, 3 mode CommandGetTopicsOfNamespace.Mode, 4
    topics_pattern string, 5 topics_hash string, 6* properties KeyValue
CommandGetTopicsOfNamespaceResponse: 1! request_id uint64, 2* topics string, 3 filtered bool, 4 topics_hash string, 5
    changed bool
Schema: 1! name string, 3! schema_data bytes, 4! type Schema.Type, 5* properties KeyValue
CommandGetSchema: 1! request_id uint64, 2! topic string, 3 schema_version bytes
CommandGetSchemaResponse: 1! request_id uint64, 2 error_code ServerError, 3 error_message string, 4 schema Schema, 5
    schema_version bytes
CommandGetOrCreateSchema: 1! request_id uint64, 2! topic string, 3! schema Schema, 4 producerName string
CommandGetOrCreateSchemaResponse: 1! request_id uint64, 2 error_code ServerError, 3 error_message string, 4
    schema_version bytes
"""

_ENUMS: Final = """
CommandSubscribe.SubType: 0 Exclusive, 1 Shared, 2 Failover, 3 Key_Shared
CommandSubscribe.InitialPosition: 0 Latest, 1 Earliest
CommandAck.AckType: 0 Individual, 1 Cumulative
CommandAck.ValidationError: 0 UncompressedSizeCorruption, 1 DecompressionError, 2 ChecksumMismatch, 3
    BatchDeSerializeError, 4 DecryptionError
CommandPartitionedTopicMetadataResponse.LookupType: 0 Success, 1 Failed
CommandLookupTopicResponse.LookupType: 0 Redirect, 1 Connect, 2 Failed
CompressionType: 0 NONE, 1 LZ4, 2 ZLIB, 3 ZSTD, 4 SNAPPY
ProducerAccessMode: 0 Shared, 1 Exclusive, 2 WaitForExclusive, 3 ExclusiveWithFencing
KeySharedMode: 0 AUTO_SPLIT, 1 STICKY
AuthMethod: 0 AuthMethodNone, 1 AuthMethodYcaV1, 2 AuthMethodAthens
CommandGetTopicsOfNamespace.Mode: 0 PERSISTENT, 1 NON_PERSISTENT, 2 ALL
Schema.Type: 0 None, 1 String, 2 Json, 3 Protobuf, 4 Avro, 5 Bool, 6 Int8, 7 Int16, 8 Int32, 9 Int64, 10 Float, 11
    Double, 12 Date, 13 Time, 14 Timestamp, 15 KeyValue, 16 Instant, 17 LocalDate, 18 LocalTime, 19 LocalDateTime, 20
    ProtobufNative, 21 AutoConsume, 22 External
ServerError: 0 UnknownError, 1 MetadataError, 2 PersistenceError, 3 AuthenticationError, 4 AuthorizationError, 5
    ConsumerBusy, 6 ServiceNotReady, 7 ProducerBlockedQuotaExceededError, 8 ProducerBlockedQuotaExceededException, 9
    ChecksumError, 10 UnsupportedVersionError, 11 TopicNotFound, 12 SubscriptionNotFound, 13 ConsumerNotFound, 14
    TooManyRequests, 15 TopicTerminatedError, 16 ProducerBusy, 17 InvalidTopicName, 18 IncompatibleSchema, 19
    ConsumerAssignError, 20 TransactionCoordinatorNotFound, 21 InvalidTxnStatus, 22 NotAllowedError, 23
    TransactionConflict, 24 TransactionNotFound, 25 ProducerFenced
"""

_COMMANDS: Final = """
2 CONNECT CommandConnect, 3 CONNECTED CommandConnected, 4 SUBSCRIBE CommandSubscribe, 5 PRODUCER CommandProducer, 6
SEND CommandSend, 7 SEND_RECEIPT CommandSendReceipt, 8 SEND_ERROR CommandSendError, 9 MESSAGE CommandMessage, 10 ACK
CommandAck, 11 FLOW CommandFlow, 12 UNSUBSCRIBE CommandUnsubscribe, 13 SUCCESS CommandSuccess, 14 ERROR CommandError,
15 CLOSE_PRODUCER CommandCloseProducer, 16 CLOSE_CONSUMER CommandCloseConsumer, 17 PRODUCER_SUCCESS
CommandProducerSuccess, 18 PING CommandPing, 19 PONG CommandPong, 20 REDELIVER_UNACKNOWLEDGED_MESSAGES
CommandRedeliverUnacknowledgedMessages, 21 PARTITIONED_METADATA CommandPartitionedTopicMetadata, 22
PARTITIONED_METADATA_RESPONSE CommandPartitionedTopicMetadataResponse, 23 LOOKUP CommandLookupTopic, 24
LOOKUP_RESPONSE CommandLookupTopicResponse, 25 CONSUMER_STATS CommandConsumerStats, 26 CONSUMER_STATS_RESPONSE
CommandConsumerStatsResponse, 27 REACHED_END_OF_TOPIC CommandReachedEndOfTopic, 28 SEEK CommandSeek, 29
GET_LAST_MESSAGE_ID CommandGetLastMessageId, 30 GET_LAST_MESSAGE_ID_RESPONSE CommandGetLastMessageIdResponse, 31
ACTIVE_CONSUMER_CHANGE CommandActiveConsumerChange, 32 GET_TOPICS_OF_NAMESPACE CommandGetTopicsOfNamespace, 33
GET_TOPICS_OF_NAMESPACE_RESPONSE CommandGetTopicsOfNamespaceResponse, 34 GET_SCHEMA CommandGetSchema, 35
GET_SCHEMA_RESPONSE CommandGetSchemaResponse, 36 AUTH_CHALLENGE CommandAuthChallenge, 37 AUTH_RESPONSE
CommandAuthResponse, 38 ACK_RESPONSE CommandAckResponse, 39 GET_OR_CREATE_SCHEMA CommandGetOrCreateSchema, 40
GET_OR_CREATE_SCHEMA_RESPONSE CommandGetOrCreateSchemaResponse
"""


def _paragraphs(text: str) -> list[tuple[str, list[list[str]]]]:
    """The entries of a table: a name, and its items as lists of words."""
    found: list[tuple[str, list[list[str]]]] = []
    for line in text.replace("\n    ", " ").strip().splitlines():
        name, _, rest = line.partition(":")
        found.append((name, [item.split() for item in rest.split(",") if item.strip()]))
    return found


def _field(words: list[str]) -> Field:
    number = int(words[0].rstrip("!*"))
    return Field(number, words[1], words[2], words[0].endswith("!"), words[0].endswith("*"))


MESSAGES: Final[dict[str, tuple[Field, ...]]] = {
    name: tuple(_field(words) for words in items) for name, items in _paragraphs(_MESSAGES)
}
"""The fields of each message, in the order of their numbers."""

ENUMS: Final[dict[str, dict[str, int]]] = {
    name: {words[1]: int(words[0]) for words in items} for name, items in _paragraphs(_ENUMS)
}
"""The names of each enum with their values."""

COMMANDS: Final[dict[str, tuple[int, str]]] = {
    words[1]: (int(words[0]), words[2]) for words in (item.split() for item in _COMMANDS.split(","))
}
"""Each command: its type, which is also the number of its field in BaseCommand, and its message."""

NAMES: Final[dict[int, str]] = {number: name for name, (number, _) in COMMANDS.items()}

SINCE: Final[dict[str, int]] = {
    "PING": 1, "PONG": 1, "REDELIVER_UNACKNOWLEDGED_MESSAGES": 2, "CONSUMER_STATS": 8, "CONSUMER_STATS_RESPONSE": 8,
    "REACHED_END_OF_TOPIC": 9, "SEEK": 10, "GET_LAST_MESSAGE_ID": 12, "GET_LAST_MESSAGE_ID_RESPONSE": 12,
    "ACTIVE_CONSUMER_CHANGE": 12, "GET_TOPICS_OF_NAMESPACE": 12, "GET_TOPICS_OF_NAMESPACE_RESPONSE": 12,
    "GET_SCHEMA": 13, "GET_SCHEMA_RESPONSE": 13, "AUTH_CHALLENGE": 14, "AUTH_RESPONSE": 14, "ACK_RESPONSE": 17,
    "GET_OR_CREATE_SCHEMA": 15, "GET_OR_CREATE_SCHEMA_RESPONSE": 15,
}  # fmt: skip
"""The protocol version that brought a command. Those of lookup are not here: brokers knew them before version 7."""
