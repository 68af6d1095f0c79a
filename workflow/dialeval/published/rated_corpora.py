"""What comp-analysis and xDial-Eval print of their corpora (Table 1 of both): items, utterances, words and dimensions.

Words are what blanks part. In FED-Turn the papers count each speaker's name as one more word, and the words of
comp-analysis' dialogues are of all dialogues of a corpus, of which it rates 500 at most.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from dialeval.published.names import folded

COLUMNS = ("n_items", "n_utterances", "words_context", "words_response", "words_utterance", "n_dimensions")
_XDIAL, _COMP = "xdial-eval", "comp-analysis"
_PREFIX = "xdial"
_NOTHING: Mapping[str, float | None] = MappingProxyType(dict.fromkeys(COLUMNS))


def published_corpus(name: str, level: str) -> Mapping[str, float | None]:
    """Returns what is printed of a corpus by column of `COLUMNS`, None where nothing is.

    Args:
        name: the corpus as the configuration calls it; letters and digits count, and their case does not. One that
            begins with xDial is xDial-Eval's, any other is comp-analysis' if that has it, or else xDial-Eval's.
        level: turn or dialogue.
    """
    plain = folded(name)
    own = plain.removeprefix(_PREFIX)
    papers = (_XDIAL,) if own != plain else (_COMP, _XDIAL)
    return next((found for paper in papers if (found := _rows().get((paper, level, own)))), _NOTHING)


@cache
def _rows() -> Mapping[tuple[str, str, str], Mapping[str, float | None]]:
    text = files("dialeval.published").joinpath("rated_corpora.csv").read_text(encoding="utf-8")
    return MappingProxyType(
        {
            (row["paper"], row["level"], folded(name)): {
                column: float(row[column]) if row[column] else None for column in COLUMNS
            }
            for row in csv.DictReader(text.splitlines())
            for name in row["names"].split(";")
        }
    )
