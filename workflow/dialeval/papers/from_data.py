"""Printed values that the papers' public data give, computed by the library that makes the run's tables.

Of what the data do not hold (chatbots' dialogues, verdicts, scores of judges but GPT-4) nothing can be computed.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

import numpy as np

from dialeval.aggregation.rated_corpora import annotator_rows, corpus_rows
from dialeval.corpora import botchat_workbook, comp_dialogue, robustness_pairs
from dialeval.corpora.rated import RatedReading
from dialeval.corpora.rated_readers import read_rated
from dialeval.criteria import DIMENSIONS
from dialeval.errors import UserError
from dialeval.papers.printed import PrintedValue
from dialeval.published.robustness import AVERAGE, published_robustness
from dialeval.stats.arrays import FloatArray
from dialeval.stats.correlation import correlate
from dialeval.stats.rates import win_matrices

_COMP, _XDIAL, _BOTCHAT = "comp-analysis", "xDial-Eval", "BotChat"
_TURNS = "comp-analysis/turn_level_texts"
_DIALOGUES = "comp-analysis/dialog_level_texts"
_FILES: Mapping[str, str] = MappingProxyType(
    {
        "Persona-USR": f"{_TURNS}/persona-usr_text.txt",
        "Persona-Zhao": f"{_TURNS}/persona-zhao_text.txt",
        "DailyDialog-Zhao": f"{_TURNS}/dailydialog-zhao_text.txt",
        "Topical-USR": f"{_TURNS}/topical-usr_text.txt",
        "FED-Turn": f"{_TURNS}/fed-turn_text.txt",
        "ConTurE-Turn": f"{_TURNS}/conture-turn_text.txt",
        "ConvAI2-GRADE": f"{_TURNS}_268be7c/convai2-grade_text.txt",
        "Persona-DSTC10": f"{_TURNS}_268be7c/dstc10-persona_clean_text.txt",
        "DailyDialog-GRADE": f"{_TURNS}_268be7c/dailydialog-grade_text.txt",
        "DailyDialog-Gupta": f"{_TURNS}_268be7c/dailydialog-gupta_text.txt",
        "Topical-DSTC10": f"{_TURNS}_268be7c/dstc10-topical_clean_text.txt",
        "Empathetic-GRADE": f"{_TURNS}_268be7c/empathetic-grade_text.txt",
        "IEval-Dial": f"{_DIALOGUES}/ieval-dial_text.txt",
        "IEval": f"{_DIALOGUES}/ieval-dial_text.txt",
        "Persona-See": f"{_DIALOGUES}/persona-see_text.txt",
        "Reliable-Dial": f"{_DIALOGUES}/reliable-dial_text.txt",
        "Reliable-Eval": f"{_DIALOGUES}/reliable-dial_text.txt",
        "ConTurE-Dial": f"{_DIALOGUES}/conture-dial_text.txt",
        "FED-Dial": f"{_DIALOGUES}/fed-dial_text.txt",
        "Human-Eval": f"{_DIALOGUES}/heval-dial_text.txt",
    }
)
"""Corpora as the papers' Table 1 names them, and where `download` puts them; one that is not there is passed over."""
_COUNTED = {
    "n_items": 0,
    "n_utterances": 1,
    "words_context": 1,
    "words_response": 1,
    "words_utterance": 1,
    "n_dimensions": 0,
}
"""What Table 1 prints of a corpus, and to how many decimals at least."""
_GPT4_ON_FED = {  # the last row of Table 6
    "coherence": 0.760,
    "engagingness": 0.689,
    "diversity": 0.534,
    "informativeness": 0.620,
    "overall": 0.744,
}
_GPT4_AVERAGE = 0.669
_ROUNDS = {4: 55, 5: 22, 6: 26, 7: 23, 8: 19, 9: 16, 10: 21, 11: 18, 12: 7, 13: 7, 14: 3, 15: 5}  # Figure 2
_WIN_OR_TIE = {  # the leaderboard, in percent, by the name in the notebook
    "gpt4": 73.2,
    "vicuna-13b-v1.5": 68.0,
    "qwen-14b-chat": 67.1,
    "internlm-20b-chat": 64.2,
    "vicuna-7b-v1.5": 55.6,
    "qwen-7b-chat": 54.1,
    "baichuan2-13b": 47.1,
    "internlm-7b-chat": 46.6,
    "gpt35": 35.8,
    "chatglm2-6b": 33.8,
    "claude2": 21.4,
    "llama2-7b": 12.4,
    "llama2-70b": 11.3,
    "llama2-13b": 10.6,
}
_SPEAKERS = "the papers count the speaker's name as one more word of every utterance"
_PRODUCT = (
    "the paper's is the product of two rounded columns of xDial-Eval's Table 1, which count all dialogues; ours are "
    "the words of the rated ones"
)
_FED_WORDS = (
    "the paper's is the product of two rounded columns of xDial-Eval's Table 1, of which the number of utterances does "
    "not come out"
)
_ROUNDED = "the paper's is the product of two rounded columns of xDial-Eval's Table 1; ours are counted"
_FED_TURNS = "the public dialogues have one utterance more on average than both papers count; why is not known"
_FEWER = "the public files have people's ratings on no more dimensions"
_NO_PEOPLE = "the public files have no ratings by people"
_OTHER_AGREEMENT = (
    "ours is the mean Pearson correlation of two raters; the paper's are the Spearman correlations that FED's authors "
    "print, which the public ratings do not reach, not even by setting each rater against the mean of the others"
)
WHY: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("Table 1", "FED-Turn, turn: words context"): _SPEAKERS,
        ("Table 1", "FED-Turn, turn: words response"): _SPEAKERS,
        ("Table 1", "FED-Dial, dialogue: n utterances"): _FED_TURNS,
        **{("Table 1", f"{name}, dialogue: words response"): _PRODUCT for name in ("IEval-Dial", "Persona-See")},
        ("Table 1", "ConTurE-Dial, dialogue: words response"): _ROUNDED,
        ("Table 1", "FED-Dial, dialogue: words response"): _FED_WORDS,
        **{
            ("Table 1", f"{name}, turn: n dimensions"): _FEWER
            for name in ("Persona-USR", "Persona-DSTC10", "DailyDialog-Zhao", "FED-Turn")
        },
        **{
            ("Table 1", f"{name}, dialogue: n dimensions"): _NO_PEOPLE
            for name in ("IEval", "Persona-See", "ConTurE-Dial")
        },
        ("Table 1", "FED-Dial: lowest agreement of people"): _OTHER_AGREEMENT,
        ("Table 1", "FED-Dial: highest agreement of people"): _OTHER_AGREEMENT,
        (
            "Table 6",
            "GPT-4 on FED-Dial: informativeness",
        ): "the public ratings give .615; what the paper had is not known",
    }
)
"""Item and what -> why a value does not come out."""


