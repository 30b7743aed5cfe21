"""A STOMP client library, told what to do. Write what is still to be written; `wireproof check` says what is
missing. Give what the library hears to an inbox of the kit: messages, receipts, and why the connection is over."""

import kit


def connect(given):
    """Open a connection to address (HOST:PORT), offering versions, host, login, passcode, heart_beat; answer when
    the library is connected."""
    raise kit.Todo("connect")


def send(given):
    """Send the octets of body_hex to destination with headers, in transaction if there is one; with receipt, answer
    when the RECEIPT has come."""
    raise kit.Todo("send")


def subscribe(given):
    """Subscribe to destination in the mode ack; later ops call the subscription sub."""
    raise kit.Todo("subscribe")


def unsubscribe(given):
    """End the subscription sub."""
    raise kit.Todo("unsubscribe")


def ack(given):
    """Acknowledge the message that receive gave this ref, in transaction if there is one."""
    raise kit.Todo("ack")


def nack(given):
    """Refuse the message that receive gave this ref."""
    raise kit.Todo("nack")


def begin(given):
    """Begin a transaction that is called transaction."""
    raise kit.Todo("begin")


def commit(given):
    """Commit that transaction."""
    raise kit.Todo("commit")


def abort(given):
    """Abort that transaction."""
    raise kit.Todo("abort")


def receive(given):
    """Wait timeout_ms for a message of any subscription: ref, headers, body_hex and sub; or null when none came."""
    raise kit.Todo("receive")


def disconnect(given):
    """End the session as the library does that."""
    raise kit.Todo("disconnect")


OPS = {
    "connect": connect,
    "send": send,
    "subscribe": subscribe,
    "unsubscribe": unsubscribe,
    "ack": ack,
    "nack": nack,
    "begin": begin,
    "commit": commit,
    "abort": abort,
    "receive": receive,
    "disconnect": disconnect,
}

if __name__ == "__main__":
    kit.serve(OPS)
