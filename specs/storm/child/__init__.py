"""What bolts and spouts are held to."""
