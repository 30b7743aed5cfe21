"""Conversations with what runs: links, transports, and the player of plans."""
