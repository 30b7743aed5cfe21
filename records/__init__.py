"""The contract of results: what a run writes down while it goes on, and how that is read back.

Standard library only, and nothing of ours: whoever reads records need not be able to make them.
"""
