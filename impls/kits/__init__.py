"""Kits for testees: a file to copy for each language, and templates. docs/testees.md begins with them."""
