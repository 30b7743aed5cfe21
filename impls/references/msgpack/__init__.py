"""References for MessagePack: a server, a client and a codec with octets of their own."""
