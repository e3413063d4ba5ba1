"""The compiled half of placement: boxes, unions, growth, and the inner loops of the algorithms.

A box is a row of `2 d` numbers: its low ends on all `d` axes, then its high ends. A filter is the first `k` rows of an array
of boxes. Callers import these modules inside functions, so that importing `thatch.placement` does not load Numba.
"""
