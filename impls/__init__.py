"""Implementations under test: what is said of them, how they are started, and how they are reached."""
