"""STOMP: the in-process reference server, its TCP front, and the manifest that names it."""
