"""What a host is held to."""
