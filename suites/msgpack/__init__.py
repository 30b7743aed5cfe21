"""The suites for MessagePack-RPC servers and clients, and for MessagePack codecs."""
