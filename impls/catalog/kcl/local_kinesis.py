"""Kinesis and DynamoDB in this process, as a WSGI application: moto's, to be served over HTTP/2. See daemon.py.

moto lets a shard that was split be read on for ever. Kinesis ends it: once all of it was read there is no next
iterator, and the shards that take its place are named.
"""

from __future__ import annotations

from typing import Any

from moto.core.responses import ActionResult
from moto.kinesis.models import decompose_shard_iterator
from moto.kinesis.responses import KinesisResponse
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

read_on = KinesisResponse.get_records


def get_records(self: Any) -> Any:
    """What moto answers, but for the end of a shard."""
    result = read_on(self)
    name, of, _ = decompose_shard_iterator(self._get_param("ShardIterator"))
    stream = self.kinesis_backend.describe_stream(stream_arn=self._get_param("StreamARN"), stream_name=name)
    if stream.get_shard(of).is_open or result.result["Records"]:
        return result
    heirs = [
        {
            "ShardId": shard.shard_id,
            "ParentShards": [of],
            "HashKeyRange": {"StartingHashKey": str(shard.starting_hash), "EndingHashKey": str(shard.ending_hash)},
        }
        for shard in stream.shards.values()
        if shard.parent == of
    ]
    left = {name: value for name, value in result.result.items() if name != "NextShardIterator"}
    return ActionResult({**left, "ChildShards": heirs})


KinesisResponse.get_records = get_records
app = DomainDispatcherApplication(create_backend_app)
