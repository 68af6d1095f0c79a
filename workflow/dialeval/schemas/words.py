"""What columns are that stand in many tables, said once, for docs and report."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

COMMON: Mapping[str, str] = MappingProxyType(
    {
        "n_clusters": "seeds, or dialogues, that the number rests on",
        "design_effect": "variance of the number over that of as many independent rows, as its interval takes it",
        "effective_n": "independent rows that would say as much: the rows over the design effect",
        "note": "why there is no number or no interval, or what to know of it",
        "n_unparsed": "answers that could not be read; they stay in the denominator",
        "n_missing": "rows without an answer or a score",
        "status": "ok, or why there is no value",
    }
)
"""By the column's name, in whatever table."""

JUDGED: Mapping[str, str] = MappingProxyType(
    {
        "method": "how the judge scored: rating, yes_no, annotation (came with the corpus) or file (ready scores)",
        "level": "whether a response in its context (turn) or a whole dialogue was scored",
        "language": "language of the texts; average: mean over languages",
        "dimension": "what judges were asked about; all: everything that is rated; average: mean over dimensions",
        "rated": "what the raters rated: another criterion where `asks` of the corpus joins the two",
        "rater_kind": "who rated: people (human), a model, or nobody, where the reference is known by construction",
        "filled_by": "judge of this run whose ratings stand in where nobody rated; empty where the corpus has ratings",
        "n": "items with a score and a rating",
        "reason": "why a number is missing",
        "benchmark": "corpora that are averaged together",
    }
)
"""In tables of judges that score items."""

COMPARED: Mapping[str, str] = MappingProxyType(
    {
        "table": "the table whose numbers are compared",
        "measure": "what is compared",
        "scope": "at what N, on which task, and so on; rows that share table, measure, judge and scope are a family",
        "first_value": "of the first, on what both have; it may differ a little from the leaderboard's",
        "second_value": "of the second, on what both have",
        "difference": "first less second, with its interval",
        "p": "two-sided, of no difference, for this pair alone",
        "p_holm": "corrected for all pairs of the family: below 0.05 the two can be told apart",
        "q_bh": "for exploration: of the pairs below 0.05 one in twenty is expected to be a false alarm",
        "family_size": "tests of the family: pairs that have a p-value",
        "n": "items that both have",
        "n_clusters": "seeds or dialogues that these are of",
    }
)
"""In tables of pairs that are compared."""
