"""Statistics of dialogue evaluation: ratings, rates, biases, correlations, each with its interval.

Arrays go in, frozen results come out that repeat their settings. Nothing here knows of models, files or tables.
What cannot be computed is NaN with a reason beside it, never a number that only looks like one.
"""
