"""Statistics of dialogue evaluation: estimates, ratings, rates, biases and correlations with confidence intervals.

Arrays go in, frozen results come out. Nothing here knows of models, files or tables.
What cannot be computed is NaN with a reason beside it, never a number that only looks like one.
"""
