"""What is said of an implementation, how it is started, and that nothing of it is left."""
