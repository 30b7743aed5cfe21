"""Programs that are wrong in one point, each with the plan that proves it: what the suite must be able to see.

Each protocol has a module that ends in `kit`, with the record of a fault and the list of all; every other module
registers faults when it is imported, which `tests.mutants.every` does. `tests.mutants.hunted` hunts them in memory,
`tests.mutants.outside` judges them as programs. `stomp_link` holds faults of the connection itself, which can be put in
front of any server.
"""
