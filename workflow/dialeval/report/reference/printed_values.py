"""Printed values of the papers, computed again.

Of what the data do not hold (chatbots' dialogues, verdicts, scores of judges but GPT-4) nothing can be computed.

The averages are of numbers that were not rounded, so that ours may differ by one in the last place.

`python -m dialeval.report.reference.printed_values DATA_DIR` writes the record of them. DATA_DIR holds the public data
as the target download leaves them. docs/papers.md is made of the record, and a test that has the data computes every
value again.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np

from dialeval.corpora import botchat, comp_analysis, robustness_sets
from dialeval.corpora.rated_sources import RatedReading
from dialeval.corpora.readers import read_rated
from dialeval.criteria import DIMENSIONS
from dialeval.errors import UserError
from dialeval.measures.corpora import annotator_rows, corpus_rows
from dialeval.papers import dialogbench, xdial_eval
from dialeval.papers.comp_analysis import AVERAGE, JUDGES, published_robustness
from dialeval.papers.xdial_eval import published_quality
from dialeval.stats.arrays import FloatArray
from dialeval.stats.correlation import correlate
from dialeval.stats.rates import win_matrices

# Printed values that the papers' public data give, computed by the library that makes the run's tables.

_COMP, _XDIAL, _BOTCHAT, _DIALOGBENCH = "comp-analysis", "xDial-Eval", "BotChat", "DialogBench"
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
    "the paper multiplies two rounded columns of xDial-Eval's Table 1, which are about all dialogues; our value "
    "counts the words of the rated dialogues"
)
_FED_WORDS = "the paper multiplies two rounded columns of xDial-Eval's Table 1, and the number of utterances differs"
_ROUNDED = "the paper multiplies two rounded columns of xDial-Eval's Table 1; our value counts the words"
_FED_TURNS = "the public dialogues have on average one utterance more than both papers report; the reason is not known"
_FEWER = "comp-analysis' public files have human ratings on no further dimension"
_NO_PEOPLE = "comp-analysis' public files have no human ratings"
_OTHER_AGREEMENT = (
    "our value is the mean Pearson correlation of two raters; the paper has the Spearman correlations that FED's "
    "authors print. The public ratings do not reach them, even if each rater is compared with the mean of the other "
    "raters"
)
WHY_FROM_DATA: Mapping[tuple[str, str], str] = MappingProxyType(
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
        ): "the public ratings give .615; the paper's ratings are not known",
    }
)
"""Item and what -> why a value does not come out."""


def values_from_data(folder: Path) -> list[PrintedValue]:
    """Return every published value that can be computed from the files of a folder, in the layout of `download`.

    Raises:
        UserError: the folder has none of the files, or one of them is not as published.
    """
    values = [*_botchat(folder), *_corpora(folder), *_gpt4(folder), *_perturbed_pairs(folder)]
    if not values:
        raise UserError(f"{folder} has no public data of the papers; fetch them with the target `download`")
    return values


def _botchat(folder: Path) -> Iterator[PrintedValue]:
    """Yield the seeds and their lengths, and the shares of GTEval."""
    workbook = folder / "botchat" / "MuTual_test.xlsx"
    if workbook.is_file():
        lengths = Counter(
            len(dialogue.utterances) for dialogue in botchat.read_botchat_workbook(workbook, "en").dialogues
        )
        long_enough = {n: count for n, count in lengths.items() if n >= min(_ROUNDS)}
        n_long = sum(long_enough.values())
        yield _of_data(_BOTCHAT, "Section 4.1", "ChatSEEDs", 547, 0, lengths.total())
        yield _of_data(_BOTCHAT, "Section 3.4", "dialogues of four utterances and more", 222, 0, n_long)
        mean = sum(n * count for n, count in long_enough.items()) / n_long
        yield _of_data(_BOTCHAT, "Section 4.2", "mean number of utterances of these", 7.4, 1, mean)
        for n, printed in _ROUNDS.items():
            yield _of_data(_BOTCHAT, "Figure 2", f"dialogues of {n} utterances", printed, 0, lengths[n])
    counts = folder / "botchat" / "gteval_counts.csv"
    if counts.is_file():
        yield from _gteval(counts)


def _gteval(path: Path) -> Iterator[PrintedValue]:
    """Yield GTEval's shares from complete verdicts, each of a chatbot against a human dialogue."""
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
        yield _of_data(_BOTCHAT, "Figure 6", f"{name}: wins and ties, %", printed, 1, float(win[place] + tie[place]))
    first = names.index("gpt4")
    yield _of_data(_BOTCHAT, "Figure 6", "gpt4: wins, %", 26.4, 1, float(win[first]))
    yield _of_data(_BOTCHAT, "Figure 6", "gpt4: losses, %", 26.8, 1, float(lose[first]))