def values_from_data(folder: Path) -> list[PrintedValue]:
    """Returns every printed value that the files in a folder give, laid out as `download` leaves them.

    Raises:
        UserError: the folder has none of the files, or one of them is not as published.
    """
    values = [*_botchat(folder), *_corpora(folder), *_gpt4(folder), *_damage(folder)]
    if not values:
        raise UserError(f"{folder} has no public data of the papers; fetch them with the target `download`")
    return values


def _value(paper: str, item: str, what: str, printed: float, decimals: int, ours: float) -> PrintedValue:
    return PrintedValue(paper, item, what, "data", printed, decimals, ours, WHY.get((item, what), ""))


def _botchat(folder: Path) -> Iterator[PrintedValue]:
    """Yields the seeds and their lengths, and the shares of GTEval."""
    workbook = folder / "botchat" / "MuTual_test.xlsx"
    if workbook.is_file():
        lengths = Counter(len(dialogue.utterances) for dialogue in botchat_workbook.read(workbook, "en").dialogues)
        long_enough = {n: count for n, count in lengths.items() if n >= min(_ROUNDS)}
        n_long = sum(long_enough.values())
        yield _value(_BOTCHAT, "Section 4.1", "ChatSEEDs", 547, 0, lengths.total())
        yield _value(_BOTCHAT, "Section 3.4", "dialogues of four utterances and more", 222, 0, n_long)
        mean = sum(n * count for n, count in long_enough.items()) / n_long
        yield _value(_BOTCHAT, "Section 4.2", "mean number of utterances of these", 7.4, 1, mean)
        for n, printed in _ROUNDS.items():
            yield _value(_BOTCHAT, "Figure 2", f"dialogues of {n} utterances", printed, 0, lengths[n])
    counts = folder / "botchat" / "gteval_counts.csv"
    if counts.is_file():
        yield from _gteval(counts)


def _gteval(path: Path) -> Iterator[PrintedValue]:
    """Yields GTEval's shares from whole verdicts, each of a chatbot against people's dialogue."""
    with path.open(encoding="utf-8", newline="") as file:
        counted = {row["model"]: row for row in csv.DictReader(file)}
    names = list(_WIN_OR_TIE)
    left, outcome = [], []
    for place, name in enumerate(names):
        row = counted[name]
        outcomes = {1.0: int(row["win"]), 0.5: int(row["both"]) + int(row["neither"]), 0.0: int(row["lose"])}
        for value, n in outcomes.items():
            left += [place] * n
            outcome += [value] * n
    people = len(names)
    found = win_matrices(left, [people] * len(left), outcome, people + 1, cluster=range(len(left)))
    win, tie, lose = (100 * rate[:people, people] for rate in (found.win_rate, found.tie_rate, found.lose_rate))
    for place, name in enumerate(names):
        printed = _WIN_OR_TIE[name]
        yield _value(_BOTCHAT, "Figure 6", f"{name}: wins and ties, %", printed, 1, float(win[place] + tie[place]))
    first = names.index("gpt4")
    yield _value(_BOTCHAT, "Figure 6", "gpt4: wins, %", 26.4, 1, float(win[first]))
    yield _value(_BOTCHAT, "Figure 6", "gpt4: losses, %", 26.8, 1, float(lose[first]))


