"""What a child is held to."""