def _corpora(folder: Path) -> Iterator[PrintedValue]:
    """Yield the values of both papers' Table 1 on the available corpora."""
    for row in _published("rated_corpora"):
        name = row["names"].split(";")[0]
        path = folder / _FILES[name]
        if not path.is_file():
            continue
        is_xdial = row["paper"] == "xdial-eval"
        reading = _reading(row["level"], path, include_unrated=is_xdial)
        (counted,) = corpus_rows(reading.items, reading.ratings)
        for column, decimals in _COUNTED.items():
            if row[column]:
                digits = max(decimals, len(row[column].partition(".")[2]))
                what = f"{name}, {row['level']}: {column.replace('_', ' ')}"
                paper = _XDIAL if is_xdial else _COMP
                yield _of_data(paper, "Table 1", what, float(row[column]), digits, float(counted[column]))


def _reading(level: str, path: Path, *, include_unrated: bool) -> RatedReading:
    """Return a corpus: of comp-analysis the dialogues that were rated, of xDial-Eval all."""
    if level == "turn":
        return read_rated("comp_turn", path.stem, path)
    return _dialogues(path, include_unrated=include_unrated)


@cache
def _dialogues(path: Path, *, include_unrated: bool = False) -> RatedReading:
    return comp_analysis.read_dialogues(path.stem, path, include_unrated=include_unrated)


def _gpt4(folder: Path) -> Iterator[PrintedValue]:
    """Yield how GPT-4's mean over five rounds goes with people on FED-Dial (Table 6), and how far its rounds agree."""
    path = folder / _FILES["FED-Dial"]
    if not path.is_file():
        return
    by_model, by_people = (_means(path, kind) for kind in ("model", "human"))
    found = correlate(by_model[np.newaxis], by_people, range(by_people.shape[1]), resamples=0).estimate[0]
    for dimension, ours in zip(DIMENSIONS["dialogue"], found, strict=True):
        printed = _GPT4_ON_FED[dimension]
        yield _of_data(_COMP, "Table 6", f"GPT-4 on FED-Dial: {dimension}", printed, 3, float(ours))
    yield _of_data(_COMP, "Table 6", "GPT-4 on FED-Dial: average", _GPT4_AVERAGE, 3, float(found.mean()))
    agreement = _agreement(path, "human")
    for name, printed, ours in (("lowest", 0.7, min(agreement)), ("highest", 0.8, max(agreement))):
        yield _of_data(_COMP, "Table 1", f"FED-Dial: {name} agreement of people", printed, 1, ours)
    yield from _rounds(folder)


def _means(path: Path, kind: str) -> FloatArray:
    """Return the mean ratings of one kind of rater, of the paper's dimensions, shape [dimensions, items]."""
    means = {
        (rating.dimension, rating.item_id): rating.value
        for rating in _dialogues(path).ratings
        if rating.rater_kind == kind and rating.round is None
    }
    items = list(dict.fromkeys(item for _, item in means))
    return np.array([[means[dimension, item] for item in items] for dimension in DIMENSIONS["dialogue"]])


def _rounds(folder: Path) -> Iterator[PrintedValue]:
    """Yield how far GPT-4's rounds agree over all dialogues that it rated."""
    names = ("IEval-Dial", "Persona-See", "Reliable-Dial", "ConTurE-Dial", "FED-Dial", "Human-Eval")
    paths = [path for name in names if (path := folder / _FILES[name]).is_file()]
    found = [value for path in paths for value in _agreement(path, "model")]
    what = "agreement of GPT-4's rounds, mean over dialogue corpora and dimensions"
    yield replace(_of_data(_COMP, "Annotations", what, 0.65, 2, float(np.mean(found))), at_least=True)


def _agreement(path: Path, kind: str) -> list[float]:
    """Return how far the rounds of a kind of rater agree, for each of the paper's dimensions."""
    reading = _dialogues(path)
    rated = [one for one in reading.ratings if one.rater_kind == kind and one.dimension in DIMENSIONS["dialogue"]]
    return [row["pairwise_pearson"] for row in annotator_rows(reading.items, rated, resamples=0)]


