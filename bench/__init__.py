"""How fast Wireproof is, as ratios measured in one run: `python -m bench` or `python -m bench NAME`.

Figures of one machine at one time say little; how two ways of doing the same thing compare, measured in turns in one
process, says more. Each row gives the median of the repetitions and, beside it, the smallest and the largest.
"""
