"""What a judge sees in the dialogues that were written: styles and domains (DialogBench, Figures 5 and 6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from dialeval.aggregation.answer_rates import Answer, Row, grouped
from dialeval.dialogbench.characters import STYLES
from dialeval.dialogbench.classification import OTHER
from dialeval.dialogbench.domains import NAMES
from dialeval.stats.shares import share_interval


def style_rows(classified: Mapping[str, Iterable[Answer]], confidence: float = 0.95) -> list[Row]:
    """Returns how often each style was seen in each speaker, by variant, judge and language (Figure 5).

    Args:
        classified: rows of the judge's classification by variant: `full`, `-styles`, `-domains`.
    """
    rows: list[Row] = []
    for variant, described in classified.items():
        for (judge, language), group in grouped(described, "judge", "language"):
            for speaker in (1, 2):
                seen = Counter(row[f"speaker{speaker}_style"] for row in group)
                rows += _share_rows(
                    {"variant": variant, "judge": judge, "language": language, "speaker": speaker},
                    "style",
                    STYLES,
                    seen,
                    confidence,
                )
    return rows


def domain_count_rows(classified: Mapping[str, Iterable[Answer]], confidence: float = 0.95) -> list[Row]:
    """Returns how many dialogues were seen in each domain, by variant, judge and language (Figure 6).

    Args:
        classified: rows of the judge's classification by variant.
    """
    rows: list[Row] = []
    for variant, described in classified.items():
        for (judge, language), group in grouped(described, "judge", "language"):
            seen = Counter(row["domain"] for row in group)
            about = {"variant": variant, "judge": judge, "language": language}
            rows += _share_rows(about, "domain", (*NAMES, OTHER), seen, confidence)
    return rows


def _share_rows(
    about: Row, column: str, names: Sequence[str], seen: Counter[str | None], confidence: float
) -> list[Row]:
    """Returns count and share of each name; what could not be read is left out of the shares and counted."""
    n = sum(seen[name] for name in names)
    rows = []
    for name in names:
        others = n - seen[name]
        share = share_interval([1.0] * seen[name] + [0.0] * others, range(n), confidence=confidence)
        rows.append(
            {
                **about,
                column: name,
                "n": seen[name],
                "share": share.estimate,
                "low": share.low,
                "high": share.high,
                "n_unparsed": seen[None],
            }
        )
    return rows
