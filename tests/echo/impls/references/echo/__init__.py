"""ECHO peers that live in this process."""
