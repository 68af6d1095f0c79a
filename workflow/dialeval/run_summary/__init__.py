"""What came out of a run, in a page of text: written as `results/summary.md`, and told when the run ends."""

from dialeval.run_summary.told import words_of_results
from dialeval.run_summary.written import summary_of

__all__ = ["summary_of", "words_of_results"]
