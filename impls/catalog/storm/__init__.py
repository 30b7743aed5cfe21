"""Test programs around libraries that speak Storm multilang. They run beside Wireproof, never inside it."""
