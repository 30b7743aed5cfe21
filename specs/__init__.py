"""What conforming means: pure executable specifications, with no I/O, clock or randomness."""
