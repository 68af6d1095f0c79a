"""What every table of a run shows, in a sentence for its reader, and how its columns are written."""

from __future__ import annotations

import pyarrow as pa

from dialeval.report.numbers import Kind

NOT_SHOWN = frozenset({"botchat/utterance_tokens"})
"""Tables with one row per utterance: too long to read."""

_TITLES_AND_CAPTIONS = {
    "botchat/unieval_pass_rates": (
        "UniEval pass rates",
        "A dialogue passes at N if the judge sees no AI in it, or sees the first AI utterance after N; it counts "
        "only where it is that long, which few human dialogues are. Intervals are Wilson's. A verdict that could not "
        "be read counts as not passed.",
    ),
    "botchat/unieval_at_gt_length": (
        "UniEval at the human length",
        "The pass rate where every dialogue is taken up to as many utterances as the human dialogue of its seed has.",
    ),
    "botchat/arena_elo": (
        "Arena ratings",
        "Elo is the median over shuffled orders of the comparisons, averaged over repeats; Bradley-Terry and Davidson "
        "(with ties) stand on the same scale. Intervals resample seeds. Verdicts that could not be read "
        "move no rating.",
    ),
    "botchat/arena_win_rates": (
        "Arena win rates",
        "Shares of the comparisons of two models on the same seeds, in both orders, from the side of model a.",
    ),
    "botchat/gteval": (
        "GTEval",
        "Each model's dialogue against the human one, cut to its length. A model wins where the human dialogue "
        "is called AI. Intervals resample seeds.",
    ),
    "botchat/judge_bias": (
        "Judge bias",
        "How far a judge's verdicts follow position, length or family instead of the dialogues, and how far judges "
        "agree. Intervals resample seeds.",
    ),
    "botchat/utterance_lengths": (
        "Utterance lengths",
        "Length of the generated utterances in tokens, and of the human ones.",
    ),
    "botchat/seeds": ("Length of the human dialogues", "How many human dialogues have so many utterances."),
    "judge_report": (
        "Judges on damaged dialogues",
        "How well an embedded judge tells true dialogues, left out of its training, from damaged ones.",
    ),
}

_SHARES = frozenset(
    {"pass_rate", "win", "tie", "lose", "unparsed", "win_low", "win_high", "win_or_tie", "accuracy"}
    | {"published_pass_rate", "published_win_or_tie", "p_above_next"}
)
_RATINGS = frozenset({"elo", "elo_sd", "published_elo", "mean", "median", "p95", "published_mean"})
_RATED_TABLES = frozenset({"botchat/arena_elo"})
_RATE_TABLES = frozenset({"botchat/unieval_pass_rates", "botchat/unieval_at_gt_length", "botchat/gteval"})


def describe(name: str) -> tuple[str, str]:
    """Returns the title and the caption of a table; one that is not known here gets its name as title."""
    return _TITLES_AND_CAPTIONS.get(name, (name, ""))


def column_kind(table: str, column: str, kind: pa.DataType) -> Kind:
    """Returns how the numbers of a column are written."""
    if pa.types.is_integer(kind):
        return "number" if column == "n" and table != "botchat/utterance_lengths" else "count"
    if not pa.types.is_floating(kind):
        return "text"
    is_end = column in {"low", "high"}
    if column in _SHARES or (is_end and table in _RATE_TABLES):
        return "share"
    if column in _RATINGS or column.startswith(("bradley_terry", "davidson")) or (is_end and table in _RATED_TABLES):
        return "rating"
    return "number"
