"""The references for Pulsar's binary protocol: a broker and a client, with octets of their own."""
