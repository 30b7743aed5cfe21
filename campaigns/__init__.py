"""Campaigns: a search for faults that Spark spreads over many machines.

`novelty` says what is new about a conversation, `breeding` makes programs of those that showed something new, `sources`
reaches what is judged, `work` is one task and `proving` looks into one fault: none of these knows Spark. `job` hands
tasks to it in waves, and `python -m campaigns` is the command.
"""
