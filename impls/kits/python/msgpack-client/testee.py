"""A MessagePack-RPC client library, told what to do. Write what is still to be written; `wireproof check` says what
is missing. Params and results travel as MessagePack in hex."""

import kit


def connect(given):
    """Open a connection to address (HOST:PORT)."""
    raise kit.Todo("connect")


def call(given):
    """Call method with the array params_hex; answer result_hex, or error_hex when the call has failed."""
    raise kit.Todo("call")


def call_async(given):
    """The same without waiting; answer a handle. Leave it unsupported where the library cannot."""
    raise kit.Todo("call_async")


def await_(given):
    """Wait for the call that has this handle; answer as call does."""
    raise kit.Todo("await")


def notify(given):
    """Send the notification method with params_hex."""
    raise kit.Todo("notify")


def disconnect(given):
    """Close the connection."""
    raise kit.Todo("disconnect")


OPS = {
    "connect": connect,
    "call": call,
    "call_async": call_async,
    "await": await_,
    "notify": notify,
    "disconnect": disconnect,
}

if __name__ == "__main__":
    kit.serve(OPS)
