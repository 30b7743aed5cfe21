"""Conversations with a STOMP server."""
