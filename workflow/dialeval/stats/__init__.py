"""Statistics of dialogue evaluation: estimates, ratings, rates, biases and correlations with confidence intervals.

Functions take arrays and return frozen results. They do not depend on models, files or tables.
A number that cannot be computed is NaN, and a note or reason says why.
"""
