"""Responses. Source: MessagePack-RPC specification, Response Message, The order of the response."""

from strategies.msgpack.aimed import CONNECTIONS, FAILURES, PIPELINES
from suites.table import hunts

ROLES = ("server",)

test_failures = hunts(
    "Methods that fail, that do not exist, and arguments that do not fit.", FAILURES.programs, FAILURES.interpret
)
test_pipelines = hunts("Many requests at once, some of them slow.", PIPELINES.programs, PIPELINES.interpret)
test_connections = hunts("The same ids on several connections.", CONNECTIONS.programs, CONNECTIONS.interpret)
