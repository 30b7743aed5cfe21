"""What the hosts of bolts and spouts are held to."""
