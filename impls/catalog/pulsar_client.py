"""The official Pulsar client, told what to do by JSON objects on stdin (docs/implementations.md).

WIREPROOF_PULSAR_OPTIONS may hold a JSON object of options for every producer, such as {"batching_enabled": true} or
{"compression_type": "LZ4"}.
"""

import json
import os
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "kits" / "python"))
import kit

OPERATION_S = 5
SEND_MS = 5000


class Testee:
    """One client with its producers and consumers."""

    def __init__(self):
        try:
            import pulsar  # noqa: PLC0415 - without it there is something to say
        except ImportError as error:
            sys.exit(f"{error}: pip install 'pulsar-client>=3.13,<4', or run pulsar_setup.sh client")
        self.pulsar = pulsar
        self.client = None
        self.options = json.loads(os.environ.get("WIREPROOF_PULSAR_OPTIONS") or "{}")
        if "compression_type" in self.options:
            self.options["compression_type"] = getattr(pulsar.CompressionType, self.options["compression_type"])
        self.handles = kit.Handles()

    def do_connect(self, said):
        known = {"token": self.pulsar.AuthenticationToken}
        method = said.get("auth_method")
        if method is not None and method not in known:
            raise kit.Unsupported
        self.client = self.pulsar.Client(
            said["url"],
            authentication=None if method is None else known[method](said["auth_data"]),
            operation_timeout_seconds=OPERATION_S,
            connection_timeout_ms=3000,
            logger=self.pulsar.FileLogger(self.pulsar.LoggerLevel.Error, "/dev/stderr"),
        )
        return True

    def do_producer(self, said):
        name = said.get("name") or None
        made = self.client.create_producer(
            said["topic"], producer_name=name, send_timeout_millis=SEND_MS, **self.options
        )
        return self.handles.keep(made, "p")

    def do_send(self, said):
        return str(self.handles[said["producer"]].send(bytes.fromhex(said["payload_hex"]), **self.about(said)))

    def do_send_async(self, said):
        done, found = threading.Event(), []

        def told(result, message_id):
            found.append((result, str(message_id)))
            done.set()

        self.handles[said["producer"]].send_async(bytes.fromhex(said["payload_hex"]), told, **self.about(said))
        return self.handles.keep((done, found), "s")

    def do_await(self, said):
        done, found = self.handles.drop(said["handle"])
        if not done.wait(OPERATION_S + 1):
            raise TimeoutError("no receipt")
        result, message_id = found[0]
        if result != self.pulsar.Result.Ok:
            raise RuntimeError(str(result))
        return message_id

    def about(self, said):
        """Key and properties of a message."""
        properties = said.get("properties") or {}
        return {"partition_key": said.get("key"), "properties": dict(properties) or None}

    def do_subscribe(self, said):
        kind = (said.get("type") or "Exclusive").replace("_", "").lower()
        kinds = {each.lower(): getattr(self.pulsar.ConsumerType, each) for each in ("Exclusive", "Shared", "Failover")}
        kinds["keyshared"] = self.pulsar.ConsumerType.KeyShared
        permits = said.get("permits")
        made = self.client.subscribe(
            said["topic"],
            said["subscription"],
            consumer_type=kinds[kind],
            consumer_name=said.get("name") or None,
            receiver_queue_size=1000 if permits is None else permits,
        )
        return self.handles.keep(made, "c")

    def do_receive(self, said):
        try:
            message = self.handles[said["consumer"]].receive(timeout_millis=max(1, int(said.get("timeout_ms") or 1)))
        except self.pulsar.Timeout:
            return None
        return {
            "ref": self.handles.keep(message, "m"),
            "payload_hex": message.data().hex(),
            "key": message.partition_key() or None,
            "properties": message.properties(),
        }

    def do_ack(self, said):
        consumer, message = self.handles[said["consumer"]], self.handles[said["ref"]]
        (consumer.acknowledge_cumulative if said.get("cumulative") else consumer.acknowledge)(message)
        return True

    def do_redeliver(self, said):
        self.handles[said["consumer"]].redeliver_unacknowledged_messages()
        return True

    def do_close(self, said):
        self.handles.drop(said.get("producer") or said.get("consumer")).close()
        return True

    def do_disconnect(self, said):
        client, self.client, self.handles = self.client, None, kit.Handles()
        client.close()
        return True


if __name__ == "__main__":
    testee = Testee()
    kit.serve({name[3:]: getattr(testee, name) for name in dir(testee) if name.startswith("do_")})