def _perturbed_pairs(folder: Path) -> Iterator[PrintedValue]:
    """Yield the numbers of perturbed pairs (Table 11)."""
    sets = folder / "comp-analysis" / "robustness_data"
    if not sets.is_dir():
        return
    pairs = robustness_sets.read_sets(sets)
    printed = {row.strategy: row.n_pairs for row in published_robustness() if row.strategy != AVERAGE}
    for strategy, n_pairs in printed.items():
        if strategy in pairs and n_pairs is not None:
            what = f"pairs of {strategy.replace('_', ' ')}"
            yield _of_data(_COMP, "Table 11", what, n_pairs, 0, len(pairs[strategy]))


# Averages and sums that the papers print, computed again from the printed rows that they are of.

_TRANSLATION = {  # the last row of xDial-Eval's Table 2: average and decimals
    "bleu": (47.42, 2),
    "bertscore": (0.731, 3),
    "bleurt": (0.798, 3),
    "adequacy": (4.47, 2),
    "cometkiwi22": (0.833, 3),
    "cometkiwi23": (0.742, 3),
}
_N_RATED = {"turn": 14930, "dialogue": 8691}  # section 3.1 of xDial-Eval
WHY_FROM_ROWS: Mapping[tuple[str, str, str], str] = MappingProxyType(
    {
        (_XDIAL, "Table 17", "LLaMA-7B + PoE, turn, spearman: average"): (
            "the mean of the row's printed correlations is .436, so one of the printed values is a misprint"
        )
    }
)
"""Paper, item and what -> why a value does not come out."""


def values_from_rows() -> list[PrintedValue]:
    """Return every average and sum, paper by paper."""
    return [*_dialogbench(), *_comp_analysis(), *_robustness(), *_xdial()]


def _dialogbench() -> Iterator[PrintedValue]:
    """Yield overall accuracies, means over models, and means over domains."""
    overall, average = dialogbench.OVERALL, dialogbench.AVERAGE
    models: dict[tuple[str, str, str], list[Mapping[str, float]]] = defaultdict(list)
    for row in dialogbench.published_rows():
        about = (row.table, row.language, row.group)
        last = overall if overall in row.values else average if average in row.values else ""
        if not last:
            continue
        item = f"Table {row.table}"
        cells = [value for column, value in row.values.items() if column != last]
        named = f"{row.model}, {row.group}"
        yield _of_rows(_DIALOGBENCH, item, f"{named}: {last}", row.values[last], 2, float(np.mean(cells)))
        if row.model != average:
            models[about].append(row.values)
            continue
        for column, printed in row.values.items():
            of_models = float(np.mean([values[column] for values in models[about]]))
            yield _of_rows(_DIALOGBENCH, item, f"mean of the models, {row.group}: {column}", printed, 2, of_models)


def _comp_analysis() -> Iterator[PrintedValue]:
    """Yield the averages over dimensions of Tables 5, 6 and 9."""
    cells: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for row in _published("metaeval"):
        cells[row["table"], row["level"], row["name"]][row["dimension"]] = float(row["value"])
    for (table, level, name), values in cells.items():
        if (printed := values.pop("average", None)) is not None:
            item = f"Table {table.split()[1]}"
            yield _of_rows(_COMP, item, f"{name}, {level}: average", printed, 3, float(np.mean(list(values.values()))))


def _robustness() -> Iterator[PrintedValue]:
    """Yield the averages over perturbations of Table 12."""
    rows = published_robustness()
    for average in (row for row in rows if row.strategy == AVERAGE):
        perturbations = [row for row in rows if row.level == average.level and row.strategy != AVERAGE]
        for judge in JUDGES:
            ours = float(np.mean([row.ratios[judge] for row in perturbations]))
            yield _of_rows(_COMP, "Table 12", f"{judge}, {average.level}: average", average.ratios[judge], 3, ours)


def _xdial() -> Iterator[PrintedValue]:
    """Yield the sums of Table 1, and the averages over languages and corpora of Tables 2, 4, 5 and 15 to 17."""
    corpora = [row for row in _published("rated_corpora") if row["paper"] == "xdial-eval"]
    for level, printed in _N_RATED.items():
        total = sum(int(row["n_items"]) for row in corpora if row["level"] == level)
        yield _of_rows(_XDIAL, "Table 1", f"items of all corpora, {level}", printed, 0, total)
    quality = published_quality().values()
    for metric, (average, decimals) in _TRANSLATION.items():
        ours = float(np.mean([values[metric] for values in quality]))
        yield _of_rows(_XDIAL, "Table 2", f"{metric}: average", average, decimals, ours)
    for row in xdial_eval.rows():
        values = dict(row.values)
        average = values.pop(xdial_eval.AVERAGE)
        what = f"{row.label}, {row.level}, {row.statistic}: average"
        yield _of_rows(_XDIAL, f"Table {row.table}", what, average, 3, float(np.mean(list(values.values()))))


