"""The suites for Pulsar brokers and clients."""