def _corpora(folder: Path) -> Iterator[PrintedValue]:
    """Yields what Table 1 of both papers says of the corpora that are there."""
    text = files("dialeval.published").joinpath("rated_corpora.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        name = row["names"].split(";")[0]
        path = folder / _FILES[name]
        if not path.is_file():
            continue
        is_xdial = row["paper"] == "xdial-eval"
        reading = _reading(row["level"], path, unrated_too=is_xdial)
        (counted,) = corpus_rows(reading.items, reading.ratings)
        for column, decimals in _COUNTED.items():
            if row[column]:
                digits = max(decimals, len(row[column].partition(".")[2]))
                what = f"{name}, {row['level']}: {column.replace('_', ' ')}"
                paper = _XDIAL if is_xdial else _COMP
                yield _value(paper, "Table 1", what, float(row[column]), digits, float(counted[column]))


def _reading(level: str, path: Path, *, unrated_too: bool) -> RatedReading:
    """Returns a corpus: of comp-analysis the dialogues that were rated, of xDial-Eval all."""
    if level == "turn":
        return read_rated("comp_turn", path.stem, path)
    return _dialogues(path, unrated_too=unrated_too)


@cache
def _dialogues(path: Path, *, unrated_too: bool = False) -> RatedReading:
    return comp_dialogue.read(path.stem, path, unrated_too=unrated_too)


def _gpt4(folder: Path) -> Iterator[PrintedValue]:
    """Yields how GPT-4's mean over five rounds goes with people on FED-Dial (Table 6), and how far its rounds agree."""
    path = folder / _FILES["FED-Dial"]
    if not path.is_file():
        return
    by_model, by_people = (_means(path, kind) for kind in ("model", "human"))
    found = correlate(by_model[np.newaxis], by_people, range(by_people.shape[1]), resamples=0).estimate[0]
    for dimension, ours in zip(DIMENSIONS["dialogue"], found, strict=True):
        printed = _GPT4_ON_FED[dimension]
        yield _value(_COMP, "Table 6", f"GPT-4 on FED-Dial: {dimension}", printed, 3, float(ours))
    yield _value(_COMP, "Table 6", "GPT-4 on FED-Dial: average", _GPT4_AVERAGE, 3, float(found.mean()))
    agreement = _agreement(path, "human")
    for name, printed, ours in (("lowest", 0.7, min(agreement)), ("highest", 0.8, max(agreement))):
        yield _value(_COMP, "Table 1", f"FED-Dial: {name} agreement of people", printed, 1, ours)
    yield from _rounds(folder)


def _means(path: Path, kind: str) -> FloatArray:
    """Returns the mean ratings of one kind of rater, of the paper's dimensions, shape [dimensions, items]."""
    means = {
        (rating.dimension, rating.item_id): rating.value
        for rating in _dialogues(path).ratings
        if rating.rater_kind == kind and rating.round is None
    }
    items = list(dict.fromkeys(item for _, item in means))
    return np.array([[means[dimension, item] for item in items] for dimension in DIMENSIONS["dialogue"]])


def _rounds(folder: Path) -> Iterator[PrintedValue]:
    """Yields how far GPT-4's rounds agree over all dialogues that it rated."""
    names = ("IEval-Dial", "Persona-See", "Reliable-Dial", "ConTurE-Dial", "FED-Dial", "Human-Eval")
    paths = [path for name in names if (path := folder / _FILES[name]).is_file()]
    found = [value for path in paths for value in _agreement(path, "model")]
    what = "agreement of GPT-4's rounds, mean over dialogue corpora and dimensions"
    yield replace(_value(_COMP, "Annotations", what, 0.65, 2, float(np.mean(found))), at_least=True)


def _agreement(path: Path, kind: str) -> list[float]:
    """Returns how far the rounds of a kind of rater agree, for each of the paper's dimensions."""
    reading = _dialogues(path)
    rated = [one for one in reading.ratings if one.rater_kind == kind and one.dimension in DIMENSIONS["dialogue"]]
    return [row["pairwise_pearson"] for row in annotator_rows(reading.items, rated, resamples=0)]


def _damage(folder: Path) -> Iterator[PrintedValue]:
    """Yields the numbers of damaged pairs (Table 11)."""
    sets = folder / "comp-analysis" / "robustness_data"
    if not sets.is_dir():
        return
    pairs = robustness_pairs.read_sets(sets)
    printed = {row.strategy: row.n_pairs for row in published_robustness() if row.strategy != AVERAGE}
    for strategy, n_pairs in printed.items():
        if strategy in pairs and n_pairs is not None:
            what = f"pairs of {strategy.replace('_', ' ')}"
            yield _value(_COMP, "Table 11", what, n_pairs, 0, len(pairs[strategy]))
