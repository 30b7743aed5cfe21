"""Correct peers of our own, with a switch for every freedom of the text."""
