"""Conversations with Pulsar brokers and clients."""
