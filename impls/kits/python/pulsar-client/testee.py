"""A Pulsar client library, told what to do. Write what is still to be written; `wireproof check` says what is
missing. Keep producers, consumers and messages as handles of the kit: what is answered stands for them in later
ops."""

import kit


def connect(given):
    """Make a client for url; with the credentials auth_method and auth_data where they are given."""
    raise kit.Todo("connect")


def producer(given):
    """Make a producer for topic, called name if there is one; answer a handle."""
    raise kit.Todo("producer")


def send(given):
    """Send payload_hex with key and properties by producer; answer the id of the message, as a text."""
    raise kit.Todo("send")


def send_async(given):
    """The same without waiting; answer a handle. Leave it unsupported where the library cannot."""
    raise kit.Todo("send_async")


def await_(given):
    """Wait for what send_async gave this handle; answer the id of the message."""
    raise kit.Todo("await")


def subscribe(given):
    """Subscribe to topic as subscription, of the type Exclusive, Shared or Failover, with permits; answer a handle."""
    raise kit.Todo("subscribe")


def receive(given):
    """Wait timeout_ms for a message of consumer: ref, payload_hex, key and properties; or null when none came."""
    raise kit.Todo("receive")


def ack(given):
    """Acknowledge the message ref of consumer; with cumulative, all up to it."""
    raise kit.Todo("ack")


def redeliver(given):
    """Have consumer ask for what is not acknowledged."""
    raise kit.Todo("redeliver")


def close(given):
    """Close producer, or consumer."""
    raise kit.Todo("close")


def disconnect(given):
    """Close the client."""
    raise kit.Todo("disconnect")


OPS = {
    "connect": connect,
    "producer": producer,
    "send": send,
    "send_async": send_async,
    "await": await_,
    "subscribe": subscribe,
    "receive": receive,
    "ack": ack,
    "redeliver": redeliver,
    "close": close,
    "disconnect": disconnect,
}

if __name__ == "__main__":
    kit.serve(OPS)