# Printed values of the papers that can be computed again: what a paper prints, and what comes out here.

Source = Literal["data", "rows"]
COLUMNS = ("paper", "item", "what", "source", "printed", "ours", "equal", "why")
RECORD = Path(__file__).parent / "printed_values.csv"
_SPARE = 1e-9  # for what binary fractions lose
_STORED = {  # files of `published`, and whose rows of them where several papers share one
    "BotChat": (("botchat", ""),),
    "DialogBench": (("dialogbench", ""),),
    "comp-analysis": (("metaeval", ""), ("robustness", ""), ("rated_corpora", "comp-analysis")),
    "xDial-Eval": (("xdial", ""), ("xdial_chinese", ""), ("translation", ""), ("rated_corpora", "xdial-eval")),
}
_NO_RESULTS = {"table", "theta", "people"}


@dataclass(frozen=True)
class PrintedValue:
    """A value that a paper prints.

    Attributes:
        paper, item: where it stands.
        what: row and column, in words.
        source: what it is computed of: public `data`, or the printed `rows` that it is the mean or the sum of.
        printed: the value.
        decimals: to which it is printed.
        ours: what comes out here, not rounded.
        why: why the two differ; empty where they do not, or where it is not known.
        at_least: whether the paper says no more than that the value is beyond the printed one.
    """

    paper: str
    item: str
    what: str
    source: Source
    printed: float
    decimals: int
    ours: float
    why: str = ""
    at_least: bool = False

    @property
    def is_equal(self) -> bool:
        """Whether ours, rounded, can be the printed value: a mean of printed rows is off by a last digit at most."""
        if self.at_least:
            return self.ours >= self.printed
        last_digit = 10.0**-self.decimals if self.decimals or self.source == "data" else 0.0
        allowed = last_digit if self.source == "rows" else last_digit / 2
        return abs(self.ours - self.printed) <= allowed + _SPARE

    def as_row(self) -> dict[str, str]:
        """Return the value as a row of the record; ours has one digit more than the printed one."""
        return {
            "paper": self.paper,
            "item": self.item,
            "what": self.what,
            "source": self.source,
            "printed": f"{'>' if self.at_least else ''}{self.printed:.{self.decimals}f}",
            "ours": f"{self.ours:.{self.decimals + 1}f}",
            "equal": "yes" if self.is_equal else "no",
            "why": self.why,
        }


def _of_data(paper: str, item: str, what: str, printed: float, decimals: int, ours: float) -> PrintedValue:
    return PrintedValue(paper, item, what, "data", printed, decimals, ours, WHY_FROM_DATA.get((item, what), ""))


def _of_rows(paper: str, item: str, what: str, printed: float, decimals: int, ours: float) -> PrintedValue:
    return PrintedValue(paper, item, what, "rows", printed, decimals, ours, WHY_FROM_ROWS.get((paper, item, what), ""))


def write_record(values: Iterable[PrintedValue], path: Path = RECORD) -> None:
    """Write values as the record that the docs are made of."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(value.as_row() for value in values)


def read_record(path: Path = RECORD) -> list[dict[str, str]]:
    """Return the rows of the record."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def n_stored(paper: str) -> int:
    """Return the number of published values that the project contains."""
    return sum(
        _is_number(value)
        for name, own in _STORED[paper]
        for row in _published(name)
        if not own or row["paper"] == own
        for column, value in row.items()
        if column not in _NO_RESULTS
    )


def _published(name: str) -> list[dict[str, str]]:
    """Return the rows of a file of published values."""
    text = files("dialeval.papers").joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# Which printed values of the papers come out.


def main(arguments: Sequence[str] | None = None, record: Path = RECORD) -> None:
    """Compute all values, write the record and say how many come out.

    Raises:
        UserError: the folder has no data of the papers, or a file of them is not as published.
    """
    parser = argparse.ArgumentParser(description="Records which published values of the papers can be reproduced.")
    parser.add_argument("folder", type=Path, metavar="DATA_DIR", help="folder of the public data")
    values = [*values_from_data(parser.parse_args(arguments).folder), *values_from_rows()]
    write_record(values, record)
    for row in (value.as_row() for value in values if not value.is_equal):
        why = f" ({row['why']})" if row["why"] else ""
        print(f"{row['paper']}, {row['item']}, {row['what']}: printed {row['printed']}, here {row['ours']}{why}")
    print(
        f"{sum(value.is_equal for value in values)} of {len(values)} published values are reproduced; all are in "
        f"{record}"
    )


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
