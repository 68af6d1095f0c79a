"""What came out of a run, in a page of text: written as `results/summary.md`, and told when the run ends.

`written` makes it; what tells it must start quickly, and so imports none of the report.
"""

from dialeval.report.terminal_summary import tables_since, words_of_results

__all__ = ["tables_since", "words_of_results"]
