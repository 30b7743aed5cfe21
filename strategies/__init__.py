"""How conversations are drawn: Hypothesis strategies for cheap data, and pure functions that turn it into plans."""
