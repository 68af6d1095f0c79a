"""People's numbers from labels of a part and a judge's scores of all: means, rates, differences, and ratings."""

from dialeval.stats.corrected_means import Annotators, annotator_variance, correct_means
from dialeval.stats.corrected_ratings import correct_ratings
from dialeval.stats.correction import Corrected, Difference

__all__ = ["Annotators", "Corrected", "Difference", "annotator_variance", "correct_means", "correct_ratings"]
